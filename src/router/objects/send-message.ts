import { ActorError, decodeValue, MAX_SEND_WAIT_MS, own, type Operation, backoffMs } from "../../protocol/index.js";
import type { OpenSocket } from "./open-socket.js";
import { awaitThroughSocket, type WaitResult } from "./reply-socket.js";
import { callPorts, type ActorCall, type CallActor, type CallPorts } from "./call-actor.js";

/** A message for a queue of an actor, before it is an envelope. */
export interface MessageSend extends Omit<ActorCall, "operation"> {
  readonly queue: string;
  /** Bytes of the storage codec. */
  readonly body: Uint8Array;
  /** Whether to answer only when the message is completed. */
  readonly wait: boolean;
  /** How long to wait at most, ms; without it as long as an action may run. */
  readonly timeoutMs?: number;
  /** Whoever waits has gone: nobody attaches again for them. */
  readonly signal?: AbortSignal;
}

/** What became of a message, at the time of the answer. */
export interface SentMessage {
  readonly actorId: string;
  readonly status: "completed" | "timedOut";
  /** What it was completed with, bytes of the storage codec. */
  readonly reply?: Uint8Array;
}

/**
 * Stores a message and, with `wait`, holds its sender until it is completed or the time is over. A message is stored at
 * most once: a send whose answer was lost is not repeated. Rejects as `CallActor` does, with `actor/action_timed_out`
 * (408) for a wait without a timeout of its own, with `actor/destroyed` (404) if the actor's life ended meanwhile.
 */
export type SendMessage = (send: MessageSend) => Promise<SentMessage>;

export interface WaitPorts extends CallPorts {
  /** Epoch ms. */
  readonly now: () => number;
  /** Runs `action` after `ms`; gives what calls it off. */
  readonly setTimer: (ms: number, action: () => void) => () => void;
  /** 32 hex digits that nobody guesses. */
  readonly newToken: () => string;
}

/** So long an object holds a sender in a call, and stays in memory for it; then a socket does, which costs nothing. */
const CALL_WAIT_MS = 30_000;
const CLOCK_SLACK_MS = 1_000;
/**
 * So late the object's answer may come. An object that says nothing is one whose storage refuses to delete a destroyed actor: it tries
 * again every 10 s and more, and answers nobody meanwhile.
 */
const LATE_MS = 1_000;

/** Between two attachments; and after the platform said that the object is overloaded. */
const BACKOFF = { firstMs: 50, maxMs: 2000 };
const OVERLOADED_BACKOFF = { firstMs: 1000, maxMs: 30_000 };

/** Codes by which an object says that it, and not the wait, has come to an end: the next one knows the message. */
const BROKEN = new Set(["actor/restarting", "actor/overloaded", "actor/starting", "actor/stopping"]);

/** What an object answers to a send. */
interface Accepted {
  readonly id: number;
  readonly createdAt: number;
  readonly waitMs: number;
}

/** Sends messages over `callActor`. Waiting is this side's: an object that is reset in the middle is asked again. */
export function createMessageSender(
  callActor: CallActor,
  openSocket: OpenSocket,
  options: Partial<WaitPorts> = {},
): SendMessage {
  const ports: WaitPorts = { now: Date.now, setTimer, newToken, ...callPorts(options), ...options };
  const attach = attachmentsOver(callActor, openSocket, ports);
  return async (send) => {
    const { queue, body, wait, timeoutMs, signal, ...call } = own(send);
    const token = ports.newToken();
    const operation: Operation = {
      kind: "send",
      queue,
      body,
      ...(wait && { wait, token, ...(timeoutMs !== undefined && { timeoutMs }) }),
    };
    const { actorId, output } = await callActor({ ...call, operation });
    if (!wait) return { actorId, status: "completed" };
    const accepted = decoded<Accepted>(output);
    const result = await waitFor(actorId, { ...accepted, token }, attach, ports, signal);
    if (result.status === "timedOut" && timeoutMs === undefined) {
      throw new ActorError("actor", "action_timed_out", "Nobody completed the message in time.", {
        metadata: { timeoutMs: accepted.waitMs },
      });
    }
    return { actorId, ...result };
  };
}

/** Waits with an object for at most `leftMs`. */
type Attach = (
  actorId: string,
  message: { readonly messageId: number; readonly createdAt: number; readonly token: string },
  leftMs: number,
  signal: AbortSignal | undefined,
) => Promise<WaitResult>;

/** In a call as long as that is short; then through a socket, unless the object's release is one that knows of none. */
function attachmentsOver(callActor: CallActor, openSocket: OpenSocket, ports: WaitPorts): Attach {
  return async (actorId, message, leftMs, signal) => {
    const begunAt = ports.now();
    const inCall = async (timeoutMs: number): Promise<WaitResult> =>
      decoded<WaitResult>(
        (await callActor({ target: { actorId }, operation: { kind: "wait", ...message, timeoutMs } })).output,
      );
    const result = await inCall(Math.min(leftMs, CALL_WAIT_MS));
    const waitedMs = ports.now() - begunAt;
    // What an object says before the call's time is over (clocks differ a little) is that it does not know the message.
    if (result.status === "completed" || leftMs <= CALL_WAIT_MS || waitedMs < CALL_WAIT_MS - CLOCK_SLACK_MS)
      return result;
    const restMs = Math.max(0, leftMs - waitedMs);
    const operation: Operation = { kind: "wait", ...message, timeoutMs: restMs };
    try {
      return await awaitThroughSocket(openSocket, {
        actorId,
        operation,
        leftMs: restMs,
        signal,
        setTimer: ports.setTimer,
      });
    } catch (error) {
      if (!ActorError.isActorError(error) || error.group !== "actor" || error.code !== "invalid_request") throw error;
      return inCall(restMs);
    }
  };
}

/** Attaches to a stored message until its time is over. It is addressed by id: another life of the key is another actor. */
async function waitFor(
  actorId: string,
  accepted: Accepted & { readonly token: string },
  attach: Attach,
  ports: WaitPorts,
  signal: AbortSignal | undefined,
): Promise<WaitResult> {
  const { id: messageId, createdAt, waitMs, token } = accepted;
  const deadline = ports.now() + waitMs;
  for (let tries = 1; ; tries++) {
    const leftMs = Math.max(0, deadline - ports.now());
    const begunAt = ports.now();
    try {
      return await answeredWithin(
        leftMs + LATE_MS,
        attach(actorId, { messageId, createdAt, token }, leftMs, signal),
        ports,
      );
    } catch (error) {
      signal?.throwIfAborted();
      if (!isBroken(error)) throw isNotFound(error) ? destroyed(actorId) : error;
      // It was attached for long: this is no row of failures.
      if (ports.now() - begunAt > OVERLOADED_BACKOFF.maxMs) tries = 1;
      await ports.sleep(Math.min(delayMs(tries, error, ports.random), Math.max(0, deadline - ports.now())));
      signal?.throwIfAborted();
      if (ports.now() >= deadline) return { status: "timedOut" };
    }
  }
}

/** What an object says, or that the time is over. */
function answeredWithin(ms: number, attached: Promise<WaitResult>, ports: WaitPorts): Promise<WaitResult> {
  return new Promise((resolve, reject) => {
    const stopTimer = ports.setTimer(ms, () => resolve({ status: "timedOut" }));
    void attached.then(resolve, reject).finally(stopTimer);
  });
}

function setTimer(ms: number, action: () => void): () => void {
  // Of an older release of the object, whose waits may be longer.
  const timer = setTimeout(action, Math.min(ms, MAX_SEND_WAIT_MS));
  return () => clearTimeout(timer);
}

function newToken(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Whether the object broke off. Errors without a code are the platform's: an actor's own come as data and have one. */
function isBroken(error: unknown): boolean {
  return !ActorError.isActorError(error) || BROKEN.has(`${error.group}/${error.code}`);
}

function isNotFound(error: unknown): boolean {
  return ActorError.isActorError(error) && error.group === "actor" && error.code === "not_found";
}

function destroyed(actorId: string): ActorError {
  return new ActorError("actor", "destroyed", "The actor was destroyed while the message waited in its queue.", {
    metadata: { actorId },
  });
}

function delayMs(tries: number, error: unknown, random: () => number): number {
  const isOverloaded = ActorError.isActorError(error) && error.code === "overloaded";
  return backoffMs(tries, isOverloaded ? OVERLOADED_BACKOFF : BACKOFF, random());
}

/** An object's own answer: our code on both sides, at most one release apart. */
function decoded<T>(output: Uint8Array | undefined): T {
  if (output === undefined)
    throw new ActorError(
      "rivetkit",
      "internal_error",
      "The actor's object answered a send or a wait without an output.",
    );
  return decodeValue(output) as T;
}

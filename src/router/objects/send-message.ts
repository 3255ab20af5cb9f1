import { ActorError, decodeValue, MAX_SEND_WAIT_MS, own, type CallOperation, backoffMs } from "../../protocol/index.js";
import type { OpenSocket } from "./open-socket.js";
import { awaitThroughSocket, type WaitResult } from "./reply-socket.js";
import { callPorts, type ActorCall, type CallActor, type CallPorts } from "./call-actor.js";

/** A message for a queue of an actor, before it is put in an envelope. */
export interface MessageSend extends Omit<ActorCall, "operation"> {
  readonly queue: string;
  /** Bytes of the storage codec. */
  readonly body: Uint8Array;
  /** Whether to wait until the message is completed. */
  readonly wait: boolean;
  /** How long to wait, in ms. Default: the actor's `actionTimeout`. */
  readonly timeoutMs?: number;
  /** Fires when the sender is gone, and ends the wait. */
  readonly signal?: AbortSignal;
}

/** The status of a message when its send is answered. */
export interface SentMessage {
  readonly actorId: string;
  readonly status: "completed" | "timedOut";
  /** The response it was completed with, bytes of the storage codec. */
  readonly reply?: Uint8Array;
}

/**
 * Stores a message and, with `wait`, waits until it is completed or the timeout passes. A message is stored at most
 * once: a send whose answer was lost is not repeated.
 *
 * @throws {actor/action_timed_out} when a wait without its own timeout takes too long
 * @throws {actor/destroyed} when the actor is destroyed during the wait
 * @throws the errors of `CallActor`
 */
export type SendMessage = (send: MessageSend) => Promise<SentMessage>;

export interface WaitPorts extends CallPorts {
  /** Epoch ms. */
  readonly now: () => number;
  /** Runs `action` after `ms`; returns a function that cancels it. */
  readonly setTimer: (ms: number, action: () => void) => () => void;
  /** Makes 32 random hex digits that cannot be guessed. */
  readonly newToken: () => string;
}

/**
 * How long a sender waits in a call, which keeps the object in memory. After that it waits in a socket, which does not.
 */
const CALL_WAIT_MS = 30_000;
const CLOCK_SLACK_MS = 1_000;
/**
 * How late the object's answer may be. An object stays silent when its storage refuses to delete a destroyed actor: it
 * retries every 10 s or more, and answers nobody meanwhile.
 */
const LATE_MS = 1_000;

/** The delays between two attachments; longer ones if the platform says the object is overloaded. */
const BACKOFF = { firstMs: 50, maxMs: 2000 };
const OVERLOADED_BACKOFF = { firstMs: 1000, maxMs: 30_000 };

/** Errors that mean the object, not the wait, has ended: the next activation knows the message. */
const BROKEN = new Set(["actor/restarting", "actor/overloaded", "actor/starting", "actor/stopping"]);

/** An object's answer to a send. */
interface Accepted {
  readonly id: number;
  readonly createdAt: number;
  readonly waitMs: number;
}

/** Sends messages over `callActor`. This side holds the wait: it attaches again to an object that restarts. */
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
    const operation: CallOperation = {
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

/** Waits at an object for at most `leftMs`. */
type Attach = (
  actorId: string,
  message: { readonly messageId: number; readonly createdAt: number; readonly token: string },
  leftMs: number,
  signal: AbortSignal | undefined,
) => Promise<WaitResult>;

/** Waits in a call first, then through a socket, unless the object runs a release without such sockets. */
function attachmentsOver(callActor: CallActor, openSocket: OpenSocket, ports: WaitPorts): Attach {
  return async (actorId, message, leftMs, signal) => {
    const begunAt = ports.now();
    const inCall = async (timeoutMs: number): Promise<WaitResult> =>
      decoded<WaitResult>(
        (await callActor({ target: { actorId }, operation: { kind: "wait", ...message, timeoutMs } })).output,
      );
    const result = await inCall(Math.min(leftMs, CALL_WAIT_MS));
    const waitedMs = ports.now() - begunAt;
    // An earlier answer (allowing for clock differences) means that the object does not know the message.
    if (result.status === "completed" || leftMs <= CALL_WAIT_MS || waitedMs < CALL_WAIT_MS - CLOCK_SLACK_MS)
      return result;
    const restMs = Math.max(0, leftMs - waitedMs);
    const operation: CallOperation = { kind: "wait", ...message, timeoutMs: restMs };
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

/** Attaches to a stored message until the deadline, addressed by id, since a later life of the key is another actor. */
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
      // A long attachment is not part of a series of failures.
      if (ports.now() - begunAt > OVERLOADED_BACKOFF.maxMs) tries = 1;
      await ports.sleep(Math.min(delayMs(tries, error, ports.random), Math.max(0, deadline - ports.now())));
      signal?.throwIfAborted();
      if (ports.now() >= deadline) return { status: "timedOut" };
    }
  }
}

/** The object's answer, or a timeout. */
function answeredWithin(ms: number, attached: Promise<WaitResult>, ports: WaitPorts): Promise<WaitResult> {
  return new Promise((resolve, reject) => {
    const stopTimer = ports.setTimer(ms, () => resolve({ status: "timedOut" }));
    void attached.then(resolve, reject).finally(stopTimer);
  });
}

function setTimer(ms: number, action: () => void): () => void {
  // Capped, since an object of an older release may name a longer wait.
  const timer = setTimeout(action, Math.min(ms, MAX_SEND_WAIT_MS));
  return () => clearTimeout(timer);
}

function newToken(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Whether the object broke off. Errors without a code are the platform's; an actor's errors arrive as data with a code.
 */
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

/** Decodes an object's answer; both sides are our code, at most one release apart. */
function decoded<T>(output: Uint8Array | undefined): T {
  if (output === undefined)
    throw new ActorError(
      "rivetkit",
      "internal_error",
      "The actor's object answered a send or a wait without an output.",
    );
  return decodeValue(output) as T;
}

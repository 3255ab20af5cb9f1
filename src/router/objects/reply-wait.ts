/**
 * The Worker's side of a wait for a reply: attaches to the message, again and again if its object breaks, until the reply
 * comes or the time is over (MSG-6).
 */
import { ActorError, backoffMs, decodeValue, has, own, type CallOperation } from "../../protocol/index.js";
import type { CallActor, CallPorts } from "./call-actor.js";
import type { OpenSocket } from "./open-socket.js";
import { awaitThroughSocket, type WaitResult } from "./reply-socket.js";
import type { ActorTarget } from "./resolve-stub.js";

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
export const CALL_WAIT_MS = 30_000;
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

/** An object's answer to a send whose sender waits. */
export interface Accepted {
  readonly id: number;
  readonly createdAt: number;
  readonly waitMs: number;
  /** How the wait has ended, if it did in the call of the send. */
  readonly result?: WaitResult;
  /** What is left of it, in ms, if it did not. Only releases that know `attachMs` answer one of these two. */
  readonly leftMs?: number;
}

/** A stored message whose sender waits. */
interface Awaited {
  /** The actor by its id, since a later life of its key is another actor. */
  readonly actorId: string;
  readonly accepted: Accepted;
  readonly token: string;
  /** Fires when the sender is gone. */
  readonly signal: AbortSignal | undefined;
}

export interface ReplyAttachments {
  /**
   * Waits until the message is completed, or its time is over.
   * @throws {actor/destroyed} when the actor is destroyed meanwhile
   */
  waitFor(awaited: Awaited): Promise<WaitResult>;
  /** Finds the message of a send whose answer was lost, unless it was not stored, or is not known any more. */
  find(
    target: ActorTarget,
    sent: { readonly token: string; readonly withinMs: number; readonly signal: AbortSignal | undefined },
  ): Promise<{ readonly actorId: string; readonly accepted: Accepted } | undefined>;
}

export function createReplyAttachments(
  callActor: CallActor,
  openSocket: OpenSocket,
  ports: WaitPorts,
): ReplyAttachments {
  const timedOut = (): WaitResult => ({ status: "timedOut" });
  const attach = attachmentsOver(callActor, openSocket, ports);
  return {
    waitFor: async ({ actorId, accepted, token, signal }) => {
      const { id: messageId, createdAt, waitMs, leftMs = waitMs } = own(accepted);
      // Its send has waited in a call already.
      let inCall = !has(accepted, "leftMs");
      const attempt = (restMs: number): Promise<WaitResult> => {
        const attached = attach({ actorId, messageId, createdAt, token }, restMs, inCall, signal);
        inCall = true;
        return answeredWithin(restMs + LATE_MS, attached, timedOut, ports);
      };
      try {
        return await repeated(attempt, leftMs, timedOut, ports, signal);
      } catch (error) {
        throw isNotFound(error) ? destroyed(actorId) : error;
      }
    },
    find: async (target, { token, withinMs, signal }) => {
      const existing = has(target, "actorId") ? target : { ...target, creation: { mode: "get" } as const };
      const none = (): undefined => undefined;
      const attempt = (restMs: number) =>
        answeredWithin(
          restMs + LATE_MS,
          callActor({ target: existing, operation: { kind: "sent", token } }),
          none,
          ports,
        );
      const reply = await repeated(attempt, withinMs, none, ports, signal).catch(none);
      signal?.throwIfAborted();
      const accepted = reply && decoded<Accepted | undefined>(reply.output);
      return reply && accepted && { actorId: reply.actorId, accepted };
    },
  };
}

/** Waits at an object for at most `leftMs`. */
type Attach = (
  message: {
    readonly actorId: string;
    readonly messageId: number;
    readonly createdAt: number;
    readonly token: string;
  },
  leftMs: number,
  inCall: boolean,
  signal: AbortSignal | undefined,
) => Promise<WaitResult>;

/** Waits in a call first, then through a socket, unless the object runs a release without such sockets. */
function attachmentsOver(callActor: CallActor, openSocket: OpenSocket, ports: WaitPorts): Attach {
  return async ({ actorId, ...message }, leftMs, inCall, signal) => {
    const begunAt = ports.now();
    const attachInCall = async (timeoutMs: number): Promise<WaitResult> =>
      decoded<WaitResult>(
        (await callActor({ target: { actorId }, operation: { kind: "wait", ...message, timeoutMs } })).output,
      );
    if (inCall) {
      const result = await attachInCall(Math.min(leftMs, CALL_WAIT_MS));
      // An earlier answer (allowing for clock differences) means that the object does not know the message.
      const isUnknown = ports.now() - begunAt < CALL_WAIT_MS - CLOCK_SLACK_MS;
      if (result.status === "completed" || leftMs <= CALL_WAIT_MS || isUnknown) return result;
    }
    const restMs = Math.max(0, leftMs - (ports.now() - begunAt));
    const operation: CallOperation = { kind: "wait", ...message, timeoutMs: restMs };
    const { setTimer } = ports;
    try {
      return await awaitThroughSocket(openSocket, { actorId, operation, leftMs: restMs, signal, setTimer });
    } catch (error) {
      if (!ActorError.isActorError(error) || error.group !== "actor" || error.code !== "invalid_request") throw error;
      return attachInCall(restMs);
    }
  };
}

/**
 * Makes an attempt, and again while the object breaks off, until the time is over.
 * @throws any other error of an attempt, and the signal's reason
 */
async function repeated<T>(
  attempt: (leftMs: number) => Promise<T>,
  withinMs: number,
  late: () => T,
  ports: WaitPorts,
  signal: AbortSignal | undefined,
): Promise<T> {
  const deadline = ports.now() + withinMs;
  for (let tries = 1; ; tries++) {
    const begunAt = ports.now();
    try {
      return await attempt(Math.max(0, deadline - begunAt));
    } catch (error) {
      signal?.throwIfAborted();
      if (!isBroken(error)) throw error;
      // A long attachment is not part of a series of failures.
      if (ports.now() - begunAt > OVERLOADED_BACKOFF.maxMs) tries = 1;
      await ports.sleep(Math.min(delayMs(tries, error, ports.random), Math.max(0, deadline - ports.now())));
      signal?.throwIfAborted();
      if (ports.now() >= deadline) return late();
    }
  }
}

/** The object's answer, or what is said of a late one. */
function answeredWithin<T>(ms: number, answer: Promise<T>, late: () => T, ports: WaitPorts): Promise<T> {
  return new Promise((resolve, reject) => {
    const stopTimer = ports.setTimer(ms, () => resolve(late()));
    void answer.then(resolve, reject).finally(stopTimer);
  });
}

/**
 * Whether the object broke off. Errors without a code are the platform's; an actor's errors arrive as data with a code.
 */
function isBroken(error: unknown): boolean {
  return !ActorError.isActorError(error) || BROKEN.has(`${error.group}/${error.code}`);
}

/** Whether the call of a send may have stored its message although it failed: the object broke off. */
export function mayBeStored(error: unknown): boolean {
  return !ActorError.isActorError(error) || (error.group === "actor" && error.code === "restarting");
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
export function decoded<T>(output: Uint8Array | undefined): T {
  if (output === undefined)
    throw new ActorError(
      "rivetkit",
      "internal_error",
      "The actor's object answered a send or a wait without an output.",
    );
  return decodeValue(output) as T;
}

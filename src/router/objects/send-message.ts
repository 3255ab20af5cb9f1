import { ActorError, MAX_SEND_WAIT_MS, own, type CallOperation } from "../../protocol/index.js";
import type { OpenSocket } from "./open-socket.js";
import { callPorts, type ActorCall, type CallActor } from "./call-actor.js";
import {
  CALL_WAIT_MS,
  createReplyAttachments,
  decoded,
  mayBeStored,
  type Accepted,
  type WaitPorts,
} from "./reply-wait.js";

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

/** How long the message of a send whose answer was lost is looked for, in ms. */
const FIND_MS = 30_000;

/** Sends messages over `callActor`. This side holds the wait: it attaches again to an object that restarts. */
export function createMessageSender(
  callActor: CallActor,
  openSocket: OpenSocket,
  options: Partial<WaitPorts> = {},
): SendMessage {
  const ports: WaitPorts = { now: Date.now, setTimer, newToken, ...callPorts(options), ...options };
  const replies = createReplyAttachments(callActor, openSocket, ports);
  return async (send) => {
    const { queue, body, wait, timeoutMs, signal, ...call } = own(send);
    if (!wait) {
      const { actorId } = await callActor({ ...call, operation: { kind: "send", queue, body } });
      return { actorId, status: "completed" };
    }
    const token = ports.newToken();
    const operation: CallOperation = {
      kind: "send",
      queue,
      body,
      wait,
      token,
      attachMs: CALL_WAIT_MS,
      ...(timeoutMs !== undefined && { timeoutMs }),
    };
    const { actorId, accepted } = await callActor({ ...call, operation }).then(
      (reply) => ({ actorId: reply.actorId, accepted: decoded<Accepted>(reply.output) }),
      async (error: unknown) => {
        if (!mayBeStored(error)) throw error;
        const withinMs = Math.min(timeoutMs ?? FIND_MS, FIND_MS);
        const found = await replies.find(call.target, { token, withinMs, signal });
        if (!found) throw error;
        return found;
      },
    );
    const result = own(accepted).result ?? (await replies.waitFor({ actorId, accepted, token, signal }));
    if (result.status === "timedOut" && timeoutMs === undefined) {
      throw new ActorError("actor", "action_timed_out", "Nobody completed the message in time.", {
        metadata: { timeoutMs: accepted.waitMs },
      });
    }
    return { actorId, ...result };
  };
}

function setTimer(ms: number, action: () => void): () => void {
  // Capped, since an object of an older release may name a longer wait.
  const timer = setTimeout(action, Math.min(ms, MAX_SEND_WAIT_MS));
  return () => clearTimeout(timer);
}

function newToken(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Messages from outside: stores them, and lets their senders wait for replies (MSG-6).
 *
 * A sender that waits is answered in the call of its send if the reply comes soon. It finds its message again by its token
 * if that call breaks.
 */
import { ActorError, decodeValue, MAX_SEND_WAIT_MS, own, ownField, type CallOperation } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import type { ReplyResult, ReplyWait } from "../activation/actor-queue.js";
import { readTimeout } from "../queue/queue-input.js";
import { checkCycle } from "../queue/wait-cycle.js";
import { callHook } from "./call-hook.js";
import { checkOperation, contextOf, type CallOrigin } from "./dispatch.js";
import { destroyed } from "./user-code.js";

const TOKEN = /^[0-9a-f]{32}$/;

/** A send in an envelope. */
type Send = Omit<Extract<CallOperation, { readonly kind: "send" }>, "kind">;

/** A message from outside that has been stored. */
export interface AcceptedMessage {
  readonly id: number;
  readonly createdAt: number;
  /** How long its sender may wait for a reply, in ms. */
  readonly waitMs: number;
  /** How the sender's wait has ended, if it was attached and it has. */
  readonly result?: ReplyResult;
  /** What is left of the wait, in ms, if the sender was attached and it has not ended. */
  readonly leftMs?: number;
}

/**
 * Stores a message from outside. If its sender is attached, call `answerAttached` next.
 * @throws {queue/not_declared} when the queue is not declared
 * @throws {auth/forbidden} when `canPublish` returns a falsy value
 * @throws {queue/wait_cycle} when the reply would wait for its own sender
 * @throws {queue/full} when the queue is full
 * @throws {queue/message_too_large} when the message is too large
 * @throws {actor/validation_error} when the message does not match the queue's schema
 */
export async function acceptMessage(
  activation: ActorActivation & { readonly queue: OutsideQueue },
  send: Send,
  from: CallOrigin = {},
): Promise<AcceptedMessage> {
  const given = own(send);
  checkOperation(activation.actor, { kind: "send", ...send }, activation.ports.log, activation.record.workflow);
  const timeoutMs = readTimeout(given.timeoutMs, MAX_SEND_WAIT_MS);
  const canPublish = activation.queue.canPublish(send.queue);
  if (canPublish) {
    const call = {
      name: "canPublish",
      timeoutMs: activation.actor.options.actionTimeout,
      about: contextOf(from),
      commit: "must",
    } as const;
    const isAllowed = await callHook(activation, canPublish, call);
    if (!isAllowed) throw new ActorError("auth", "forbidden", `You may not publish to queue "${send.queue}"`);
  }
  const ms = timeoutMs ?? Math.min(activation.actor.options.actionTimeout, MAX_SEND_WAIT_MS);
  const chain = ownField(from, "chain") ?? [];
  if (given.wait) checkCycle(activation, send.queue, chain);
  const isAttached = attachedMs(send) !== undefined;
  const wait = given.wait ? { ms, isAttached, ...(isToken(given.token) && { token: given.token }), chain } : undefined;
  const message = await activation.sendMessage(send.queue, decodeValue(send.body), wait);
  return { id: message.id, createdAt: message.createdAt, waitMs: wait?.ms ?? 0 };
}

/**
 * Keeps the call of an attached send until the message is completed, or the call has waited long enough. Returns at once
 * if the sender is not attached.
 * @throws as `awaitReply`
 */
export async function answerAttached(
  activation: Pick<ActorActivation, "queue" | "record">,
  send: Send,
  accepted: AcceptedMessage,
): Promise<AcceptedMessage> {
  const attachMs = attachedMs(send);
  if (attachMs === undefined) return accepted;
  const { id: messageId, createdAt, waitMs } = accepted;
  const result = await awaitReply(activation, { messageId, createdAt, timeoutMs: Math.min(waitMs, attachMs) });
  const isOver = result.status === "completed" || waitMs <= attachMs;
  return isOver ? { ...accepted, result } : { ...accepted, leftMs: waitMs - attachMs };
}

/**
 * The message that the send with this token has stored, or whose reply is kept. Undefined if there is none, or none any
 * more.
 */
export function findAccepted(
  { queue, ports }: Pick<ActorActivation, "queue" | "ports">,
  token: unknown,
): AcceptedMessage | undefined {
  const found = isToken(token) ? queue.findSent(token) : undefined;
  return found && { id: found.id, createdAt: found.createdAt, waitMs: Math.max(0, found.waitUntil - ports.now()) };
}

/** The wait in an envelope. */
type StoredWait = Omit<Extract<CallOperation, { readonly kind: "wait" }>, "kind">;

/**
 * Waits until a stored message is completed.
 * @throws {actor/destroyed} when the actor is destroyed first
 * @throws {actor/restarting} when only this activation ends first
 */
export async function awaitReply(
  activation: Pick<ActorActivation, "queue" | "record">,
  wait: StoredWait,
): Promise<ReplyResult> {
  const timeoutMs = readTimeout(wait.timeoutMs, MAX_SEND_WAIT_MS) ?? 0;
  try {
    return await activation.queue.awaitReply(replyWaitOf(wait), timeoutMs);
  } catch (error) {
    if (activation.record.destroyed) throw destroyed();
    throw error;
  }
}

/** The awaited message, for a wait through a socket. @throws {actor/invalid_request} when there is no token */
export function socketWaitOf(wait: StoredWait): ReplyWait & { readonly token: string } {
  const { token } = own(wait);
  if (!isToken(token))
    throw new ActorError("actor", "invalid_request", "A wait through a socket must have the token of its send");
  return { ...replyWaitOf(wait), token };
}

function replyWaitOf(wait: StoredWait): ReplyWait {
  const { messageId: id, createdAt, token } = own(wait);
  return { id, createdAt, ...(isToken(token) && { token }) };
}

/** How long the call of a send waits for the reply, in ms. Undefined if it does not. */
function attachedMs(send: Send): number | undefined {
  const { wait, attachMs } = own(send);
  return wait ? readTimeout(attachMs, MAX_SEND_WAIT_MS) : undefined;
}

function isToken(token: unknown): token is string {
  return typeof token === "string" && TOKEN.test(token);
}

interface OutsideQueue {
  canPublish(name: string): ((c: unknown) => unknown) | undefined;
}

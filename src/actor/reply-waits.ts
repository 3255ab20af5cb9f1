/**
 * Who waits for a message to be completed, and replies that were given while nobody did.
 *
 * Owns: the waits in memory, the rows of kept replies. Does not own: the messages (message-queue.ts).
 */
import type { ActorActivation } from "./activation.js";
import { aborted } from "./message-receivers.js";
import type { ReplyResult } from "./queue-types.js";

/** Where replies are kept in the table of deadlines. */
const REPLIES = "reply/";

/** A reply that was given while its sender was away, kept until the sender's wait is over. */
interface KeptReply {
  readonly at: number;
  readonly createdAt: number;
  readonly reply: Uint8Array | undefined;
  readonly [field: string]: unknown;
}

export class ReplyWaits {
  readonly #activation: ActorActivation;
  readonly #waiters = new Map<number, (reply: Uint8Array | undefined) => void>();

  constructor(activation: ActorActivation) {
    this.#activation = activation;
  }

  /** Which messages have a kept reply. */
  *keptFor(): IterableIterator<{ readonly id: number; readonly createdAt: number }> {
    for (const [id, row] of this.#activation.deadlines()) {
      if (id.startsWith(REPLIES)) yield { id: Number(id.slice(REPLIES.length)), createdAt: (row as KeptReply).createdAt };
    }
  }

  /** A message was completed: whoever waits is told with the next commit, or finds the reply until `waitUntil`. */
  give(message: { readonly id: number; readonly createdAt: number }, waitUntil: number | undefined, reply: Uint8Array | undefined): void {
    const waiter = this.#waiters.get(message.id);
    if (waiter) {
      this.#waiters.delete(message.id);
      waiter(reply);
    } else if (waitUntil !== undefined && waitUntil > this.#activation.ports.now()) {
      const kept: KeptReply = { at: waitUntil, createdAt: message.createdAt, reply };
      this.#activation.setDeadline(replyId(message.id), kept);
    }
  }

  /** Takes a reply that was kept. */
  takeKept(id: number, createdAt: number): ReplyResult | undefined {
    const kept = this.#activation.deadline(replyId(id)) as KeptReply | undefined;
    if (kept?.createdAt !== createdAt) return undefined;
    this.#activation.clearDeadline(replyId(id));
    return { status: "completed", reply: kept.reply };
  }

  /** @throws actor/aborted when the signal fires, and why the activation ends */
  wait(id: number, timeoutMs: number, signal?: AbortSignal): Promise<ReplyResult> {
    const { timers, ports, abortSignal } = this.#activation;
    return new Promise((resolve, reject) => {
      const onEnd = (): void => {
        stop();
        reject(abortSignal.reason);
      };
      const onAbort = (): void => {
        stop();
        reject(aborted());
      };
      const timer = {
        at: ports.now() + timeoutMs,
        fire: (): void => {
          stop();
          resolve({ status: "timedOut" });
        },
      };
      const stop = (): void => {
        if (this.#waiters.get(id) === waiter) this.#waiters.delete(id);
        timers.remove(timer);
        abortSignal.removeEventListener("abort", onEnd);
        signal?.removeEventListener("abort", onAbort);
      };
      const waiter = (reply: Uint8Array | undefined): void => {
        stop();
        resolve({ status: "completed", reply });
      };
      this.#waiters.set(id, waiter);
      timers.add(timer);
      abortSignal.addEventListener("abort", onEnd, { once: true });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Replies whose sender's wait is over are forgotten. */
  expire(now: number): void {
    for (const [id, row] of this.#activation.deadlines()) {
      if (id.startsWith(REPLIES) && row.at <= now) this.#activation.clearDeadline(id);
    }
  }
}

function replyId(id: number): string {
  return REPLIES + id;
}

/**
 * Who waits for a message to be completed, and replies that were given while nobody did.
 *
 * Owns: the waits in memory, the rows of kept replies. Does not own: the messages (message-queue.ts).
 */
import { encodeValue } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import { throwAborted } from "./message-receivers.js";
import type { KnownMessage } from "./message-table.js";
import type { Socket } from "../ports.js";
import type { ReplyResult } from "../activation/actor-queue.js";
import { abortedBy, wait } from "../activation/wait.js";

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

  /** Replies that the next commit holds. */
  readonly #leaving: (() => void)[] = [];

  constructor(activation: ActorActivation) {
    this.#activation = activation;
  }

  /** Which messages have a kept reply. */
  *keptFor(): IterableIterator<{ readonly id: number; readonly createdAt: number }> {
    for (const [id, row] of this.#activation.deadlines()) {
      if (id.startsWith(REPLIES))
        yield { id: Number(id.slice(REPLIES.length)), createdAt: (row as KeptReply).createdAt };
    }
  }

  /** A message was completed: whoever waits is told once that is committed, or finds the reply until the end of its wait. */
  give(id: number, { createdAt, waitUntil, token }: KnownMessage, reply: Uint8Array | undefined): void {
    const waiter = this.#waiters.get(id);
    const sockets = token === undefined ? [] : [...this.#activation.ports.replySockets(token)];
    if (waiter) {
      this.#waiters.delete(id);
      waiter(reply);
    } else if (sockets.length > 0) {
      this.#leaving.push(() => sockets.forEach((socket) => sendReply(socket, { status: "completed", reply })));
    } else if (waitUntil !== undefined && waitUntil > this.#activation.ports.now()) {
      const kept: KeptReply = { at: waitUntil, createdAt, reply };
      this.#activation.setDeadline(replyId(id), kept);
    }
  }

  /** A commit is made: what was given before it leaves through the sockets that wait. */
  committed(): void {
    for (const send of this.#leaving.splice(0)) send();
  }

  /** Takes a reply that was kept. */
  takeKept(id: number, createdAt: number): ReplyResult | undefined {
    const kept = this.#activation.deadline(replyId(id)) as KeptReply | undefined;
    if (kept?.createdAt !== createdAt) return undefined;
    this.#activation.clearDeadline(replyId(id));
    return { status: "completed", reply: kept.reply };
  }

  /** @throws actor/aborted when a signal fires, and why the activation ends */
  wait(id: number, timeoutMs: number, signals: readonly AbortSignal[]): Promise<ReplyResult> {
    const { timers, ports, abortSignal } = this.#activation;
    const deadline = { at: ports.now() + timeoutMs, outcome: (): ReplyResult => ({ status: "timedOut" }) };
    const aborts = [abortedBy(abortSignal), ...signals.map((signal) => ({ signal, outcome: throwAborted }))];
    return wait(timers, { deadline, aborts }, ({ resolve }) => {
      const waiter = (reply: Uint8Array | undefined): void => resolve({ status: "completed", reply });
      this.#waiters.set(id, waiter);
      return () => {
        if (this.#waiters.get(id) === waiter) this.#waiters.delete(id);
      };
    });
  }

  /** Replies whose sender's wait is over are forgotten. */
  expire(now: number): void {
    for (const [id, row] of this.#activation.deadlines()) {
      if (id.startsWith(REPLIES) && row.at <= now) this.#activation.clearDeadline(id);
    }
  }
}

/** The one frame of a waiting sender's socket, and its end. */
export function sendReply(socket: Socket, { status, ...rest }: ReplyResult): void {
  const reply = "reply" in rest ? rest.reply : undefined;
  socket.send(encodeValue({ status, ...(reply !== undefined && { reply }) }));
  socket.close(1000, "");
}

function replyId(id: number): string {
  return REPLIES + id;
}

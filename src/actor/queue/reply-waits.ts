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
import type { DeadlineRows, KeptReply } from "../storage/deadlines.js";
import type { ReplyResult } from "../activation/actor-queue.js";
import { abortedBy, wait } from "../activation/wait.js";

export class ReplyWaits {
  readonly #activation: ActorActivation;
  readonly #kept: DeadlineRows<KeptReply>;
  readonly #waiters = new Map<number, (reply: Uint8Array | undefined) => void>();

  /** Replies that the next commit holds. */
  readonly #leaving: (() => void)[] = [];

  constructor(activation: ActorActivation) {
    this.#activation = activation;
    this.#kept = activation.deadlines.replies;
  }

  /** Which messages have a kept reply. */
  *keptFor(): IterableIterator<{ readonly id: number; readonly createdAt: number }> {
    for (const [id, { createdAt }] of this.#kept.all()) yield { id: Number(id), createdAt };
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
      this.#kept.put(String(id), { at: waitUntil, createdAt, reply });
    }
  }

  /** A commit is made: what was given before it leaves through the sockets that wait. */
  committed(): void {
    for (const send of this.#leaving.splice(0)) send();
  }

  /** Takes a reply that was kept. */
  takeKept(id: number, createdAt: number): ReplyResult | undefined {
    const kept = this.#kept.get(String(id));
    if (kept?.createdAt !== createdAt) return undefined;
    this.#kept.delete(String(id));
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
    for (const [id, { at }] of this.#kept.all()) if (at <= now) this.#kept.delete(id);
  }
}

/** The one frame of a waiting sender's socket, and its end. */
export function sendReply(socket: Socket, { status, ...rest }: ReplyResult): void {
  const reply = "reply" in rest ? rest.reply : undefined;
  socket.send(encodeValue({ status, ...(reply !== undefined && { reply }) }));
  socket.close(1000, "");
}

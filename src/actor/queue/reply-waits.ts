/**
 * Senders that wait for a reply, and replies kept for senders that were not waiting at that moment.
 *
 * Owns: the waits in memory, the rows of kept replies. Does not own: the messages (message-queue.ts).
 */
import { encodeValue } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import { throwAborted } from "./message-receivers.js";
import type { KnownMessage } from "./message-table.js";
import type { Socket } from "../ports.js";
import type { DeadlineRows, KeptReply } from "../storage/deadlines.js";
import type { ReplyResult, FoundMessage } from "../activation/actor-queue.js";
import { abortedBy, wait } from "../activation/wait.js";

export const TIMED_OUT: ReplyResult = { status: "timedOut" };

/** What waits for replies need from their actor. */
export type ReplyHost = Pick<ActorActivation, "ports" | "timers" | "abortSignal" | "deadlines">;

export class ReplyWaits {
  readonly #activation: ReplyHost;
  readonly #rows: DeadlineRows<KeptReply>;
  readonly #waiters = new Map<number, (result: ReplyResult) => void>();
  /** Messages whose senders are about to wait in memory, with the replies that came before they did. */
  readonly #attached = new Map<number, ReplyResult | undefined>();
  /** Replies to send after the next commit. */
  readonly #leaving: (() => void)[] = [];

  constructor(activation: ReplyHost) {
    this.#activation = activation;
    this.#rows = activation.deadlines.replies;
  }

  /** The messages that have a kept reply. */
  *kept(): IterableIterator<{ readonly id: number; readonly createdAt: number }> {
    for (const [id, { createdAt }] of this.#rows.all()) yield { id: Number(id), createdAt };
  }

  /** Call when a message is added whose sender will `wait` here: from now on its reply needs no row. */
  attach(id: number): void {
    this.#attached.set(id, undefined);
  }

  /** Ends what `attach` began, as the sender waits now: with the reply if it came already. Undefined if it has not attached. */
  takeAttached(id: number): { readonly early: ReplyResult | undefined } | undefined {
    const early = this.#attached.get(id);
    return this.#attached.delete(id) ? { early } : undefined;
  }

  /**
   * Delivers a reply to its sender: after the next commit to a wait in memory or a socket, or with it to a row until its
   * timeout.
   */
  deliver(id: number, { createdAt, waitUntil, token }: KnownMessage, reply: Uint8Array | undefined): void {
    const result: ReplyResult = { status: "completed", reply };
    const waiter = this.#waiters.get(id);
    const sockets = token === undefined ? [] : [...this.#activation.ports.replySockets(token)];
    if (waiter) {
      this.#waiters.delete(id);
      this.#leaving.push(() => waiter(result));
    } else if (this.#attached.has(id)) {
      this.#leaving.push(() => this.#attached.set(id, result));
    } else if (sockets.length > 0) {
      this.#leaving.push(() => sockets.forEach((socket) => sendReply(socket, result)));
    } else if (waitUntil !== undefined && waitUntil > this.#activation.ports.now()) {
      this.#rows.put(String(id), { at: waitUntil, createdAt, reply, ...(token !== undefined && { token }) });
    }
  }

  /** Call after a commit: sends the replies that waited for it. */
  committed(): void {
    if (this.#leaving.length > 0) for (const send of this.#leaving.splice(0)) send();
  }

  /** Returns a kept reply and deletes it. */
  takeKept(id: number, createdAt: number): ReplyResult | undefined {
    const kept = this.#rows.get(String(id));
    if (kept?.createdAt !== createdAt) return undefined;
    this.#rows.delete(String(id));
    return { status: "completed", reply: kept.reply };
  }

  /** The message of a kept reply whose sender has this token. */
  findKept(token: string): FoundMessage | undefined {
    const found = this.#rows.all().find(([, row]) => row.token === token);
    return found && { id: Number(found[0]), createdAt: found[1].createdAt, waitUntil: found[1].at };
  }

  /** @throws {actor/aborted} when a signal fires; the reason of the end when the activation ends */
  wait(id: number, timeoutMs: number, signals: readonly AbortSignal[]): Promise<ReplyResult> {
    const { timers, ports, abortSignal } = this.#activation;
    const deadline = { at: ports.now() + timeoutMs, outcome: () => TIMED_OUT };
    const aborts = [abortedBy(abortSignal), ...signals.map((signal) => ({ signal, outcome: throwAborted }))];
    return wait<ReplyResult>(timers, { deadline, aborts }, ({ resolve }) => {
      this.#waiters.set(id, resolve);
      return () => {
        if (this.#waiters.get(id) === resolve) this.#waiters.delete(id);
      };
    });
  }

  /** Deletes replies whose sender's timeout has passed. */
  expire(now: number): void {
    for (const [id, { at }] of this.#rows.all()) if (at <= now) this.#rows.delete(id);
  }
}

/** Sends the result to a waiting sender's socket and closes it. */
export function sendReply(socket: Socket, { status, ...rest }: ReplyResult): void {
  const reply = "reply" in rest ? rest.reply : undefined;
  socket.send(encodeValue({ status, ...(reply !== undefined && { reply }) }));
  socket.close(1000, "");
}

/**
 * The stored messages, and what must be known of each without reading its row.
 *
 * Owns: which messages are visible or held, their order, number and size, and the last id used. Does not own: the steps
 * of a message (message-queue.ts), which loads this table on first use: an actor woken only to be destroyed reads no
 * message.
 */
import { own } from "../../protocol/index.js";
import type { StoredMessage } from "../../workflow/index.js";
import type { FoundMessage } from "../activation/actor-queue.js";
import { MessageIndex } from "./message-index.js";

/** What memory keeps of a stored message. */
export interface KnownMessage {
  readonly name: string;
  readonly createdAt: number;
  readonly waitUntil: number | undefined;
  readonly token: string | undefined;
  /** Bytes of the body. */
  readonly size: number;
}

export class MessageTable {
  readonly visible = new MessageIndex();
  readonly held = new Map<number, string>();
  readonly #messages = new Map<number, KnownMessage>();
  #sizeBytes = 0;
  #lastId = 0;
  #lastCreatedAt = 0;

  get count(): number {
    return this.#messages.size;
  }

  /** Bytes of all bodies. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get nextId(): number {
    return this.#lastId + 1;
  }

  get lastCreatedAt(): number {
    return this.#lastCreatedAt;
  }

  get(id: number): KnownMessage | undefined {
    return this.#messages.get(id);
  }

  /** The message whose sender has this token. */
  find(token: string): FoundMessage | undefined {
    for (const [id, known] of this.#messages) {
      const { createdAt, waitUntil } = known;
      if (known.token === token && waitUntil !== undefined) return { id, createdAt, waitUntil };
    }
    return undefined;
  }

  /** Takes over messages that an earlier activation stored, in any order. */
  load(messages: readonly (KnownMessage & { readonly id: number })[], held: ReadonlySet<number>): void {
    for (const { id, ...known } of messages.toSorted((a, b) => a.id - b.id)) this.#add(id, known, held.has(id));
  }

  add(message: StoredMessage): void {
    const { id, name, createdAt, waitUntil, token, body } = own(message);
    this.#add(id, { name, createdAt, waitUntil, token, size: body.byteLength }, false);
  }

  delete(id: number): void {
    this.visible.delete(id);
    this.held.delete(id);
    this.#sizeBytes -= this.#messages.get(id)?.size ?? 0;
    this.#messages.delete(id);
  }

  hold(id: number, name: string): void {
    this.visible.delete(id);
    this.held.set(id, name);
  }

  /** Makes a held message visible. Returns false if it was not held. */
  release(id: number): boolean {
    const name = this.held.get(id);
    if (name === undefined) return false;
    this.held.delete(id);
    this.visible.add(id, name);
    return true;
  }

  /** Notes an id and a time in use: no later message may have a lower one, or the same id. */
  markUsed(id: number, createdAt: number): void {
    this.#lastId = Math.max(this.#lastId, id);
    this.#lastCreatedAt = Math.max(this.#lastCreatedAt, createdAt);
  }

  #add(id: number, known: KnownMessage, held: boolean): void {
    this.#sizeBytes += known.size - (this.#messages.get(id)?.size ?? 0);
    this.#messages.set(id, known);
    this.markUsed(id, known.createdAt);
    if (held) this.held.set(id, known.name);
    else this.visible.add(id, known.name);
  }
}

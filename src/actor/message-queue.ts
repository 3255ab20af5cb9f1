/**
 * The actor's queue: one ordered log over all queue names (`spec/api.md` C).
 *
 * Owns: which messages are stored, visible or held; who waits for one outside of the workflow; who waits for a reply.
 * Invariants: a message is in exactly one place (queue, held by an open entry, consumed); taking one and what records
 * it are one commit (C3); an answer is given only after the commit that deletes the message.
 */
import { ActorError, decodeValue, encodeValue, MAX_VALUE_BYTES } from "../protocol/index.js";
import { heldMessages, takenMessages, type MessageFilter, type MessagePort, type StoredMessage } from "../workflow/index.js";
import type { ActorActivation } from "./activation.js";
import type { QueueDeclaration, StandardSchema } from "./declarations.js";
import { MessageIndex } from "./message-index.js";
import { aborted } from "./message-receivers.js";
import { KEYS } from "./record.js";
import type { ActorQueue, ReplyResult } from "./queue-types.js";
import { isStandardSchema, validate } from "./validate.js";

/** Where replies are kept in the table of deadlines. */
const REPLIES = "reply/";
/** What one entry, or one answer, can hold of messages. */
const MAX_TAKEN_BYTES = 1_900_000;
/** What a message takes in an entry beside its name and body, at most. */
const MESSAGE_OVERHEAD_BYTES = 100;
/** Longest name of a queue, in UTF-16 units. */
const MAX_QUEUE_NAME = 1_024;

/** A reply that was given while its sender was away, kept until the sender's wait is over. */
interface KeptReply {
  readonly at: number;
  readonly createdAt: number;
  readonly reply: Uint8Array | undefined;
  readonly [field: string]: unknown;
}

type Row = readonly [name: string, body: Uint8Array, createdAt: number, waitUntil: number | null];

export class MessageQueue implements MessagePort, ActorQueue {
  readonly #activation: ActorActivation;
  readonly #visible = new MessageIndex();
  readonly #held = new Map<number, string>();
  readonly #createdAt = new Map<number, number>();
  readonly #waitUntil = new Map<number, number>();
  readonly #replyWaiters = new Map<number, (reply: Uint8Array | undefined) => void>();
  #lastId = 0;
  #lastCreatedAt = 0;

  constructor(activation: ActorActivation, rows: Iterable<readonly [string, Uint8Array]>) {
    this.#activation = activation;
    const messages = [...rows].map(([key, bytes]) => ({ id: Number(key.slice(KEYS.messages.length)), row: decodeValue(bytes) as Row }));
    const status = activation.record.workflow?.status;
    const held = new Set<number>();
    for (const entry of activation.history.entries()) {
      if (entry.kind !== "message") continue;
      for (const message of takenMessages(entry)) this.#passed(message.id, message.createdAt);
      // A workflow that has ended holds nothing any more, whatever its history says (decision 19).
      if (status !== "running" && status !== "rolling_back") continue;
      for (const message of heldMessages(entry)) held.add(message.id);
    }
    for (const [id, row] of activation.deadlines()) {
      if (id.startsWith(REPLIES)) this.#passed(Number(id.slice(REPLIES.length)), (row as KeptReply).createdAt);
    }
    for (const { id, row } of messages.sort((a, b) => a.id - b.id)) this.#note(id, row, held.has(id));
  }

  get size(): number {
    return this.#createdAt.size;
  }

  // ---- sending -----------------------------------------------------------------------------------------------------

  /** Checks a message before anything is written. @throws queue/full, queue/message_too_large, actor/validation_error */
  async prepare(name: string, body: unknown): Promise<Uint8Array> {
    checkQueueName(name);
    const { message } = this.#declaration(name);
    const valid = await validate(message, body, `queue \`${name}\` message`);
    const bytes = encodeValue(valid, { what: "body" });
    checkMessageSize(bytes.byteLength, this.#activation.actor.options.maxQueueMessageSize);
    return bytes;
  }

  /** @throws queue/full unless that many messages more may be stored */
  checkRoom(count: number): void {
    const limit = this.#activation.actor.options.maxQueueSize;
    if (this.size + count <= limit) return;
    throw new ActorError("queue", "full", `Queue is full. Limit is ${limit} messages.`, { metadata: { limit } });
  }

  /** Adds a prepared message to the dirty set. `waitMs`: its sender waits that long for a reply. @throws queue/full */
  add(name: string, body: Uint8Array, waitMs?: number): StoredMessage {
    this.checkRoom(1);
    const now = this.#activation.ports.now();
    const createdAt = Math.max(now, this.#lastCreatedAt);
    const message = { id: this.#lastId + 1, name, body, createdAt, ...(waitMs === undefined ? {} : { waitUntil: now + waitMs }) };
    this.#put(message);
    return message;
  }

  canPublish(name: string): ((c: unknown) => unknown) | undefined {
    return this.#declaration(name).canPublish;
  }

  // ---- receiving ---------------------------------------------------------------------------------------------------

  firstAt(filter: MessageFilter): number | undefined {
    for (const id of this.#visible.matching(filter.names)) {
      const createdAt = this.#createdAt.get(id) ?? 0;
      return createdAt <= filter.notAfter ? createdAt : undefined;
    }
    return undefined;
  }

  take(filter: MessageFilter): StoredMessage[] {
    const taken = this.peek(filter);
    for (const message of taken) {
      if (filter.hold) this.#hold(message);
      else this.#consume(message.id);
    }
    return taken;
  }

  peek(filter: MessageFilter): StoredMessage[] {
    const found: StoredMessage[] = [];
    let bytes = 0;
    for (const id of this.#limited(filter)) {
      const message = this.#read(id);
      bytes += message.body.byteLength + message.name.length * 3 + MESSAGE_OVERHEAD_BYTES;
      if (found.length > 0 && bytes > MAX_TAKEN_BYTES) break;
      found.push(message);
    }
    return found;
  }

  putBack(messages: readonly StoredMessage[], held: boolean): void {
    for (const message of messages) {
      if (!held) this.#put(message);
      else if (this.#held.delete(message.id)) this.#visible.add(message.id, message.name);
    }
  }

  /** The workflow has ended: what it holds uncompleted is visible again (decision 19). */
  releaseHeld(): void {
    for (const [id, name] of this.#held) this.#visible.add(id, name);
    this.#held.clear();
  }

  /** A workflow that had ended goes on: what is still there of the messages that it holds is its own again. */
  holdAgain(messages: readonly StoredMessage[]): void {
    for (const message of messages) if (this.#createdAt.get(message.id) === message.createdAt) this.#hold(message);
  }

  heldAmong(names: readonly string[] | undefined): string | undefined {
    for (const name of this.#held.values()) if (!names || names.includes(name)) return name;
    return undefined;
  }

  // ---- completing --------------------------------------------------------------------------------------------------

  async encodeReply(message: StoredMessage, response: unknown): Promise<Uint8Array | undefined> {
    const { complete } = this.#declaration(message.name);
    const valid = await validate(complete, response, `queue \`${message.name}\` completion response`);
    return valid === undefined ? undefined : encodeValue(valid, { what: "response" });
  }

  complete(message: StoredMessage, reply: Uint8Array | undefined): void {
    if (!this.#createdAt.has(message.id)) throw new ActorError("queue", "already_completed", "Queue message already completed");
    const waitUntil = this.#waitUntil.get(message.id);
    this.#consume(message.id);
    const waiter = this.#replyWaiters.get(message.id);
    if (waiter) {
      this.#replyWaiters.delete(message.id);
      waiter(reply);
    } else if (waitUntil !== undefined && waitUntil > this.#activation.ports.now()) {
      const kept: KeptReply = { at: waitUntil, createdAt: message.createdAt, reply };
      this.#activation.setDeadline(replyId(message.id), kept);
    }
  }

  /**
   * Waits for a message to be completed, also if it was while nobody waited. The message stays queued when the time is
   * over; `createdAt` tells two messages of one id apart.
   */
  awaitReply(id: number, createdAt: number, timeoutMs: number, signal?: AbortSignal): Promise<ReplyResult> {
    if (signal?.aborted) return Promise.reject(aborted());
    const kept = this.#activation.deadline(replyId(id)) as KeptReply | undefined;
    if (kept && kept.createdAt === createdAt) {
      this.#activation.clearDeadline(replyId(id));
      return Promise.resolve({ status: "completed", reply: kept.reply });
    }
    if (this.#createdAt.get(id) !== createdAt || timeoutMs <= 0) return Promise.resolve({ status: "timedOut" });
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
        if (this.#replyWaiters.get(id) === waiter) this.#replyWaiters.delete(id);
        timers.remove(timer);
        abortSignal.removeEventListener("abort", onEnd);
        signal?.removeEventListener("abort", onAbort);
      };
      const waiter = (reply: Uint8Array | undefined): void => {
        stop();
        resolve({ status: "completed", reply });
      };
      this.#replyWaiters.set(id, waiter);
      timers.add(timer);
      abortSignal.addEventListener("abort", onEnd, { once: true });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Replies whose sender's wait is over are forgotten. */
  expireReplies(now: number): void {
    for (const [id, row] of this.#activation.deadlines()) {
      if (id.startsWith(REPLIES) && row.at <= now) this.#activation.clearDeadline(id);
    }
  }

  // ---- rows --------------------------------------------------------------------------------------------------------

  *#limited(filter: MessageFilter): IterableIterator<number> {
    let count = 0;
    for (const id of this.#visible.matching(filter.names)) {
      if (count >= filter.count || (this.#createdAt.get(id) ?? 0) > filter.notAfter) return;
      count += 1;
      yield id;
    }
  }

  #read(id: number): StoredMessage {
    const bytes = this.#activation.read(KEYS.message(id));
    if (!bytes) throw new ActorError("storage", "corrupt", `Message ${id} is in the queue's index but not stored`);
    const [name, body, createdAt, waitUntil] = decodeValue(bytes) as Row;
    return { id, name, body, createdAt, ...(waitUntil === null ? {} : { waitUntil }) };
  }

  #put(message: StoredMessage): void {
    const row: Row = [message.name, message.body, message.createdAt, message.waitUntil ?? null];
    this.#activation.put(KEYS.message(message.id), () => encodeValue(row, { what: "message", limitBytes: MAX_VALUE_BYTES + 90_000 }));
    this.#note(message.id, row, false);
  }

  #note(id: number, [name, , createdAt, waitUntil]: Row, held: boolean): void {
    this.#createdAt.set(id, createdAt);
    if (waitUntil !== null) this.#waitUntil.set(id, waitUntil);
    this.#passed(id, createdAt);
    if (held) this.#held.set(id, name);
    else this.#visible.add(id, name);
  }

  /** An id that was given must not be given again while anything knows it, and time does not go back. */
  #passed(id: number, createdAt: number): void {
    this.#lastId = Math.max(this.#lastId, id);
    this.#lastCreatedAt = Math.max(this.#lastCreatedAt, createdAt);
  }

  #hold(message: StoredMessage): void {
    this.#visible.delete(message.id);
    this.#held.set(message.id, message.name);
  }

  #consume(id: number): void {
    this.#visible.delete(id);
    this.#held.delete(id);
    this.#createdAt.delete(id);
    this.#waitUntil.delete(id);
    this.#activation.delete(KEYS.message(id));
  }

  #declaration(name: string): { message?: StandardSchema; complete?: StandardSchema; canPublish?: (c: unknown) => unknown } {
    const declared = this.#activation.actor.config.queues as Record<string, QueueDeclaration | StandardSchema> | undefined;
    const declaration = declared && Object.hasOwn(declared, name) ? declared[name] : undefined;
    if (!declaration) return {};
    return isStandardSchema(declaration) ? { message: declaration } : (declaration as { message?: StandardSchema });
  }
}

/** @throws queue/invalid_payload */
export function checkQueueName(name: unknown): void {
  if (typeof name === "string" && name.length <= MAX_QUEUE_NAME) return;
  throw new ActorError("queue", "invalid_payload", `A queue's name is a string of at most ${MAX_QUEUE_NAME} characters`);
}

/** @throws queue/invalid_payload */
export function checkTimeout(timeoutMs: unknown): void {
  if (timeoutMs === undefined || (typeof timeoutMs === "number" && Number.isFinite(timeoutMs))) return;
  throw new ActorError("queue", "invalid_payload", "A wait in a queue needs a timeout in ms that is a finite number");
}

/** @throws queue/message_too_large */
export function checkMessageSize(sizeBytes: number, limitBytes: number): void {
  if (sizeBytes <= limitBytes) return;
  const message = `Queue message of ${sizeBytes} bytes is larger than the limit of ${limitBytes}`;
  throw new ActorError("queue", "message_too_large", message, { metadata: { sizeBytes, limitBytes } });
}

function replyId(id: number): string {
  return REPLIES + id;
}

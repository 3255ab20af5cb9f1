/**
 * The actor's queue: one ordered log over all queue names.
 *
 * Owns: the steps of a message from `send` to `complete`, and the limits. Does not own: which messages exist
 * (message-table.ts), senders that wait for a reply (reply-waits.ts), receives outside the workflow
 * (message-receivers.ts). Invariants:
 *  1. A message is in exactly one place: in the queue, held by an open entry, or consumed.
 *  2. Taking a message and recording it are one commit (MSG-1).
 *  3. A reply leaves only after the commit that deletes the message.
 */
import { ActorError, encodeValue, own } from "../../protocol/index.js";
import type { MessageFilter, MessagePort, StoredMessage } from "../../workflow/index.js";
import type { ActorActivation } from "../activation/activation.js";
import type { Chain } from "../activation/call-chain.js";
import type { QueueDeclaration, StandardSchema } from "../api/declarations.js";
import { aborted } from "./message-receivers.js";
import { decodeMessage, encodeMessage } from "./message-row.js";
import { checkMessageSize, checkQueueName } from "./queue-input.js";
import { MessageTable } from "./message-table.js";
import type { Socket } from "../ports.js";
import { KEYS } from "../storage/record.js";
import { ReplyWaits, sendReply, TIMED_OUT, type ReplyHost } from "./reply-waits.js";
import { isInFlight } from "../activation/workflow-outcome.js";
import type { TakenMessage } from "../activation/part-members.js";
import type { ActorQueue, ReplyResult, ReplyWait, SenderWait, FoundMessage } from "../activation/actor-queue.js";
import { isStandardSchema, validate, whenThere } from "../definition/standard-schema.js";

/** The most bytes of messages in one workflow entry or one result. */
const MAX_TAKEN_BYTES = 1_900_000;
/** The most bytes that a message takes in an entry apart from its name and body. */
const MESSAGE_OVERHEAD_BYTES = 100;

/** What the queue needs from its actor. */
interface QueueHost
  extends ReplyHost, Pick<ActorActivation, "actor" | "record" | "parts" | "isReady" | "read" | "put" | "delete"> {
  commitOrThrow(): void;
  /** Adds a row that is not stored to the dirty set: nothing is written if it is deleted before the commit. */
  putNew(key: string, encode: () => Uint8Array<ArrayBuffer>): void;
  /** False once a later activation has begun. */
  readonly isCurrent: boolean;
  /** The stored rows under a prefix. Reads a few at a time. */
  storedRows(prefix: string): Iterable<readonly [key: string, bytes: Uint8Array]>;
}

export class MessageQueue implements MessagePort, ActorQueue {
  readonly #activation: QueueHost;
  readonly #replies: ReplyWaits;
  #loaded: MessageTable | undefined;
  /** Messages that no commit has written yet, so that taking one decodes nothing. */
  readonly #added = new Map<number, StoredMessage>();
  #isStaged = false;

  constructor(activation: QueueHost) {
    this.#activation = activation;
    this.#replies = new ReplyWaits(activation);
  }

  get size(): number {
    return this.#table.count;
  }

  /** Loaded on first use. */
  get #table(): MessageTable {
    return (this.#loaded ??= this.#load());
  }

  #load(): MessageTable {
    const table = new MessageTable();
    // Code of an ended activation sees an empty queue and changes nothing.
    if (!this.#activation.isCurrent) return table;
    const held = new Set<number>();
    // An ended workflow holds no messages, whatever its history says (MSG-5).
    const holds = isInFlight(this.#activation.record.workflow);
    for (const { id, createdAt, isHeld } of this.#activation.parts.takenMessages()) {
      table.markUsed(id, createdAt);
      if (holds && isHeld) held.add(id);
    }
    for (const { id, createdAt } of this.#replies.kept()) table.markUsed(id, createdAt);
    const known = [];
    for (const [key, bytes] of this.#activation.storedRows(KEYS.messages)) {
      const { id, name, createdAt, waitUntil, token, body } = decodeMessage(
        Number(key.slice(KEYS.messages.length)),
        bytes,
      );
      known.push({ id, name, createdAt, waitUntil, token, size: body.byteLength });
    }
    table.load(known, held);
    return table;
  }

  // ---- sending -----------------------------------------------------------------------------------------------------

  /**
   * Validates and encodes a message; writes nothing. Synchronous unless the validator is asynchronous, so that a `send`
   * that nobody awaits belongs to the turn of its call.
   * @throws {queue/message_too_large} when the body is larger than `maxQueueMessageSize`
   * @throws {actor/validation_error} when the queue's schema rejects the body
   */
  prepare(name: string, body: unknown): Uint8Array | Promise<Uint8Array> {
    checkQueueName(name);
    const { message } = this.#declaration(name);
    return whenThere(validate(message, body, `queue \`${name}\` message`), (valid) => {
      const bytes = encodeValue(valid, { what: "body" });
      checkMessageSize(bytes.byteLength, this.#activation.actor.options.maxQueueMessageSize);
      return bytes;
    });
  }

  /**
   * Checks that these bodies fit into the queue. In hooks of the start it only logs a warning, so that a full actor can
   * start and drain its queue.
   * @throws {queue/full} when they do not fit
   */
  checkRoom(bodies: readonly Uint8Array[]): void {
    try {
      this.requireRoom(bodies);
    } catch (full) {
      if (this.#activation.isReady) throw full;
      this.#activation.ports.log.warn({
        msg: "A hook of the start sent to a full queue; its message is stored all the same",
        error: (full as ActorError).message,
      });
    }
  }

  /** The same, also before the actor has started. @throws {queue/full} when they do not fit */
  requireRoom(bodies: readonly Uint8Array[]): void {
    const { maxQueueSize, maxQueueBytes } = this.#activation.actor.options;
    const sizeBytes = bodies.reduce((sum, body) => sum + body.byteLength, this.#table.sizeBytes);
    const full =
      this.size + bodies.length > maxQueueSize
        ? new ActorError("queue", "full", `Queue is full. Limit is ${maxQueueSize} messages.`, {
            metadata: { limit: maxQueueSize },
          })
        : sizeBytes > maxQueueBytes
          ? new ActorError(
              "queue",
              "full",
              `Queue is full. Limit is ${maxQueueBytes} bytes for all messages together (option maxQueueBytes).`,
              { metadata: { limitBytes: maxQueueBytes, sizeBytes } },
            )
          : undefined;
    if (full) throw full;
  }

  /**
   * Adds a prepared message to the dirty set. `wait` is given if its sender waits for a reply.
   * @throws {queue/full} when it does not fit
   */
  add(name: string, body: Uint8Array, wait?: SenderWait): StoredMessage {
    this.checkRoom([body]);
    const now = this.#activation.ports.now();
    const createdAt = Math.max(now, this.#table.lastCreatedAt);
    const message = own({
      id: this.#table.nextId,
      name,
      body,
      createdAt,
      ...(wait && { waitUntil: now + wait.ms }),
      ...(wait?.token !== undefined && { token: wait.token }),
      ...(wait?.chain && wait.chain.length > 0 && { chain: wait.chain }),
    });
    this.#table.add(message);
    this.#added.set(message.id, message);
    this.#activation.putNew(KEYS.message(message.id), () => encodeMessage(message));
    if (wait?.isAttached) this.#replies.attach(message.id);
    return message;
  }

  /** The same for one that is offered to receivers by whoever makes the commit. @throws queue/full */
  stage(name: string, body: Uint8Array): StoredMessage {
    const message = this.add(name, body);
    this.#isStaged = true;
    return message;
  }

  /** True once after messages were staged, or have come back: they are to be offered, now that they are committed. */
  takeStaged(): boolean {
    const isStaged = this.#isStaged;
    this.#isStaged = false;
    return isStaged;
  }

  canPublish(name: string): ((c: unknown) => unknown) | undefined {
    return this.#declaration(name).canPublish;
  }

  // ---- receiving ---------------------------------------------------------------------------------------------------

  firstAt(filter: MessageFilter): number | undefined {
    for (const id of this.#table.visible.matching(filter.names)) {
      const createdAt = this.#createdAt(id);
      return createdAt <= filter.notAfter ? createdAt : undefined;
    }
    return undefined;
  }

  take(filter: MessageFilter): StoredMessage[] {
    const taken = this.peek(filter);
    for (const message of taken) {
      if (filter.hold) this.#table.hold(message.id, message.name);
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

  /** Deletes a message that nobody holds. Returns false if there is none with this id. */
  remove(id: number): boolean {
    if (!this.#table.get(id) || this.#table.held.has(id)) return false;
    this.#consume(id);
    return true;
  }

  putBack(messages: readonly StoredMessage[], held: boolean): void {
    for (const message of messages) {
      if (held) this.#table.release(message.id);
      else if (!this.#table.get(message.id)) this.#put(message);
    }
    this.#isStaged = true;
  }

  /** Call when the workflow has ended: messages it holds uncompleted become visible again (MSG-5). */
  releaseHeld(): void {
    // A table loaded later holds nothing, since the record says that the workflow has ended.
    for (const id of this.#loaded?.held.keys() ?? []) this.#loaded?.release(id);
    this.#isStaged = true;
  }

  /** Call when an ended workflow is restarted: holds those of its messages again that are still stored. */
  holdAgain(messages: readonly StoredMessage[]): void {
    for (const message of messages)
      if (this.#table.get(message.id)?.createdAt === message.createdAt) this.#table.hold(message.id, message.name);
  }

  heldChains(): Chain[] {
    return [...this.#table.held.keys()].flatMap((id) => {
      const { chain } = this.#read(id);
      return chain ? [chain] : [];
    });
  }

  heldAmong(names: readonly string[] | undefined): string | undefined {
    for (const name of this.#table.held.values()) if (!names || names.includes(name)) return name;
    return undefined;
  }

  // ---- completing --------------------------------------------------------------------------------------------------

  encodeReply(message: StoredMessage, response: unknown): Uint8Array | undefined | Promise<Uint8Array | undefined> {
    const { complete } = this.#declaration(message.name);
    const validated = validate(complete, response, `queue \`${message.name}\` completion response`);
    return whenThere(validated, (valid) =>
      valid === undefined ? undefined : encodeValue(valid, { what: "response" }),
    );
  }

  complete(message: StoredMessage, reply: Uint8Array | undefined): void {
    const known = this.#table.get(message.id);
    if (!known) throw new ActorError("queue", "already_completed", "Queue message already completed");
    this.#consume(message.id);
    this.#replies.deliver(message.id, known, reply);
  }

  /** Call after a commit: sends the replies that waited for it. */
  committed(): void {
    this.#added.clear();
    this.#replies.committed();
  }

  /**
   * Waits for the reply to a message, or returns one that was kept. At the timeout the message stays queued.
   * `createdAt` and the token tell apart two messages with the same id.
   */
  async awaitReply(wait: ReplyWait, timeoutMs: number, signals: readonly AbortSignal[] = []): Promise<ReplyResult> {
    const attached = this.#replies.takeAttached(wait.id);
    if (signals.some((signal) => signal.aborted)) throw aborted();
    const settled = attached ? attached.early : this.#settled(wait);
    return settled ?? (timeoutMs <= 0 ? TIMED_OUT : this.#replies.wait(wait.id, timeoutMs, signals));
  }

  /** The same through a hibernating socket, which costs nothing while it waits and receives the result. */
  attachReply(wait: ReplyWait & { readonly token: string }, socket: Socket): void {
    const settled = this.#settled(wait);
    if (!settled) return;
    this.#activation.commitOrThrow();
    sendReply(socket, settled);
  }

  findSent(token: string): FoundMessage | undefined {
    return (
      this.#table.find(token) ?? this.#replies.findKept(token) ?? this.#findGiven((given) => given.token === token)
    );
  }

  /** The result of a wait if it is known at once: a kept reply, or a timeout because the message does not exist. */
  #settled({ id, createdAt, token }: ReplyWait): ReplyResult | undefined {
    const kept = this.#replies.takeKept(id, createdAt);
    if (kept) return kept;
    const isSame = (known: { readonly createdAt: number; readonly token?: string | undefined }): boolean =>
      known.createdAt === createdAt && (token === undefined || known.token === undefined || known.token === token);
    const known = this.#table.get(id);
    if (known && isSame(known)) return undefined;
    const given = this.#findGiven((message) => message.id === id && isSame(message))?.given;
    return given ? { status: "completed", reply: given.reply } : TIMED_OUT;
  }

  /** A completed message whose reply the entry that took it keeps. */
  #findGiven(matches: (message: TakenMessage) => boolean) {
    for (const message of this.#activation.parts.takenMessages()) {
      const { id, createdAt, waitUntil, given } = own(message);
      if (given && waitUntil !== undefined && matches(own(message)))
        return { id, createdAt, waitUntil, given: own(given) };
    }
    return undefined;
  }

  /** Deletes replies whose sender's timeout has passed. */
  expireReplies(now: number): void {
    this.#replies.expire(now);
  }

  // ---- rows --------------------------------------------------------------------------------------------------------

  *#limited(filter: MessageFilter): IterableIterator<number> {
    let count = 0;
    for (const id of this.#table.visible.matching(filter.names)) {
      if (count >= filter.count || this.#createdAt(id) > filter.notAfter) return;
      count += 1;
      yield id;
    }
  }

  #createdAt(id: number): number {
    return this.#table.get(id)?.createdAt ?? 0;
  }

  #read(id: number): StoredMessage {
    const added = this.#added.get(id);
    if (added) return added;
    const bytes = this.#activation.read(KEYS.message(id));
    if (!bytes) throw new ActorError("storage", "corrupt", `Message ${id} is in the queue's index but not stored`);
    return decodeMessage(id, bytes);
  }

  #put(message: StoredMessage): void {
    this.#table.add(message);
    this.#activation.put(KEYS.message(message.id), () => encodeMessage(message));
  }

  #consume(id: number): void {
    this.#table.delete(id);
    this.#activation.delete(KEYS.message(id));
  }

  #declaration(name: string): {
    message?: StandardSchema;
    complete?: StandardSchema;
    canPublish?: (c: unknown) => unknown;
  } {
    const declared = this.#activation.actor.config.queues as
      | Record<string, QueueDeclaration | StandardSchema>
      | undefined;
    const declaration = declared && Object.hasOwn(declared, name) ? declared[name] : undefined;
    return own(
      isStandardSchema(declaration)
        ? { message: declaration }
        : (declaration as { message?: StandardSchema } | undefined),
    );
  }
}

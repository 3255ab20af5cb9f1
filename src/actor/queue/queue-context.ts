import { ActorError, decodeValue, MAX_SEND_WAIT_MS, readOptions, type Effects } from "../../protocol/index.js";
import type { StoredMessage } from "../../workflow/index.js";
import type { ActorActivation } from "../activation/activation.js";
import type { Chain } from "../activation/call-chain.js";
import { readTimeout } from "./queue-input.js";
import { aborted } from "./message-receivers.js";
import { checkCycle, type CycleHost } from "./wait-cycle.js";

/** Options of `c.queue.next`. */
export interface QueueNextOptions {
  /** Queues to receive from (default all). */
  readonly names?: readonly string[];
  /** How long to wait, in ms (default forever); 0 is a poll. */
  readonly timeout?: number;
  /** Ends the wait with `actor/aborted`. */
  readonly signal?: AbortSignal;
  /** Keeps the message stored until its `complete` is called (default false). */
  readonly completable?: boolean;
}

/** Options of `c.queue.nextBatch`. */
export interface QueueBatchOptions extends QueueNextOptions {
  /** The most messages to receive (default 1). */
  readonly count?: number;
}

/** Codes of errors that end `iter` silently. */
const ENDS: ReadonlySet<string> = new Set(["aborted", "restarting", "destroyed"]);

const NEXT_OPTIONS = ["names", "timeout", "signal", "completable"] as const;
const BATCH_OPTIONS = [...NEXT_OPTIONS, "count"] as const;
const WAIT_OPTIONS = ["timeout", "signal"] as const;

/** What `c.queue` needs from its actor. */
type QueueContextHost = Pick<ActorActivation, "actor" | "sendMessage" | "queue" | "commitOrThrow"> & CycleHost;

/** A message as actions and plain run handlers see it. */
export interface PlainMessage {
  readonly id: number;
  /** The queue's name. */
  readonly name: string;
  readonly body: unknown;
  /** When it was stored, epoch ms. */
  readonly createdAt: number;
  /** Deletes the message and sends the response to a waiting sender. Only if `completable` was set. */
  readonly complete?: (response?: unknown) => Promise<void>;
}

/** `c.queue` of one callback. Messages that it takes are deleted from storage before it returns them. */
export class QueueContext {
  readonly #activation: QueueContextHost;
  readonly #isRunHandler: boolean;
  readonly #ending = new AbortController();
  readonly #effects: Effects | undefined;
  /** Completable messages that this callback received and has not completed, by id. */
  readonly #open = new Map<number, StoredMessage>();
  readonly #chain: () => Chain;

  /** `effects` tracks the work that the callback starts; `chain` returns who waits for work that it starts now. */
  constructor(activation: QueueContextHost, isRunHandler: boolean, effects: Effects | undefined, chain: () => Chain) {
    this.#chain = chain;
    this.#activation = activation;
    this.#isRunHandler = isRunHandler;
    this.#effects = effects;
  }

  /**
   * Sends a message to a queue of this actor, declared or not. Resolves once the message is durable.
   * @throws {queue/full} when the queue is at its limit
   * @throws {queue/message_too_large} when the encoded body is larger than `maxQueueMessageSize`
   * @throws {actor/validation_error} when the queue's schema rejects the body
   */
  send(name: string, body: unknown): Promise<PlainMessage> {
    return this.#begin(async () => {
      const message = await this.#activation.sendMessage(name, body);
      return { id: message.id, name: message.name, body: decodeValue(message.body), createdAt: message.createdAt };
    });
  }

  #begin<T>(work: () => Promise<T>): Promise<T> {
    return this.#effects ? this.#effects.begin(work) : work();
  }

  /**
   * Sends a message and waits for its `complete`. Returns the response. `timeout` in ms (default `actionTimeout`).
   * @throws {queue/timed_out} when nobody completes the message in time; it stays queued
   * @throws {queue/wait_cycle} when the receiver waits for this callback
   * @throws {queue/self_wait} in a run handler, which would wait for itself
   * @throws {actor/aborted} when the signal fires
   */
  async enqueueAndWait(
    name: string,
    body: unknown,
    options?: { readonly timeout?: number; readonly signal?: AbortSignal },
  ): Promise<unknown> {
    if (this.#isRunHandler) {
      throw new ActorError("queue", "self_wait", "A run handler that waits for its own queue would wait forever");
    }
    const { timeout, signal } = readOptions("enqueueAndWait", options, WAIT_OPTIONS, invalidOption);
    const timeoutMs =
      readTimeout(timeout, MAX_SEND_WAIT_MS) ??
      Math.min(this.#activation.actor.options.actionTimeout, MAX_SEND_WAIT_MS);
    const signals = this.#signals(signal);
    const chain = this.#chain();
    checkCycle(this.#activation, name, chain);
    const message = await this.#activation.sendMessage(name, body, { ms: timeoutMs, isAttached: true, chain });
    const result = await this.#activation.queue.awaitReply(message, timeoutMs, signals);
    if (result.status === "timedOut")
      throw new ActorError("queue", "timed_out", `Nobody completed the message in "${name}" within ${timeoutMs} ms`);
    return result.reply && decodeValue(result.reply);
  }

  /** The chains of the messages that wait for this callback. */
  openChains(): Chain[] {
    return [...this.#open.values()].flatMap(({ chain }) => (chain ? [chain] : []));
  }

  /**
   * Waits for the next message and takes it. Returns undefined at the timeout.
   * @throws {queue/previous_message_not_completed} when a completable message of these queues is not completed yet
   * @throws {actor/aborted} when the signal fires
   */
  async next(options?: QueueNextOptions): Promise<PlainMessage | undefined> {
    return (await this.#receive(readOptions("queue.next", options, NEXT_OPTIONS, invalidOption), true))[0];
  }

  /** Waits for at least one message and takes up to `count`. Returns an empty array at the timeout. */
  async nextBatch(options?: QueueBatchOptions): Promise<PlainMessage[]> {
    return this.#receive(readOptions("queue.nextBatch", options, BATCH_OPTIONS, invalidOption), true);
  }

  /** Takes the next message if there is one. */
  async tryNext(options?: QueueNextOptions): Promise<PlainMessage | undefined> {
    return (await this.#receive(readOptions("queue.tryNext", options, NEXT_OPTIONS, invalidOption), false))[0];
  }

  /** Takes up to `count` messages that are there. */
  async tryNextBatch(options?: QueueBatchOptions): Promise<PlainMessage[]> {
    return this.#receive(readOptions("queue.tryNextBatch", options, BATCH_OPTIONS, invalidOption), false);
  }

  /**
   * Like `next` for these queues, but never returns undefined.
   * @throws {queue/timed_out} when no message arrives in time
   */
  async waitForNames(names: readonly string[], options?: QueueNextOptions): Promise<PlainMessage> {
    const message = await this.next({ ...options, names });
    if (!message) throw new ActorError("queue", "timed_out", `No message in ${names.join(", ")} arrived in time`);
    return message;
  }

  /**
   * Resolves once one of these queues (default all) has a message. Takes none.
   * @throws {queue/timed_out} when no message arrives in time
   * @throws {actor/aborted} when the signal fires
   */
  async waitForNamesAvailable(
    names: readonly string[] = [],
    options: Omit<QueueNextOptions, "names" | "completable"> = {},
  ): Promise<void> {
    checkNames(names);
    const timeoutMs = readTimeout(options.timeout);
    const signals = this.#signals(options.signal);
    const wanted = names.length > 0 ? names : undefined;
    const found = await this.#activation.receivers.receive({
      names: wanted,
      count: 1,
      hold: true,
      timeoutMs,
      signals,
      isRunHandler: this.#isRunHandler,
    });
    if (found.length === 0)
      throw new ActorError("queue", "timed_out", `No message in ${wanted?.join(", ") ?? "any queue"} arrived in time`);
  }

  /** RivetKit's newer name of `waitForNamesAvailable`. */
  waitForAvailable(
    names?: readonly string[],
    options?: Omit<QueueNextOptions, "names" | "completable">,
  ): Promise<void> {
    return this.waitForNamesAvailable(names, options);
  }

  /**
   * Iterates over messages as they arrive. Ends without an error when the actor stops or the signal fires.
   */
  async *iter(options?: QueueNextOptions): AsyncIterableIterator<PlainMessage> {
    for (;;) {
      let message: PlainMessage | undefined;
      try {
        message = await this.next(options);
      } catch (error) {
        if (ActorError.isActorError(error) && error.group === "actor" && ENDS.has(error.code)) return;
        throw error;
      }
      if (!message) return;
      yield message;
    }
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<PlainMessage> {
    return this.iter();
  }

  /**
   * Call when the callback asked to end the actor, which waits for the callback: ends its waits and refuses new ones.
   */
  end(): void {
    this.#ending.abort();
  }

  /** @throws {actor/aborted} when one of them has fired already */
  #signals(signal: AbortSignal | undefined): AbortSignal[] {
    const signals = signal ? [signal, this.#ending.signal] : [this.#ending.signal];
    if (signals.some((each) => each.aborted)) throw aborted();
    return signals;
  }

  async #receive(options: QueueBatchOptions, wait: boolean): Promise<PlainMessage[]> {
    const count = checkedCount(options.count);
    checkNames(options.names);
    const waitMs = readTimeout(options.timeout);
    const names = options.names && options.names.length > 0 ? options.names : undefined;
    for (const { name } of this.#open.values()) {
      if (names && !names.includes(name)) continue;
      throw new ActorError(
        "queue",
        "previous_message_not_completed",
        `The previous message from "${name}" is not completed yet`,
      );
    }
    const signals = this.#signals(options.signal);
    const timeoutMs = wait ? waitMs : 0;
    const messages = await this.#activation.receivers.receive({
      names,
      count,
      hold: options.completable ?? false,
      timeoutMs,
      signals,
      isRunHandler: this.#isRunHandler,
    });
    return messages.map((message) => this.#toPlain(message, options.completable ?? false));
  }

  #toPlain(message: StoredMessage, completable: boolean): PlainMessage {
    const plain = { id: message.id, name: message.name, body: decodeValue(message.body), createdAt: message.createdAt };
    if (!completable) return plain;
    this.#open.set(message.id, message);
    const complete = async (response?: unknown): Promise<void> => {
      const { queue } = this.#activation;
      const encoded = queue.encodeReply(message, response);
      // Synchronous if possible: user code may not await `complete`.
      const reply = encoded instanceof Promise ? await encoded : encoded;
      // Even if another callback completed it: the message no longer blocks this one.
      this.#open.delete(message.id);
      queue.complete(message, reply);
      this.#activation.commitOrThrow();
    };
    return { ...plain, complete: (response) => this.#begin(() => complete(response)) };
  }
}

function checkedCount(count: number | undefined): number {
  if (count === undefined) return 1;
  if (!Number.isInteger(count) || count < 1)
    throw new ActorError("queue", "invalid_payload", "`count` must be an integer of at least 1");
  return count;
}

function checkNames(names: unknown): void {
  if (names !== undefined && (!Array.isArray(names) || names.some((name) => typeof name !== "string"))) {
    throw new ActorError("queue", "invalid_payload", "`names` must be an array of strings");
  }
}

function invalidOption(problem: string): ActorError {
  return new ActorError("queue", "invalid_payload", problem);
}

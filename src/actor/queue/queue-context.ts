import { ActorError, decodeValue, MAX_SEND_WAIT_MS, readOptions, type Effects } from "../../protocol/index.js";
import type { StoredMessage } from "../../workflow/index.js";
import type { ActorActivation } from "../activation/activation.js";
import type { Chain } from "../activation/call-chain.js";
import { readTimeout } from "./message-queue.js";
import { aborted } from "./message-receivers.js";
import { checkCycle } from "./wait-cycle.js";

export interface QueueNextOptions {
  readonly names?: readonly string[];
  /** ms; 0 is a poll. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
  readonly completable?: boolean;
}

export interface QueueBatchOptions extends QueueNextOptions {
  readonly count?: number;
}

/** Codes of the end of a wait that is nobody's failure. */
const ENDS: ReadonlySet<string> = new Set(["aborted", "restarting", "destroyed"]);

const NEXT_OPTIONS = ["names", "timeout", "signal", "completable"] as const;
const BATCH_OPTIONS = [...NEXT_OPTIONS, "count"] as const;
const WAIT_OPTIONS = ["timeout", "signal"] as const;

/** A message as actions and plain run handlers see it. */
export interface PlainMessage {
  readonly id: number;
  readonly name: string;
  readonly body: unknown;
  readonly createdAt: number;
  readonly complete?: (response?: unknown) => Promise<void>;
}

/** `c.queue` of one callback. What it takes is gone from storage before it is given. */
export class QueueContext {
  readonly #activation: ActorActivation;
  readonly #isRunHandler: boolean;
  readonly #ending = new AbortController();
  readonly #effects: Effects | undefined;
  /** Completable messages that this callback got and has not completed, by id. */
  readonly #open = new Map<number, StoredMessage>();
  readonly #chain: () => Chain;

  /** `effects`: what the callback begins is a part of it; `chain`: who waits for what it begins now. */
  constructor(activation: ActorActivation, isRunHandler: boolean, effects: Effects | undefined, chain: () => Chain) {
    this.#chain = chain;
    this.#activation = activation;
    this.#isRunHandler = isRunHandler;
    this.#effects = effects;
  }

  /** Stores a message; resolves once it is committed. Any name may be used from inside. */
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
   * Sends and waits for `complete`.
   * @throws queue/timed_out, queue/wait_cycle, queue/self_wait in a run handler, which nobody else would answer
   */
  async enqueueAndWait(
    name: string,
    body: unknown,
    options?: { readonly timeout?: number; readonly signal?: AbortSignal },
  ): Promise<unknown> {
    if (this.#isRunHandler) {
      throw new ActorError("queue", "self_wait", "A run handler that waits for its own queue would wait for ever");
    }
    const { timeout, signal } = readOptions("enqueueAndWait", options, WAIT_OPTIONS, invalidOption);
    const timeoutMs =
      readTimeout(timeout, MAX_SEND_WAIT_MS) ??
      Math.min(this.#activation.actor.options.actionTimeout, MAX_SEND_WAIT_MS);
    const signals = this.#signals(signal);
    const chain = this.#chain();
    checkCycle(this.#activation, name, chain);
    const message = await this.#activation.sendMessage(name, body, { ms: timeoutMs, chain });
    const result = await this.#activation.queue.awaitReply(message, timeoutMs, signals);
    if (result.status === "timedOut")
      throw new ActorError("queue", "timed_out", `Nobody completed the message in "${name}" within ${timeoutMs} ms`);
    return result.reply && decodeValue(result.reply);
  }

  /** The chains of the messages that wait for this callback. */
  openChains(): Chain[] {
    return [...this.#open.values()].flatMap(({ chain }) => (chain ? [chain] : []));
  }

  async next(options?: QueueNextOptions): Promise<PlainMessage | undefined> {
    return (await this.#receive(readOptions("queue.next", options, NEXT_OPTIONS, invalidOption), true))[0];
  }

  async nextBatch(options?: QueueBatchOptions): Promise<PlainMessage[]> {
    return this.#receive(readOptions("queue.nextBatch", options, BATCH_OPTIONS, invalidOption), true);
  }

  async tryNext(options?: QueueNextOptions): Promise<PlainMessage | undefined> {
    return (await this.#receive(readOptions("queue.tryNext", options, NEXT_OPTIONS, invalidOption), false))[0];
  }

  async tryNextBatch(options?: QueueBatchOptions): Promise<PlainMessage[]> {
    return this.#receive(readOptions("queue.tryNextBatch", options, BATCH_OPTIONS, invalidOption), false);
  }

  /** As `next` for these queues. @throws queue/timed_out */
  async waitForNames(names: readonly string[], options?: QueueNextOptions): Promise<PlainMessage> {
    const message = await this.next({ ...options, names });
    if (!message) throw new ActorError("queue", "timed_out", `No message in ${names.join(", ")} arrived in time`);
    return message;
  }

  /** Resolves once there is a message in one of these queues, and takes none. @throws queue/timed_out, actor/aborted */
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

  /** RivetKit's newer name of it. */
  waitForAvailable(
    names?: readonly string[],
    options?: Omit<QueueNextOptions, "names" | "completable">,
  ): Promise<void> {
    return this.waitForNamesAvailable(names, options);
  }

  /** Messages as they come; ends silently when the actor stops or the signal fires. */
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

  /** The callback has asked for the actor's end, which waits for it: its own waits in the queue end, and no new one begins. */
  end(): void {
    this.#ending.abort();
  }

  /** @throws actor/aborted if one of them has fired */
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
        `The previous message of "${name}" is not completed yet`,
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
      // At once where it can be: nobody may be there to wait for it.
      const reply = encoded instanceof Promise ? await encoded : encoded;
      // Also when somebody else has completed it: it blocks nobody any more.
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
    throw new ActorError("queue", "invalid_payload", "A batch needs a count of at least 1");
  return count;
}

function checkNames(names: unknown): void {
  if (names !== undefined && (!Array.isArray(names) || names.some((name) => typeof name !== "string"))) {
    throw new ActorError("queue", "invalid_payload", "A receive needs names that are an array of strings");
  }
}

function invalidOption(problem: string): ActorError {
  return new ActorError("queue", "invalid_payload", problem);
}

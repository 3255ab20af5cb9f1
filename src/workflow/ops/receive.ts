import { ActorError, decodeValue, encodeValue, decodeForWorkflow } from "../../protocol/index.js";
import { EvictedError } from "../errors.js";
import { branchError, toBranchFailure } from "../failure.js";
import { heldMessages, holdOf, withCompleted, type HoldData } from "../held-messages.js";
import type { Entry } from "../history/entry.js";
import { LAST_TIME_MS } from "../numbers.js";
import type { Operation } from "../operation.js";
import type { StoredMessage } from "../ports.js";
import type { Scope } from "../scope.js";

export interface ReceiveOptions {
  /** Queue names; omitted or empty: any. */
  readonly names?: readonly string[];
  /** ms; 0 polls; omitted: waits forever. */
  readonly timeout?: number;
  /** The message stays stored until its `complete` is called. */
  readonly completable?: boolean;
  /** `nextBatch` only: the most messages to receive; default 1. */
  readonly count?: number;
}

/** A message's body may be as large as any value; its other fields come on top. */
const MAX_ENTRY_BYTES = 2_010_000;

/** A message as user code receives it. */
export interface ReceivedMessage {
  readonly id: bigint;
  readonly name: string;
  readonly body: unknown;
  readonly createdAt: number;
  readonly complete?: (response?: unknown) => Promise<void>;
}

/**
 * `ctx.queue.next` and `ctx.queue.nextBatch`: wait durably for messages of the actor's queue.
 *
 * Entry: `message` with the messages taken; taking them off the queue and recording them is one commit (MSG-1). With a timeout the
 * deadline is stored before the wait; its passing costs no row, as a sleep's. Stored times decide: a message that
 * arrived by the deadline wins, however late the wake (ALARM-6). The n-th use of a name in a scope is its n-th
 * receive (FLOW-5).
 */
export function receive(scope: Scope, name: string, options: ReceiveOptions, batch: boolean): Promise<unknown> {
  const problem = problemOf(name, options);
  if (problem) return Promise.reject(problem);
  return scope.operate("message", name, (operation) => new Receive(scope, operation, options, batch).start());
}

class Receive {
  readonly #scope: Scope;
  readonly #operation: Operation;
  readonly #options: ReceiveOptions;
  readonly #batch: boolean;
  readonly #entry: Entry;
  readonly #names: readonly string[] | undefined;

  constructor(scope: Scope, operation: Operation, options: ReceiveOptions, batch: boolean) {
    this.#scope = scope;
    this.#operation = operation;
    this.#options = options;
    this.#batch = batch;
    this.#entry = operation.draft ??= operation.activation.newEntry("message", operation.location);
    this.#names = options.names && options.names.length > 0 ? options.names : undefined;
  }

  start(): void {
    const { activation } = this.#operation;
    if (this.#entry.status === "completed" || this.#entry.status === "failed") return this.#deliverRecorded();
    if (
      this.#operation.entry &&
      (activation.isFinishedQuietly(this.#entry) || activation.history.isPassed(this.#entry))
    )
      return this.#timedOut();
    if (activation.collector) return this.#operation.park();
    if (this.#wasEndedByAGate()) return this.#expired();
    const held = this.#blocking();
    if (held !== undefined) return this.#fail(previousNotCompleted(held));
    if (!this.#operation.entry && this.#options.timeout !== undefined)
      this.#entry.dueAt = activation.ports.now() + Math.max(0, this.#options.timeout);
    // A due wait older than the first message goes first; a recorded wait takes its turn (ALARM-6).
    const firstAt = this.#operation.entry ? undefined : activation.ports.messages.firstAt(this.#filter);
    if (firstAt !== undefined && !activation.waiting.isDueBefore(firstAt) && this.#take()) return;
    if (
      !this.#operation.entry &&
      firstAt === undefined &&
      this.#entry.dueAt !== undefined &&
      this.#entry.dueAt <= activation.ports.now()
    ) {
      return this.#expired();
    }
    this.#wait();
  }

  /**
   * True if only a version gate recorded by an earlier release shows that this receive timed out: waiting again, it could
   * take messages that came back since.
   */
  #wasEndedByAGate(): boolean {
    const { dueAt } = this.#entry;
    if (!this.#operation.entry || dueAt === undefined || dueAt > this.#operation.activation.ports.now()) return false;
    return this.#scope.hasOldGateBehind(this.#entry.seq);
  }

  /**
   * The queue of an uncompleted message held by code before this receive. Messages held by parallel branches do not block:
   * a replay cannot know whether they were taken before this wait began.
   */
  #blocking(): string | undefined {
    const { ports, history } = this.#operation.activation;
    if (ports.messages.heldAmong(this.#names) === undefined) return undefined;
    for (const entry of history.entries()) {
      if (entry.kind !== "message" || history.areParallel(entry.location, this.#operation.location)) continue;
      const held = heldMessages(entry).find((message) => !this.#names || this.#names.includes(message.name));
      if (held) return held.name;
    }
    return undefined;
  }

  get #filter(): { names: readonly string[] | undefined; count: number; notAfter: number; hold: boolean } {
    return {
      names: this.#names,
      count: this.#batch ? (this.#options.count ?? 1) : 1,
      notAfter: this.#entry.dueAt ?? Number.POSITIVE_INFINITY,
      hold: this.#options.completable ?? false,
    };
  }

  #wait(): void {
    const { activation } = this.#operation;
    const { dueAt } = this.#entry;
    if (!this.#operation.entry) {
      if (this.#names) this.#entry.data = waitData(this.#names);
      if (dueAt !== undefined) activation.put(this.#entry);
    }
    const receiver = {
      seq: this.#entry.seq,
      firstAt: () => activation.ports.messages.firstAt(this.#filter),
      take: () => void this.#take(),
    };
    const wait = dueAt === undefined ? undefined : { at: dueAt, seq: this.#entry.seq, fire: () => this.#expired() };
    activation.waiting.addReceiver(receiver);
    if (wait) activation.waiting.addWait(wait);
    this.#operation.onEnd(() => {
      activation.waiting.removeReceiver(receiver);
      if (wait) activation.waiting.removeWait(wait);
    });
    this.#operation.park();
  }

  #take(): boolean {
    const { activation } = this.#operation;
    const messages = activation.ports.messages.take(this.#filter);
    if (messages.length === 0) return false;
    if (this.#options.completable) this.#entry.data = { held: true, completed: [] } satisfies HoldData;
    else delete this.#entry.data;
    activation.complete(this.#entry, encodeValue(messages, { what: "messages", limitBytes: MAX_ENTRY_BYTES }));
    activation.wantCommit();
    this.#deliver(messages);
    return true;
  }

  /** The deadline passed, and no message arrived by then. */
  #expired(): void {
    const { activation } = this.#operation;
    if (this.#operation.entry || activation.history.find(this.#operation.location)) {
      activation.finishQuietly(this.#entry);
    } else if (this.#batch) {
      activation.complete(this.#entry, encodeValue([]));
    } else {
      return this.#fail(timedOut(this.#operation.name));
    }
    this.#timedOut();
  }

  /** Records the rejection, so that a replay rejects the same way whatever the queue holds by then (FLOW-4). */
  #fail(error: ActorError): void {
    this.#entry.status = "failed";
    this.#entry.failure = toBranchFailure(error);
    delete this.#entry.dueAt;
    this.#operation.activation.put(this.#entry);
    this.#operation.reject(error);
  }

  #timedOut(): void {
    if (this.#batch) this.#operation.fulfil([]);
    else this.#operation.reject(timedOut(this.#operation.name));
  }

  #deliverRecorded(): void {
    const { value, failure } = this.#entry;
    if (failure && this.#entry.status === "failed") return this.#operation.reject(branchError(failure));
    // Without a value: the deadline passed.
    if (value === undefined) return this.#timedOut();
    this.#deliver(decodeValue(value) as StoredMessage[]);
  }

  #deliver(messages: readonly StoredMessage[]): void {
    const received = messages.map((message) => this.#toReceived(message));
    this.#operation.fulfil(this.#batch ? received : received[0]);
  }

  #toReceived(message: StoredMessage): ReceivedMessage {
    const plain = {
      id: BigInt(message.id),
      name: message.name,
      body: decodeForWorkflow(message.body),
      createdAt: message.createdAt,
    };
    if (!holdOf(this.#entry)) return plain;
    let completedHere = false;
    const { activation } = this.#operation;
    /** False once the run is over, the scope lost its race or the entry was pruned: the message is no longer held. */
    const isHeld = (): boolean => !activation.isHalted && activation.history.find(this.#entry.location) === this.#entry;
    const complete = async (response?: unknown): Promise<void> => {
      if (completedHere) throw alreadyCompleted();
      if (!isHeld()) throw new EvictedError();
      // Already completed by an earlier activation, or a rollback's replay: nothing to do.
      if ((holdOf(this.#entry)?.completed ?? []).includes(message.id) || activation.collector) {
        completedHere = true;
        return;
      }
      const encoded = activation.ports.messages.encodeReply(message, response);
      // Synchronously if possible: nobody may await this.
      const reply = encoded instanceof Promise ? await encoded : encoded;
      if (completedHere) throw alreadyCompleted();
      if (!isHeld()) throw new EvictedError();
      completedHere = true;
      activation.ports.messages.complete(message, reply);
      this.#entry.data = withCompleted(holdOf(this.#entry), message, reply, activation.ports.now());
      activation.put(this.#entry);
      if (!activation.ports.commit()) await new Promise(() => {});
    };
    return { ...plain, complete: (response) => this.#operation.scope.effects.begin(() => complete(response)) };
  }
}

/** What the entry of a receive keeps while it waits, for people: the first names of its queues. */
export interface WaitData {
  readonly names: readonly string[];
}

const MAX_KEPT_NAMES = 8;
const MAX_KEPT_NAME = 100;

function waitData(names: readonly string[]): WaitData {
  return { names: names.slice(0, MAX_KEPT_NAMES).map((name) => name.slice(0, MAX_KEPT_NAME)) };
}

function alreadyCompleted(): ActorError {
  return new ActorError("queue", "already_completed", "Queue message already completed");
}

function timedOut(name: string): ActorError {
  return new ActorError("queue", "timed_out", `queue.next("${name}") timed out before receiving a message`);
}

function previousNotCompleted(name: string): ActorError {
  return new ActorError(
    "queue",
    "previous_message_not_completed",
    `Previous completable queue message is not completed. Call \`message.complete(...)\` before receiving ` +
      `the next message (queue "${name}").`,
  );
}

function problemOf(name: string, options: ReceiveOptions): ActorError | undefined {
  const { timeout, count, names } = options;
  if (timeout !== undefined && (typeof timeout !== "number" || !(Math.abs(timeout) <= LAST_TIME_MS / 2))) {
    return new ActorError(
      "workflow",
      "invalid_time",
      `queue.next("${name}"): \`timeout\` must be a number of ms, at most 4,320,000,000,000,000`,
    );
  }
  if (count !== undefined && (!Number.isInteger(count) || count < 1)) {
    return new ActorError(
      "queue",
      "invalid_payload",
      `queue.nextBatch("${name}"): \`count\` must be an integer of at least 1`,
    );
  }
  if (names !== undefined && (!Array.isArray(names) || names.some((each) => typeof each !== "string"))) {
    return new ActorError("queue", "invalid_payload", `queue.next("${name}"): \`names\` must be an array of strings`);
  }
  return undefined;
}

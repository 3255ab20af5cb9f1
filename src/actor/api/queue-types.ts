/** Messages as user code sees them: a union with one member per declared queue, discriminated by `name`. */
import type { MessageBody, MessageReply, QueueDeclarations, QueueNames, SendBody, SendReply } from "./declarations.js";

/** A message that stays stored until it is completed. */
export interface Completable<R> {
  /**
   * Deletes the message and answers the waiting sender, in one commit.
   *
   * @example
   *     await message.complete({ receipt: 7 });
   * @throws {queue/already_completed} when the message is already completed
   */
  complete(...response: undefined extends R ? [response?: R] : [response: R]): Promise<void>;
}

type Message<Id, N, B, R, C extends boolean> = {
  readonly id: Id;
  readonly name: N;
  readonly body: B;
  /** Epoch ms. */
  readonly createdAt: number;
} & (C extends true ? Completable<R> : unknown);

/** A message of the queues `N`; with `C` true it has `complete`. */
export type MessageOf<Id, Q extends QueueDeclarations, N extends string, C extends boolean> = [keyof Q] extends [never]
  ? Message<Id, string, unknown, unknown, C>
  : string extends keyof Q
    ? Message<Id, string, unknown, unknown, C>
    : { [K in keyof Q & N & string]: Message<Id, K, MessageBody<Q[K]>, MessageReply<Q[K]>, C> }[keyof Q & N & string];

/** A message that a workflow receives; ids are bigints. */
export type WorkflowMessage<
  Q extends QueueDeclarations,
  N extends string = QueueNames<Q>,
  C extends boolean = false,
> = MessageOf<bigint, Q, N, C>;
/** A message that an action or a plain `run` handler receives; ids are numbers. */
export type QueueMessage<
  Q extends QueueDeclarations,
  N extends string = QueueNames<Q>,
  C extends boolean = false,
> = MessageOf<number, Q, N, C>;

/** Selects the messages that a receive takes. */
export interface ReceiveSelection<N extends string, C extends boolean> {
  /** Queue names. Omitted or empty: any queue. */
  readonly names?: readonly N[] | undefined;
  /** How long to wait, in ms; 0 only looks. Omitted: forever. */
  readonly timeout?: number | undefined;
  /** Keeps the message stored until `complete` is called on it. Default: false. */
  readonly completable?: C | undefined;
}
/** Selects the messages of a batch. */
export interface BatchSelection<N extends string, C extends boolean> extends ReceiveSelection<N, C> {
  /** The most messages to take. Default: 1. */
  readonly count?: number | undefined;
}

/** `ctx.queue` of a workflow: durable waits for messages. */
export interface WorkflowQueueOf<Q extends QueueDeclarations> {
  /**
   * Waits for one message and takes it. `name` names the wait in the history, not a queue. The deadline is stored, and
   * nothing runs while it waits. Taking the message and recording it are one commit, so a crash neither loses it nor
   * delivers it twice.
   *
   * @example
   *     const { body } = await ctx.queue.next("wait-order", { names: ["orders"], timeout: 60_000 });
   * @throws {queue/timed_out} when no message arrives within `timeout`
   * @throws {queue/previous_message_not_completed} when a completable message of these queues is still open
   * @throws {workflow/invalid_time} when `timeout` is not a valid duration
   */
  next<const N extends QueueNames<Q> = QueueNames<Q>, C extends boolean = false>(
    name: string,
    options?: ReceiveSelection<N, C>,
  ): Promise<WorkflowMessage<Q, N, C>>;
  /**
   * Waits for one message, then takes up to `count` that are there; `[]` if the timeout passes first.
   *
   * @example
   *     const others = await ctx.queue.nextBatch("others", { count: 99, timeout: 0 });
   * @throws {queue/previous_message_not_completed} when a completable message of these queues is still open
   * @throws {workflow/invalid_time} when `timeout` is not a valid duration
   */
  nextBatch<const N extends QueueNames<Q> = QueueNames<Q>, C extends boolean = false>(
    name: string,
    options?: BatchSelection<N, C>,
  ): Promise<WorkflowMessage<Q, N, C>[]>;
}

/** A queue name: inside the actor any string, with the declared names as suggestions. */
export type AnyQueueName<Q extends QueueDeclarations> = QueueNames<Q> | (string & {});

/** `step.queue` of a workflow's step. */
export interface StepQueueOf<Q extends QueueDeclarations> {
  /**
   * Sends a message to this actor. It is stored together with the step's result; a failed attempt sends nothing.
   *
   * @example
   *     await step.queue.send("mails", { to: "ada" });
   * @throws {actor/validation_error} when the queue's schema rejects the body
   * @throws {queue/full} when the actor's queues are full
   * @throws {queue/message_too_large} when the encoded body is larger than `maxQueueMessageSize`
   */
  send<N extends AnyQueueName<Q>>(name: N, body: SendBody<Q, N>): Promise<void>;
}

/** `c.queue` of actions, hooks and plain `run` handlers. */
export interface ActorQueueOf<Q extends QueueDeclarations> {
  /**
   * Sends a message to this actor. Resolves once the message is committed.
   *
   * @example
   *     await c.queue.send("orders", { item: "tea" });
   * @throws {actor/validation_error} when the queue's schema rejects the body
   * @throws {queue/full} when the actor's queues are full
   * @throws {queue/message_too_large} when the encoded body is larger than `maxQueueMessageSize`
   */
  send<N extends AnyQueueName<Q>>(name: N, body: SendBody<Q, N>): Promise<QueueMessage<Q>>;
  /**
   * Sends a message to this actor, waits until it is completed, and returns the response. `timeout` is in ms, by
   * default `actionTimeout`, at most a day. After a timeout the message is still stored and will be received.
   *
   * @example
   *     const reply = await c.queue.enqueueAndWait("sales", { amount: 3 }, { timeout: 5_000 });
   * @throws {queue/timed_out} when nobody completes the message within `timeout`
   * @throws {queue/wait_cycle} when the receiver is itself waiting for this caller
   * @throws {queue/self_wait} when a `run` handler sends to its own actor
   */
  enqueueAndWait<N extends AnyQueueName<Q>>(
    name: N,
    body: SendBody<Q, N>,
    options?: { readonly timeout?: number | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<SendReply<Q, N> | undefined>;
  /**
   * Waits for one message and takes it; undefined if the timeout passes first. The message is deleted before it is
   * returned, unless it is `completable`.
   *
   * @example
   *     const message = await c.queue.next({ names: ["orders"], timeout: 1_000 });
   * @throws {actor/aborted} when the signal fires or the actor is ending
   * @throws {queue/previous_message_not_completed} when a completable message of these queues is still open
   */
  next<const N extends QueueNames<Q> = QueueNames<Q>, C extends boolean = false>(
    options?: PlainSelection<N, C>,
  ): Promise<QueueMessage<Q, N, C> | undefined>;
  /**
   * Waits for one message, then takes up to `count` that are there; `[]` if the timeout passes first.
   *
   * @example
   *     const orders = await c.queue.nextBatch({ names: ["orders"], count: 50 });
   * @throws {actor/aborted} when the signal fires or the actor is ending
   * @throws {queue/previous_message_not_completed} when a completable message of these queues is still open
   */
  nextBatch<const N extends QueueNames<Q> = QueueNames<Q>, C extends boolean = false>(
    options?: PlainBatch<N, C>,
  ): Promise<QueueMessage<Q, N, C>[]>;
  /**
   * Takes one message if there is one, without waiting; otherwise returns undefined.
   *
   * @example
   *     const message = await c.queue.tryNext();
   * @throws {queue/previous_message_not_completed} when a completable message of these queues is still open
   */
  tryNext<const N extends QueueNames<Q> = QueueNames<Q>, C extends boolean = false>(
    options?: PlainSelection<N, C>,
  ): Promise<QueueMessage<Q, N, C> | undefined>;
  /**
   * Takes up to `count` messages that are there, without waiting.
   *
   * @example
   *     const messages = await c.queue.tryNextBatch({ count: 50 });
   * @throws {queue/previous_message_not_completed} when a completable message of these queues is still open
   */
  tryNextBatch<const N extends QueueNames<Q> = QueueNames<Q>, C extends boolean = false>(
    options?: PlainBatch<N, C>,
  ): Promise<QueueMessage<Q, N, C>[]>;
  /**
   * Waits for one message of these queues and takes it.
   *
   * @example
   *     const order = await c.queue.waitForNames(["orders"], { timeout: 1_000 });
   * @throws {queue/timed_out} when no message arrives within `timeout`
   * @throws {actor/aborted} when the signal fires or the actor is ending
   * @throws {queue/previous_message_not_completed} when a completable message of these queues is still open
   */
  waitForNames<const N extends QueueNames<Q>, C extends boolean = false>(
    names: readonly N[],
    options?: PlainSelection<N, C>,
  ): Promise<QueueMessage<Q, N, C>>;
  /**
   * Resolves once one of these queues has a message (any queue if none is named), and takes none. `timeout` is in ms;
   * by default it waits forever.
   *
   * @example
   *     await c.queue.waitForNamesAvailable(["orders"]);
   * @throws {queue/timed_out} when no message arrives within `timeout`
   * @throws {actor/aborted} when the signal fires or the actor is ending
   */
  waitForNamesAvailable<const N extends QueueNames<Q>>(
    names?: readonly N[],
    options?: { readonly timeout?: number | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<void>;
  /** RivetKit's newer name for `waitForNamesAvailable`. */
  waitForAvailable<const N extends QueueNames<Q>>(
    names?: readonly N[],
    options?: { readonly timeout?: number | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<void>;
  /**
   * Takes messages one by one, as they come. Ends when the actor or the signal ends it, or when `timeout` passes
   * without a message.
   *
   * @example
   *     for await (const { body } of c.queue.iter({ names: ["orders"] })) await handle(body);
   */
  iter<const N extends QueueNames<Q> = QueueNames<Q>, C extends boolean = false>(
    options?: PlainSelection<N, C>,
  ): AsyncIterableIterator<QueueMessage<Q, N, C>>;
  /** Like `iter()`: `for await (const message of c.queue)`. */
  [Symbol.asyncIterator](): AsyncIterableIterator<QueueMessage<Q>>;
}
/** Selects a message; the signal ends the wait. */
export interface PlainSelection<N extends string, C extends boolean> extends ReceiveSelection<N, C> {
  readonly signal?: AbortSignal | undefined;
}
/** Selects the messages of a batch; the signal ends the wait. */
export interface PlainBatch<N extends string, C extends boolean> extends BatchSelection<N, C> {
  readonly signal?: AbortSignal | undefined;
}

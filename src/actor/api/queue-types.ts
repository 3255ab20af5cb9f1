/** Messages as user code sees them: one member per declared queue, told apart by `name`. */
import type { MessageBody, MessageReply, QueueDeclarations, QueueNames, SendBody, SendReply } from "./declarations.js";

/** `complete` must be called; what it takes is what the waiting sender gets. */
export interface Completable<R> {
  complete(...response: undefined extends R ? [response?: R] : [response: R]): Promise<void>;
}

type Message<Id, N, B, R, C extends boolean> = {
  readonly id: Id;
  readonly name: N;
  readonly body: B;
  /** Epoch ms. */
  readonly createdAt: number;
} & (C extends true ? Completable<R> : unknown);

export type MessageOf<Id, Q extends QueueDeclarations, N extends string, C extends boolean> = [keyof Q] extends [never]
  ? Message<Id, string, unknown, unknown, C>
  : string extends keyof Q
    ? Message<Id, string, unknown, unknown, C>
    : { [K in keyof Q & N & string]: Message<Id, K, MessageBody<Q[K]>, MessageReply<Q[K]>, C> }[keyof Q & N & string];

export type WorkflowMessage<
  Q extends QueueDeclarations,
  N extends string = QueueNames<Q>,
  C extends boolean = false,
> = MessageOf<bigint, Q, N, C>;
export type QueueMessage<
  Q extends QueueDeclarations,
  N extends string = QueueNames<Q>,
  C extends boolean = false,
> = MessageOf<number, Q, N, C>;

/** Which messages a receive takes. */
export interface ReceiveSelection<N extends string, C extends boolean> {
  /** Queue names; omitted or empty: any. */
  readonly names?: readonly N[] | undefined;
  /** ms; 0 is a poll; omitted: waits for ever. */
  readonly timeout?: number | undefined;
  /** The message stays stored until `complete` is called on it. */
  readonly completable?: C | undefined;
}
export interface BatchSelection<N extends string, C extends boolean> extends ReceiveSelection<N, C> {
  /** At most so many; default 1. */
  readonly count?: number | undefined;
}

/** `ctx.queue` of a workflow: durable waits. */
export interface WorkflowQueueOf<Q extends QueueDeclarations> {
  /**
   * Waits for one message. Taking it and recording it are one commit: never lost, never seen twice.
   * @throws queue/timed_out, queue/previous_message_not_completed, workflow/invalid_time
   */
  next<const N extends QueueNames<Q> = QueueNames<Q>, C extends boolean = false>(
    name: string,
    options?: ReceiveSelection<N, C>,
  ): Promise<WorkflowMessage<Q, N, C>>;
  /** Waits for up to `count` messages; `[]` when the timeout passes first. */
  nextBatch<const N extends QueueNames<Q> = QueueNames<Q>, C extends boolean = false>(
    name: string,
    options?: BatchSelection<N, C>,
  ): Promise<WorkflowMessage<Q, N, C>[]>;
}

/** Inside the actor any name may be sent; editors offer the declared ones. */
export type AnyQueueName<Q extends QueueDeclarations> = QueueNames<Q> | (string & {});

/** `queue` of a step. */
export interface StepQueueOf<Q extends QueueDeclarations> {
  /** Staged: stored together with the step's success; a failed attempt sends nothing. */
  send<N extends AnyQueueName<Q>>(name: N, body: SendBody<Q, N>): Promise<void>;
}

/** `c.queue` of actions and plain run handlers. */
export interface ActorQueueOf<Q extends QueueDeclarations> {
  /** Stores a message; resolves once it is committed. @throws queue/full, queue/message_too_large, actor/validation_error */
  send<N extends AnyQueueName<Q>>(name: N, body: SendBody<Q, N>): Promise<QueueMessage<Q>>;
  /** Sends and waits for `complete`. @throws queue/timed_out, queue/wait_cycle, queue/self_wait in a run handler */
  enqueueAndWait<N extends AnyQueueName<Q>>(
    name: N,
    body: SendBody<Q, N>,
    options?: { readonly timeout?: number | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<SendReply<Q, N> | undefined>;
  /** Waits for one message; undefined when the timeout passes first. @throws actor/aborted, queue/previous_message_not_completed */
  next<const N extends QueueNames<Q> = QueueNames<Q>, C extends boolean = false>(
    options?: PlainSelection<N, C>,
  ): Promise<QueueMessage<Q, N, C> | undefined>;
  nextBatch<const N extends QueueNames<Q> = QueueNames<Q>, C extends boolean = false>(
    options?: PlainBatch<N, C>,
  ): Promise<QueueMessage<Q, N, C>[]>;
  tryNext<const N extends QueueNames<Q> = QueueNames<Q>, C extends boolean = false>(
    options?: PlainSelection<N, C>,
  ): Promise<QueueMessage<Q, N, C> | undefined>;
  tryNextBatch<const N extends QueueNames<Q> = QueueNames<Q>, C extends boolean = false>(
    options?: PlainBatch<N, C>,
  ): Promise<QueueMessage<Q, N, C>[]>;
  /** @throws queue/timed_out */
  waitForNames<const N extends QueueNames<Q>, C extends boolean = false>(
    names: readonly N[],
    options?: PlainSelection<N, C>,
  ): Promise<QueueMessage<Q, N, C>>;
  /**
   * Resolves once there is a message in one of these queues (none named: in any), and takes none.
   * @throws queue/timed_out, actor/aborted
   */
  waitForNamesAvailable<const N extends QueueNames<Q>>(
    names?: readonly N[],
    options?: { readonly timeout?: number | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<void>;
  /** RivetKit's newer name of `waitForNamesAvailable`. */
  waitForAvailable<const N extends QueueNames<Q>>(
    names?: readonly N[],
    options?: { readonly timeout?: number | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<void>;
  iter<const N extends QueueNames<Q> = QueueNames<Q>, C extends boolean = false>(
    options?: PlainSelection<N, C>,
  ): AsyncIterableIterator<QueueMessage<Q, N, C>>;
  [Symbol.asyncIterator](): AsyncIterableIterator<QueueMessage<Q>>;
}
export interface PlainSelection<N extends string, C extends boolean> extends ReceiveSelection<N, C> {
  readonly signal?: AbortSignal | undefined;
}
export interface PlainBatch<N extends string, C extends boolean> extends BatchSelection<N, C> {
  readonly signal?: AbortSignal | undefined;
}

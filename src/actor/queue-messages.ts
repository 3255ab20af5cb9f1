/** Messages as user code sees them: one member per declared queue, told apart by `name`. */
import type { MessageBody, MessageReply, QueueDeclarations } from "./declarations.js";

/** Names of an actor's queues: the declared ones, or any if none is declared. */
export type QueueNames<Q extends QueueDeclarations> = [keyof Q] extends [never] ? string : keyof Q & string;

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

export type WorkflowMessage<Q extends QueueDeclarations, N extends string = QueueNames<Q>, C extends boolean = false> = MessageOf<bigint, Q, N, C>;
export type QueueMessage<Q extends QueueDeclarations, N extends string = QueueNames<Q>, C extends boolean = false> = MessageOf<number, Q, N, C>;

/** Which messages a receive takes. */
export interface ReceiveSelection<N extends string, C extends boolean> {
  /** Queue names; omitted or empty: any. */
  readonly names?: readonly N[];
  /** ms; 0 is a poll; omitted: waits for ever. */
  readonly timeout?: number;
  /** The message stays stored until `complete` is called on it. */
  readonly completable?: C;
}
export interface BatchSelection<N extends string, C extends boolean> extends ReceiveSelection<N, C> {
  /** At most so many; default 1. */
  readonly count?: number;
}

/** `ctx.queue` of a workflow: durable waits. */
export interface WorkflowQueueOf<Q extends QueueDeclarations> {
  /**
   * Waits for one message. Taking it and recording it are one commit: never lost, never seen twice.
   * @throws queue/timed_out, queue/previous_message_not_completed, workflow/invalid_time
   */
  next<const N extends QueueNames<Q> = QueueNames<Q>, C extends boolean = false>(name: string, options?: ReceiveSelection<N, C>): Promise<WorkflowMessage<Q, N, C>>;
  /** Waits for up to `count` messages; `[]` when the timeout passes first. */
  nextBatch<const N extends QueueNames<Q> = QueueNames<Q>, C extends boolean = false>(name: string, options?: BatchSelection<N, C>): Promise<WorkflowMessage<Q, N, C>[]>;
}

/** `c.queue` of actions and plain run handlers. */
export interface ActorQueueOf<Q extends QueueDeclarations> {
  /** Stores a message; resolves once it is committed. @throws queue/full, queue/message_too_large, actor/validation_error */
  send<N extends string>(name: N, body: N extends keyof Q ? MessageBody<Q[N]> : unknown): Promise<QueueMessage<Q>>;
  /** Sends and waits for `complete`. @throws queue/timed_out, queue/self_wait in a run handler */
  enqueueAndWait<N extends string>(
    name: N,
    body: N extends keyof Q ? MessageBody<Q[N]> : unknown,
    options?: { readonly timeout?: number; readonly signal?: AbortSignal },
  ): Promise<(N extends keyof Q ? MessageReply<Q[N]> : unknown) | undefined>;
  /** Waits for one message; undefined when the timeout passes first. @throws actor/aborted, queue/previous_message_not_completed */
  next<const N extends QueueNames<Q> = QueueNames<Q>, C extends boolean = false>(options?: PlainSelection<N, C>): Promise<QueueMessage<Q, N, C> | undefined>;
  nextBatch<const N extends QueueNames<Q> = QueueNames<Q>, C extends boolean = false>(options?: PlainBatch<N, C>): Promise<QueueMessage<Q, N, C>[]>;
  tryNext<const N extends QueueNames<Q> = QueueNames<Q>, C extends boolean = false>(options?: PlainSelection<N, C>): Promise<QueueMessage<Q, N, C> | undefined>;
  tryNextBatch<const N extends QueueNames<Q> = QueueNames<Q>, C extends boolean = false>(options?: PlainBatch<N, C>): Promise<QueueMessage<Q, N, C>[]>;
  /** @throws queue/timed_out */
  waitForNames<const N extends QueueNames<Q>, C extends boolean = false>(names: readonly N[], options?: PlainSelection<N, C>): Promise<QueueMessage<Q, N, C>>;
  iter<const N extends QueueNames<Q> = QueueNames<Q>, C extends boolean = false>(options?: PlainSelection<N, C>): AsyncIterableIterator<QueueMessage<Q, N, C>>;
  [Symbol.asyncIterator](): AsyncIterableIterator<QueueMessage<Q>>;
}
interface PlainSelection<N extends string, C extends boolean> extends ReceiveSelection<N, C> {
  readonly signal?: AbortSignal;
}
interface PlainBatch<N extends string, C extends boolean> extends BatchSelection<N, C> {
  readonly signal?: AbortSignal;
}

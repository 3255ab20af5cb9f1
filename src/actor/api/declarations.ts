import { own } from "../../protocol/index.js";

/** A Standard Schema v1 (zod, valibot, arktype …): the part Perdure uses. Validation may be asynchronous. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** The result of a validation: a value, or issues. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] };

declare const messageType: unique symbol;
declare const replyType: unique symbol;
declare const payloadType: unique symbol;

/** The access rule of a queue. */
export interface PublishRule {
  /**
   * Decides whether a caller may send. Runs for sends from outside only; false is `auth/forbidden`.
   *
   * @example
   *     orders: queue<Order>({ canPublish: (c) => c.conn.params.role === "staff" }),
   */
  readonly canPublish?: (c: any) => boolean | Promise<boolean>;
}
/** Options of `queue<M, R>()`. */
export interface QueueOptions<M, R> extends PublishRule {
  /** Validates message bodies. */
  readonly message?: StandardSchema<unknown, M>;
  /** Validates responses. */
  readonly complete?: StandardSchema<unknown, R>;
}

/** A queue's declaration: `M` is the message's body, `R` the receiver's response. */
export interface QueueDeclaration<M = unknown, R = undefined> extends QueueOptions<M, R> {
  readonly [messageType]?: M;
  readonly [replyType]?: R;
}

/** An event's declaration: `T` is the argument list if it is a tuple, otherwise the only argument. */
export interface EventDeclaration<T = unknown> {
  readonly [payloadType]?: T;
  /** Validates the arguments. */
  readonly schema?: StandardSchema<unknown, T>;
  /** Decides whether a connection may subscribe; false is `auth/forbidden`. */
  readonly canSubscribe?: (c: any) => boolean | Promise<boolean>;
}

/** Queues by name. */
export type QueueDeclarations = Record<string, QueueDeclaration<unknown, unknown> | StandardSchema>;
/** Events by name. */
export type EventDeclarations = Record<string, EventDeclaration | StandardSchema>;

/** Names of an actor's queues: the declared ones, or any string if none is declared. */
export type QueueNames<Q extends QueueDeclarations> = [keyof Q] extends [never] ? string : keyof Q & string;

/** The body a receiver gets: a schema's output. */
export type MessageBody<D> =
  D extends StandardSchema<infer _I, infer O>
    ? O
    : D extends { readonly message: StandardSchema<infer _I, infer O> }
      ? O
      : D extends QueueDeclaration<infer M, infer _R>
        ? M
        : unknown;
/** The body a sender gives: a schema's input. */
export type MessageInput<D> =
  D extends StandardSchema<infer I, infer _O>
    ? I
    : D extends { readonly message: StandardSchema<infer I, infer _O> }
      ? I
      : D extends QueueDeclaration<infer M, infer _R>
        ? M
        : unknown;
/** The response type of a declared queue. */
export type MessageReply<D> =
  D extends StandardSchema<infer _I, infer _O>
    ? undefined
    : D extends QueueDeclaration<infer _M, infer R>
      ? R
      : unknown;
/** The body a sender gives to the queue `N`; unknown if it is not declared. */
export type SendBody<Q extends QueueDeclarations, N> = N extends keyof Q ? MessageInput<Q[N]> : unknown;
/** The response to a message in the queue `N`; unknown if it is not declared. */
export type SendReply<Q extends QueueDeclarations, N> = N extends keyof Q ? MessageReply<Q[N]> : unknown;
/** The argument list of a declared event. */
export type EventArguments<D> =
  D extends StandardSchema<infer _I, infer O>
    ? AsArguments<O>
    : D extends EventDeclaration<infer T>
      ? AsArguments<T>
      : unknown[];
// An array that is not a tuple (`string[]`) is one argument.
type AsArguments<T> = 0 extends 1 & T ? any[] : T extends readonly [] | readonly [any, ...any[]] ? T : [T];

/** A queue with validated messages: the sender gives the schema's input, the receiver gets its output. */
export interface SchemaQueue<M extends StandardSchema, R extends StandardSchema> extends PublishRule {
  readonly message: M;
  readonly complete?: R;
}

/**
 * Declares a queue of the actor, by types or by Standard Schemas. Bodies a schema rejects are `actor/validation_error`,
 * and nothing is stored. `canPublish` decides who may send from outside.
 *
 * @example
 *     queues: {
 *       orders: queue<{ item: string }, { receipt: number }>(),
 *       refunds: queue({ message: z.object({ receipt: z.number() }) }),
 *     },
 */
// Three type parameters, so that `queue<Message, Reply>`, also as a type (`ReturnType<typeof queue<Message>>`), is the last of these.
export function queue<M extends StandardSchema, R extends StandardSchema, _Inferred>(
  options: Required<Pick<SchemaQueue<M, R>, "message" | "complete">> & PublishRule,
): SchemaQueue<M, R>;
export function queue<M extends StandardSchema, _Inferred1, _Inferred2>(
  options: Pick<SchemaQueue<M, never>, "message"> & PublishRule & { readonly complete?: undefined },
): SchemaQueue<M, StandardSchema<undefined>>;
export function queue<M = unknown, R = undefined>(options?: QueueOptions<M, R>): QueueDeclaration<M, R>;
export function queue(options: object = {}): object {
  return own(options);
}

/**
 * Declares an event of the actor, by type or by Standard Schema: a tuple is the argument list, any other type the only
 * argument. `canSubscribe` decides who may listen.
 *
 * @example
 *     events: {
 *       noted: event<[number: number, text: string]>(),
 *       alarm: event<string>({ canSubscribe: (c) => c.conn.params.role === "staff" }),
 *     },
 */
export function event<T = unknown>(
  options: {
    readonly schema?: StandardSchema<unknown, T>;
    readonly canSubscribe?: (c: any) => boolean | Promise<boolean>;
  } = {},
): EventDeclaration<T> {
  return own(options);
}

declare const definitionTypes: unique symbol;

declare const requiredInput: unique symbol;
/** Marks the input of an actor with an `inputSchema`: a client that may create the actor must give it. */
export interface RequiredInput<I> {
  readonly [requiredInput]: I;
}
/** An actor's input as clients see it: with a schema it is the schema's input, and required. */
export type ClientInput<I, Schema> = [Schema] extends [StandardSchema<infer Given, any>] ? RequiredInput<Given> : I;

/** Carries the types of an actor; the property never exists. */
export interface DefinitionTypes<S, CP, CS, V, I, DB, E, Q, M> {
  readonly [definitionTypes]?: [S, CP, CS, V, I, DB, E, Q, M];
}

/** `actionInputSchemas`: schemas of argument lists, in the shape of the actions or by dotted names. */
export interface ActionInputSchemas {
  readonly [name: string]: StandardSchema<any, any> | ActionInputSchemas;
}

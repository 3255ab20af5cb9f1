import { own } from "../../protocol/index.js";

/** Standard Schema v1, as much of it as is used here. Validators may be asynchronous. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] };

declare const messageType: unique symbol;
declare const replyType: unique symbol;
declare const payloadType: unique symbol;

export interface PublishRule {
  /** Whether the caller may send; asked for sends from outside only. */
  readonly canPublish?: (c: any) => boolean | Promise<boolean>;
}
/** What `queue<M, R>()` takes. */
export interface QueueOptions<M, R> extends PublishRule {
  readonly message?: StandardSchema<unknown, M>;
  readonly complete?: StandardSchema<unknown, R>;
}

/** A queue's declaration: `M` is the message's body, `R` what its receiver may answer. */
export interface QueueDeclaration<M = unknown, R = undefined> extends QueueOptions<M, R> {
  readonly [messageType]?: M;
  readonly [replyType]?: R;
}

/** An event's declaration: `T` is the argument list if it is a tuple, else the one argument. */
export interface EventDeclaration<T = unknown> {
  readonly [payloadType]?: T;
  readonly schema?: StandardSchema<unknown, T>;
  readonly canSubscribe?: (c: any) => boolean | Promise<boolean>;
}

export type QueueDeclarations = Record<string, QueueDeclaration<unknown, unknown> | StandardSchema>;
export type EventDeclarations = Record<string, EventDeclaration | StandardSchema>;

/** Names of an actor's queues: the declared ones, or any if none is declared. */
export type QueueNames<Q extends QueueDeclarations> = [keyof Q] extends [never] ? string : keyof Q & string;

/** What the receiver gets: a schema's output. */
export type MessageBody<D> =
  D extends StandardSchema<infer _I, infer O>
    ? O
    : D extends { readonly message: StandardSchema<infer _I, infer O> }
      ? O
      : D extends QueueDeclaration<infer M, infer _R>
        ? M
        : unknown;
/** What the sender gives: a schema's input. */
export type MessageInput<D> =
  D extends StandardSchema<infer I, infer _O>
    ? I
    : D extends { readonly message: StandardSchema<infer I, infer _O> }
      ? I
      : D extends QueueDeclaration<infer M, infer _R>
        ? M
        : unknown;
/** Reply type of a declared queue. */
export type MessageReply<D> =
  D extends StandardSchema<infer _I, infer _O>
    ? undefined
    : D extends QueueDeclaration<infer _M, infer R>
      ? R
      : unknown;
/** What a message to the queue `N` may be; anything where none is declared. */
export type SendBody<Q extends QueueDeclarations, N> = N extends keyof Q ? MessageInput<Q[N]> : unknown;
/** What the receiver of a message in the queue `N` answers. */
export type SendReply<Q extends QueueDeclarations, N> = N extends keyof Q ? MessageReply<Q[N]> : unknown;
/** Argument list of a declared event. */
export type EventArguments<D> =
  D extends StandardSchema<infer _I, infer O>
    ? AsArguments<O>
    : D extends EventDeclaration<infer T>
      ? AsArguments<T>
      : unknown[];
// A list that is no tuple (`string[]`) is one argument.
type AsArguments<T> = 0 extends 1 & T ? any[] : T extends readonly [] | readonly [any, ...any[]] ? T : [T];

/** A queue whose messages are validated: the sender gives the schema's input, the receiver gets its output. */
export interface SchemaQueue<M extends StandardSchema, R extends StandardSchema> extends PublishRule {
  readonly message: M;
  readonly complete?: R;
}

/** Declares a queue: `queue<Message, Reply>()`, or `queue({ message: schema })`; with an access rule if wanted. */
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

/** Declares an event: `event<Payload>()`, with a schema and an access rule if wanted. */
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
/** Stands for an actor's input where it has an `inputSchema`: who may create the actor must give one of type `I`. */
export interface RequiredInput<I> {
  readonly [requiredInput]: I;
}
/** An actor's input as clients see it: with a schema, what the schema takes, and it is required. */
export type ClientInput<I, Schema> = [Schema] extends [StandardSchema<infer Given, any>] ? RequiredInput<Given> : I;

/** Carries the types of an actor; the property never exists. */
export interface DefinitionTypes<S, CP, CS, V, I, DB, E, Q, M> {
  readonly [definitionTypes]?: [S, CP, CS, V, I, DB, E, Q, M];
}

/** `actionInputSchemas`: schemas of argument lists, in the shape of the actions, or by dotted names. */
export interface ActionInputSchemas {
  readonly [name: string]: StandardSchema<any, any> | ActionInputSchemas;
}

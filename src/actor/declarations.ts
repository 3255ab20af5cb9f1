/** Standard Schema v1, as much of it as is used here. Validators may be asynchronous (decision 30). */
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

/** A queue's declaration: `M` is the message's body, `R` what its receiver may answer. */
export interface QueueDeclaration<M = unknown, R = undefined> {
  readonly [messageType]?: M;
  readonly [replyType]?: R;
  readonly message?: StandardSchema<unknown, M>;
  readonly complete?: StandardSchema<unknown, R>;
  // biome-ignore lint: the context's types belong to the actor that declares the queue
  readonly canPublish?: (c: any) => boolean | Promise<boolean>;
}

/** An event's declaration: `T` is the argument list if it is a tuple, else the one argument. */
export interface EventDeclaration<T = unknown> {
  readonly [payloadType]?: T;
  readonly schema?: StandardSchema<unknown, T>;
  // biome-ignore lint: the context's types belong to the actor that declares the event
  readonly canSubscribe?: (c: any) => boolean | Promise<boolean>;
}

// biome-ignore lint: bodies and replies of any type
export type QueueDeclarations = Record<string, QueueDeclaration<any, any> | StandardSchema<any, any>>;
// biome-ignore lint: payloads of any type
export type EventDeclarations = Record<string, EventDeclaration<any> | StandardSchema<any, any>>;

/** Body type of a declared queue. */
export type MessageBody<D> = D extends StandardSchema<infer _I, infer O> ? O : D extends QueueDeclaration<infer M, infer _R> ? M : unknown;
/** Reply type of a declared queue. */
export type MessageReply<D> = D extends StandardSchema<infer _I, infer _O> ? undefined : D extends QueueDeclaration<infer _M, infer R> ? R : unknown;
/** Argument list of a declared event. */
export type EventArguments<D> = D extends StandardSchema<infer _I, infer O>
  ? AsArguments<O>
  : D extends EventDeclaration<infer T>
    ? AsArguments<T>
    : unknown[];
// biome-ignore lint: a tuple or a list of anything
type AsArguments<T> = T extends readonly any[] ? T : [T];

/** Declares a queue: `queue<Message, Reply>()`, with schemas and access rules if wanted. */
export function queue<M = unknown, R = undefined>(options: {
  readonly message?: StandardSchema<unknown, M>;
  readonly complete?: StandardSchema<unknown, R>;
  // biome-ignore lint: see QueueDeclaration
  readonly canPublish?: (c: any) => boolean | Promise<boolean>;
} = {}): QueueDeclaration<M, R> {
  return { ...options };
}

/** Declares an event: `event<Payload>()`, with a schema and an access rule if wanted. */
export function event<T = unknown>(options: {
  readonly schema?: StandardSchema<unknown, T>;
  // biome-ignore lint: see EventDeclaration
  readonly canSubscribe?: (c: any) => boolean | Promise<boolean>;
} = {}): EventDeclaration<T> {
  return { ...options };
}

/** A client without types: every actor, every action. */
// biome-ignore lint: untyped by intention (decision 31)
export type AnyClient = any;

/** What a client knows about actors: only types, so that `src/client` never imports the runtime. */
import type { MessageBody, MessageReply, QueueDeclarations } from "./declarations.js";
import type { ActorDefinition, ActorDefinitions, AnyActorDefinition } from "./types.js";

export type { AnyClient } from "./declarations.js";

/** What `setup()` gives; the type argument of `createClient<typeof registry>()`. */
export interface RegistryTypes<D extends ActorDefinitions> {
  readonly config: { readonly use: D };
}

/** The actor definitions of a registry type. */
export type ExtractActorsFromRegistry<R> = R extends { readonly config: { readonly use: infer D } } ? D : never;

/** A server action as a client sees it: without the context, always a promise. */
// biome-ignore lint: an action's own arguments
export type ClientAction<F> = F extends (c: any, ...args: infer P) => infer R ? (...args: P) => Promise<Awaited<R>> : never;

/** All actions of an actor as methods, nested as they were declared. */
export type ClientActions<A> = {
  // biome-ignore lint: any action
  [K in keyof A as string extends K ? never : K]: A[K] extends (c: any, ...args: any[]) => any ? ClientAction<A[K]> : ClientActions<A[K]>;
};

// biome-ignore lint: any definition
export type ActionsOf<D extends AnyActorDefinition> = D extends ActorDefinition<any, any, any, any, any, any, any, any, infer A> ? A : never;
// biome-ignore lint: any definition
export type QueuesOf<D extends AnyActorDefinition> = D extends ActorDefinition<any, any, any, any, any, any, any, infer Q, any> ? Q : never;
// biome-ignore lint: any definition
export type InputOf<D extends AnyActorDefinition> = D extends ActorDefinition<any, any, any, any, infer I, any, any, any, any> ? I : never;
// biome-ignore lint: any definition
export type ParamsOf<D extends AnyActorDefinition> = D extends ActorDefinition<any, infer CP, any, any, any, any, any, any, any> ? CP : never;

/** Queue names that may be sent to: the declared ones, or any if none is declared (decision 17). */
export type QueueName<Q extends QueueDeclarations> = [keyof Q] extends [never] ? string : string extends keyof Q ? string : keyof Q & string;
export type SendBody<Q extends QueueDeclarations, N> = N extends keyof Q ? MessageBody<Q[N]> : unknown;
export type SendReply<Q extends QueueDeclarations, N> = N extends keyof Q ? MessageReply<Q[N]> : unknown;

export interface SendResult<R> {
  readonly status: "completed" | "timedOut";
  readonly response?: R;
}

/** Sends a message to a queue of the actor. Resolves once it is stored; with `wait: true` when it is completed or `timeout` (ms) is over. */
export interface SendMethod<Q extends QueueDeclarations> {
  <N extends QueueName<Q>>(
    queue: N,
    body: SendBody<Q, N>,
    options: { readonly wait: true; readonly timeout?: number; readonly signal?: AbortSignal },
  ): Promise<SendResult<SendReply<Q, N>>>;
  <N extends QueueName<Q>>(queue: N, body: SendBody<Q, N>, options?: { readonly wait?: false; readonly signal?: AbortSignal }): Promise<void>;
}

/** The explicit form of a call: for names that collide with the handle's own methods, and for a signal. */
export interface ActionRequest {
  readonly name: string;
  readonly args?: readonly unknown[];
  readonly signal?: AbortSignal;
}

/** Methods of every handle beside its actions. */
export interface ActorHandleMethods<Q extends QueueDeclarations> {
  action<T = unknown>(request: ActionRequest): Promise<T>;
  readonly send: SendMethod<Q>;
  /** The actor's id. @throws actor/not_found for a `get` handle of an actor that does not exist */
  resolve(options?: { readonly signal?: AbortSignal }): Promise<string>;
  /** The URL below which the actor's routes lie (`…/gateway/{id}`). Resolves the actor first; rejects over a binding, which has none. */
  getGatewayUrl(options?: { readonly signal?: AbortSignal }): Promise<string>;
}

export type ActorHandle<D extends AnyActorDefinition> = ActorHandleMethods<QueuesOf<D>> & Omit<ClientActions<ActionsOf<D>>, keyof ActorHandleMethods<never>>;

export interface GetOptions {
  /** Connection params, sent with every call. */
  readonly params?: unknown;
  readonly getParams?: () => unknown | Promise<unknown>;
  readonly signal?: AbortSignal;
}
export interface GetOrCreateOptions<I = unknown> extends GetOptions {
  /** Given to `createState` and `onCreate` if this call creates the actor. */
  readonly createWithInput?: I;
  readonly createInRegion?: string;
}
export interface CreateOptions<I = unknown> extends GetOptions {
  readonly input?: I;
  readonly region?: string;
}

export interface ActorAccessor<D extends AnyActorDefinition> {
  get(key?: string | readonly string[], options?: GetOptions): ActorHandle<D>;
  getOrCreate(key?: string | readonly string[], options?: GetOrCreateOptions<InputOf<D>>): ActorHandle<D>;
  getForId(actorId: string, options?: GetOptions): ActorHandle<D>;
  /** @throws actor/duplicate_key when the key exists */
  create(key?: string | readonly string[], options?: CreateOptions<InputOf<D>>): Promise<ActorHandle<D>>;
}

/** `createClient<typeof registry>()`: an accessor for each actor. */
export type Client<R> = ClientOf<ExtractActorsFromRegistry<R>>;
export type ClientOf<D> = { readonly [N in keyof D]: D[N] extends AnyActorDefinition ? ActorAccessor<D[N]> : never } & ClientMethods<D>;

type DefinitionOf<D, N extends keyof D> = D[N] extends AnyActorDefinition ? D[N] : never;

/** The same with the actor's name as an argument: for a name that is computed, or that the client has itself. */
export interface ClientMethods<D> {
  get<N extends keyof D & string>(name: N, key?: string | readonly string[], options?: GetOptions): ActorHandle<DefinitionOf<D, N>>;
  getOrCreate<N extends keyof D & string>(
    name: N,
    key?: string | readonly string[],
    options?: GetOrCreateOptions<InputOf<DefinitionOf<D, N>>>,
  ): ActorHandle<DefinitionOf<D, N>>;
  getForId<N extends keyof D & string>(name: N, actorId: string, options?: GetOptions): ActorHandle<DefinitionOf<D, N>>;
  /** @throws actor/duplicate_key when the key exists */
  create<N extends keyof D & string>(
    name: N,
    key?: string | readonly string[],
    options?: CreateOptions<InputOf<DefinitionOf<D, N>>>,
  ): Promise<ActorHandle<DefinitionOf<D, N>>>;
  dispose(): Promise<void>;
}

/** What a client knows about actors: only types, so that `src/client` never imports the runtime. */
import type { AnyClient, DefinitionTypes, QueueDeclarations, QueueNames, SendBody, SendReply } from "./declarations.js";

export type { AnyClient } from "./declarations.js";

/** What `setup()` gives; the type argument of `createClient<typeof registry>()`. */
export interface RegistryTypes<D> {
  readonly config: { readonly use: D };
}

/** The actor definitions of a registry type. */
export type ExtractActorsFromRegistry<R> = R extends RegistryTypes<infer D> ? D : never;

/** A server action as a client sees it: without the context, always a promise. A group of actions: each of them. */
// biome-ignore lint: an action's own arguments
export type ClientAction<F> = F extends (c: any, ...args: infer P) => infer R
  ? (...args: P) => Promise<Awaited<R>>
  : { [K in keyof F]: ClientAction<F[K]> };

export interface SendResult<R> {
  readonly status: "completed" | "timedOut";
  readonly response?: R;
}

/** Options of a send that waits until its message is completed. */
export interface SendAndWaitOptions {
  readonly wait: true;
  /** ms; without it, the wait lasts as long as the actor's `actionTimeout`. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}
export interface SendOptions {
  readonly wait?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The explicit form of a call: for names that collide with the handle's own methods, and for a signal. */
export interface ActionRequest {
  readonly name: string;
  readonly args?: readonly unknown[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Methods of every handle beside its actions. */
export interface ActorHandleMethods<Q extends QueueDeclarations> {
  action<T = unknown>(request: ActionRequest): Promise<T>;
  /** Sends a message to a queue of the actor. Resolves when it is completed, or after `timeout`. */
  send<N extends QueueNames<Q>>(queue: N, body: SendBody<Q, N>, options: SendAndWaitOptions): Promise<SendResult<SendReply<Q, N>>>;
  /** Sends a message to a queue of the actor. Resolves once it is stored. */
  send<N extends QueueNames<Q>>(queue: N, body: SendBody<Q, N>, options?: SendOptions): Promise<void>;
  /** The actor's id. @throws actor/not_found for a `get` handle of an actor that does not exist */
  resolve(options?: { readonly signal?: AbortSignal | undefined }): Promise<string>;
  /** The URL below which the actor's routes lie (`…/gateway/{id}`). Resolves the actor first; rejects over a binding, which has none. */
  getGatewayUrl(options?: { readonly signal?: AbortSignal | undefined }): Promise<string>;
}

/** A handle with the actions `M` and the queues `Q`. */
export type Handle<M, Q extends QueueDeclarations> = ActorHandleMethods<Q> & Omit<M, keyof ActorHandleMethods<QueueDeclarations>>;

/** The handle of an actor: `ActorHandle<typeof myActor>`. */
// biome-ignore lint: any definition
export type ActorHandle<D> = D extends DefinitionTypes<any, any, any, any, any, any, any, infer Q extends QueueDeclarations, infer M> ? Handle<M, Q> : never;

// biome-ignore lint: any definition
type InputOf<D> = D extends DefinitionTypes<any, any, any, any, infer I, any, any, any, any> ? I : never;

export interface GetOptions {
  /** Connection params, sent with every call. */
  readonly params?: unknown;
  readonly getParams?: (() => unknown | Promise<unknown>) | undefined;
  readonly signal?: AbortSignal | undefined;
}
export interface GetOrCreateOptions<I = unknown> extends GetOptions {
  /** Given to `createState` and `onCreate` if this call creates the actor. */
  readonly createWithInput?: I | undefined;
  readonly createInRegion?: string | undefined;
}
export interface CreateOptions<I = unknown> extends GetOptions {
  readonly input?: I | undefined;
  readonly region?: string | undefined;
}

/** An actor's key: its parts, or the only one. */
export type ActorKey = string | readonly string[];

/** `client.<actor>`: where handles come from. `get…` call nothing; the handle's first use does. */
export interface ActorAccessor<D> {
  get(key?: ActorKey, options?: GetOptions): ActorHandle<D>;
  getOrCreate(key?: ActorKey, options?: GetOrCreateOptions<InputOf<D>>): ActorHandle<D>;
  getForId(actorId: string, options?: GetOptions): ActorHandle<D>;
  /** @throws actor/duplicate_key when the key exists */
  create(key?: ActorKey, options?: CreateOptions<InputOf<D>>): Promise<ActorHandle<D>>;
}

/** `createClient<typeof registry>()`: an accessor for each actor. */
export type Client<R> = ClientOf<ExtractActorsFromRegistry<R>>;
export type ClientOf<D> = { readonly [N in keyof D]: ActorAccessor<D[N]> } & ClientMethods<D>;

/** The client of a registry type; without one (`any`), any actor and action. */
export type ClientFor<R> = 0 extends 1 & R ? AnyClient : Client<R>;

/** The same with the actor's name as an argument: for a name that is computed, or that the client has itself. */
export interface ClientMethods<D> {
  get<N extends keyof D & string>(name: N, key?: ActorKey, options?: GetOptions): ActorHandle<D[N]>;
  getOrCreate<N extends keyof D & string>(name: N, key?: ActorKey, options?: GetOrCreateOptions<InputOf<D[N]>>): ActorHandle<D[N]>;
  getForId<N extends keyof D & string>(name: N, actorId: string, options?: GetOptions): ActorHandle<D[N]>;
  /** @throws actor/duplicate_key when the key exists */
  create<N extends keyof D & string>(name: N, key?: ActorKey, options?: CreateOptions<InputOf<D[N]>>): Promise<ActorHandle<D[N]>>;
  dispose(): Promise<void>;
}

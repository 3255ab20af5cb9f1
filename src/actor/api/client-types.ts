/** What a client knows about actors: only types, so that `src/client` never imports the runtime. */
import type { ActorError } from "../../protocol/index.js";
import type { EventArgs, EventNames } from "./connection-types.js";
import type {
  DefinitionTypes,
  EventDeclarations,
  QueueDeclarations,
  QueueNames,
  SendBody,
  SendReply,
  RequiredInput,
} from "./declarations.js";

/** What `setup()` gives; the type argument of `createClient<typeof registry>()`. */
export interface RegistryTypes<D> {
  readonly config: { readonly use: D };
}

/** A registry of which nothing is known: its clients take any name, and listeners are given anything. */
export interface AnyRegistry extends RegistryTypes<any> {}

/** The actor definitions of a registry type. */
export type ExtractActorsFromRegistry<R> = R extends RegistryTypes<infer D> ? D : never;

/** A server action as a client sees it: without the context, always a promise. A group of actions: each of them. */
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
  /** Accepted, without effect: calls wait for the actor's start. */
  readonly skipReadyWait?: boolean | undefined;
}

/** Options of a raw request beside those of `fetch`. */
export interface ActorFetchInit extends RequestInit {
  /** Accepted, without effect. */
  readonly skipReadyWait?: boolean | undefined;
}

/** What handles and connections have in common beside the actions. */
export interface ActorCalls<Q extends QueueDeclarations> {
  /** Calls an action whose name is computed or taken. An aborted call rejects at once with the signal's reason; it may still run. */
  action<T = unknown>(request: ActionRequest): Promise<T>;
  /** Sends a message to a queue of the actor, over HTTP. Resolves when it is completed, or after `timeout`. */
  send<N extends QueueNames<Q>>(
    queue: N,
    body: SendBody<Q, N>,
    options: SendAndWaitOptions,
  ): Promise<SendResult<SendReply<Q, N>>>;
  /** Sends a message to a queue of the actor, over HTTP. Resolves once it is stored. */
  send<N extends QueueNames<Q>>(queue: N, body: SendBody<Q, N>, options?: SendOptions): Promise<void>;
}

/** Methods of every handle beside its actions. */
export interface ActorHandleMethods<
  CP,
  E extends EventDeclarations,
  Q extends QueueDeclarations,
  M,
> extends ActorCalls<Q> {
  /**
   * Opens a connection, which connects again by itself whenever it is lost: for events, and for calls without a request
   * each. It can be used at once. `params` are for `onBeforeConnect`; they travel outside the URL, as JSON of at most 4 KiB.
   */
  connect(params?: CP, options?: ConnectOptions<CP>): Connection<M, E, Q>;
  /**
   * Opens a socket of its own to `onWebSocket`, below `path`, which may have a query. Resolves with it while it connects
   * (inside the Worker it is open already). Binary messages are ArrayBuffers. `protocols` reach the actor; the one that
   * is selected is always "rivet".
   */
  webSocket(path?: string, protocols?: string | readonly string[], options?: WebSocketOptions<CP>): Promise<WebSocket>;
  /**
   * Sends a request to the actor's `onRequest`, once. `input` is a path, with a query if need be; of a URL or a Request only
   * path and query count. Both bodies may be streams. Resolves with whatever is answered, errors included (`response.ok`);
   * rejects with `client/network_error` if nothing is, or with the signal's reason. Inside the Worker redirects are not
   * followed.
   */
  fetch(input: string | URL | Request, init?: ActorFetchInit | Request): Promise<Response>;
  /** The actor's id. @throws actor/not_found for a `get` handle of an actor that does not exist */
  resolve(options?: { readonly signal?: AbortSignal | undefined }): Promise<string>;
  /** The URL below which the actor's routes lie (`…/gateway/{id}`). Resolves the actor first; rejects over a binding, which has none. */
  getGatewayUrl(options?: { readonly signal?: AbortSignal | undefined }): Promise<string>;
}

export interface ConnectOptions<CP = unknown> {
  /**
   * Asked for the params at each attempt, reconnects included: a token that expires, say. If it throws, `onError` and
   * the calls that wait get `client/get_params_failed`, and the next attempt asks again.
   */
  readonly getParams?: (() => CP | Promise<CP>) | undefined;
  /**
   * ms that a call over the connection may take, its wait for the connection included; then it rejects with
   * `client/call_timed_out`. Without it, as long as it takes.
   */
  readonly callTimeout?: number | undefined;
  /** Disposes of the connection when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** Accepted, without effect. */
  readonly skipReadyWait?: boolean | undefined;
}

export interface WebSocketOptions<CP = unknown> {
  readonly params?: CP | undefined;
  readonly getParams?: (() => CP | Promise<CP>) | undefined;
  /** Accepted, without effect. */
  readonly skipReadyWait?: boolean | undefined;
}

/** "connected" once the actor has let it in, "disconnected" between two attempts, "idle" when none will follow. */
export type ActorConnStatus = "idle" | "connecting" | "connected" | "disconnected";

/** Takes a listener away again. */
export type Unsubscribe = () => void;

/**
 * Methods of every connection beside its actions. Actions go over the socket; those made while there is none wait for it,
 * in their order. Such a call rejects
 * - with the actor's error, or that of a refusal that ends the connection;
 * - with `client/connection_closed` if the connection was lost after it was sent: it may have run, and is never sent again; with
 *   `auth/forbidden` and its like if that was because a subscription was refused;
 * - with `client/get_params_failed` if it waited while `getParams` threw;
 * - with `client/actor_changed` if it waited for an actor that was destroyed meanwhile: it was not sent;
 * - with `client/call_timed_out` (see `callTimeout`), or with ActorConnDisposed.
 */
export interface ActorConnMethods<E extends EventDeclarations, Q extends QueueDeclarations> extends ActorCalls<Q> {
  /** Calls `listener` with the arguments of each such event, in their order. Events sent while there is no connection do not come later. */
  on<N extends EventNames<E>>(event: N, listener: (...args: EventArgs<E, N>) => void): Unsubscribe;
  /** The same for the next such event only. */
  once<N extends EventNames<E>>(event: N, listener: (...args: EventArgs<E, N>) => void): Unsubscribe;
  /** At each opening; for a connection that is open already, soon. */
  onOpen(listener: () => void): Unsubscribe;
  /** When an open connection ends, by itself or by `dispose`. */
  onClose(listener: () => void): Unsubscribe;
  /** What went wrong: with an attempt, a subscription, or the connection as a whole. If `connStatus` is "idle" then, no attempt follows. */
  onError(listener: (error: ActorError) => void): Unsubscribe;
  onStatusChange(listener: (status: ActorConnStatus) => void): Unsubscribe;
  readonly connStatus: ActorConnStatus;
  /** @deprecated Use `connStatus === "connected"`. */
  readonly isConnected: boolean;
  /** Resolves at the next opening, or at once while it is open. Rejects with what ends all attempts. */
  readonly ready: Promise<void>;
  /** The actor at the other end, or the last one; another one if it was destroyed and made anew. */
  readonly actorId: string | undefined;
  /** The connection's id on the server, while it is open. */
  readonly connId: string | undefined;
  /**
   * Connects now: without waiting for the next attempt, or again after a refusal that ended all attempts. Does nothing
   * in a listener that `dispose` calls.
   * @throws ActorConnDisposed
   */
  reconnect(): void;
  /** Ends it for good. Calls without an answer reject with ActorConnDisposed before this resolves; no timer is left. */
  dispose(): Promise<void>;
}

/** A connection to an actor with the actions `M`, the events `E` and the queues `Q`. */
export type Connection<M, E extends EventDeclarations, Q extends QueueDeclarations> = ActorConnMethods<E, Q> &
  Omit<M, keyof ActorConnMethods<EventDeclarations, QueueDeclarations>>;

/** A handle with the actions `M`, the connection params `CP`, the events `E` and the queues `Q`. */
export type Handle<M, CP, E extends EventDeclarations, Q extends QueueDeclarations> = ActorHandleMethods<CP, E, Q, M> &
  Omit<M, keyof ActorHandleMethods<unknown, EventDeclarations, QueueDeclarations, unknown>>;

/** The handle of an actor: `ActorHandle<typeof myActor>`. */
export type ActorHandle<D> = 0 extends 1 & D
  ? AnyHandle
  : D extends DefinitionTypes<
        any,
        infer CP,
        any,
        any,
        any,
        any,
        infer E extends EventDeclarations,
        infer Q extends QueueDeclarations,
        infer M
      >
    ? Handle<M, CP, E, Q>
    : never;

/** The connection of an actor: `ActorConn<typeof myActor>`. */
export type ActorConn<D> = 0 extends 1 & D
  ? AnyConnection
  : D extends DefinitionTypes<
        any,
        any,
        any,
        any,
        any,
        any,
        infer E extends EventDeclarations,
        infer Q extends QueueDeclarations,
        infer M
      >
    ? Connection<M, E, Q>
    : never;

type InputOf<D> =
  D extends DefinitionTypes<any, any, any, any, infer I, any, any, any, any>
    ? I extends RequiredInput<infer Given>
      ? Given
      : I
    : never;
type NeedsInput<D> = 0 extends 1 & D
  ? false
  : D extends DefinitionTypes<any, any, any, any, infer I, any, any, any, any>
    ? 0 extends 1 & I
      ? false
      : I extends RequiredInput<unknown>
        ? true
        : false
    : false;
type GetOrCreateArgs<D> =
  NeedsInput<D> extends true
    ? [key: ActorKey | undefined, options: GetOrCreateOptions<InputOf<D>> & { readonly createWithInput: InputOf<D> }]
    : [key?: ActorKey, options?: GetOrCreateOptions<InputOf<D>>];
type CreateArgs<D> =
  NeedsInput<D> extends true
    ? [key: ActorKey | undefined, options: CreateOptions<InputOf<D>> & { readonly input: InputOf<D> }]
    : [key?: ActorKey, options?: CreateOptions<InputOf<D>>];

export interface GetOptions {
  /** Connection params, sent with every call. */
  readonly params?: unknown;
  /** Asked for the params of each socket, reconnects included; calls over HTTP use `params`. */
  readonly getParams?: (() => unknown) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Accepted, without effect. */
  readonly poolName?: string | undefined;
  /** Accepted, without effect. */
  readonly skipReadyWait?: boolean | undefined;
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
  /** With an `inputSchema`, the input is required: this call may be the one that creates the actor. */
  getOrCreate(...args: GetOrCreateArgs<D>): ActorHandle<D>;
  getForId(actorId: string, options?: GetOptions): ActorHandle<D>;
  /** @throws actor/duplicate_key when the key exists */
  create(...args: CreateArgs<D>): Promise<ActorHandle<D>>;
}

/** `createClient<typeof registry>()`: an accessor for each actor. */
export type Client<R> = 0 extends 1 & ExtractActorsFromRegistry<R>
  ? AnyClient
  : ClientOf<ExtractActorsFromRegistry<R>> & RegistryOf<R>;

declare const registryType: unique symbol;
/** Lets what takes a client know its registry type; the property never exists. */
export interface RegistryOf<R> {
  readonly [registryType]?: R;
}
export type ClientOf<D> = { readonly [N in keyof D]: ActorAccessor<D[N]> } & ClientMethods<D>;

/** The client of a registry type; of `any`, anything. */
export type ClientFor<R> = 0 extends 1 & R ? R : Client<R>;

/** A handle of an actor of which nothing is known: any action, any result. */
export interface AnyHandle extends Omit<ActorHandleMethods<any, any, any, unknown>, "connect"> {
  connect(params?: unknown, options?: ConnectOptions<any>): AnyConnection;
  readonly [action: string]: any;
}
/** A connection to such an actor: any action; listeners get anything. */
export interface AnyConnection extends ActorConnMethods<any, any> {
  readonly [action: string]: any;
}
/** Where handles of such an actor come from. */
export interface AnyAccessor {
  get(key?: ActorKey, options?: GetOptions): AnyHandle;
  getOrCreate(key?: ActorKey, options?: GetOrCreateOptions): AnyHandle;
  getForId(actorId: string, options?: GetOptions): AnyHandle;
  /** @throws actor/duplicate_key when the key exists */
  create(key?: ActorKey, options?: CreateOptions): Promise<AnyHandle>;
}
/** A client without types: every actor, every action. */
export type AnyClient = { readonly [actor: string]: AnyAccessor } & AnyClientMethods;
export interface AnyClientMethods {
  get(name: string, key?: ActorKey, options?: GetOptions): AnyHandle;
  getOrCreate(name: string, key?: ActorKey, options?: GetOrCreateOptions): AnyHandle;
  getForId(name: string, actorId: string, options?: GetOptions): AnyHandle;
  /** @throws actor/duplicate_key when the key exists */
  create(name: string, key?: ActorKey, options?: CreateOptions): Promise<AnyHandle>;
  /** Disposes of all connections that its handles have opened. Handles go on working. */
  dispose(): Promise<void>;
}

/** The same with the actor's name as an argument: for a name that is computed, or that the client has itself. */
export interface ClientMethods<D> {
  get<N extends keyof D & string>(name: N, key?: ActorKey, options?: GetOptions): ActorHandle<D[N]>;
  getOrCreate<N extends keyof D & string>(name: N, ...args: GetOrCreateArgs<D[N]>): ActorHandle<D[N]>;
  getForId<N extends keyof D & string>(name: N, actorId: string, options?: GetOptions): ActorHandle<D[N]>;
  /** @throws actor/duplicate_key when the key exists */
  create<N extends keyof D & string>(name: N, ...args: CreateArgs<D[N]>): Promise<ActorHandle<D[N]>>;
  /** Disposes of all connections that its handles have opened. Handles go on working. */
  dispose(): Promise<void>;
}

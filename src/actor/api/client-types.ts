/** What a client knows about actors. Only types, so that `src/client` never imports the runtime. */
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

/** The type of a registry that `setup()` makes: the type argument of `createClient<typeof registry>()`. */
export interface RegistryTypes<D> {
  readonly config: { readonly use: D };
}

/** A registry of unknown types: its clients accept any name, and listeners get any arguments. */
export interface AnyRegistry extends RegistryTypes<any> {}

/** The actor definitions of a registry type. */
export type ExtractActorsFromRegistry<R> = R extends RegistryTypes<infer D> ? D : never;

/** An action as a client sees it: without the context, and asynchronous. A group of actions maps to a group. */
export type ClientAction<F> = F extends (c: any, ...args: infer P) => infer R
  ? (...args: P) => Promise<Awaited<R>>
  : { [K in keyof F]: ClientAction<F[K]> };

/** The result of a send that waits. After `timedOut` the message is still stored and will be received. */
export interface SendResult<R> {
  readonly status: "completed" | "timedOut";
  /** What the receiver completed the message with. */
  readonly response?: R;
}

/** Options of a send that waits until its message is completed. */
export interface SendAndWaitOptions {
  readonly wait: true;
  /** How long to wait, in ms, at most a day. Default: the actor's `actionTimeout` (60,000). */
  readonly timeout?: number | undefined;
  /** Ends the wait; a message that is already stored stays. */
  readonly signal?: AbortSignal | undefined;
}
/** Options of a send. */
export interface SendOptions {
  readonly wait?: boolean | undefined;
  /** Aborts the request; the message may still be stored. */
  readonly signal?: AbortSignal | undefined;
}

/** An explicit action call, for computed names, names that collide with the handle's methods, and signals. */
export interface ActionRequest {
  /** The action's name; a nested action's name has dots. */
  readonly name: string;
  /** The action's arguments. Default: none. */
  readonly args?: readonly unknown[] | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Accepted, has no effect: calls wait for the actor's start. */
  readonly skipReadyWait?: boolean | undefined;
}

/** Options of a raw request, in addition to those of `fetch`. */
export interface ActorFetchInit extends RequestInit {
  /** Accepted, has no effect. */
  readonly skipReadyWait?: boolean | undefined;
}

/** The methods that handles and connections share, besides the actions. */
export interface ActorCalls<Q extends QueueDeclarations> {
  /**
   * Calls an action by name. An aborted call rejects at once with the signal's reason; the action may still run.
   *
   * @example
   *     const total = await cart.action<number>({ name: "add", args: ["tea"], signal: AbortSignal.timeout(5_000) });
   * @throws {actor/action_not_found} when the actor has no such action
   * @throws {actor/action_timed_out} when the action exceeds `actionTimeout`
   * @throws {actor/not_found} when the actor does not exist and the handle does not create it
   * @throws the error of the action: a `UserError` unchanged, any other as `rivetkit/internal_error`
   */
  action<T = unknown>(request: ActionRequest): Promise<T>;
  /**
   * Sends a message to a queue of the actor, over HTTP, and waits until it is completed or the timeout passes. The
   * client never repeats a send.
   *
   * @example
   *     const { status, response } = await till.send("sales", { amount: 3 }, { wait: true, timeout: 5_000 });
   * @throws {queue/wait_cycle} when the receiver is itself waiting for this caller
   * @throws the errors of a send without `wait`
   */
  send<N extends QueueNames<Q>>(
    queue: N,
    body: SendBody<Q, N>,
    options: SendAndWaitOptions,
  ): Promise<SendResult<SendReply<Q, N>>>;
  /**
   * Sends a message to a queue of the actor, over HTTP. Resolves once the message is stored. The client never repeats a
   * send.
   *
   * @example
   *     await cart.send("add", { item: "tea" });
   * @throws {queue/not_declared} when the actor does not receive this queue
   * @throws {actor/validation_error} when the queue's schema rejects the body
   * @throws {auth/forbidden} when `canPublish` returns false
   * @throws {queue/full} when the actor's queues are full
   * @throws {queue/message_too_large} when the encoded body is larger than `maxQueueMessageSize`
   */
  send<N extends QueueNames<Q>>(queue: N, body: SendBody<Q, N>, options?: SendOptions): Promise<void>;
}

/** The methods of every handle, besides its actions. */
export interface ActorHandleMethods<
  CP,
  E extends EventDeclarations,
  Q extends QueueDeclarations,
  M,
> extends ActorCalls<Q> {
  /**
   * Opens a connection, for events and for calls over one socket. It is usable at once, and reconnects by itself when
   * it is lost. `params` go to `onBeforeConnect`: JSON of at most 4 KiB, sent outside the URL.
   *
   * @example
   *     const connection = client.board.getOrCreate("team").connect({ token });
   *     connection.on("noted", (number, text) => render(number, text));
   */
  connect(params?: CP, options?: ConnectOptions<CP>): Connection<M, E, Q>;
  /**
   * Opens a raw WebSocket to the actor's `onWebSocket`. `path` may have a query. The socket may still be connecting
   * when this resolves; inside the Worker it is open. It does not reconnect. Binary messages are `ArrayBuffer`s.
   * `protocols` reach the actor; the selected one is always "rivet".
   *
   * @example
   *     const socket = await client.room.getOrCreate("lobby").webSocket("chat?since=7");
   */
  webSocket(path?: string, protocols?: string | readonly string[], options?: WebSocketOptions<CP>): Promise<WebSocket>;
  /**
   * Sends a request to the actor's `onRequest`, once. `input` is a path with an optional query; of a URL or a `Request`
   * only path and query are used. Both bodies may be streams. Resolves with every answer, errors included: check
   * `response.ok`. Inside the Worker redirects are not followed.
   *
   * @example
   *     const response = await client.files.getOrCreate("ada").fetch("photos/7", { method: "PUT", body });
   * @throws {client/network_error} when no answer arrives
   * @throws the signal's reason when it fires
   */
  fetch(input: string | URL | Request, init?: ActorFetchInit | Request): Promise<Response>;
  /**
   * Returns the actor's id. A `getOrCreate` handle creates the actor if it does not exist.
   *
   * @example
   *     const same = client.show.getForId(await client.show.get(["2026-12-24"]).resolve());
   * @throws {actor/not_found} when the actor of a `get` handle does not exist
   */
  resolve(options?: { readonly signal?: AbortSignal | undefined }): Promise<string>;
  /**
   * Returns the base URL of the actor's routes (`…/gateway/{id}`). Resolves the actor first. Rejects inside the Worker,
   * where there is no URL.
   *
   * @example
   *     const url = `${await handle.getGatewayUrl()}/request/photos/7`;
   */
  getGatewayUrl(options?: { readonly signal?: AbortSignal | undefined }): Promise<string>;
}

/** Options of `connect`. */
export interface ConnectOptions<CP = unknown> {
  /**
   * Makes the params of each attempt to connect, reconnects included: for a token that expires. If it throws, `onError`
   * and waiting calls get `client/get_params_failed`, and the next attempt calls it again.
   *
   * @example
   *     handle.connect(undefined, { getParams: async () => ({ token: await freshToken() }) });
   */
  readonly getParams?: (() => CP | Promise<CP>) | undefined;
  /**
   * How long a call over the connection may take, in ms, including its wait for the connection. Exceeding it rejects
   * with `client/call_timed_out`. Default: no limit.
   */
  readonly callTimeout?: number | undefined;
  /** Disposes the connection when it fires. */
  readonly signal?: AbortSignal | undefined;
  /** Accepted, has no effect. */
  readonly skipReadyWait?: boolean | undefined;
}

/** Options of `webSocket`. */
export interface WebSocketOptions<CP = unknown> {
  /** Connection params. Default: those of the handle. */
  readonly params?: CP | undefined;
  /** Makes the params when the socket opens. */
  readonly getParams?: (() => CP | Promise<CP>) | undefined;
  /** Accepted, has no effect. */
  readonly skipReadyWait?: boolean | undefined;
}

/** `connected`: the actor has admitted it; `disconnected`: between two attempts; `idle`: no attempt follows. */
export type ActorConnStatus = "idle" | "connecting" | "connected" | "disconnected";

/** Removes a listener. */
export type Unsubscribe = () => void;

/**
 * The methods of every connection, besides its actions. Action calls go over the socket; calls made while there is none
 * wait for it, in their order. A call rejects with the actor's error, or with
 * - `client/connection_closed` if the connection was lost after the call was sent: it may have run, and is never sent
 *   again; if a refused subscription ended the connection, with that error (`auth/forbidden`);
 * - `client/get_params_failed` if `getParams` threw while the call waited;
 * - `client/actor_changed` if the actor was destroyed while the call waited: it was not sent;
 * - `client/call_timed_out` if it exceeded `callTimeout`;
 * - `client/connection_disposed` (`ActorConnDisposed`) if the connection was disposed;
 * - the error of a refusal that ended the connection.
 */
export interface ActorConnMethods<E extends EventDeclarations, Q extends QueueDeclarations> extends ActorCalls<Q> {
  /**
   * Calls `listener` for every event of this name, in order, and returns a function that removes it. Events sent while
   * there is no connection are not delivered later.
   *
   * @example
   *     const off = connection.on("noted", (number, text) => render(number, text));
   */
  on<N extends EventNames<E>>(event: N, listener: (...args: EventArgs<E, N>) => void): Unsubscribe;
  /**
   * Calls `listener` for the next event of this name only.
   *
   * @example
   *     connection.once("ready", () => start());
   */
  once<N extends EventNames<E>>(event: N, listener: (...args: EventArgs<E, N>) => void): Unsubscribe;
  /**
   * Calls `listener` whenever the connection opens, and soon if it is already open.
   *
   * @example
   *     connection.onOpen(async () => render(await connection.notes()));
   */
  onOpen(listener: () => void): Unsubscribe;
  /** Calls `listener` whenever an open connection ends, by itself or through `dispose`. */
  onClose(listener: () => void): Unsubscribe;
  /**
   * Calls `listener` with the error of an attempt, a subscription or the connection. If `connStatus` is then "idle", no
   * attempt follows.
   *
   * @example
   *     connection.onError(({ group, code, message }) => console.error(`${group}/${code}`, message));
   */
  onError(listener: (error: ActorError) => void): Unsubscribe;
  /**
   * Calls `listener` whenever `connStatus` changes.
   *
   * @example
   *     connection.onStatusChange((status) => badge.setText(status));
   */
  onStatusChange(listener: (status: ActorConnStatus) => void): Unsubscribe;
  /** The status now. */
  readonly connStatus: ActorConnStatus;
  /** @deprecated Use `connStatus === "connected"`. */
  readonly isConnected: boolean;
  /** Resolves once the connection is open; rejects with the error that ends all attempts. */
  readonly ready: Promise<void>;
  /** The id of the actor, now or last; another id after the actor was destroyed and created again. */
  readonly actorId: string | undefined;
  /** The connection's id on the server, while it is open. */
  readonly connId: string | undefined;
  /**
   * Connects now, instead of at the next attempt, or again after a refusal that ended all attempts. Does nothing in a
   * listener that `dispose` calls.
   *
   * @example
   *     button.onclick = () => connection.reconnect();
   * @throws {client/connection_disposed} when the connection is disposed
   */
  reconnect(): void;
  /**
   * Ends the connection for good. Unanswered calls reject with `ActorConnDisposed` before it resolves.
   *
   * @example
   *     await connection.dispose();
   */
  dispose(): Promise<void>;
}

/** A connection to an actor with the actions `M`, the events `E` and the queues `Q`. */
export type Connection<M, E extends EventDeclarations, Q extends QueueDeclarations> = ActorConnMethods<E, Q> &
  Omit<M, keyof ActorConnMethods<EventDeclarations, QueueDeclarations>>;

/** A handle with the actions `M`, the connection params `CP`, the events `E` and the queues `Q`. */
export type Handle<M, CP, E extends EventDeclarations, Q extends QueueDeclarations> = ActorHandleMethods<CP, E, Q, M> &
  Omit<M, keyof ActorHandleMethods<unknown, EventDeclarations, QueueDeclarations, unknown>>;

/** The handle type of an actor: `ActorHandle<typeof cart>`. */
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

/** The connection type of an actor: `ActorConn<typeof cart>`. */
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

/** Options of a handle. */
export interface GetOptions {
  /** Connection params, sent with every call. */
  readonly params?: unknown;
  /** Makes the params of each socket, reconnects included; calls over HTTP use `params`. */
  readonly getParams?: (() => unknown) | undefined;
  /** Aborts the handle's calls and disposes its connections. */
  readonly signal?: AbortSignal | undefined;
  /** Accepted, has no effect. */
  readonly poolName?: string | undefined;
  /** Accepted, has no effect. */
  readonly skipReadyWait?: boolean | undefined;
}
/** Options of a `getOrCreate` handle. */
export interface GetOrCreateOptions<I = unknown> extends GetOptions {
  /** The input of `createState` and `onCreate`, if this handle creates the actor. */
  readonly createWithInput?: I | undefined;
  /** The region to create the actor in: a location hint such as `"weur"`. Default: near the caller. */
  readonly createInRegion?: string | undefined;
}
/** Options of `create`. */
export interface CreateOptions<I = unknown> extends GetOptions {
  /** The input of `createState` and `onCreate`. */
  readonly input?: I | undefined;
  /** The region to create the actor in: a location hint such as `"weur"`. Default: near the caller. */
  readonly region?: string | undefined;
}

/** An actor's key: its parts, or a string for a key of one part. */
export type ActorKey = string | readonly string[];

/** `client.<actor>`: makes handles. `get`, `getOrCreate` and `getForId` call nothing; the handle's first use does. */
export interface ActorAccessor<D> {
  /**
   * Returns a handle to an existing actor. Calls reject with `actor/not_found` if it does not exist.
   *
   * @example
   *     const show = client.show.get(["2026-12-24"]);
   */
  get(key?: ActorKey, options?: GetOptions): ActorHandle<D>;
  /**
   * Returns a handle to an actor that its first call creates if necessary. For an actor with an `inputSchema`,
   * `createWithInput` is required.
   *
   * @example
   *     const cart = client.cart.getOrCreate("ada", { createWithInput: { currency: "EUR" } });
   */
  getOrCreate(...args: GetOrCreateArgs<D>): ActorHandle<D>;
  /**
   * Returns a handle to an actor by id: not to a later actor of the same key.
   *
   * @example
   *     const show = client.show.getForId(await handle.resolve());
   */
  getForId(actorId: string, options?: GetOptions): ActorHandle<D>;
  /**
   * Creates an actor now, and returns its handle once it is stored. For an actor with an `inputSchema`, `input` is
   * required.
   *
   * @example
   *     const show = await client.show.create(["2026-12-24"], { input: { title: "Hamlet", seats: 120 } });
   * @throws {actor/duplicate_key} when the key exists
   * @throws {actor/validation_error} when `inputSchema` rejects the input
   * @throws {auth/forbidden} when `canCreate` refuses
   */
  create(...args: CreateArgs<D>): Promise<ActorHandle<D>>;
}

/** The client of a registry: an accessor for each actor. */
export type Client<R> = 0 extends 1 & ExtractActorsFromRegistry<R>
  ? AnyClient
  : ClientOf<ExtractActorsFromRegistry<R>> & RegistryOf<R>;

declare const registryType: unique symbol;
/** Carries a client's registry type; the property never exists. */
export interface RegistryOf<R> {
  readonly [registryType]?: R;
}
/** The client of actor definitions. */
export type ClientOf<D> = { readonly [N in keyof D]: ActorAccessor<D[N]> } & ClientMethods<D>;

/** The client of a registry type; `any` for `any`. */
export type ClientFor<R> = 0 extends 1 & R ? R : Client<R>;

/** A handle to an actor of unknown types: any action, any result. */
export interface AnyHandle extends Omit<ActorHandleMethods<any, any, any, unknown>, "connect"> {
  connect(params?: unknown, options?: ConnectOptions<any>): AnyConnection;
  readonly [action: string]: any;
}
/** A connection to an actor of unknown types: any action; listeners get any arguments. */
export interface AnyConnection extends ActorConnMethods<any, any> {
  readonly [action: string]: any;
}
/** Makes handles to an actor of unknown types. */
export interface AnyAccessor {
  get(key?: ActorKey, options?: GetOptions): AnyHandle;
  getOrCreate(key?: ActorKey, options?: GetOrCreateOptions): AnyHandle;
  getForId(actorId: string, options?: GetOptions): AnyHandle;
  /** @throws {actor/duplicate_key} when the key exists */
  create(key?: ActorKey, options?: CreateOptions): Promise<AnyHandle>;
}
/** A client without types: every actor, every action. */
export type AnyClient = { readonly [actor: string]: AnyAccessor } & AnyClientMethods;
/** The methods of a client without types. */
export interface AnyClientMethods {
  get(name: string, key?: ActorKey, options?: GetOptions): AnyHandle;
  getOrCreate(name: string, key?: ActorKey, options?: GetOrCreateOptions): AnyHandle;
  getForId(name: string, actorId: string, options?: GetOptions): AnyHandle;
  /** @throws {actor/duplicate_key} when the key exists */
  create(name: string, key?: ActorKey, options?: CreateOptions): Promise<AnyHandle>;
  /**
   * Disposes all connections that this client's handles have opened. Handles keep working.
   *
   * @example
   *     await client.dispose();
   */
  dispose(): Promise<void>;
}

/** The methods of a client: accessors by name, for computed names and names that the client itself uses. */
export interface ClientMethods<D> {
  /**
   * Like `client.<name>.get(key)`.
   *
   * @example
   *     const handle = client.get("show", ["2026-12-24"]);
   */
  get<N extends keyof D & string>(name: N, key?: ActorKey, options?: GetOptions): ActorHandle<D[N]>;
  /** Like `client.<name>.getOrCreate(key)`. */
  getOrCreate<N extends keyof D & string>(name: N, ...args: GetOrCreateArgs<D[N]>): ActorHandle<D[N]>;
  /** Like `client.<name>.getForId(actorId)`. */
  getForId<N extends keyof D & string>(name: N, actorId: string, options?: GetOptions): ActorHandle<D[N]>;
  /**
   * Like `client.<name>.create(key)`.
   *
   * @throws {actor/duplicate_key} when the key exists
   */
  create<N extends keyof D & string>(name: N, ...args: CreateArgs<D[N]>): Promise<ActorHandle<D[N]>>;
  /**
   * Disposes all connections that this client's handles have opened. Handles keep working.
   *
   * @example
   *     await client.dispose();
   */
  dispose(): Promise<void>;
}

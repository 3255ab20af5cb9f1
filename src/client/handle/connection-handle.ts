import { has } from "../../protocol/page.js";
import type { ActionRequest } from "../../actor/api/client-types.js";
import { withActions, readActionRequest } from "./action-proxy.js";
import { Connection } from "../connection/connection.js";
import type { OpenConnections } from "./open-connections.js";
import type { ActorTarget, ActorTransport } from "../transport/transport.js";

export interface ConnectionHandleOptions {
  readonly target: ActorTarget;
  readonly description: Readonly<Record<string, unknown>>;
  /** Makes the params of each attempt. */
  getParams(): unknown;
  readonly callTimeoutMs: number | undefined;
  /** Disposes the connection when it fires. */
  readonly signal: AbortSignal | undefined;
  /** Sends over HTTP. */
  send(queue: string, body: unknown, options: object | undefined, params: unknown): Promise<unknown>;
}

type EventListener = (...args: never[]) => void;

/**
 * A connection to one actor: it has its own methods, and every other property is an action, called over its socket. It
 * begins to connect at once. Awaiting, logging or stringifying it does nothing.
 */
export function createConnectionHandle(
  transport: ActorTransport,
  connections: OpenConnections,
  options: ConnectionHandleOptions,
): unknown {
  const { target, description, signal, callTimeoutMs } = options;
  const dispose = (): void => connection.dispose();
  const connection: Connection = new Connection(
    {
      codec: transport.codec,
      place: transport.place,
      creates: has(target, "mode") && target.mode === "getOrCreate",
      callTimeoutMs,
      pingIntervalMs: transport.pingIntervalMs,
      getParams: () => options.getParams(),
      openSocket: (params) => transport.openSocket({ target, params, route: { kind: "connect" } }),
      onDisposed() {
        signal?.removeEventListener("abort", dispose);
        connections.delete(connection);
      },
    },
    connections.ports,
  );
  connections.add(connection);
  signal?.addEventListener("abort", dispose, { once: true });
  if (signal?.aborted) dispose();
  const call = (name: string, args: readonly unknown[], ofCall: AbortSignal | undefined): Promise<unknown> =>
    connections.callOver(`action ${name}`, () => connection.call(name, args, ofCall));
  const own = {
    action: async (request: ActionRequest) => {
      const { name, args, signal: ofCall } = readActionRequest(request);
      return call(name, args, ofCall);
    },
    send: (queue: string, body: unknown, sendOptions?: object) =>
      options.send(queue, body, sendOptions, connection.params),
    on: (event: string, listener: EventListener) => connection.on(event, listener, false),
    once: (event: string, listener: EventListener) => connection.on(event, listener, true),
    onOpen: connection.onOpen.bind(connection),
    onClose: connection.onClose.bind(connection),
    onError: connection.onError.bind(connection),
    onStatusChange: connection.onStatusChange.bind(connection),
    reconnect: () => connection.reconnect(),
    dispose: async () => connection.dispose(),
    get connStatus() {
      return connection.status;
    },
    get isConnected() {
      return connection.status === "connected";
    },
    get ready() {
      return connection.ready;
    },
    get actorId() {
      return connection.actorId;
    },
    get connId() {
      return connection.connId;
    },
  };
  return withActions("ActorConn", description, own, (name, args) => call(name, args, undefined));
}

/**
 * `onWebSocket(c, websocket)`: a socket with the user's own protocol. Frames pass through unchanged (CONN-11).
 *
 * With the option `canHibernateWebSocket` the socket stays open while the actor hibernates. Its listeners are lost, so the
 * next start calls the handler again, with the same `c.conn` and a request with the same URL. Without the option the
 * socket keeps the actor in memory, and closes with the activation.
 */
import type { ActorActivation } from "../activation/activation.js";
import { Callback } from "../activation/callback.js";
import type { Handler } from "../definition/compiled-actor.js";
import type { Connection } from "../activation/connection.js";
import { CallbackContext, READY } from "../callbacks/callback-context.js";
import { describe } from "../activation/thrown.js";
import { tellFailure } from "../callbacks/failure-data.js";
import { runUserCode, within, type TimeoutHost, type UserCodeHost } from "../callbacks/user-code.js";
import type { ConnectionEnd } from "../ports.js";

const CONNECTING = 0;
const OPEN = 1;
const CLOSED = 3;

type Listener = (event: RawSocketEvent) => unknown;
/** What a raw socket needs from its actor. */
type RawSocketHost = UserCodeHost & Pick<ActorActivation, "callbacks" | "connections">;

/** The event a listener gets: a message has `data`, a close `code`, `reason` and `wasClean`, an error `message`. */
export interface RawSocketEvent {
  readonly type: "open" | "message" | "close" | "error";
  readonly target: RawSocket;
  readonly data?: string | ArrayBuffer;
  readonly code?: number;
  readonly reason?: string;
  readonly wasClean?: boolean;
  readonly message?: string;
}

/** The actor's end of a raw socket, with the interface of a standard WebSocket. */
export class RawSocket {
  static readonly CONNECTING = CONNECTING;
  static readonly OPEN = OPEN;
  static readonly CLOSING = 2;
  static readonly CLOSED = CLOSED;
  readonly CONNECTING = CONNECTING;
  readonly OPEN = OPEN;
  readonly CLOSING = 2;
  readonly CLOSED = CLOSED;
  readonly binaryType = "arraybuffer";
  readonly url: string;
  onopen: Listener | null = null;
  onmessage: Listener | null = null;
  onclose: Listener | null = null;
  onerror: Listener | null = null;
  readonly #activation: RawSocketHost;
  readonly #connection: Connection;
  readonly #listeners = new Map<string, Set<Listener>>();
  #readyState = OPEN;

  constructor(activation: RawSocketHost, connection: Connection, url: string) {
    this.#activation = activation;
    this.#connection = connection;
    this.url = url;
  }

  get readyState(): number {
    return this.#readyState;
  }

  /** Commits dirty changes, then sends. Data for a closed socket is dropped. */
  send(data: string | ArrayBuffer | ArrayBufferView): void {
    if (this.#readyState !== OPEN) return;
    this.#activation.commitOrThrow();
    this.#connection.send(typeof data === "string" ? data : copyOf(data));
  }

  /** Ends the connection. `onDisconnect` follows. */
  close(code = 1000, reason = ""): void {
    if (this.#readyState !== OPEN) return;
    this.#readyState = CLOSED;
    const ended = this.#activation.connections.disconnect(this.#connection, { code, reason });
    ended.catch((error: unknown) =>
      this.#activation.ports.log.warn({ msg: "Closing a raw socket failed", stack: describe(error) }),
    );
  }

  addEventListener(type: string, listener: Listener | { handleEvent: Listener }): void {
    const call = typeof listener === "function" ? listener : listener.handleEvent.bind(listener);
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners.add(call));
  }

  removeEventListener(type: string, listener: Listener): void {
    this.#listeners.get(type)?.delete(listener);
  }

  hears(type: "message" | "close"): boolean {
    const handler = type === "message" ? this.onmessage : this.onclose;
    return handler !== null || (this.#listeners.get(type)?.size ?? 0) > 0;
  }

  ended(): void {
    this.#readyState = CLOSED;
  }

  /** Resolves when all listeners have ended, including asynchronous ones. Logs what they throw and commits their changes. */
  async deliver(event: Omit<RawSocketEvent, "target">): Promise<void> {
    const handler = { open: this.onopen, message: this.onmessage, close: this.onclose, error: this.onerror }[
      event.type
    ];
    const listeners = [...(handler ? [handler] : []), ...(this.#listeners.get(event.type) ?? [])];
    await Promise.all(listeners.map((listener) => this.#run(listener, { ...event, target: this })));
  }

  #run(listener: Listener, event: RawSocketEvent): Promise<unknown> {
    const { callbacks, ports } = this.#activation;
    const callback = Callback.unawaited(callbacks, `a listener of a raw socket (${event.type})`);
    const failed = (error: unknown): void =>
      ports.log.error({ msg: `A listener of a raw socket failed (${event.type})`, stack: describe(error) });
    return runUserCode(this.#activation, callback, () => listener.call(this, event), {
      commit: "must",
      conclude: (ran) => ran.catch(failed),
    });
  }
}

/** Calls `onWebSocket` for a new socket, or one restored after hibernation. A throw closes it with 1011, "group.code". */
export function serveRawSocket(
  activation: ActorActivation,
  connection: Connection,
  request: Request | undefined,
): void {
  const onWebSocket = activation.actor.config.onWebSocket as Handler | undefined;
  const socket = new RawSocket(activation, connection, request?.url ?? "");
  connection.raw = socket;
  if (!onWebSocket) return;
  const callback = Callback.unawaited(activation.callbacks, "onWebSocket");
  const context = new CallbackContext(activation, READY, {
    callback,
    conn: () => connection.view,
    logged: { hook: "onWebSocket" },
    ...(request && { request: () => request }),
  });
  const ran = runUserCode(activation, callback, () => onWebSocket(context, socket), { commit: "must" });
  // Frames and the close wait for a listener, at most until the handler has ended.
  connection.heard = ran.catch(() => {});
  const served = ran.catch((thrown: unknown) => {
    const { error } = tellFailure(thrown, activation.ports, activation.record, true);
    return activation.connections.disconnect(connection, { code: 1011, reason: `${error.group}.${error.code}` });
  });
  activation.ports.waitUntil(
    served.then(
      () => {},
      (error: unknown) => activation.ports.log.warn({ msg: "A raw socket was not served", stack: describe(error) }),
    ),
  );
}

/** Delivers a frame to a raw socket, in the order of arrival. */
export async function deliverRaw(
  _activation: ActorActivation,
  connection: Connection,
  frame: string | Uint8Array,
): Promise<void> {
  const begun = connection.inbox.then(async () => {
    const { raw } = connection;
    if (raw && !raw.hears("message")) await connection.heard;
    // Nested, so that the next frame does not wait for asynchronous listeners.
    return { heard: raw?.deliver({ type: "message", data: typeof frame === "string" ? frame : bufferOf(frame) }) };
  });
  connection.inbox = begun.catch(() => {});
  const { heard } = await begun;
  await heard;
}

/**
 * Delivers the close event, after the frames before it. Resolves when the listeners have ended, or after
 * `onConnectTimeout`, and never rejects: `onDisconnect` and the actor's shutdown come next.
 */
export async function deliverClose(
  activation: TimeoutHost & Pick<ActorActivation, "actor">,
  connection: Connection,
  { code, reason }: ConnectionEnd,
): Promise<void> {
  const { raw } = connection;
  if (!raw) return;
  raw.ended();
  const told = connection.inbox.then(async () => {
    if (!raw.hears("message") && !raw.hears("close")) await connection.heard;
    await raw.deliver({ type: "close", code, reason, wasClean: code !== 1006 });
  });
  const { onConnectTimeout } = activation.actor.options;
  const onTimeout = (): Error => new Error(`Its listeners did not finish within ${onConnectTimeout} ms`);
  await within(activation, told, onConnectTimeout, onTimeout).catch((error: unknown) => {
    activation.ports.log.warn({ msg: "The close event of a raw socket was not delivered", stack: describe(error) });
  });
}

function copyOf(data: ArrayBuffer | ArrayBufferView): Uint8Array<ArrayBuffer> {
  if (!ArrayBuffer.isView(data) && !(data instanceof ArrayBuffer))
    throw new TypeError("`send` of a raw socket takes a string, an ArrayBuffer or a view of one");
  return ArrayBuffer.isView(data)
    ? new Uint8Array(new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
    : new Uint8Array(data.slice(0));
}

function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

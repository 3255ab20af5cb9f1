import { exports } from "cloudflare:workers";
import {
  formatSubprotocols,
  wireCodec,
  type Encoding,
  type ToClient,
  type ToServer,
} from "../../src/protocol/index.js";

const worker = (exports as unknown as { default: { fetch(request: Request): Promise<Response> } }).default;

export interface OpenOptions {
  readonly encoding?: Encoding;
  readonly params?: unknown;
  readonly extended?: boolean;
  readonly method?: "get" | "getOrCreate";
  readonly headers?: Record<string, string>;
  /** Instead of the subprotocols that these options make. */
  readonly protocols?: readonly string[];
  /** Instead of the gateway's path for the actor. */
  readonly path?: string;
}

/** What ended a socket. */
export interface SocketEnd {
  readonly code: number;
  readonly reason: string;
}

/** A client of the connection protocol that hides nothing: frames in, frames out, and the close. */
export class TestSocket {
  readonly socket: WebSocket;
  readonly closed: Promise<SocketEnd>;
  readonly #encoding: Encoding;
  readonly #frames: ToClient[] = [];
  readonly #waiting: ((frame: ToClient) => void)[] = [];
  #id = 0n;

  constructor(socket: WebSocket, encoding: Encoding) {
    this.socket = socket;
    this.#encoding = encoding;
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", ({ data }) => {
      // The answer to a "ping", which is no frame of the protocol.
      if (data === "pong") return;
      const frame = wireCodec(encoding).toClient.decode(data as string | ArrayBuffer);
      const waiter = this.#waiting.shift();
      if (waiter) waiter(frame);
      else this.#frames.push(frame);
    });
    this.closed = new Promise((resolve) =>
      socket.addEventListener("close", ({ code, reason }) => resolve({ code, reason })),
    );
    socket.accept();
  }

  /** Opens without waiting for anything of the protocol. */
  static async dial(actor: string, key: string, options: OpenOptions = {}): Promise<TestSocket> {
    const {
      encoding = "json",
      method = "getOrCreate",
      path = `/gateway/${actor}/connect?rvt-namespace=default&rvt-method=${method}&rvt-key=${key}`,
    } = options;
    const response = await worker.fetch(
      new Request(`http://worker.test${path}`, {
        headers: {
          upgrade: "websocket",
          "sec-websocket-protocol": (options.protocols ?? protocolsOf(options)).join(", "),
          ...options.headers,
        },
      }),
    );
    if (!response.webSocket) throw new Error(`No socket: ${response.status} ${await response.text()}`);
    return new TestSocket(response.webSocket, encoding);
  }

  /** Opens, and waits for the Init frame. */
  static async open(actor: string, key: string, options: OpenOptions = {}): Promise<TestSocket> {
    const opened = await this.dial(actor, key, options);
    const first = await opened.next();
    if (first.tag !== "Init")
      throw new Error(
        `Not let in: ${JSON.stringify(first, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value))}`,
      );
    return opened;
  }

  /** The next frame, whenever it comes. */
  next(): Promise<ToClient> {
    const frame = this.#frames.shift();
    return frame ? Promise.resolve(frame) : new Promise((resolve) => void this.#waiting.push(resolve));
  }

  /** Frames that are here and that nobody has looked at. */
  get unread(): readonly ToClient[] {
    return this.#frames;
  }

  send(message: ToServer): void {
    this.socket.send(wireCodec(this.#encoding).toServer.encode(message));
  }

  /** Subscribes; an action that is answered afterwards shows that it has been served. */
  subscribe(eventName: string, subscribe = true): void {
    this.send({ tag: "SubscriptionRequest", val: { eventName, subscribe } });
  }

  /** Calls an action and gives its result; frames that come before the answer stay. */
  async call(name: string, ...args: unknown[]): Promise<unknown> {
    const id = this.#id++;
    this.send({ tag: "ActionRequest", val: { id, name, args } });
    const passed: ToClient[] = [];
    for (;;) {
      const frame = await this.next();
      if (frame.tag === "ActionResponse" && frame.val.id === id) {
        this.#frames.unshift(...passed);
        return frame.val.output;
      }
      if (frame.tag === "Error" && frame.val.actionId === id) {
        this.#frames.unshift(...passed);
        throw Object.assign(new Error(frame.val.message), frame.val);
      }
      passed.push(frame);
    }
  }

  /** The next frame, which must be an event: its name and arguments. */
  async event(): Promise<[name: string, ...args: unknown[]]> {
    const frame = await this.next();
    if (frame.tag !== "Event") throw new Error(`Not an event: ${frame.tag}`);
    return [frame.val.name, ...frame.val.args];
  }
}

function protocolsOf({ encoding = "json", params, extended = false }: OpenOptions): string[] {
  return formatSubprotocols({
    encoding,
    isOwnClient: extended,
    ...(params !== undefined && { params: JSON.stringify(params) }),
  });
}

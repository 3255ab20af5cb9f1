import { vi } from "vitest";
import { createClientWithTransport } from "../../src/client/binding.js";
import { type ActorTransport, type ClientSocket, type SocketCall } from "../../src/client/index.js";
import {
  PING,
  PONG,
  wireCodec,
  type Encoding,
  type Frame,
  type ToClient,
  type ToServer,
} from "../../src/protocol/index.js";
import { ManualClock } from "../../src/testing/index.js";

type Listener = (event: { data?: unknown; code?: number; reason?: string }) => void;

/** A socket whose other end is the test. */
export class FakeSocket implements ClientSocket {
  readonly call: SocketCall;
  readonly #codec;
  readonly #listeners: [type: string, listener: Listener][] = [];
  binaryType = "blob";
  readyState = 0;
  /** What the client sent, as text: `subscribe news`, `0 add [1]`. */
  readonly sent: string[] = [];
  /** How the client closed it. */
  closed: string | undefined;
  /** Thrown by `send`, as of a socket that is closing. */
  sendError: Error | undefined;

  constructor(call: SocketCall, encoding: Encoding) {
    this.call = call;
    this.#codec = wireCodec(encoding);
  }

  addEventListener(type: string, listener: (event: never) => void): void {
    this.#listeners.push([type, listener as Listener]);
  }

  send(data: Frame): void {
    if (this.sendError !== undefined) throw this.sendError;
    this.sent.push(data === PING ? PING : lineOf(this.#codec.toServer.decode(data)));
  }

  close(code?: number, reason?: string): void {
    this.closed ??= `${code ?? ""} ${reason ?? ""}`.trim();
  }

  emit(type: string, event: Parameters<Listener>[0] = {}): void {
    for (const [of, listener] of this.#listeners) if (of === type) listener(event);
  }

  receive(message: ToClient): void {
    const frame = this.#codec.toClient.encode(message, { extended: true });
    this.emit("message", { data: typeof frame === "string" ? frame : frame.buffer });
  }

  init(actorId = "actor-1", connectionId = "conn-1"): void {
    this.receive({ tag: "Init", val: { actorId, connectionId } });
  }

  pong(): void {
    this.emit("message", { data: PONG });
  }

  event(name: string, ...args: unknown[]): void {
    this.receive({ tag: "Event", val: { name, args } });
  }

  answer(id: number, output: unknown): void {
    this.receive({ tag: "ActionResponse", val: { id: BigInt(id), output } });
  }

  fail(id: number | null, group: string, code: string, metadata?: unknown): void {
    this.receive({
      tag: "Error",
      val: { group, code, message: `it is ${code}`, metadata, actionId: id === null ? null : BigInt(id) },
    });
  }

  drop(code = 1006, reason = ""): void {
    this.emit("close", { code, reason });
  }
}

function lineOf({ tag, val }: ToServer): string {
  if (tag === "SubscriptionRequest") return `${val.subscribe ? "subscribe" : "unsubscribe"} ${val.eventName}`;
  return `${val.id} ${val.name} ${JSON.stringify(val.args)}`;
}

/** The codec of a transport that has nothing to load. */
export function loadedCodec(encoding: Encoding): ActorTransport["codec"] {
  return { encoding, loaded: wireCodec(encoding), load: async () => wireCodec(encoding) };
}

/** A client whose sockets are the test's, and whose clock stands. */
export function fakeSockets({
  encoding = "json" as Encoding,
  random = 0,
  pingIntervalMs = undefined as number | undefined,
  ends = [] as AbortSignal[],
  codec = loadedCodec(encoding),
} = {}) {
  const clock = new ManualClock();
  const sockets: FakeSocket[] = [];
  /** Thrown by the next attempts to open a socket. */
  const failures: unknown[] = [];
  const transport = {
    action: vi.fn<ActorTransport["action"]>(async () => "over HTTP"),
    send: vi.fn<ActorTransport["send"]>(async () => ({ status: "completed" })),
    resolve: vi.fn<ActorTransport["resolve"]>(async () => "id"),
    create: vi.fn<ActorTransport["create"]>(async () => "id"),
    gatewayUrl: vi.fn<ActorTransport["gatewayUrl"]>(async () => "url"),
    fetch: vi.fn<ActorTransport["fetch"]>(async () => new Response()),
    openSocket: vi.fn<ActorTransport["openSocket"]>(async (call) => {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      const socket = new FakeSocket(call, encoding);
      sockets.push(socket);
      return socket;
    }),
    codec,
    pingIntervalMs,
    place: "http://nowhere.test",
  };
  const ports = {
    now: () => clock.now(),
    setTimer: (ms: number, action: () => void) => clock.setTimer(clock.now() + ms, action),
    random: () => random,
  };
  const client: any = createClientWithTransport(transport, { ports, ends });
  return {
    client,
    transport,
    clock,
    sockets,
    failures,
    /** The socket that was opened last. */
    get socket(): FakeSocket {
      const socket = sockets.at(-1);
      if (socket === undefined) throw new Error("no socket was opened");
      return socket;
    },
    /** Lets time pass, and whatever that sets going. */
    async pass(ms: number): Promise<void> {
      const end = clock.now() + ms;
      await settle();
      for (let next = clock.nextTimerAt(); next !== undefined && next <= end; next = clock.nextTimerAt()) {
        clock.moveTo(Math.max(next, clock.now()));
        clock.fireNext();
        await settle();
      }
      clock.moveTo(end);
    },
  };
}

/** Until nothing more happens by itself. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

/** What a promise has come to. */
export async function outcome(promise: Promise<unknown>): Promise<unknown> {
  let found: unknown = "pending";
  promise.then(
    (value) => (found = value),
    (error: unknown) =>
      (found =
        typeof error === "object" && error !== null && "group" in error
          ? `${String(error.group)}/${String((error as { code?: unknown }).code)}`
          : error),
  );
  await settle();
  return found;
}

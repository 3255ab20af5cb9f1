import {
  ANSWER_HEADER,
  encodeValue,
  ENVELOPE_HEADER,
  parseEnvelopeHeader,
  parseObjectName,
} from "../../src/protocol/index.js";
import type { ActorNamespace, ActorStub, ObjectId } from "../../src/router/index.js";
import type { MemorySocket, World, WorldActor } from "../../src/testing/index.js";

/** The objects of a world as the Worker's namespace: real actors behind the router, in one process. */
export class WorldObjects implements ActorNamespace {
  readonly #world: World;
  calls = 0;

  constructor(world: World) {
    this.#world = world;
  }

  idFromName(text: string): ObjectId {
    const { name, key } = parseObjectName(text) ?? { name: "", key: [] };
    const { objectId } = this.#world.actor(name, key);
    return { toString: () => objectId };
  }

  idFromString(id: string): ObjectId {
    const { objectId } = this.#find(id);
    return { toString: () => objectId };
  }

  get(id: ObjectId): ActorStub {
    const actor = this.#find(id.toString());
    return {
      call: async (sent) => {
        this.calls += 1;
        const broken = actor
          .died()
          .then(() => Promise.reject(Object.assign(new Error("The object's process died."), { retryable: true })));
        return structuredClone(await Promise.race([actor.deliver(structuredClone(sent)), broken]));
      },
      // As the shell does for raw requests; the world's sockets are opened elsewhere.
      fetch: async (given, init) => {
        const request = new Request(given, init);
        this.calls += 1;
        const { method, url } = request;
        const headers = new Headers(request.headers);
        headers.delete(ENVELOPE_HEADER);
        const envelope = {
          ...parseEnvelopeHeader(request.headers.get(ENVELOPE_HEADER)),
          request: { method, url, headers: [...headers] },
        };
        request.signal.throwIfAborted();
        if (envelope.operation.kind === "wait" || envelope.operation.kind === "resolve") {
          const { socket, ...reply } = await actor.awaitReply(envelope);
          if (!reply.ok) return new Response(encodeValue({ ...reply.error }), { status: reply.status });
          return { webSocket: socket && new SenderSocket(socket) } as unknown as Response;
        }
        const reply = await actor.deliverRequest(envelope, new Request(request, { headers }));
        if (!reply.ok) return new Response(encodeValue({ ...reply.error }), { status: reply.status });
        reply.response.headers.set(ANSWER_HEADER, reply.actorId);
        return reply.response;
      },
    };
  }

  #find(id: string): WorldActor {
    const found = this.#world.actors.find(({ objectId }) => objectId === id);
    if (found === undefined) throw new TypeError("Invalid Durable Object ID");
    return found;
  }
}

/** What waiting for a reply needs of the world around the Worker, by the world's clock. */
export function waitPorts(world: World) {
  let tokens = 0;
  return {
    now: () => world.clock.now(),
    sleep: (ms: number) => world.clock.delay(ms),
    random: () => 0,
    newToken: () => (tokens += 1).toString(16).padStart(32, "0"),
    setTimer: (ms: number, action: () => void) => world.clock.setTimer(world.clock.now() + ms, action),
  };
}

/** The Worker's end of a socket through which a sender waits, as the platform shows it. */
class SenderSocket extends EventTarget {
  readonly #socket: MemorySocket;
  #told = 0;

  constructor(socket: MemorySocket) {
    super();
    this.#socket = socket;
  }

  accept(): void {
    this.#socket.onChange = () => this.#tell();
    this.#tell();
  }

  close(code: number, reason: string): void {
    void this.#socket.hangUp(code, reason);
  }

  #tell(): void {
    for (const frame of this.#socket.frames.slice(this.#told)) {
      this.#told += 1;
      const data = typeof frame === "string" ? frame : new Uint8Array(frame).buffer;
      this.dispatchEvent(Object.assign(new Event("message"), { data }));
    }
    if (this.#socket.end) this.dispatchEvent(new Event("close"));
  }
}

import { ANSWER_HEADER, encodeValue, ENVELOPE_HEADER, parseEnvelopeHeader, parseObjectName } from "../../src/protocol/index.js";
import type { ActorNamespace, ActorStub, ObjectId } from "../../src/router/index.js";
import type { World, WorldActor } from "../../src/testing/index.js";

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
      call: async (envelope) => {
        this.calls += 1;
        const broken = actor.died().then(() => Promise.reject(Object.assign(new Error("The object's process died."), { retryable: true })));
        return structuredClone(await Promise.race([actor.deliver(structuredClone(envelope)), broken]));
      },
      // As the shell does for raw requests; the world's sockets are opened elsewhere.
      fetch: async (request) => {
        this.calls += 1;
        const { method, url } = request;
        const headers = new Headers(request.headers);
        headers.delete(ENVELOPE_HEADER);
        const envelope = { ...parseEnvelopeHeader(request.headers.get(ENVELOPE_HEADER)), request: { method, url, headers: [...headers] } };
        request.signal.throwIfAborted();
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

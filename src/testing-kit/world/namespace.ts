import {
  ANSWER_HEADER,
  encodeValue,
  ENVELOPE_HEADER,
  parseEnvelopeHeader,
  parseObjectName,
  type CallEnvelope,
  type ReplyEnvelope,
} from "../../protocol/index.js";
import type { ActorNamespace, ActorStub, ObjectId } from "../../router/index.js";
import type { NextTurn, SocketEnd } from "./socket-end.js";
import { endOf, upgradedTo } from "./worker-sockets.js";
import { whileAlive, type ActorProcess, type World, type WorldActor } from "../../testing/index.js";

/** The objects of a world as the Worker's namespace. */
export function namespaceOf(world: World): ActorNamespace {
  const find = (id: string): WorldActor => {
    const found = world.object(id);
    if (found === undefined) throw new TypeError("Invalid Durable Object ID");
    return found;
  };
  return {
    idFromName(text): ObjectId {
      const { name, key } = parseObjectName(text) ?? { name: "", key: [] };
      const { objectId } = world.actor(name, key);
      return { toString: () => objectId };
    },
    idFromString(id): ObjectId {
      const { objectId } = find(id);
      return { toString: () => objectId };
    },
    get: (id) => stubOf(find(id.toString()), world.options.nextTurn),
  };
}

/** The same for code of one process, while it lives. */
export function ofProcess(objects: ActorNamespace, process: ActorProcess): ActorNamespace {
  return {
    idFromName: (text) => objects.idFromName(text),
    idFromString: (id) => objects.idFromString(id),
    get: (id, options) => {
      const stub = objects.get(id, options);
      return {
        call: (sent) => whileAlive(process.isAlive, () => stub.call(sent)),
        fetch: (request, init) => whileAlive(process.isAlive, () => stub.fetch(request, init)),
      };
    },
  };
}

/** As the platform's stub, with copies of what crosses it; a call breaks when the object's process dies. */
function stubOf(actor: WorldActor, nextTurn: NextTurn): ActorStub {
  return {
    call: async (sent) => structuredClone(await orDead(actor, actor.deliver(structuredClone(sent)))),
    fetch: async (given, init) => {
      const request = new Request(given, init);
      const { method, url } = request;
      const headers = new Headers(request.headers);
      headers.delete(ENVELOPE_HEADER);
      const envelope: CallEnvelope = {
        ...parseEnvelopeHeader(request.headers.get(ENVELOPE_HEADER)),
        request: { method, url, headers: [...headers] },
      };
      request.signal.throwIfAborted();
      if (["connect", "wait", "resolve"].includes(envelope.operation.kind)) {
        const { socket, ...opened } = await orDead(actor, open(actor, envelope, nextTurn));
        return opened.ok ? upgradedTo(socket) : refused(opened);
      }
      const reply = await orDead(actor, actor.deliverRequest(envelope, new Request(request, { headers })));
      if (!reply.ok) return refused(reply);
      reply.response.headers.set(ANSWER_HEADER, reply.actorId);
      return whileItStreams(actor, reply.response);
    },
  };
}

/** Opens the Worker's end of a socket, as the object's shell does: of a connection, or of a sender that waits. */
async function open(
  actor: WorldActor,
  envelope: CallEnvelope,
  nextTurn: NextTurn,
): Promise<ReplyEnvelope & { readonly socket: SocketEnd | undefined }> {
  if (envelope.operation.kind !== "connect") {
    const { socket, ...reply } = await actor.awaitReply(envelope);
    return { ...reply, socket: socket && endOf(socket, nextTurn) };
  }
  const isRaw = envelope.operation.raw === true;
  const { socket, ...reply } = await actor.openSocket(envelope, "raw");
  return { ...reply, socket: endOf(socket, nextTurn, isRaw ? undefined : () => actor.now()) };
}

function refused({ error, status }: Extract<ReplyEnvelope, { ok: false }>): Response {
  return new Response(encodeValue({ ...error }), { status });
}

/** The same answer, whose body breaks when the object's process dies. */
function whileItStreams(actor: WorldActor, response: Response): Response {
  if (!response.body) return response;
  const broken = new AbortController();
  void actor.died().then(() => broken.abort(new Error("Network connection lost.")));
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  // Whoever reads is told.
  response.body.pipeTo(writable, { signal: broken.signal }).catch(() => {});
  return new Response(readable, response);
}

function orDead<T>(actor: WorldActor, answer: Promise<T>): Promise<T> {
  const broken = actor
    .died()
    .then(() => Promise.reject(Object.assign(new Error("The object's process died."), { retryable: true })));
  return Promise.race([answer, broken]);
}

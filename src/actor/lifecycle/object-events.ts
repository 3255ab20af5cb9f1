/**
 * Serves all events of one object. The platform's object class and the simulation are thin shells around this.
 *
 * Owns: what each event does, and its reply. Does not own: when an actor is created, started or destroyed
 * (actor-life.ts). Invariant: errors of calls are data in the reply, never thrown.
 */
import {
  ActorError,
  decodeArguments,
  decodeValue,
  encodeValue,
  ENVELOPE_VERSION,
  type ActionCall,
  type CallEnvelope,
  type InspectQuestion,
  type ReplyEnvelope,
  own,
  readActionCall,
} from "../../protocol/index.js";
import type { Caller } from "../connections/admission.js";
import { chainOf } from "../activation/call-chain.js";
import type { InspectedObject, ObjectInspector, ObjectWatchers } from "../activation/object-inspector.js";
import { describe } from "../activation/thrown.js";
import { acceptMessage, answerAttached, awaitReply, findAccepted, socketWaitOf } from "../callbacks/accept-message.js";
import { callAction, encodeFor } from "../callbacks/dispatch.js";
import { tellFailure } from "../callbacks/failure-data.js";
import { receiveFrame } from "../connections/frames.js";
import { ActorLife, type Entered } from "./actor-life.js";
import { isAddressed } from "./addressed.js";
import type { ActorPorts, ConnectionEnd, DeliveredAlarm, Socket } from "../ports.js";
import { answerRequest } from "../connections/raw-request.js";
import { deliverRaw, serveRawSocket } from "../connections/raw-socket.js";
import { CurrentStore } from "../storage/current-store.js";
import type { ActorRecord } from "../storage/record.js";
import type { Registry } from "../definition/registry.js";

type Reply = ReturnType<typeof replyOf>;
type Refusal = Extract<ReplyEnvelope, { ok: false }>;
/** The actor's Response to a raw request, or the refusal. */
export type RequestReply = (Reply & { readonly response: Response }) | Refusal;
type Serve = <T>(
  body: (entered: Entered & { readonly reply: Reply; readonly caller: Caller }) => Promise<T>,
) => Promise<T>;

export class ObjectEvents {
  readonly #ports: ActorPorts;
  readonly #life: ActorLife;
  readonly #registry: Registry;
  readonly #store: CurrentStore;
  readonly #inspector: ObjectInspector | undefined;
  readonly #watchers: ObjectWatchers | undefined;

  /** `inspector`: shows the actor to operators. Without it they are refused. */
  constructor(registry: Registry, ports: ActorPorts, inspector?: ObjectInspector) {
    this.#registry = registry;
    this.#ports = ports;
    this.#store = new CurrentStore(ports.store);
    this.#inspector = inspector;
    const watchers = inspector?.watchers(ports);
    this.#watchers = watchers;
    this.#life = new ActorLife(registry, {
      ...ports,
      store: this.#store,
      ...(watchers && { committed: (batch) => watchers.committed(batch) }),
    });
  }

  /** Answers a call. Errors are in the reply; never rejects. */
  call(sent: CallEnvelope | ActionCall): Promise<ReplyEnvelope> {
    if (Array.isArray(sent)) return this.#callAction(sent as ActionCall);
    const envelope = readEnvelope(sent as CallEnvelope);
    return this.#answer<ReplyEnvelope>(envelope, async (serve) => {
      const { operation, creation, address } = envelope;
      if (operation.kind === "destroy") return replyOf(await this.#life.destroy(address), false);
      if (operation.kind === "sleep") return replyOf(await this.#life.sleep(address), false);
      if (operation.kind === "resolve" && operation.inspect) return this.#inspect(address, operation.inspect);
      if (operation.kind === "resolve" && creation.mode === "get") return namedReply(await this.#life.find(address));
      return serve((entered) => this.#serve(envelope, entered));
    });
  }

  /** Answers an action's call with its caller's own message, in that caller's encoding. */
  async #callAction(call: ActionCall): Promise<ReplyEnvelope> {
    let read: ReturnType<typeof readActionCall>;
    let args: unknown[];
    try {
      read = readActionCall(call);
      // Before anything else: a message that cannot be read creates and starts no actor, and learns of none.
      args = decodeArguments(read.message);
    } catch (error) {
      return { v: ENVELOPE_VERSION, ok: false, ...tellFailure(error, this.#ports, undefined, false) };
    }
    const { envelope, name, message } = read;
    return this.#answer<ReplyEnvelope>(envelope, (serve) =>
      serve(async ({ runtime, reply, caller, admitted }) => ({
        ...reply,
        answer: await runtime.connections.during(caller, admitted, (conn) =>
          callAction(runtime, name, args, { ...caller, conn }, encodeFor(message)),
        ),
      })),
    );
  }

  /** Answers a raw request. Errors are in the reply; never rejects. */
  request(sent: CallEnvelope, request: Request): Promise<RequestReply> {
    const envelope = readEnvelope(sent);
    return this.#answer(envelope, async (serve) => {
      if (envelope.operation.kind !== "request")
        throw new ActorError("actor", "invalid_request", "The envelope is not that of a raw request");
      return serve(async ({ runtime, reply, caller, admitted }) => ({
        ...reply,
        response: await answerRequest(runtime, request, caller, admitted),
      }));
    });
  }

  /**
   * Admits a socket (CONN-1). Calls `accept`, which returns the actor's end, once all hooks have passed. Errors are in the
   * reply; never rejects.
   */
  connect(sent: CallEnvelope, accept: (hibernates: boolean) => Socket): Promise<ReplyEnvelope> {
    const envelope = readEnvelope(sent);
    return this.#answer<ReplyEnvelope>(envelope, async (serve) => {
      const { operation } = envelope;
      if (operation.kind !== "connect")
        throw new ActorError("actor", "invalid_request", "The envelope is not that of a connection");
      return serve(async ({ runtime, reply, caller, admitted }) => {
        const connection = await runtime.connections.open(caller, admitted);
        runtime.connections.bind(connection, accept);
        if (operation.raw) serveRawSocket(runtime, connection, caller.request?.());
        return reply;
      });
    });
  }

  /**
   * Lets a sender wait for its reply through a socket, so that the object need not stay in memory; or an operator watch.
   * Calls `accept` once the actor has started, for an operator without a start. The socket is not a connection, and its messages
   * are ignored.
   */
  awaitReply(sent: CallEnvelope, accept: (token: string) => Socket): Promise<ReplyEnvelope> {
    const envelope = readEnvelope(sent);
    return this.#answer<ReplyEnvelope>(envelope, async (serve) => {
      const { operation } = envelope;
      if (operation.kind === "resolve" && operation.inspect?.about === "watch") {
        const reply = await this.#inspect(envelope.address, operation.inspect);
        this.#watchers?.add(accept);
        return reply;
      }
      if (operation.kind !== "wait")
        throw new ActorError("actor", "invalid_request", "The envelope is not that of a wait");
      const wait = socketWaitOf(operation);
      return serve(async ({ runtime, reply }) => {
        runtime.queue.attachReply(wait, accept(wait.token));
        return reply;
      });
    });
  }

  /** Serves a frame of a socket admitted by this activation or an earlier one. Never rejects. */
  async socketMessage(socket: Socket, frame: string | Uint8Array): Promise<void> {
    try {
      const isServed = await this.#life.serveExisting(async (runtime) => {
        const connection = runtime.connections.of(socket);
        if (connection) await (connection.kind === "raw" ? deliverRaw : receiveFrame)(runtime, connection, frame);
        else socket.close(1011, "actor.not_found");
      });
      if (!isServed) socket.close(1011, "actor.not_found");
    } catch (error) {
      const { error: data } = tellFailure(error, this.#ports, this.#life.record, false);
      socket.close(1011, `${data.group}.${data.code}`);
    }
  }

  /** Serves the end of a socket. Never rejects. */
  async socketClosed(socket: Socket, end: ConnectionEnd): Promise<void> {
    // It was closed from this side, and its hooks have run: the actor need not start for it.
    if (socket.attachment?.byteLength === 0) return;
    try {
      await this.#life.serveExisting((runtime) => runtime.connections.closed(socket, end), { closing: socket });
    } catch (error) {
      this.#ports.log.error({ msg: "The end of a connection was not served", stack: describe(error) });
    }
  }

  /** See `ActorLife.alarm`. */
  alarm(alarm: DeliveredAlarm): Promise<void> {
    return this.#life.alarm(alarm);
  }

  /** Runs an event and turns what it throws into a refusal. `serve` is `ActorLife.serve`. */
  async #answer<R>(envelope: CallEnvelope, run: (serve: Serve) => Promise<R>): Promise<R | Refusal> {
    let hasBegun = false;
    const startedAt = this.#ports.now();
    const serve: Serve = (body) => {
      const caller = callerOf(envelope);
      return this.#life.serve(envelope, caller, (entered) => {
        hasBegun = true;
        return body({ ...entered, caller, reply: replyOf(entered.runtime.record, entered.created) });
      });
    };
    try {
      checkEnvelope(envelope);
      return await run(serve);
    } catch (error) {
      const { record } = this.#life;
      // A caller with the id of an earlier generation of the key learns nothing about this one.
      const addressed = record && isAddressed(record, envelope.address) ? record : undefined;
      return {
        v: ENVELOPE_VERSION,
        ok: false,
        ...tellFailure(error, this.#ports, addressed, hasBegun, {
          ...callOf(envelope),
          ms: this.#ports.now() - startedAt,
        }),
      };
    }
  }

  /** Answers an operator, below the start gate (INSPECT-1). */
  async #inspect(address: CallEnvelope["address"], question: InspectQuestion): Promise<ReplyEnvelope> {
    if (!this.#inspector) throw new ActorError("feature", "unsupported", "This Worker has no inspector");
    const object: InspectedObject = {
      registry: this.#registry,
      ports: this.#ports,
      activation: this.#life.activation,
      stored: this.#store,
      operate: (act, started) => this.#life.operate(address, act, started),
      serveExisting: (work) => this.#life.serveExisting(work),
    };
    const { record, answer } = await this.#inspector.answer(object, address, question);
    return { ...replyOf(record, false), output: answer };
  }

  async #serve(
    { operation }: CallEnvelope,
    { runtime, reply, caller, admitted }: Parameters<Parameters<Serve>[0]>[0],
  ): Promise<ReplyEnvelope> {
    switch (operation.kind) {
      case "resolve":
        return namedReply(runtime.record, reply.created);
      case "action": {
        const args = decodeValue(operation.args);
        if (!Array.isArray(args))
          throw new ActorError("actor", "invalid_request", "The arguments of an action must be an array");
        return {
          ...reply,
          output: await runtime.connections.during(caller, admitted, (conn) =>
            callAction(runtime, operation.name, args, { ...caller, conn }),
          ),
        };
      }
      case "send": {
        const accepted = await runtime.connections.during(caller, admitted, (conn) =>
          acceptMessage(runtime, operation, { ...caller, conn }),
        );
        // The call's own connection has ended by now.
        return { ...reply, output: encodeValue(await answerAttached(runtime, operation, accepted)) };
      }
      case "sent":
        return { ...reply, output: encodeValue(findAccepted(runtime, operation.token)) };
      case "wait":
        return { ...reply, output: encodeValue(await awaitReply(runtime, operation)) };
      case "part": {
        const output = await runtime.parts.answer(operation.part, operation.body);
        runtime.commitOrThrow();
        return { ...reply, ...(output && { output }) };
      }
      default:
        throw new ActorError(
          "feature",
          "unsupported",
          `This release does not know the operation "${String((operation as { kind: unknown }).kind)}"`,
        );
    }
  }
}

/** The envelope with its own members only. */
function readEnvelope(sent: CallEnvelope): CallEnvelope {
  const { address, creation, operation, ...rest } = own(sent);
  return own({ ...rest, address: own(address), creation: own(creation), operation: own(operation) });
}

function checkEnvelope(envelope: CallEnvelope): void {
  if (typeof envelope?.v !== "number" || envelope.v > ENVELOPE_VERSION + 1 || envelope.v < ENVELOPE_VERSION - 1) {
    throw new ActorError("actor", "invalid_request", "The Worker and the object are more than one release apart");
  }
}

function replyOf({ actorId, createdAt }: ActorRecord, created: boolean) {
  return { v: ENVELOPE_VERSION, ok: true, actorId, createdAt, created } as const;
}

function namedReply(record: ActorRecord, created = false) {
  return { ...replyOf(record, created), name: record.name, key: record.key };
}

function callerOf(envelope: CallEnvelope): Caller {
  const { operation, params, internal = false } = envelope;
  const about = { params, internal, chain: chainOf(envelope), request: requestOf(envelope) };
  if (operation.kind !== "connect") return { kind: "call", encoding: "json", extended: false, ...about };
  const { encoding, extended, raw, pings } = operation;
  return { kind: raw ? "raw" : "socket", encoding, extended, ...(pings && !raw && { pings }), ...about };
}

/** Makes the request when somebody asks for it. It cannot be invalid: the Worker read it from one. */
function requestOf({ request }: CallEnvelope): (() => Request) | undefined {
  if (!request) return undefined;
  const { url, method, headers } = request;
  let made: Request | undefined;
  return () => (made ??= new Request(url, { method, headers: headers.map(([name, value]) => [name, value]) }));
}

/** The log fields of a call: its action, queue or operation. */
function callOf({ operation }: CallEnvelope): Readonly<Record<string, unknown>> {
  if (operation?.kind === "action") return { action: operation.name };
  return operation?.kind === "send" ? { queue: operation.queue } : { operation: operation?.kind };
}

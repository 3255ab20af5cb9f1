/**
 * All events of one object. The platform's object class is a thin shell around this; the simulation uses the same.
 *
 * Owns: what each event asks of the actor, and how it is answered. Does not own: when an actor is created, started, or
 * ended (actor-life.ts). Invariant: errors of calls are data, never thrown.
 */
import {
  ActorError,
  decodeValue,
  encodeValue,
  ENVELOPE_VERSION,
  type CallEnvelope,
  type ReplyEnvelope,
  own,
} from "../../protocol/index.js";
import type { Caller } from "../connections/admission.js";
import { chainOf } from "../activation/call-chain.js";
import { describe } from "../activation/thrown.js";
import { acceptMessage, awaitReply, callAction, socketWaitOf } from "../callbacks/dispatch.js";
import { tellFailure } from "../callbacks/failure-data.js";
import { receiveFrame } from "../connections/frames.js";
import { isAddressed, ActorLife, type Entered } from "./actor-life.js";
import type { ActorPorts, ConnectionEnd, Socket } from "../ports.js";
import { answerRequest } from "../connections/raw-request.js";
import { deliverRaw, serveRawSocket } from "../connections/raw-socket.js";
import type { ActorRecord } from "../storage/record.js";
import type { Registry } from "../definition/registry.js";

type Reply = ReturnType<typeof replyOf>;
type Refusal = Extract<ReplyEnvelope, { ok: false }>;
/** The actor's own answer to a raw request, or why there is none. */
export type RequestReply = (Reply & { readonly response: Response }) | Refusal;
type Serve = <T>(
  body: (entered: Entered & { readonly reply: Reply; readonly caller: Caller }) => Promise<T>,
) => Promise<T>;

export class ObjectEvents {
  readonly #ports: ActorPorts;
  readonly #lives: ActorLife;

  constructor(registry: Registry, ports: ActorPorts) {
    this.#ports = ports;
    this.#lives = new ActorLife(registry, ports);
  }

  /** Answers a call; the reply says what went wrong, it is never thrown. */
  call(sent: CallEnvelope): Promise<ReplyEnvelope> {
    const envelope = readEnvelope(sent);
    return this.#answer<ReplyEnvelope>(envelope, async (serve) => {
      const { operation, creation, address } = envelope;
      if (operation.kind === "destroy") return replyOf(await this.#lives.destroy(address), false);
      if (operation.kind === "sleep") return replyOf(await this.#lives.sleep(address), false);
      if (operation.kind === "resolve" && creation.mode === "get") return namedReply(await this.#lives.find(address));
      return serve((entered) => this.#serve(envelope, entered));
    });
  }

  /** Gives what the actor answers to a raw request, or says why it does not; nothing is thrown. */
  request(sent: CallEnvelope, request: Request): Promise<RequestReply> {
    const envelope = readEnvelope(sent);
    return this.#answer(envelope, async (serve) => {
      if (envelope.operation.kind !== "request")
        throw new ActorError("actor", "invalid_request", "This is no raw request's envelope");
      return serve(async ({ runtime, reply, caller, admitted }) => ({
        ...reply,
        response: await answerRequest(runtime, request, caller, admitted),
      }));
    });
  }

  /**
   * Lets a socket in (CONN-1): `accept` is called once all hooks have let it pass, and gives its end of it.
   * The reply says whether it did; nothing is thrown.
   */
  connect(sent: CallEnvelope, accept: (hibernates: boolean) => Socket): Promise<ReplyEnvelope> {
    const envelope = readEnvelope(sent);
    return this.#answer<ReplyEnvelope>(envelope, async (serve) => {
      const { operation } = envelope;
      if (operation.kind !== "connect")
        throw new ActorError("actor", "invalid_request", "This is no connection's envelope");
      return serve(async ({ runtime, reply, caller, admitted }) => {
        const connection = await runtime.connections.open(caller, admitted);
        runtime.connections.bind(connection, accept);
        if (operation.raw) serveRawSocket(runtime, connection, caller.request);
        return reply;
      });
    });
  }

  /**
   * Lets a sender wait for its reply through a socket: the object need not stay in memory for it. `accept` is called once the
   * actor is there. The socket is no connection, and nothing that it sends is looked at.
   */
  awaitReply(sent: CallEnvelope, accept: (token: string) => Socket): Promise<ReplyEnvelope> {
    const envelope = readEnvelope(sent);
    return this.#answer<ReplyEnvelope>(envelope, async (serve) => {
      const { operation } = envelope;
      if (operation.kind !== "wait") throw new ActorError("actor", "invalid_request", "This is no wait's envelope");
      const wait = socketWaitOf(operation);
      return serve(async ({ runtime, reply }) => {
        runtime.queue.attachReply(wait, accept(wait.token));
        return reply;
      });
    });
  }

  /** A frame has arrived through a socket that was let in, by this activation or an earlier one. Never rejects. */
  async socketMessage(socket: Socket, frame: string | Uint8Array): Promise<void> {
    try {
      const isServed = await this.#lives.serveExisting(async (runtime) => {
        const connection = runtime.connections.of(socket);
        if (connection) await (connection.kind === "raw" ? deliverRaw : receiveFrame)(runtime, connection, frame);
        else socket.close(1011, "actor.not_found");
      });
      if (!isServed) socket.close(1011, "actor.not_found");
    } catch (error) {
      const { error: data } = tellFailure(error, this.#ports, this.#lives.record, false);
      socket.close(1011, `${data.group}.${data.code}`);
    }
  }

  /** A socket has ended, from the other side or for good. Never rejects. */
  async socketClosed(socket: Socket, end: ConnectionEnd): Promise<void> {
    // It was ended from this side, and whom that concerned was told then: nobody is woken for it.
    if (socket.attachment?.byteLength === 0) return;
    try {
      await this.#lives.serveExisting((runtime) => runtime.connections.closed(socket, end), { closing: socket });
    } catch (error) {
      this.#ports.log.error({ msg: "The end of a connection was not served", error: describe(error) });
    }
  }

  /** See `ActorLife.alarm`. */
  alarm(scheduledAt: number | null): Promise<void> {
    return this.#lives.alarm(scheduledAt);
  }

  /** `serve` is `ActorLife.serve`. What goes wrong is in the answer, never thrown. */
  async #answer<R>(envelope: CallEnvelope, run: (serve: Serve) => Promise<R>): Promise<R | Refusal> {
    let hasBegun = false;
    const serve: Serve = (body) => {
      const caller = callerOf(envelope);
      return this.#lives.serve(envelope, caller, (entered) => {
        hasBegun = true;
        return body({ ...entered, caller, reply: replyOf(entered.runtime.record, entered.created) });
      });
    };
    try {
      checkEnvelope(envelope);
      return await run(serve);
    } catch (error) {
      const { record } = this.#lives;
      // Whoever has the id of an earlier life of the key learns nothing of this one.
      const addressed = record && isAddressed(record, envelope.address) ? record : undefined;
      return {
        v: ENVELOPE_VERSION,
        ok: false,
        ...tellFailure(error, this.#ports, addressed, hasBegun, callOf(envelope)),
      };
    }
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
          throw new ActorError("actor", "invalid_request", "The arguments of an action are a list");
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
        return { ...reply, output: encodeValue(accepted) };
      }
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

/** What the Worker has sent, with the members that it has and no others. */
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

function requestOf(envelope: CallEnvelope): Request | undefined {
  const { request } = envelope;
  return (
    request &&
    new Request(request.url, { method: request.method, headers: request.headers.map(([name, value]) => [name, value]) })
  );
}

/** What the log says of a call: the action, or what else was asked for. */
function callOf({ operation }: CallEnvelope): Readonly<Record<string, unknown>> {
  if (operation?.kind === "action") return { action: operation.name };
  return operation?.kind === "send" ? { queue: operation.queue } : { operation: operation?.kind };
}

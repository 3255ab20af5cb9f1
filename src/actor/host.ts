/**
 * All events of one object. The platform's object class is a thin shell around this; the simulation uses the same.
 *
 * Owns: what each event asks of the actor, and how it is answered. Does not own: when an actor is created, started, or
 * ended (lives.ts). Invariant: errors of calls are data, never thrown.
 */
import { ActorError, decodeValue, encodeValue, ENVELOPE_VERSION, type CallEnvelope, type ReplyEnvelope } from "../protocol/index.js";
import type { Caller } from "./admission.js";
import { describe } from "./describe.js";
import { acceptMessage, awaitReply, callAction } from "./dispatch.js";
import { tellFailure } from "./failure-data.js";
import { receiveFrame } from "./frames.js";
import { Lives } from "./lives.js";
import type { ActorPorts, ConnectionEnd, Socket } from "./ports.js";
import { deliverRaw, serveRawSocket } from "./raw-socket.js";
import type { ActorRecord } from "./record.js";
import type { Registry } from "./registry.js";
import type { ActorRuntime } from "./runtime.js";

export class ActorHost {
  readonly #ports: ActorPorts;
  readonly #lives: Lives;

  constructor(registry: Registry, ports: ActorPorts) {
    this.#ports = ports;
    this.#lives = new Lives(registry, ports);
  }

  /** Answers a call; the reply says what went wrong, it is never thrown. */
  async call(envelope: CallEnvelope): Promise<ReplyEnvelope> {
    let hasBegun = false;
    try {
      checkEnvelope(envelope);
      if (envelope.operation.kind === "destroy") return replyOf(await this.#lives.destroy(envelope.address), false);
      return await this.#lives.serve(envelope, (runtime, created) => {
        hasBegun = true;
        return this.#serve(envelope, runtime, created);
      });
    } catch (error) {
      return { v: ENVELOPE_VERSION, ok: false, ...tellFailure(error, this.#ports, this.#lives.record, hasBegun) };
    }
  }

  /**
   * Lets a socket in (`spec/api.md` A.9): `accept` is called once all hooks have let it pass, and gives its end of it.
   * The reply says whether it did; nothing is thrown.
   */
  async connect(envelope: CallEnvelope, accept: (hibernates: boolean) => Socket): Promise<ReplyEnvelope> {
    let hasBegun = false;
    try {
      checkEnvelope(envelope);
      const { operation } = envelope;
      if (operation.kind !== "connect") throw new ActorError("actor", "invalid_request", "This is no connection's envelope");
      const { encoding, extended, raw } = operation;
      return await this.#lives.serve(envelope, async (runtime, created) => {
        hasBegun = true;
        const caller: Caller = { ...callerOf(envelope), kind: raw ? "raw" : "socket", encoding, extended };
        const connection = await runtime.connections.open(caller);
        runtime.connections.bind(connection, accept(connection.hibernates));
        if (raw) serveRawSocket(runtime, connection, caller.request);
        return replyOf(runtime.record, created);
      });
    } catch (error) {
      return { v: ENVELOPE_VERSION, ok: false, ...tellFailure(error, this.#ports, this.#lives.record, hasBegun) };
    }
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
    try {
      await this.#lives.serveExisting((runtime) => runtime.connections.closed(socket, end), { closing: socket });
    } catch (error) {
      this.#ports.log.error({ msg: "The end of a connection was not served", error: describe(error) });
    }
  }

  /** See `Lives.alarm`. */
  alarm(): Promise<void> {
    return this.#lives.alarm();
  }

  async #serve(envelope: CallEnvelope, runtime: ActorRuntime, created: boolean): Promise<ReplyEnvelope> {
    const { operation } = envelope;
    const reply = replyOf(runtime.record, created);
    switch (operation.kind) {
      case "resolve":
        return { ...reply, name: runtime.record.name, key: runtime.record.key };
      case "action": {
        const args = decodeValue(operation.args);
        if (!Array.isArray(args)) throw new ActorError("actor", "invalid_request", "The arguments of an action are a list");
        const from = callerOf(envelope);
        return { ...reply, output: await runtime.connections.during(from, (conn) => callAction(runtime, operation.name, args, { ...from, conn })) };
      }
      case "send": {
        const from = callerOf(envelope);
        const accepted = await runtime.connections.during(from, (conn) => acceptMessage(runtime, operation, { ...from, conn }));
        return { ...reply, output: encodeValue(accepted) };
      }
      case "wait":
        return { ...reply, output: encodeValue(await awaitReply(runtime, operation)) };
      default:
        throw new ActorError("feature", "unsupported", `This release does not know the operation "${String((operation as { kind: unknown }).kind)}"`);
    }
  }
}

function checkEnvelope(envelope: CallEnvelope): void {
  if (typeof envelope?.v !== "number" || envelope.v > ENVELOPE_VERSION + 1 || envelope.v < ENVELOPE_VERSION - 1) {
    throw new ActorError("actor", "invalid_request", "The Worker and the object are more than one release apart");
  }
}

function replyOf({ actorId, createdAt }: ActorRecord, created: boolean) {
  return { v: ENVELOPE_VERSION, ok: true, actorId, createdAt, created } as const;
}

function callerOf(envelope: CallEnvelope): Caller {
  return { kind: "call", encoding: "json", extended: false, params: envelope.params, request: requestOf(envelope) };
}

function requestOf(envelope: CallEnvelope): Request | undefined {
  const { request } = envelope;
  return request && new Request(request.url, { method: request.method, headers: request.headers.map(([name, value]) => [name, value]) });
}

/**
 * All events of one object, through one start gate to one runtime. The platform's object class is a thin shell around
 * this; the simulation uses the same.
 *
 * Owns: what each event does to the actor, who may create it. Does not own: which activation is in memory (start-gate.ts).
 * Invariants: no error of user code escapes `alarm` (D4); errors of calls are data, never thrown; `get` on an actor that
 * does not exist writes nothing.
 */
import {
  ActorError,
  checkKey,
  decodeValue,
  encodeValue,
  ENVELOPE_VERSION,
  parseActorId,
  type CallEnvelope,
  type Creation,
  type Operation,
  type ReplyEnvelope,
} from "../protocol/index.js";
import type { Caller } from "./connections.js";
import { describe } from "./describe.js";
import { acceptMessage, awaitReply, callAction, checkOperation } from "./dispatch.js";
import { tellFailure } from "./failure-data.js";
import { receiveFrame } from "./frames.js";
import type { ActorPorts, ConnectionEnd, Socket, StoreActivation } from "./ports.js";
import { KEYS, type ActorRecord } from "./record.js";
import type { Registry } from "./registry.js";
import { ActorRuntime } from "./runtime.js";
import { finishDestroy, markDestroyed } from "./destroy.js";
import { staysAwake } from "./shutdown.js";
import { createActor, loadActor, loadState } from "./start.js";
import { StartFailure, StartGate } from "./start-gate.js";
import { openRecord } from "./upgrades.js";

/** When a start fails inside an alarm and nothing stored says when to try again: doubles while it goes on failing. */
const FIRST_RETRY_MS = 10_000;
const LAST_RETRY_MS = 300_000;

export class ActorHost {
  readonly #registry: Registry;
  readonly #ports: ActorPorts;
  readonly #gate = new StartGate();
  #retryMs = FIRST_RETRY_MS;

  constructor(registry: Registry, ports: ActorPorts) {
    this.#registry = registry;
    this.#ports = ports;
  }

  /** Answers a call; the reply says what went wrong, it is never thrown. */
  async call(envelope: CallEnvelope): Promise<ReplyEnvelope> {
    let runtime: ActorRuntime | undefined;
    try {
      checkEnvelope(envelope);
      if (envelope.operation.kind === "destroy") return await this.#end(envelope.address);
      const ready = await this.#ready(envelope);
      runtime = ready.runtime;
      return await this.#serve(envelope, runtime, ready.created);
    } catch (error) {
      return { v: ENVELOPE_VERSION, ok: false, ...tellFailure(error, this.#ports, this.#gate.runtime?.record, runtime !== undefined) };
    }
  }

  /**
   * Lets a socket in (`spec/api.md` A.9): `accept` is called once all hooks have let it pass, and gives its end of it.
   * The reply says whether it did; nothing is thrown.
   */
  async connect(envelope: CallEnvelope, accept: () => Socket): Promise<ReplyEnvelope> {
    let runtime: ActorRuntime | undefined;
    try {
      checkEnvelope(envelope);
      const { operation } = envelope;
      if (operation.kind !== "connect") throw new ActorError("actor", "invalid_request", "This is no connection's envelope");
      const ready = await this.#ready(envelope);
      runtime = ready.runtime;
      const { actorId, createdAt } = runtime.record;
      const { encoding, extended } = operation;
      const connection = await runtime.connections.open({ ...callerOf(envelope), kind: "socket", encoding, extended });
      runtime.connections.bind(connection, accept());
      return { v: ENVELOPE_VERSION, ok: true, actorId, createdAt, created: ready.created };
    } catch (error) {
      return { v: ENVELOPE_VERSION, ok: false, ...tellFailure(error, this.#ports, this.#gate.runtime?.record, runtime !== undefined) };
    }
  }

  /** A frame has arrived through a socket that was let in, by this activation or an earlier one. Never rejects. */
  async socketMessage(socket: Socket, frame: string | Uint8Array): Promise<void> {
    try {
      const runtime = await this.#existing();
      const connection = runtime?.connections.of(socket);
      if (runtime && connection) await receiveFrame(runtime, connection, frame);
      else socket.close(1011, "actor.not_found");
    } catch (error) {
      const { error: data } = tellFailure(error, this.#ports, this.#gate.runtime?.record, false);
      socket.close(1011, `${data.group}.${data.code}`);
    }
  }

  /** A socket has ended, from the other side or for good. Never rejects. */
  async socketClosed(socket: Socket, end: ConnectionEnd): Promise<void> {
    try {
      const runtime = await this.#existing();
      await runtime?.connections.closed(socket, end);
    } catch (error) {
      this.#ports.log.error({ msg: "The end of a connection was not served", error: describe(error) });
    }
  }

  /**
   * Fires what is due and returns as soon as the run is parked or only waits for running work (D10).
   * Rejects only when a wake could not be left behind.
   */
  async alarm(): Promise<void> {
    if (this.#gate.ending && staysAwake(this.#gate.ending)) return;
    let isNew = false;
    const runtime = await this.#gate
      .enter(() => {
        isNew = true;
        return this.#wake();
      })
      .catch((error: unknown) => {
        // A start that failed has been logged, and has left a wake behind.
        if (!(error instanceof StartFailure)) throw error;
      });
    try {
      if (runtime && !runtime.shutdown.isBegun) await (isNew ? runtime.workflow.advance() : this.#fire(runtime));
    } catch (error) {
      // What was due is guarded by the lease, which was committed before anything of it ran.
      this.#ports.log.error({ msg: "An alarm was not served to its end", error: describe(error) });
    }
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

  // ---- start gate --------------------------------------------------------------------------------------------------

  async #ready(envelope: CallEnvelope): Promise<{ runtime: ActorRuntime; created: boolean }> {
    const { address, creation, operation } = envelope;
    let created = false;
    const begin = async (): Promise<ActorRuntime | undefined> => {
      const store = this.#ports.store.activate();
      const record = await this.#survivor(store);
      if (record) return this.#load(store, record, false);
      if (creation.mode === "get" || address.generation !== undefined) return undefined;
      created = true;
      return this.#create(store, address, creation, operation);
    };
    const runtime = await this.#gate.enter(begin, creation).catch(rethrowCause);
    if (!runtime) throw notFound(address);
    checkAddress(runtime.record, address);
    if (runtime.shutdown.isBegun) {
      if (created) throw new ActorError("actor", "destroyed", "The actor was destroyed by its own start");
      // Its end began while this call came in: what comes after it serves.
      return this.#ready(envelope);
    }
    if (!created) this.#catchUp(runtime);
    if (creation.mode === "create" && !created) {
      throw new ActorError("actor", "duplicate_key", "An actor with this key exists already", {
        metadata: { existing_actor_id: runtime.record.actorId },
      });
    }
    return { runtime, created };
  }

  /** The runtime of the actor that is stored, if one is. */
  async #existing(): Promise<ActorRuntime | undefined> {
    const begin = async (): Promise<ActorRuntime | undefined> => {
      const store = this.#ports.store.activate();
      const record = await this.#survivor(store);
      return record && this.#load(store, record, false);
    };
    const runtime = await this.#gate.enter(begin, { mode: "get" }).catch(rethrowCause);
    if (runtime?.shutdown.isBegun) return this.#existing();
    if (runtime) this.#catchUp(runtime);
    return runtime;
  }

  /** An alarm that is overdue may be lost: whoever touches the actor does its work (D3). */
  #catchUp(runtime: ActorRuntime): void {
    if (!runtime.wakes.isOverdue(this.#ports.now())) return;
    this.#ports.waitUntil(this.#fire(runtime).catch((error: unknown) => runtime.lose(error)));
  }

  async #create(store: StoreActivation, address: CallEnvelope["address"], creation: Creation, operation: Operation): Promise<ActorRuntime> {
    checkKey(address.key);
    const actor = this.#registry.find(address.name);
    checkOperation(actor, operation);
    const input = creation.mode !== "get" && creation.input ? decodeValue(creation.input) : undefined;
    const runtime = await createActor(actor, this.#ports, store, address, input, (each) => this.#destroy(each)).catch((error: unknown) => {
      throw new StartFailure(error, creation);
    });
    this.#retryMs = FIRST_RETRY_MS;
    return runtime;
  }

  // ---- destroy -----------------------------------------------------------------------------------------------------

  /** Ends the actor for somebody outside, also one whose start fails; callbacks that run are told that it was destroyed. */
  async #end(address: CallEnvelope["address"]): Promise<ReplyEnvelope> {
    let ended: ActorRecord | undefined;
    const runtime = await this.#gate.enter(async () => {
      const store = this.#ports.store.activate();
      const record = await this.#survivor(store);
      if (!record) return undefined;
      checkAddress(record, address);
      try {
        return await this.#load(store, record, false);
      } catch (error) {
        this.#ports.log.warn({ msg: "The actor did not start; it is destroyed all the same", error: describe(error) });
        const unstarted = this.#open(store, record);
        if (!markDestroyed(unstarted)) throw unstarted.lost ?? error;
        await finishDestroy(unstarted);
        ended = record;
        return undefined;
      }
    });
    if (!runtime) {
      if (!ended) throw notFound(address);
      return replyOf(ended, false);
    }
    checkAddress(runtime.record, address);
    this.#destroy(runtime);
    if (runtime.lost) throw runtime.lost;
    return replyOf(runtime.record, false);
  }

  /** The callback that asked for it has ended; its reply does not wait for the rest. */
  #destroy(runtime: ActorRuntime): void {
    // The mark ends attempts, whose callbacks end with them: it must not be made again by one of those.
    if (runtime.record.destroyed || !markDestroyed(runtime)) return;
    this.#gate.endWith(
      runtime,
      finishDestroy(runtime).catch((error: unknown) => {
        this.#ports.log.error({ msg: "The actor could not be deleted yet; the alarm tries again", error: describe(error) });
      }),
    );
    this.#ports.waitUntil(this.#gate.ended());
  }

  /** The actor that is stored, if it is not one whose destruction was cut off: that one is ended first. */
  async #survivor(store: StoreActivation): Promise<ActorRecord | undefined> {
    const record = openRecord(store, this.#ports.upgrades);
    if (!record?.destroyed) return record;
    await finishDestroy(this.#open(store, record));
    return undefined;
  }

  /** The actor with its state, but not started: only to be ended. */
  #open(store: StoreActivation, record: ActorRecord): ActorRuntime {
    const runtime = new ActorRuntime(this.#registry.find(record.name), this.#ports, store, record);
    runtime.open();
    loadState(runtime);
    return runtime;
  }

  async #load(store: StoreActivation, record: ActorRecord, isAlarm: boolean): Promise<ActorRuntime> {
    const actor = this.#registry.find(record.name);
    const runtime = await loadActor(actor, this.#ports, store, record, isAlarm, (each) => this.#destroy(each)).catch((error: unknown) => {
      throw new StartFailure(error);
    });
    this.#retryMs = FIRST_RETRY_MS;
    return runtime;
  }

  // ---- alarm -------------------------------------------------------------------------------------------------------

  /** The actor started by its alarm; undefined if there is none, or if its start failed and a later wake was left. */
  async #wake(): Promise<ActorRuntime | undefined> {
    try {
      const store = this.#ports.store.activate();
      const record = await this.#survivor(store);
      // An alarm on an empty object does nothing and writes nothing (decision 25).
      return record && (await this.#load(store, record, true));
    } catch (error) {
      const cause = error instanceof StartFailure ? error.cause : error;
      this.#ports.log.error({ msg: "An alarm could not start the actor; it will be tried again", error: describe(cause) });
      await this.#leaveAWake();
      if (error instanceof StartFailure) throw error;
      return undefined;
    }
  }

  async #fire(runtime: ActorRuntime): Promise<void> {
    const { wakes } = runtime;
    const now = this.#ports.now();
    wakes.armed(null);
    wakes.changed();
    runtime.queue.expireReplies(now);
    if (runtime.isWorking) wakes.extendLease();
    if (wakes.isDue(now)) wakes.holdLease();
    runtime.cron.fireDue(runtime.background);
    runtime.commitOrThrow();
    // Code that kills the object in this very turn would take the lease and the alarm with it (D4).
    if (runtime.lease) await runtime.confirmed();
    runtime.schedule.fireDue(runtime.background);
    await runtime.workflow.advance();
  }

  /** @throws what the storage says: only then does the platform's own retry have to help */
  async #leaveAWake(): Promise<void> {
    const store = this.#ports.store.activate();
    if (store.get(KEYS.actor) === undefined || (await store.getAlarm()) !== null) return;
    store.commit({ puts: new Map(), deletes: new Set(), alarmAt: this.#ports.now() + this.#retryMs });
    this.#retryMs = Math.min(LAST_RETRY_MS, this.#retryMs * 2);
    await store.sync();
  }
}

/** Whoever started the actor is told what its start threw. */
function rethrowCause(error: unknown): never {
  throw error instanceof StartFailure ? error.cause : error;
}

function checkEnvelope(envelope: CallEnvelope): void {
  if (typeof envelope?.v !== "number" || envelope.v > ENVELOPE_VERSION + 1 || envelope.v < ENVELOPE_VERSION - 1) {
    throw new ActorError("actor", "invalid_request", "The Worker and the object are more than one release apart");
  }
}

/** An address by id means one life of the key. */
function checkAddress(record: ActorRecord, address: CallEnvelope["address"]): void {
  if (address.generation !== undefined && parseActorId(record.actorId)?.generation !== address.generation) throw notFound(address);
}

function replyOf({ actorId, createdAt }: ActorRecord, created: boolean) {
  return { v: ENVELOPE_VERSION, ok: true, actorId, createdAt, created } as const;
}

function notFound(address: CallEnvelope["address"]): ActorError {
  const what = address.name === "" ? "There is no actor with this id" : `There is no actor "${address.name}" with this key`;
  return new ActorError("actor", "not_found", what);
}

function callerOf(envelope: CallEnvelope): Caller {
  return { kind: "call", encoding: "json", extended: false, params: envelope.params, request: requestOf(envelope) };
}

function requestOf(envelope: CallEnvelope): Request | undefined {
  const { request } = envelope;
  return request && new Request(request.url, { method: request.method, headers: request.headers.map(([name, value]) => [name, value]) });
}

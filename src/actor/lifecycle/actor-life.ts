/**
 * The lives of one object's actor: created, started for an event, fired by its alarm, destroyed.
 *
 * Owns: who may create the actor, what the alarm sets off. Does not own: which activation is in memory (start-gate.ts), the
 * hooks of a start (start.ts) and of an end (destroy.ts).
 * Invariants: no error of user code escapes `alarm` (ALARM-4); `get` on an actor that does not exist writes nothing.
 */
import {
  ActorError,
  checkKey,
  decodeValue,
  parseActorId,
  type CallEnvelope,
  type Creation,
  backoffMs,
} from "../../protocol/index.js";
import type { Admitted, Caller } from "../connections/admission.js";
import type { Creator } from "./creation.js";
import { describe } from "../activation/thrown.js";
import { finishDestroy, markDestroyed } from "./destroy.js";
import { checkOperation } from "../callbacks/dispatch.js";
import type { ActorPorts, StoreActivation } from "../ports.js";
import { KEYS, type ActorRecord } from "../storage/record.js";
import type { Registry } from "../definition/registry.js";
import { ActorRuntime, type ActivationEnds } from "./actor-runtime.js";
import { goToSleep, staysAwake } from "./shutdown.js";
import { createActor, loadActor, loadState, restoreConnections, type StartedBy } from "./start.js";
import { CreatorRefused, StartFailure, StartGate } from "./start-gate.js";
import { openRecord } from "../storage/upgrades.js";

/** When a start fails inside an alarm and nothing stored says when to try again: doubles while it goes on failing. */
const RETRY = { firstMs: 10_000, maxMs: 300_000 };

/** The activation that serves a call. */
export interface Entered {
  readonly runtime: ActorRuntime;
  /** It was made for this call. */
  readonly created: boolean;
  /** How the caller was let in with that. */
  readonly admitted: Admitted | undefined;
}

export class ActorLife {
  readonly #registry: Registry;
  readonly #ports: ActorPorts;
  readonly #gate = new StartGate();
  /** In a row. */
  #failedStarts = 0;
  readonly #ends: ActivationEnds = {
    destroy: (runtime) => this.#destroy(runtime),
    sleep: (runtime) => this.#sleep(runtime),
  };

  constructor(registry: Registry, ports: ActorPorts) {
    this.#registry = registry;
    this.#ports = ports;
  }

  /** Who the actor in memory is, also while it ends. */
  get record(): ActorRecord | undefined {
    return this.#gate.runtime?.record;
  }

  /**
   * Serves a call with the activation that is there, or with one that begins for it; it does not go to sleep meanwhile.
   * @throws actor/not_found, actor/duplicate_key, actor/destroyed, what the start or checkOperation throws, and what `body` throws
   */
  async serve<T>(envelope: CallEnvelope, caller: Caller, body: (entered: Entered) => Promise<T>): Promise<T> {
    const entered = await this.#enter(envelope, caller);
    const { runtime, created } = entered;
    // It was created, ran and ended: whoever asked for no more than that is told which one it was.
    if (created && runtime.record.destroyed) return body(entered);
    // Its end began while this call came in: what comes after it serves.
    if (runtime.shutdown.isBegun) return this.serve(envelope, caller, body);
    return runtime.sleep.during(() => {
      if (!created) this.#catchUp(runtime);
      return body(entered);
    });
  }

  /** Serves whom an earlier activation has let in. False: there is no such actor any more. */
  async serveExisting(body: (runtime: ActorRuntime) => Promise<void>, by: StartedBy = {}): Promise<boolean> {
    const begin = async (): Promise<ActorRuntime | undefined> => {
      const store = this.#ports.store.activate();
      const record = await this.#survivor(store);
      return record && this.#load(store, record, by);
    };
    const runtime = await this.#gate.enter(begin, { mode: "get" }).catch(rethrowCause);
    if (!runtime) return false;
    if (runtime.shutdown.isBegun) return this.serveExisting(body, by);
    await runtime.sleep.during(() => {
      this.#catchUp(runtime);
      return body(runtime);
    });
    return true;
  }

  /** Asks the actor to sleep. @throws actor/not_found */
  async sleep(address: CallEnvelope["address"]): Promise<ActorRecord> {
    let record: ActorRecord | undefined;
    await this.serveExisting(async (runtime) => {
      checkAddress(runtime.record, address);
      record = runtime.record;
      runtime.sleep.ask();
    });
    if (!record) throw notFound(address);
    return record;
  }

  /** Who the actor is; it is not started for that. @throws actor/not_found */
  async find(address: CallEnvelope["address"]): Promise<ActorRecord> {
    let record: ActorRecord | undefined;
    const runtime = await this.#gate.enter(async () => {
      record = await this.#survivor(this.#ports.store.activate());
      return undefined;
    });
    const found = runtime?.record ?? record;
    if (!found || found.destroyed) throw notFound(address);
    checkAddress(found, address);
    return found;
  }

  async #enter(envelope: CallEnvelope, caller: Caller): Promise<Entered> {
    const { address, creation, operation } = envelope;
    let created = false;
    let admitted: Admitted | undefined;
    const begin = async (): Promise<ActorRuntime | undefined> => {
      const store = this.#ports.store.activate();
      const record = await this.#survivor(store);
      if (record) return this.#load(store, record);
      if (creation.mode === "get" || address.generation !== undefined) return undefined;
      created = true;
      const made = await this.#create(store, address, creation, { caller, operation });
      admitted = made.admitted;
      return made.runtime;
    };
    const runtime = await this.#gate.enter(begin, creation).catch(rethrowCause);
    if (!runtime) throw notFound(address);
    checkAddress(runtime.record, address);
    if (created && runtime.record.destroyed && operation.kind !== "resolve")
      throw new ActorError("actor", "destroyed", "The actor was destroyed by its own start");
    if (creation.mode === "create" && !created) {
      throw new ActorError("actor", "duplicate_key", "An actor with this key exists already", {
        metadata: { existing_actor_id: runtime.record.actorId },
      });
    }
    return { runtime, created, admitted };
  }

  /** An alarm that is overdue may be lost: whoever touches the actor does its work (ALARM-2). */
  #catchUp(runtime: ActorRuntime): void {
    if (!runtime.wakes.isOverdue(this.#ports.now())) return;
    this.#ports.waitUntil(this.#fire(runtime).catch((error: unknown) => runtime.lose(error)));
  }

  async #create(
    store: StoreActivation,
    address: CallEnvelope["address"],
    creation: Creation,
    { caller, operation }: Omit<Creator, "input">,
  ): Promise<{ runtime: ActorRuntime; admitted: Admitted | undefined }> {
    checkKey(address.key);
    const actor = this.#registry.find(address.name);
    checkOperation(actor, operation, this.#ports.log);
    const input = creation.mode !== "get" && creation.input ? decodeValue(creation.input) : undefined;
    const made = await createActor(actor, this.#ports, store, address, { caller, operation, input }, this.#ends).catch(
      (error: unknown) => {
        throw error instanceof CreatorRefused ? error : new StartFailure(error, creation);
      },
    );
    this.#begun(made.runtime);
    return made;
  }

  // ---- destroy -----------------------------------------------------------------------------------------------------

  /** Ends the actor for somebody outside, also one whose start fails; callbacks that run are told that it was destroyed. */
  async destroy(address: CallEnvelope["address"]): Promise<ActorRecord> {
    let ended: ActorRecord | undefined;
    const runtime = await this.#gate.enter(async () => {
      const store = this.#ports.store.activate();
      const record = await this.#survivor(store);
      if (!record) return undefined;
      checkAddress(record, address);
      try {
        return await this.#load(store, record);
      } catch (error) {
        this.#ports.log.warn({
          msg: "The actor did not start; it is destroyed all the same",
          error: describe(causeOf(error)),
        });
        const unstarted = this.#open(store, record);
        if (!markDestroyed(unstarted)) throw unstarted.lost ?? causeOf(error);
        await finishDestroy(unstarted);
        ended = record;
        return undefined;
      }
    });
    if (!runtime) {
      if (!ended) throw notFound(address);
      return ended;
    }
    checkAddress(runtime.record, address);
    this.#destroy(runtime);
    if (runtime.lost) throw runtime.lost;
    return runtime.record;
  }

  /** The callback that asked for it has ended; its reply does not wait for the rest. */
  #destroy(runtime: ActorRuntime): void {
    // The mark ends attempts, whose callbacks end with them: it must not be made again by one of those.
    if (runtime.record.destroyed || !markDestroyed(runtime)) return;
    this.#gate.endWith(
      runtime,
      finishDestroy(runtime).catch((error: unknown) => {
        this.#ports.log.error({
          msg: "The actor could not be deleted yet; the alarm tries again",
          error: describe(error),
        });
      }),
    );
    this.#ports.waitUntil(this.#gate.ended());
  }

  /** Nothing enters until it sleeps; nobody waits for that but those that come meanwhile. */
  #sleep(runtime: ActorRuntime): void {
    if (runtime.shutdown.isBegun) return;
    const asleep = goToSleep(runtime).catch((error: unknown) => runtime.lose(error));
    this.#gate.endWith(runtime, asleep);
    this.#ports.waitUntil(this.#gate.ended());
  }

  /** The actor that is stored, if it is not one whose destruction was cut off: that one is ended first. */
  async #survivor(store: StoreActivation): Promise<ActorRecord | undefined> {
    const record = openRecord(store, this.#ports);
    if (!record?.destroyed) return record;
    await finishDestroy(this.#open(store, record));
    return undefined;
  }

  /** The actor with its state, but not started: only to be ended. */
  #open(store: StoreActivation, record: ActorRecord): ActorRuntime {
    const runtime = new ActorRuntime(this.#registry.find(record.name), this.#ports, store, record, this.#ends);
    runtime.open();
    loadState(runtime);
    restoreConnections(runtime);
    return runtime;
  }

  async #load(store: StoreActivation, record: ActorRecord, by: StartedBy = {}): Promise<ActorRuntime> {
    const actor = this.#registry.find(record.name);
    const runtime = await loadActor(actor, this.#ports, store, record, by, this.#ends).catch((error: unknown) => {
      throw new StartFailure(error);
    });
    return this.#begun(runtime);
  }

  #begun(runtime: ActorRuntime): ActorRuntime {
    this.#failedStarts = 0;
    return runtime;
  }

  // ---- alarm -------------------------------------------------------------------------------------------------------

  /**
   * Fires what is due and returns as soon as the run is parked or only waits for running work (ALARM-9).
   * Rejects only when a wake could not be left behind. `scheduledAt`: the time for which it was set, epoch ms; null: unknown.
   */
  async alarm(scheduledAt: number | null): Promise<void> {
    if (this.#gate.ending && staysAwake(this.#gate.ending)) return;
    let isNew = false;
    const runtime = await this.#gate
      .enter(() => {
        isNew = true;
        return this.#wake(scheduledAt);
      })
      .catch((error: unknown) => {
        // A start that failed has been logged, and has left a wake behind.
        if (!(error instanceof StartFailure)) throw error;
      });
    try {
      if (runtime && !runtime.shutdown.isBegun) await (isNew ? runtime.advance() : this.#fire(runtime));
    } catch (error) {
      // What was due is guarded by the lease, which was committed before anything of it ran.
      this.#ports.log.error({ msg: "An alarm was not served to its end", error: describe(error) });
    }
  }

  /** The actor started by its alarm; undefined if there is none, or if its start failed and a later wake was left. */
  async #wake(alarmAt: number | null): Promise<ActorRuntime | undefined> {
    try {
      const store = this.#ports.store.activate();
      const record = await this.#survivor(store);
      // An alarm on an empty object does nothing and writes nothing (START-9).
      const runtime = record && (await this.#load(store, record, { alarmAt }));
      if (runtime?.sleep.isOnlyForSleep) this.#sleep(runtime);
      return runtime;
    } catch (error) {
      this.#ports.log.error({
        msg: "An alarm could not start the actor; it will be tried again",
        error: describe(causeOf(error)),
      });
      await this.#leaveAWake();
      if (error instanceof StartFailure) throw error;
      return undefined;
    }
  }

  async #fire(runtime: ActorRuntime): Promise<void> {
    const { wakes } = runtime;
    const now = this.#ports.now();
    wakes.setArmedAt(null);
    wakes.markStale();
    runtime.queue.expireReplies(now);
    if (runtime.sleep.alarmCame(now)) return this.#sleep(runtime);
    if (runtime.isWorking) wakes.extendLease();
    if (wakes.isDue(now)) wakes.holdLease();
    runtime.cron.fireDue(runtime.background);
    runtime.commitOrThrow();
    // Code that kills the object in this very turn would take the lease and the alarm with it (ALARM-4).
    if (runtime.lease) await runtime.confirmed();
    // It went to sleep, or is being destroyed: what is due stays so.
    if (runtime.shutdown.isBegun) return;
    runtime.schedule.fireDue(runtime.background);
    runtime.parts.tell("fireDue");
    await runtime.advance();
  }

  /** @throws what the storage says: only then does the platform's own retry have to help */
  async #leaveAWake(): Promise<void> {
    const store = this.#ports.store.activate();
    if (store.get(KEYS.actor) === undefined || (await store.getAlarm()) !== null) return;
    store.commit({
      puts: new Map(),
      deletes: new Set(),
      alarmAt: this.#ports.now() + backoffMs(this.#failedStarts + 1, RETRY),
    });
    this.#failedStarts += 1;
    await store.sync();
  }
}

/** Whoever started the actor is told what its start threw. */
function rethrowCause(error: unknown): never {
  throw causeOf(error);
}

function causeOf(error: unknown): unknown {
  return error instanceof StartFailure || error instanceof CreatorRefused ? error.cause : error;
}

/** An address by id means one life of the key. */
export function isAddressed(record: ActorRecord, address: CallEnvelope["address"]): boolean {
  return address?.generation === undefined || parseActorId(record.actorId)?.generation === address.generation;
}

function checkAddress(record: ActorRecord, address: CallEnvelope["address"]): void {
  if (!isAddressed(record, address)) throw notFound(address);
}

function notFound(address: CallEnvelope["address"]): ActorError {
  const what =
    address.name === "" ? "There is no actor with this id" : `There is no actor "${address.name}" with this key`;
  return new ActorError("actor", "not_found", what);
}

/**
 * Creates the actor of one object, starts it for events and alarms, and destroys it.
 *
 * Owns: when an actor is created or started, what an alarm does. Does not own: which activation is in memory
 * (start-gate.ts), the hooks of a start (start.ts) and of a destroy (destroy.ts).
 * Invariants: no error of user code escapes `alarm` (ALARM-4); `get` of an actor that does not exist writes nothing.
 */
import { ActorError, checkKey, decodeValue, type CallEnvelope, type Creation } from "../../protocol/index.js";
import type { Admitted, Caller } from "../connections/admission.js";
import type { Creator } from "./creation.js";
import { describe } from "../activation/thrown.js";
import { checkAddress, notFound } from "./addressed.js";
import { changeBeforeStart } from "./before-start.js";
import { finishDestroy, markDestroyed } from "./destroy.js";
import { checkOperation } from "../callbacks/dispatch.js";
import type { ActorPorts, DeliveredAlarm, StoreActivation } from "../ports.js";
import type { ActorRecord } from "../storage/record.js";
import type { Registry } from "../definition/registry.js";
import { ActorRuntime, type ActivationEnds } from "./actor-runtime.js";
import { goToSleep, rearmDuringShutdown } from "./shutdown.js";
import { createActor, loadActor, loadState, restoreConnections, type Created, type StartedBy } from "./start.js";
import { CreatorRefused, StartFailure, StartGate } from "./start-gate.js";
import { StartRetries } from "./start-retries.js";
import { openRecord } from "../storage/upgrades.js";

/** The activation that serves a call. */
export interface Entered {
  readonly runtime: ActorRuntime;
  /** Whether this call created the actor. */
  readonly created: boolean;
  /** The caller's admission, if it created the actor. */
  readonly admitted: Admitted | undefined;
  /** False if it created the actor and must commit that, in this turn. */
  readonly isStored: boolean;
}

export class ActorLife {
  readonly #registry: Registry;
  readonly #ports: ActorPorts;
  readonly #gate = new StartGate();
  readonly #retries: StartRetries;
  readonly #ends: ActivationEnds = {
    destroy: (runtime) => this.#destroy(runtime),
    sleep: (runtime) => this.#sleep(runtime),
  };

  constructor(registry: Registry, ports: ActorPorts) {
    this.#registry = registry;
    this.#ports = ports;
    this.#retries = new StartRetries(ports);
  }

  /** The record of the actor in memory, even while it shuts down. */
  get record(): ActorRecord | undefined {
    return this.#gate.runtime?.record;
  }

  /** The activation that serves, if there is one. */
  get activation(): ActorRuntime | undefined {
    const { runtime } = this.#gate;
    return runtime?.lost || runtime?.shutdown.isBegun ? undefined : runtime;
  }

  /**
   * Serves a call with the activation in memory, or starts one. The actor does not go to sleep meanwhile.
   * @throws {actor/not_found} when there is no such actor and the call does not create one
   * @throws {actor/duplicate_key} when the call must create the actor but it exists
   * @throws {actor/destroyed} when the actor it created was destroyed before the call could begin
   * @throws whatever the start, `checkOperation` or `body` throws
   */
  async serve<T>(envelope: CallEnvelope, caller: Caller, body: (entered: Entered) => Promise<T>): Promise<T> {
    const entered = await this.#enter(envelope, caller);
    const { runtime, created, isStored } = entered;
    // Destroyed by its start, or by a caller that waited for it. A call that only creates still gets its identity.
    if (created && runtime.record.destroyed) {
      if (envelope.operation.kind === "resolve") return body(entered);
      throw new ActorError("actor", "destroyed", "The actor was destroyed before this call could begin");
    }
    // This activation began shutting down as the call arrived; the next one serves it.
    if (runtime.shutdown.isBegun) return this.serve(envelope, caller, body);
    return runtime.sleep.during(() => {
      if (!created) this.#catchUp(runtime);
      const served = body(entered);
      // The action's first turn is over. Its changes and the creation are one write, also if it failed.
      if (!isStored) runtime.commit();
      return served;
    });
  }

  /** Serves a connection admitted by an earlier activation. Returns false if the actor no longer exists. */
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

  /** Asks the actor to sleep. @throws {actor/not_found} when it does not exist */
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

  /** Finds the actor without starting it. @throws {actor/not_found} when it does not exist */
  async find(address: CallEnvelope["address"]): Promise<ActorRecord> {
    let record: ActorRecord | undefined;
    const runtime = await this.#gate.enter(async () => {
      record = await this.#survivor(this.#ports.store.activate());
      return undefined;
    });
    const found = runtime?.record ?? record;
    if (!found || found.destroyed) throw notFound(address);
    checkAddress(found, address);
    // Its creation may be left to a call.
    runtime?.commitOrThrow();
    return found;
  }

  /**
   * Lets an operator change the actor: in memory if it is there, otherwise as it is stored, and then it starts (INSPECT-6).
   * `started` runs in an activation that began after the change.
   * @throws {actor/not_found} when there is no such actor
   * @throws whatever `act` throws
   */
  async operate<T>(
    address: CallEnvelope["address"],
    act: (runtime: ActorRuntime) => T,
    started: (runtime: ActorRuntime) => void,
  ): Promise<{ readonly record: ActorRecord; readonly result: T }> {
    let done: { readonly record: ActorRecord; readonly result: T } | undefined;
    const runtime = await this.#gate.enter(async () => {
      const store = this.#ports.store.activate();
      const record = await this.#survivor(store);
      if (!record) return undefined;
      checkAddress(record, address);
      done = { record, result: await changeBeforeStart(this.#open(store, record), act) };
      return undefined;
    });
    if (runtime?.shutdown.isBegun) return this.operate(address, act, started);
    if (runtime) {
      checkAddress(runtime.record, address);
      return { record: runtime.record, result: act(runtime) };
    }
    if (!done) throw notFound(address);
    const failed = (error: unknown): void =>
      this.#ports.log.warn({ msg: "The actor did not start after an operator's change", stack: describe(error) });
    this.#ports.waitUntil(this.serveExisting(async (begun) => started(begun)).then(() => {}, failed));
    return done;
  }

  async #enter(envelope: CallEnvelope, caller: Caller): Promise<Entered> {
    const { address, creation, operation } = envelope;
    let made: Created | undefined;
    const begin = async (): Promise<ActorRuntime | undefined> => {
      const store = this.#ports.store.activate();
      const record = await this.#survivor(store);
      if (record) return this.#load(store, record);
      if (creation.mode === "get" || address.generation !== undefined) return undefined;
      made = await this.#create(store, address, creation, { caller, operation });
      return made.runtime;
    };
    const runtime = await this.#gate.enter(begin, creation).catch(rethrowCause);
    const created = made !== undefined;
    if (!runtime) throw notFound(address);
    checkAddress(runtime.record, address);
    if (creation.mode === "create" && !created) {
      throw new ActorError("actor", "duplicate_key", "An actor with this key already exists", {
        metadata: { existing_actor_id: runtime.record.actorId },
      });
    }
    return { runtime, created, admitted: made?.admitted, isStored: made?.isStored ?? true };
  }

  /** An overdue alarm may be lost, so any event does its work (ALARM-2). */
  #catchUp(runtime: ActorRuntime): void {
    if (!runtime.alarm.isOverdue(this.#ports.now())) return;
    this.#ports.waitUntil(this.#fire(runtime).catch((error: unknown) => runtime.lose(error)));
  }

  async #create(
    store: StoreActivation,
    address: CallEnvelope["address"],
    creation: Creation,
    { caller, operation }: Omit<Creator, "input">,
  ): Promise<Created> {
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

  /** Destroys the actor on an outside request, even if its start fails. Running callbacks get `actor/destroyed`. */
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
          msg: "The actor did not start; it is destroyed anyway",
          stack: describe(causeOf(error)),
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

  /** Begins the destroy. The reply of the callback that asked for it does not wait for the rest. */
  #destroy(runtime: ActorRuntime): void {
    // Marking ends attempts, and with them callbacks that may ask for the destroy again.
    if (runtime.record.destroyed || !markDestroyed(runtime)) return;
    this.#gate.endWith(
      runtime,
      finishDestroy(runtime).catch((error: unknown) => {
        this.#ports.log.error({
          msg: "The actor could not be deleted; the alarm will try again",
          stack: describe(error),
        });
      }),
    );
    this.#ports.waitUntil(this.#gate.ended());
  }

  /** Puts the actor to sleep. Events that arrive meanwhile wait for it. */
  #sleep(runtime: ActorRuntime): void {
    if (runtime.shutdown.isBegun) return;
    const asleep = goToSleep(runtime).catch((error: unknown) => runtime.lose(error));
    this.#gate.endWith(runtime, asleep);
    this.#ports.waitUntil(this.#gate.ended());
  }

  /** The stored actor. If its destroy was interrupted, finishes that and returns undefined. */
  async #survivor(store: StoreActivation): Promise<ActorRecord | undefined> {
    const record = openRecord(store, this.#ports);
    if (!record?.destroyed) return record;
    await finishDestroy(this.#open(store, record));
    return undefined;
  }

  /** An activation with its state but not started, only to be destroyed. */
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
    this.#retries.begun();
    return runtime;
  }

  // ---- alarm -------------------------------------------------------------------------------------------------------

  /**
   * Runs what is due. Returns once the workflow is parked or only waits for running work (ALARM-9). Rejects only if no
   * later alarm could be set.
   */
  async alarm(delivered: DeliveredAlarm): Promise<void> {
    if (this.#gate.ending && rearmDuringShutdown(this.#gate.ending)) return;
    let isNew = false;
    const runtime = await this.#gate
      .enter(() => {
        isNew = true;
        return this.#wake(delivered);
      })
      .catch((error: unknown) => {
        // A failed start has been logged, and has set a later alarm.
        if (!(error instanceof StartFailure)) throw error;
      });
    try {
      if (runtime && !runtime.shutdown.isBegun) await (isNew ? runtime.advance() : this.#fire(runtime, delivered));
    } catch (error) {
      // The lease, committed before anything ran, brings back what was due.
      this.#ports.log.error({ msg: "An alarm was not served completely", stack: describe(error) });
    }
  }

  /** Starts the actor for its alarm. Returns undefined if there is no actor, or an error was logged and a later alarm set. */
  async #wake(alarm: DeliveredAlarm): Promise<ActorRuntime | undefined> {
    try {
      const store = this.#ports.store.activate();
      const record = await this.#survivor(store);
      // An alarm on an empty object does nothing and writes nothing (START-9).
      const runtime = record && (await this.#load(store, record, { alarm }));
      if (runtime?.sleep.isOnlyForSleep) this.#sleep(runtime);
      return runtime;
    } catch (error) {
      this.#ports.log.error({
        msg: "The actor could not be started for its alarm; it will be tried again",
        stack: describe(causeOf(error)),
      });
      await this.#retries.setAlarm();
      if (error instanceof StartFailure) throw error;
      return undefined;
    }
  }

  async #fire(runtime: ActorRuntime, delivered?: DeliveredAlarm): Promise<void> {
    const { alarm } = runtime;
    const now = this.#ports.now();
    alarm.setArmedAt(null);
    alarm.markStale();
    runtime.queue.expireReplies(now);
    if (runtime.sleep.alarmCame(now)) return this.#sleep(runtime);
    if (runtime.isWorking) alarm.extendLease();
    if (alarm.isDue(now)) alarm.holdLease();
    runtime.cron.fireDue(runtime.background);
    runtime.commitOrThrow();
    await runtime.confirmedLease(delivered);
    // It began to shut down: what is due stays due.
    if (runtime.shutdown.isBegun) return;
    runtime.schedule.fireDue(runtime.background);
    runtime.parts.tell("fireDue");
    await runtime.advance();
  }
}

/** Rejects the caller that started the actor with the start's own error. */
function rethrowCause(error: unknown): never {
  throw causeOf(error);
}

function causeOf(error: unknown): unknown {
  return error instanceof StartFailure || error instanceof CreatorRefused ? error.cause : error;
}

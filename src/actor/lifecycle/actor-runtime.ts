/**
 * One activation of one actor in memory.
 *
 * Owns: the dirty set and the commit, whether the activation is still good, who of it works. Does not own: how it starts
 * (start.ts), what a call does (dispatch.ts), deadlines and alarm (alarm.ts), what its parts do (parts.ts).
 * Invariants:
 *  1. Every change of what is stored goes through `commit`, which writes all that is dirty and the alarm together.
 *  2. After a commit has thrown, this activation changes nothing any more (COMMIT-9).
 */
import { ActorError, fieldOf, own } from "../../protocol/index.js";
import type { StoredMessage } from "../../workflow/index.js";
import type { ClientUse } from "../activation/activation.js";
import type { Callback } from "../activation/callback.js";
import type { Chain } from "../activation/call-chain.js";
import { Background } from "../callbacks/background.js";
import type { CompiledActor } from "../definition/compiled-actor.js";
import { Connections } from "../connections/connections.js";
import { DueJobs } from "../schedule/due-jobs.js";
import { DestroyRequest } from "./destroy-request.js";
import { FireOrder } from "../schedule/fire-order.js";
import { Kv } from "../kv/kv.js";
import { LeaseTimer, Timers } from "../activation/timers.js";
import { lossOf, restarting } from "../storage/store-errors.js";
import { MessageQueue } from "../queue/message-queue.js";
import { MessageReceivers } from "../queue/message-receivers.js";
import type { PartActor } from "../activation/part.js";
import type { ActorPorts, SqlDatabase, StoreActivation } from "../ports.js";
import type { SenderWait } from "../activation/actor-queue.js";
import { KEYS, encodeRecord, type ActorRecord } from "../storage/record.js";
import { Parts } from "./parts.js";
import { PlainRunHandler } from "../callbacks/run-handler.js";
import { DueSchedules } from "../schedule/due-schedules.js";
import { ShutdownSignal } from "./shutdown-signal.js";
import { Sleep } from "./sleep.js";
import { OpenCallbacks } from "../state/open-callbacks.js";
import { StateTree } from "../state/state-tree.js";
import type { StateView } from "../state/state-view.js";
import { StateChanges } from "../callbacks/state-changes.js";
import { StoredRows } from "../storage/stored-rows.js";

/** Who ends an activation that asks for its end. */
export interface ActivationEnds {
  /** A callback has ended that asked for the actor's end. */
  destroy(runtime: ActorRuntime): void;
  /** The actor is to go to sleep. */
  sleep(runtime: ActorRuntime): void;
}

export class ActorRuntime extends StoredRows implements PartActor {
  readonly actor: CompiledActor;
  readonly ports: ActorPorts;
  readonly timers: Timers;
  readonly queue: MessageQueue;
  readonly receivers: MessageReceivers;
  readonly schedule: DueSchedules;
  readonly connections: Connections;
  readonly cron: DueJobs;
  readonly kv = new Kv(this);
  readonly background: Background;
  readonly parts: Parts;
  readonly runHandler: PlainRunHandler;
  readonly stateChanges = new StateChanges(this);
  readonly sleep: Sleep;
  readonly shutdown = new ShutdownSignal();
  record: ActorRecord;
  readonly callbacks = new OpenCallbacks();
  state: StateTree | undefined;
  vars: unknown;
  readonly #leaseTimer: LeaseTimer;
  readonly #abort = new AbortController();
  #view: StateView | undefined;
  #counter: number;
  #open = false;
  #ready = false;
  #lost: Error | undefined;
  readonly #destroyRequest: DestroyRequest;
  #flush: Promise<void> | undefined;

  /** Loads what is stored, but for the state; writes nothing. */
  constructor(
    actor: CompiledActor,
    ports: ActorPorts,
    store: StoreActivation,
    record: ActorRecord,
    ends: ActivationEnds,
  ) {
    super(
      store,
      () => ports.now(),
      () => this.parts.wakeAt(),
    );
    this.actor = actor;
    this.ports = { ...ports, log: ports.log.child({ actor: record.name, key: record.key }) };
    this.record = own(record);
    this.timers = new Timers(
      ports.createTimer(),
      () => ports.now(),
      () => this.advanceSoon(),
    );
    this.sleep = new Sleep(this, () => ends.sleep(this));
    this.queue = new MessageQueue(this);
    this.receivers = new MessageReceivers(this);
    const order = new FireOrder(this);
    this.schedule = new DueSchedules(this, order);
    this.connections = new Connections(this);
    this.cron = new DueJobs(this, order);
    this.background = new Background(this);
    this.#leaseTimer = new LeaseTimer(this.timers, () => this.#extendLease());
    this.runHandler = new PlainRunHandler(this, this.receivers);
    this.parts = new Parts(this);
    this.#counter = this.parts.highestSeq;
    const destroy = (): void => {
      if (!this.#lost) ends.destroy(this);
    };
    this.#destroyRequest = new DestroyRequest(destroy, (run) => ports.waitUntil(ports.yield().then(run)));
  }

  // ---- what contexts show ------------------------------------------------------------------------------------------

  get abortSignal(): AbortSignal {
    return this.#abort.signal;
  }

  get counter(): number {
    return this.#counter;
  }

  get lost(): Error | undefined {
    return this.#lost;
  }

  /** False while hooks of the start run. */
  get isReady(): boolean {
    return this.#ready;
  }

  nextSeq(): number {
    this.#counter += 1;
    return this.#counter;
  }

  setState(root: unknown, stored: Uint8Array | undefined): void {
    const { callbacks, ports, record } = this;
    this.state = new StateTree(root, stored, {
      actorId: record.actorId,
      callbacks,
      log: ports.log,
      onDirty: () => this.changedSoon(),
    });
    this.#view = this.state.createView({ onWrite: () => this.checkAlive() });
  }

  stateView(): StateView {
    if (this.#view) return this.#view;
    throw new ActorError(
      "actor",
      "state_not_enabled",
      "State not enabled. Must implement `state` or `createState` to use it",
    );
  }

  checkAlive(): void {
    if (!this.#lost) return;
    throw new ActorError(
      "actor",
      "ended",
      "This code belongs to an activation of the actor that has ended: what it changes would be lost",
      { cause: this.#lost },
    );
  }

  client(chain: () => Chain, use?: ClientUse): unknown {
    const beforeCall = (): void => {
      use?.guard();
      this.commitOrThrow();
    };
    return this.ports.createClient(beforeCall, use ? [this.abortSignal, use.end] : [this.abortSignal], use, chain);
  }

  get sql(): SqlDatabase | undefined {
    return fieldOf(this.store, "sql") as SqlDatabase | undefined;
  }

  // ---- commit ------------------------------------------------------------------------------------------------------

  /** From here on commits are written; before it (while an actor is created) they wait for the one of the creation. */
  open(): void {
    this.#open = true;
  }

  /** From here on commits wait again, for the one that `open` allows: what changes until then is stored with it, or not at all. */
  hold(): void {
    this.#open = false;
    this.connections.hold();
  }

  /** Forgets what waits for a commit. */
  discard(): void {
    this.connections.release(false);
    this.dirty.clear();
    this.state = undefined;
    this.#open = true;
  }

  /** The hooks of the start have run. */
  ready(): void {
    this.#ready = true;
    this.sleep.ready();
  }

  /** A row that an older release would misread joins the dirty set: that release must refuse the whole actor (COMMIT-10). */
  requireFormat(format: number): void {
    if (this.record.format < format) this.putRecord({ format });
  }

  putRecord(change: Partial<ActorRecord>): void {
    this.record = own({ ...this.record, ...change });
    this.put(KEYS.actor, () => encodeRecord(this.record));
  }

  commit(): boolean {
    if (this.#lost) return false;
    if (!this.store.isCurrent) {
      this.lose("a later activation has begun");
      return false;
    }
    if (!this.#open) return true;
    let stateBytes: Uint8Array<ArrayBuffer> | undefined;
    try {
      stateBytes = this.state?.encodeChanges();
      this.connections.beforeCommit();
    } catch (error) {
      this.#tellUnstorable(error);
      this.lose(error);
      return false;
    }
    // The end of a sleep is no reason to write; a commit that is made anyway may mark it.
    const { isReleased } = this.wakes;
    if (stateBytes || !this.dirty.isEmpty || isReleased) {
      this.parts.tell("beforeCommit");
      this.connections.beforeWrite();
      this.sleep.beforeCommit(stateBytes !== undefined || isReleased || this.dirty.hasOther(this.deadlines.idle.key));
    }
    const alarmAt = this.wakes.alarmToWrite();
    const isWritten = stateBytes !== undefined || !this.dirty.isEmpty || alarmAt !== undefined;
    if (isWritten) {
      try {
        const { puts, deletes } = this.dirty.build();
        if (stateBytes) puts.set(KEYS.state, stateBytes);
        this.store.commit(own(alarmAt === undefined ? { puts, deletes } : { puts, deletes, alarmAt }));
      } catch (error) {
        this.lose(error);
        return false;
      }
      this.dirty.clear();
      this.state?.committed(stateBytes);
      if (stateBytes) this.stateChanges.committed();
    }
    this.wakes.committed(alarmAt);
    this.queue.committed();
    this.#leaseTimer.set(this.wakes.extendAt);
    if (isWritten) this.parts.tell("committed");
    return true;
  }

  /** Whoever calls this lets something leave the actor next (COMMIT-2). */
  commitOrThrow(): void {
    this.parts.tell("leaving");
    if (!this.commit()) throw this.#lost ?? restarting();
  }

  async confirmed(): Promise<void> {
    try {
      await this.store.sync();
    } catch (error) {
      this.lose(error);
    }
    if (this.#lost) throw this.#lost;
  }

  confirm(): void {
    this.ports.waitUntil(this.store.sync().catch((error: unknown) => this.lose(error)));
  }

  /**
   * Memory and storage differ: this activation must not act any more, and the instance is thrown away (COMMIT-9). When the
   * storage is full the instance stays, so that callers are told and what exists can still be read and destroyed.
   */
  lose(cause: unknown): void {
    if (this.#lost) return;
    const { reason, isFull } = lossOf(cause);
    this.end(reason);
    this.ports.log.error({ msg: "The activation is lost; the next event starts anew", cause: String(cause) });
    if (!isFull) this.ports.abort("perdure: a commit failed, memory and storage differ");
  }

  /** Nothing of this activation acts any more: it is lost, or its actor is destroyed. */
  end(reason: Error): void {
    if (this.#lost) return;
    this.#lost = reason;
    this.timers.clear();
    this.parts.tell("end", reason);
    this.shutdown.over(reason);
    this.#abort.abort(reason);
  }

  /** Every statement was checked: only what user code wrote into a state past its views can make it one that has no encoding. */
  #tellUnstorable(error: unknown): void {
    const path = ActorError.isActorError(error) ? error.metadata : undefined;
    const callbacks = this.callbacks.suspects();
    const msg =
      "The state cannot be stored: something was written into it through a reference to an object that was " +
      "put into it before. The actor starts anew from what is stored";
    this.ports.log.error({ msg, error: String(error), ...(path === undefined ? {} : { metadata: path }), callbacks });
  }

  /** A change outside of any callback's end is committed at the end of the turn (COMMIT-2). */
  changedSoon(): void {
    if (!this.#open || this.#flush) return;
    // Nobody asked for this commit: it lets a transaction of user code end first, which it would undo.
    this.#flush = this.ports
      .yield()
      .then(() => this.parts.idle())
      .then(() => {
        this.#flush = undefined;
        this.commit();
      });
    this.ports.waitUntil(this.#flush);
  }

  // ---- messages ----------------------------------------------------------------------------------------------------

  async sendMessage(name: string, body: unknown, wait?: SenderWait): Promise<StoredMessage> {
    const prepared = this.queue.prepare(name, body);
    // At once where it can be: nobody may be there to wait for it.
    const bytes = prepared instanceof Promise ? await prepared : prepared;
    const message = this.queue.add(name, bytes, wait);
    this.parts.expectMessages();
    this.commitOrThrow();
    this.messagesChanged();
    return message;
  }

  stageMessage(name: string, body: Uint8Array): void {
    this.queue.stage(name, body);
    this.parts.expectMessages();
  }

  /** Messages were committed: the waits of parts come first, then those of actions and run handlers (MSG-2). */
  messagesChanged(): void {
    if (!this.#ready) return;
    this.sleep.messagesCame();
    if (!this.parts.offerMessages()) this.receivers.offer();
  }

  // ---- work and wakes ----------------------------------------------------------------------------------------------

  get isOccupied(): boolean {
    return this.parts.isBusy || this.background.isBusy;
  }

  get isWorking(): boolean {
    return this.isOccupied || this.runHandler.isBusy;
  }

  workChanged(): void {
    // At its end the lease is for that.
    if (this.#lost || !this.#open || this.shutdown.isBegun) return;
    if (this.isWorking !== (this.lease !== undefined)) {
      if (this.isWorking) this.wakes.holdLease();
      else this.wakes.releaseLease();
      this.commit();
      this.confirm();
    }
    this.sleep.rested();
  }

  /** What is due moves, and what messages allow. The lease is committed. */
  advance(): Promise<void> {
    return this.parts.advance();
  }

  advanceSoon(): void {
    this.ports.waitUntil(this.advance().catch((error: unknown) => this.lose(error)));
  }

  settle(): void {
    this.receivers.offer();
    if (!this.isWorking) this.releaseLease();
    this.deadlinesChanged();
    this.commit();
  }

  #extendLease(): void {
    this.wakes.extendLease();
    this.commit();
    this.confirm();
  }

  releaseLease(): void {
    // At its end the lease is for that.
    if (!this.shutdown.isBegun && !this.background.isBusy && !this.runHandler.isBusy) this.wakes.releaseLease();
    else this.wakes.markStale();
  }

  // ---- end ---------------------------------------------------------------------------------------------------------

  requestDestroy(callback?: Callback): void {
    if (this.record.destroyed) throw new ActorError("actor", "stopping", "The actor is being destroyed already");
    if (!this.#ready) throw new ActorError("actor", "starting", "The actor has not started yet");
    this.#destroyRequest.make(callback);
  }

  callbackEnded(callback: Callback): void {
    this.stateChanges.callbackEnded();
    this.#destroyRequest.callbackEnded(callback);
  }
}

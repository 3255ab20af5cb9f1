/**
 * One activation of one actor in memory.
 *
 * Owns: its members, and whether it is working. Does not own: the commit and the end (commits.ts), the start (start.ts),
 * calls (dispatch.ts), deadlines and the alarm (alarm.ts), the behaviour of parts (parts.ts).
 */
import { ActorError, fieldOf, own, type Effects } from "../../protocol/index.js";
import type { StoredMessage } from "../../workflow/index.js";
import type { ClientUse } from "../activation/activation.js";
import type { Callback } from "../activation/callback.js";
import type { Chain } from "../activation/call-chain.js";
import { Background } from "../callbacks/background.js";
import type { CompiledActor } from "../definition/compiled-actor.js";
import { Commits } from "./commits.js";
import { Connections } from "../connections/connections.js";
import { DueJobs } from "../schedule/due-jobs.js";
import { DestroyRequest } from "./destroy-request.js";
import { FireOrder } from "../schedule/fire-order.js";
import { Kv } from "../kv/kv.js";
import { Timers } from "../activation/timers.js";
import { MessageQueue } from "../queue/message-queue.js";
import { MessageReceivers } from "../queue/message-receivers.js";
import type { PartActor } from "../activation/part.js";
import type { ActorPorts, DeliveredAlarm, SqlDatabase, StoreActivation } from "../ports.js";
import type { SenderWait } from "../activation/actor-queue.js";
import { KEYS, encodeRecord, whoOf, type ActorRecord } from "../storage/record.js";
import { ParkEviction } from "./park-eviction.js";
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

/** Ends the activation on request. */
export interface ActivationEnds {
  /** A callback that called `c.destroy()` has ended. */
  destroy(runtime: ActorRuntime): void;
  /** Puts the actor to sleep. */
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
  readonly parkEviction = new ParkEviction(this);
  readonly shutdown = new ShutdownSignal();
  record: ActorRecord;
  readonly callbacks = new OpenCallbacks();
  state: StateTree | undefined;
  vars: unknown;
  readonly #commits: Commits;
  #view: StateView | undefined;
  #counter: number | undefined;
  #ready = false;
  readonly #destroyRequest: DestroyRequest;

  /** Loads the stored rows, except the state. Writes nothing. */
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
    this.ports = { ...ports, log: ports.log.child(whoOf(record)) };
    this.record = own(record);
    this.timers = new Timers(
      ports.createTimer(),
      () => ports.now(),
      () => this.advanceSoon(),
    );
    this.#commits = new Commits(this, this.dirty);
    this.sleep = new Sleep(this, () => ends.sleep(this));
    this.queue = new MessageQueue(this);
    this.receivers = new MessageReceivers(this);
    const order = new FireOrder(this);
    this.schedule = new DueSchedules(this, order);
    this.connections = new Connections(this);
    this.cron = new DueJobs(this, order);
    this.background = new Background(this);
    this.runHandler = new PlainRunHandler(this, this.receivers);
    this.parts = new Parts(this);
    const destroy = (): void => {
      if (!this.lost) ends.destroy(this);
    };
    this.#destroyRequest = new DestroyRequest(destroy, (run) => ports.waitUntil(ports.yield().then(run)));
  }

  // ---- for contexts ------------------------------------------------------------------------------------------------

  get counter(): number {
    return (this.#counter ??= this.parts.highestSeq);
  }

  /** False while the hooks of the start run. */
  get isReady(): boolean {
    return this.#ready;
  }

  nextSeq(): number {
    this.#counter = this.counter + 1;
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
    if (!this.lost) return;
    throw new ActorError(
      "actor",
      "ended",
      "This code belongs to an activation of the actor that has ended: its changes would be lost",
      { cause: this.lost },
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

  /** The hooks of the start have run. */
  ready(): void {
    this.#ready = true;
    this.sleep.ready();
  }

  /** Marks the actor as having rows that older releases would misread, so that they refuse it (COMMIT-10). */
  requireFormat(format: number): void {
    if (this.record.format < format) this.putRecord({ format });
  }

  putRecord(change: Partial<ActorRecord>): void {
    this.record = own({ ...this.record, ...change });
    this.put(KEYS.actor, () => encodeRecord(this.record));
  }

  // ---- commit ------------------------------------------------------------------------------------------------------

  get lost(): Error | undefined {
    return this.#commits.lost;
  }

  get abortSignal(): AbortSignal {
    return this.#commits.abortSignal;
  }

  /** Lets commits be written. Until then, while an actor is being created, they wait for the creation's one commit. */
  open(): void {
    this.#commits.open();
  }

  /** Makes commits wait again, until `open`: the changes in between are stored together or not at all. */
  hold(): void {
    this.#commits.hold();
    this.connections.hold();
  }

  /** Drops the changes that wait for a commit. */
  discard(): void {
    this.connections.release(false);
    this.state = undefined;
    this.#commits.discard();
  }

  commit(): boolean {
    return this.#commits.commit();
  }

  commitOrThrow(): void {
    this.#commits.commitOrThrow();
  }

  changedSoon(): void {
    this.#commits.changedSoon();
  }

  begin(code: () => unknown, effects?: Effects): unknown {
    return this.#commits.begin(code, effects);
  }

  confirmed(): Promise<void> {
    return this.#commits.confirmed();
  }

  confirm(): void {
    this.#commits.confirm();
  }

  lose(cause: unknown): void {
    this.#commits.lose(cause);
  }

  end(reason: Error): void {
    this.#commits.end(reason);
  }

  // ---- messages ----------------------------------------------------------------------------------------------------

  async sendMessage(name: string, body: unknown, wait?: SenderWait): Promise<StoredMessage> {
    const prepared = this.queue.prepare(name, body);
    // Synchronously if possible, as the caller may not wait.
    const bytes = prepared instanceof Promise ? await prepared : prepared;
    const message = this.queue.add(name, bytes, wait);
    // A workflow that waits for it takes it with the commit that would store it.
    this.parts.tell("leaving");
    if (!this.#commits.isOpen || !this.parts.takeMessage()) this.parts.expectMessages();
    this.commitOrThrow();
    this.messagesChanged();
    return message;
  }

  stageMessage(name: string, body: Uint8Array): StoredMessage {
    const message = this.queue.stage(name, body);
    this.parts.expectMessages();
    return message;
  }

  /** Messages were committed. Waits of parts come first, then those of actions and run handlers (MSG-2). */
  messagesChanged(): void {
    if (!this.#ready) return;
    this.sleep.messagesCame();
    if (!this.parts.offerMessages()) this.receivers.offer();
  }

  // ---- work and lease ----------------------------------------------------------------------------------------------

  get isOccupied(): boolean {
    return this.parts.isBusy || this.background.isBusy;
  }

  get isWorking(): boolean {
    return this.isOccupied || this.runHandler.isBusy;
  }

  workChanged(): void {
    // During a shutdown the lease guards the shutdown.
    if (this.lost || !this.#commits.isOpen || this.shutdown.isBegun) return;
    // The lease of a start is for what it begins at its end, whatever work of its hooks ends before.
    if (!this.#ready && !this.isWorking) return;
    if (this.isWorking !== (this.lease !== undefined)) {
      if (this.isWorking) this.alarm.holdLease();
      else this.alarm.releaseLease();
      this.commit();
      this.confirm();
    }
    this.sleep.rested();
  }

  /**
   * Waits until code that kills the object in this turn cannot undo the commit of the lease (ALARM-4). Nothing needs to
   * be waited for in the first run of an alarm: the platform holds that alarm until the run has ended.
   */
  async confirmedLease(alarm: DeliveredAlarm | undefined): Promise<void> {
    const { lease } = this;
    if (lease && (lease.found > 0 || !alarm || alarm.isRetry)) await this.confirmed();
  }

  /** Lets parts settle what is due and take messages. The lease is committed. */
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

  releaseLease(): void {
    // During a shutdown the lease guards the shutdown.
    if (!this.shutdown.isBegun && !this.background.isBusy && !this.runHandler.isBusy) this.alarm.releaseLease();
    else this.alarm.markStale();
    this.parkEviction.soon();
  }

  // ---- end ---------------------------------------------------------------------------------------------------------

  requestDestroy(callback?: Callback): void {
    if (this.record.destroyed) throw new ActorError("actor", "stopping", "The actor is already being destroyed");
    if (!this.#ready) throw new ActorError("actor", "starting", "The actor has not started yet");
    this.#destroyRequest.make(callback);
  }

  callbackEnded(callback: Callback): void {
    this.stateChanges.callbackEnded();
    this.#destroyRequest.callbackEnded(callback);
  }
}

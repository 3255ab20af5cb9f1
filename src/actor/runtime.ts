/**
 * One activation of one actor in memory.
 *
 * Owns: the dirty set and the commit, the lease, the physical alarm, the timers in memory, whether the activation is
 * still good. Does not own: how it starts (start.ts), what a call does (dispatch.ts), the workflow (workflow-host.ts).
 * Invariants:
 *  1. Every change of what is stored goes through `commit`, which writes all that is dirty and the alarm together.
 *  2. After a commit has thrown, this activation changes nothing any more (C10).
 *  3. The physical alarm is never later than the earliest stored deadline.
 */
import { ActorError, decodeValue, encodeValue } from "../protocol/index.js";
import { History, decodeEntry, type Entry } from "../workflow/index.js";
import type { ActorActivation, DeadlineRow } from "./activation.js";
import type { CompiledActor } from "./compile.js";
import { nextWakeAt } from "./deadlines.js";
import { DirtySet } from "./dirty-set.js";
import { LEASE_EXTENSION_MS, encodeLease, newLease, type Lease } from "./lease.js";
import { LiveState, type StateView } from "./live-state.js";
import type { ActorPorts, StoreActivation } from "./ports.js";
import { KEYS, encodeRecord, type ActorRecord } from "./record.js";
import { Timers } from "./timers.js";
import { WorkflowHost } from "./workflow-host.js";

export class ActorRuntime implements ActorActivation {
  readonly actor: CompiledActor;
  readonly ports: ActorPorts;
  readonly timers: Timers;
  readonly history: History;
  readonly workflow: WorkflowHost;
  record: ActorRecord;
  state: LiveState | undefined;
  readonly #store: StoreActivation;
  readonly #dirty = new DirtySet();
  readonly #abort = new AbortController();
  readonly #deadlines = new Map<string, DeadlineRow>();
  #vars: unknown;
  #view: StateView | undefined;
  #counter: number;
  #lease: Lease | undefined;
  #armedAt: number | null = null;
  #alarmStale = false;
  #open = false;
  #lost: Error | undefined;
  #flush: Promise<void> | undefined;

  /** Loads what is stored; writes nothing. */
  constructor(actor: CompiledActor, ports: ActorPorts, store: StoreActivation, record: ActorRecord) {
    this.actor = actor;
    this.ports = ports;
    this.#store = store;
    this.record = record;
    this.timers = new Timers(ports.createTimer(), () => ports.now(), () => this.workflow.advanceSoon());
    const entries: Entry[] = [];
    for (const [key, bytes] of store.list(KEYS.entries)) entries.push(decodeEntry(Number(key.slice(KEYS.entries.length)), bytes));
    this.history = new History(entries);
    for (const [key, bytes] of store.list(KEYS.deadlines)) {
      this.#deadlines.set(key.slice(KEYS.deadlines.length), decodeValue(bytes) as DeadlineRow);
    }
    this.#counter = this.history.highestSeq();
    this.workflow = new WorkflowHost(this);
  }

  // ---- identity and what contexts show -----------------------------------------------------------------------------

  get abortSignal(): AbortSignal {
    return this.#abort.signal;
  }

  get vars(): unknown {
    return this.#vars;
  }
  set vars(value: unknown) {
    this.#vars = value;
  }

  get lease(): Lease | undefined {
    return this.#lease;
  }

  get counter(): number {
    return this.#counter;
  }

  get lost(): Error | undefined {
    return this.#lost;
  }

  nextSeq(): number {
    this.#counter += 1;
    return this.#counter;
  }

  setState(root: unknown, stored: Uint8Array | undefined): void {
    this.state = new LiveState(root, stored, () => this.#flushSoon());
    this.#view = this.state.createView();
  }

  /** @throws actor/state_not_enabled */
  stateView(): StateView {
    if (this.#view) return this.#view;
    throw new ActorError("actor", "state_not_enabled", "State not enabled. Must implement `state` or `createState` to use it");
  }

  /** A client whose calls leave only after what is dirty has been committed (C1). */
  client(guard: () => void = () => {}): unknown {
    return this.ports.createClient(() => {
      guard();
      this.commitOrThrow();
    });
  }

  async save(immediate: boolean): Promise<void> {
    this.state?.encodeChanges();
    this.commitOrThrow();
    if (immediate) await this.#store.sync();
  }

  // ---- commit ------------------------------------------------------------------------------------------------------

  /** From here on commits are written; before it (while an actor is created) they wait for the one of the creation. */
  open(): void {
    this.#open = true;
  }

  put(key: string, encode: () => Uint8Array<ArrayBuffer>): void {
    this.#dirty.put(key, encode);
  }

  delete(key: string): void {
    this.#dirty.delete(key);
  }

  putRecord(change: Partial<ActorRecord>): void {
    this.record = { ...this.record, ...change };
    this.put(KEYS.actor, () => encodeRecord(this.record));
  }

  /** A stored deadline moved: the next commit looks at the alarm again. */
  deadlinesChanged(): void {
    this.#alarmStale = true;
  }

  /** Writes all that is dirty and, when a deadline moved, the alarm. False: the activation is lost. */
  commit(): boolean {
    if (this.#lost) return false;
    if (!this.#open) return true;
    const stateBytes = this.#encodeState();
    if (stateBytes || !this.#dirty.isEmpty) this.workflow.beforeCommit();
    const alarmAt = this.#alarmStale ? this.#nextWakeAt() : this.#armedAt;
    if (!stateBytes && this.#dirty.isEmpty && alarmAt === this.#armedAt) {
      this.#alarmStale = false;
      return true;
    }
    try {
      const { puts, deletes } = this.#dirty.build();
      if (stateBytes) puts.set(KEYS.state, stateBytes);
      this.#store.commit(alarmAt === this.#armedAt ? { puts, deletes } : { puts, deletes, alarmAt });
    } catch (error) {
      this.lose(error);
      return false;
    }
    this.#dirty.clear();
    this.#alarmStale = false;
    this.#armedAt = alarmAt;
    this.state?.committed(stateBytes);
    return true;
  }

  /** @throws actor/restarting */
  commitOrThrow(): void {
    if (!this.commit()) throw restarting();
  }

  /** Confirms what was committed with no event waiting for it: an eviction would drop it otherwise (C7). */
  confirm(): void {
    this.ports.waitUntil(this.#store.sync().catch((error: unknown) => this.lose(error)));
  }

  /** Memory and storage differ, or the instance is over: this activation must not act any more (C10). */
  lose(cause: unknown): void {
    if (this.#lost) return;
    this.#lost = restarting(cause);
    this.#end(this.#lost);
    this.ports.log.error({ msg: "The activation is lost; the next event starts anew", cause: String(cause) });
    this.ports.abort("perdure: a commit failed, memory and storage differ");
  }

  #end(reason: Error): void {
    this.timers.clear();
    this.workflow.evict(reason);
    this.#abort.abort(reason);
  }

  #encodeState(): Uint8Array<ArrayBuffer> | undefined {
    try {
      return this.state?.encodeChanges();
    } catch (error) {
      // Whoever made the change was told when its callback ended; here the state is back to what is stored.
      this.ports.log.error({ msg: "The state cannot be stored and was put back", error: String(error) });
      return undefined;
    }
  }

  /** A change outside of any callback's end is committed at the end of the turn (C1). */
  #flushSoon(): void {
    if (!this.#open || this.#flush) return;
    this.#flush = this.ports.yield().then(() => {
      this.#flush = undefined;
      this.commit();
    });
    this.ports.waitUntil(this.#flush);
  }

  // ---- lease and alarm ---------------------------------------------------------------------------------------------

  /** The lease joins the dirty set unless it is held. */
  holdLease(): void {
    if (!this.#lease) this.setLease(newLease(this.ports.now()));
  }

  setLease(lease: Lease): void {
    this.#lease = lease;
    this.put(KEYS.lease, () => encodeLease(lease));
    this.deadlinesChanged();
  }

  releaseLease(): void {
    this.deadlinesChanged();
    if (!this.#lease) return;
    this.#lease = undefined;
    this.delete(KEYS.lease);
  }

  /** What the start gate read: nothing is dirty because of it. */
  loaded(lease: Lease | undefined, armedAt: number | null): void {
    this.#lease = lease;
    this.#armedAt = armedAt;
  }

  /** A row of the table `d/`. */
  setDeadline(id: string, row: DeadlineRow): void {
    this.#deadlines.set(id, row);
    this.put(KEYS.deadline(id), () => encodeValue(row));
    this.deadlinesChanged();
  }

  clearDeadline(id: string): void {
    if (!this.#deadlines.delete(id)) return;
    this.delete(KEYS.deadline(id));
    this.deadlinesChanged();
  }

  deadline(id: string): DeadlineRow | undefined {
    return this.#deadlines.get(id);
  }

  /** True when the table holds something that is due. */
  isDue(now: number): boolean {
    return this.#storedDeadlines().some((at) => at <= now);
  }

  /** The alarm was delivered: the platform holds none now. */
  alarmConsumed(): void {
    this.#armedAt = null;
    this.deadlinesChanged();
  }

  /** While work runs, each alarm puts the lease ahead again. */
  extendLease(): void {
    if (this.#lease) this.setLease({ ...this.#lease, at: this.ports.now() + LEASE_EXTENSION_MS });
  }

  /** Puts a missing or overdue alarm right; never moves an earlier one later (D2). */
  repairAlarm(): void {
    const wake = this.#nextWakeAt();
    if (wake !== null && (this.#armedAt === null || this.#armedAt > wake)) this.deadlinesChanged();
  }

  #nextWakeAt(): number | null {
    return nextWakeAt({ stored: this.#storedDeadlines(), lease: this.#lease?.at }, this.ports.now());
  }

  #storedDeadlines(): number[] {
    const deadlines = [...this.#deadlines.values()].map((row) => row.at);
    const due = this.workflow.deadlineAt();
    if (due !== undefined) deadlines.push(due);
    return deadlines;
  }
}

function restarting(cause?: unknown): ActorError {
  return new ActorError("actor", "restarting", "The actor is restarting; try again", {
    metadata: { retryable: true },
    ...(cause === undefined ? {} : { cause }),
  });
}

/**
 * One activation of a workflow run: the bookkeeping that all its scopes and operations share.
 *
 * Owns: the turn (what happens in which order around a commit), the count of who is busy (FLOW-10), the deadlines that
 * live in memory. Does not own: what an operation does (ops/), scopes' order rules (scope.ts), the start and the end of
 * the function (run.ts).
 * Invariants:
 *  1. Nothing the engine settles becomes visible to user code before the commit of its turn (COMMIT-2).
 *  2. The run is parked when no scope is in user code and no leaf operation works; then it holds no timer here but
 *     those of durable waits.
 *  3. Once halted, nothing settles any more.
 */
import type { HistoryDivergedError } from "./errors.js";
import { releaseMessages } from "./held-messages.js";
import { isTerminal, makeEntry, type Entry, type EntryKind } from "./history/entry.js";
import type { History } from "./history/history.js";
import type { Location } from "./history/location.js";
import { DUE_PER_PASS, OPERATIONS_PER_YIELD } from "./limits.js";
import type { WorkflowPorts } from "./ports.js";
import { WaitHeap } from "./history/wait-heap.js";

/** A deadline that lives in memory: a durable wait (its entry stores it) or the timeout of a running attempt. */
export interface Wait {
  readonly at: number;
  readonly seq: number;
  fire(): void;
}

/** A receive that waits: the first message that it may have, and how it takes it. */
export interface Receiver {
  readonly seq: number;
  /** `createdAt` of that message, epoch ms. */
  firstAt(): number | undefined;
  take(): void;
}

/** What a completed step says must run to undo it. */
export interface Compensation {
  readonly entry: Entry;
  readonly stepName: string;
  /** A step's definition under another name, whose callback is the rollback handler. */
  readonly step: { readonly run: (step: never) => unknown };
}

export interface RollbackCollector {
  add(compensation: Compensation): void;
}

/** Microtasks that user code gets between a settled operation and its next one before the engine looks on. */
const TICKS_BEFORE_YIELD = 16;
const YIELDS_PER_SETTLEMENT = 2;

export class Activation {
  readonly ports: WorkflowPorts;
  readonly history: History;
  /** Set by the run: ends the workflow as failed, whatever its code does. */
  failRun: (error: Error) => void = () => {};
  /** Set by the run: what user code gets for a scope. */
  createContext: (scope: never) => object = () => ({});
  /** Set while a failed workflow's function is replayed only to find what must be undone (FLOW-21). */
  readonly collector: RollbackCollector | undefined;
  readonly #waits = new WaitHeap<Wait>();
  readonly #receivers = new Set<Receiver>();
  readonly #alone = new Map<object, () => void>();
  readonly #finishedSleeps = new Set<Entry>();
  readonly #unwritten = new Set<Entry>();
  readonly #letGo = new Set<Entry>();
  #scopesInUserCode = 0;
  #workingLeaves = 0;
  #depth = 0;
  /** Commits that were built so far. */
  commits = 0;
  /** Until something happens that had not before: an attempt, an entry, a wait. A look at what must be undone does nothing new. */
  isReplaying: boolean;
  #wantsPass = false;
  #commitWanted = false;
  #workWanted = false;
  #afterCommit: (() => void)[] = [];
  #operations = 0;
  #halted = false;
  #parked = false;
  #advancing: Promise<void> | undefined;

  constructor(ports: WorkflowPorts, history: History, collector?: RollbackCollector) {
    this.ports = ports;
    this.history = history;
    this.collector = collector;
    this.isReplaying = history.size > 0;
  }

  get isHalted(): boolean {
    return this.#halted;
  }

  get isParked(): boolean {
    return this.#parked;
  }

  /**
   * When a pass is to settle something, epoch ms: at the earliest deadline in memory, or at once if an operation began to wait
   * for a message that is there. (A long replay may come to its wait when the pass that its start began is over.)
   */
  get nextWaitAt(): number | undefined {
    return this.#wantsPass ? this.ports.now() : this.#waits.first?.at;
  }

  // ---- turns -------------------------------------------------------------------------------------------------------

  /**
   * Everything the engine does in reaction to one call, timer or settled promise. At its end, in this order: the park
   * is noticed, what must be stored is committed, and only then promises settle and attempts begin.
   */
  turn(body: () => void): void {
    if (this.#halted) return;
    this.#depth += 1;
    try {
      body();
    } finally {
      this.#depth -= 1;
    }
    if (this.#depth > 0 || this.#halted) return;
    this.#endTurn();
  }

  #endTurn(): void {
    // What is due keeps the run from parking: the pass in progress settles it next, or the timer begins one at once.
    const parked = this.#scopesInUserCode === 0 && this.#workingLeaves === 0 && !this.#nextDue();
    if (parked && !this.#parked) {
      this.isReplaying = false;
      this.ports.parked();
      this.#commitWanted = true;
    }
    this.#parked = parked;
    if (this.#workWanted) {
      this.ports.beginWork();
      this.#commitWanted = true;
    }
    this.#workWanted = false;
    if (this.#commitWanted) {
      this.#commitWanted = false;
      if (!this.ports.commit()) {
        this.halt();
        return;
      }
    }
    const ready = this.#afterCommit;
    this.#afterCommit = [];
    this.ports.timersChanged();
    for (const next of ready) if (!this.#halted) next();
  }

  /** Runs after this turn's commit, whether there is one or not. */
  afterTurn(next: () => void): void {
    this.#afterCommit.push(next);
  }

  /**
   * Takes entries out of history and storage, with all below a location. Messages that they hold uncompleted become
   * visible again; with `undoReceives`, those that they took as well (MSG-2).
   */
  deleteTree(location: Location, undoReceives = false): void {
    for (const entry of this.history.removeTree(location)) {
      if (entry.kind === "message") releaseMessages(entry, this.ports.messages, undoReceives);
      this.#finishedSleeps.delete(entry);
      this.#unwritten.delete(entry);
      this.#letGo.delete(entry);
      this.ports.delete(entry);
    }
  }

  /** What is dirty at the end of this turn is committed then. */
  wantCommit(): void {
    this.#commitWanted = true;
  }

  /** User code whose interruption must be noticed begins after this turn's commit: the lease goes with it. */
  beginWork(body: () => void): void {
    this.isReplaying = false;
    this.#workWanted = true;
    this.#afterCommit.push(body);
  }

  /** Settles a promise of user code after this turn's commit, letting other events in now and then (FLOW-12). */
  release(settle: () => void): void {
    this.#operations += 1;
    if (this.#operations % OPERATIONS_PER_YIELD !== 0) {
      this.#afterCommit.push(settle);
      return;
    }
    this.#afterCommit.push(() => {
      void this.ports.yield().then(() => {
        if (!this.#halted) settle();
      });
    });
  }

  /** Goes on in a turn of its own, after other events had theirs; until then the run counts as busy (FLOW-12). */
  yield(next: () => void): void {
    this.countWork(1);
    const goOn = (): void => {
      this.countWork(-1);
      next();
    };
    void this.ports.yield().then(() => this.turn(goOn));
  }

  /** Nothing settles any more: the activation is lost, the workflow ended, or its code diverged. */
  halt(): void {
    this.#halted = true;
    this.#afterCommit = [];
    this.#waits.clear();
    this.#receivers.clear();
  }

  /** The run has its outcome and all its scopes are evicted: its last commit is made with this turn, then nothing settles. */
  close(): void {
    this.#scopesInUserCode = 0;
    this.#workingLeaves = 0;
    this.#workWanted = false;
    this.#parked = false;
    this.#commitWanted = true;
    this.#waits.clear();
    this.#afterCommit.push(() => this.halt());
  }

  diverge(error: HistoryDivergedError): void {
    if (this.#halted) return;
    this.halt();
    for (const entry of this.#unwritten) this.history.removeTree(entry.location);
    this.#unwritten.clear();
    this.ports.diverged(error);
  }

  // ---- who is busy -------------------------------------------------------------------------------------------------

  countUserCode(change: 1 | -1): void {
    this.#scopesInUserCode += change;
  }

  countWork(change: 1 | -1): void {
    this.#workingLeaves += change;
  }

  // ---- entries -----------------------------------------------------------------------------------------------------

  newEntry(kind: EntryKind, location: Location): Entry {
    return makeEntry({
      seq: this.ports.nextSeq(),
      location,
      kind,
      status: "pending",
      rev: 0,
      attempts: 0,
      interrupted: 0,
    });
  }

  /** The entry joins the dirty set; the next commit, whoever asks for it, writes it. */
  put(entry: Entry): void {
    this.isReplaying = false;
    entry.rev = this.ports.nextSeq();
    this.history.add(entry);
    this.ports.put(entry);
  }

  complete(entry: Entry, value?: Uint8Array): void {
    entry.status = "completed";
    entry.completedSeq = this.ports.nextSeq();
    delete entry.dueAt;
    if (value !== undefined) entry.value = value;
    this.put(entry);
  }

  /** A mark that costs no commit: the next one that is made anyway writes it, unless the code diverges before that. */
  recordLater(entry: Entry): void {
    entry.status = "completed";
    entry.completedSeq = this.ports.nextSeq();
    entry.rev = entry.completedSeq;
    this.history.add(entry);
    this.#unwritten.add(entry);
  }

  /** The code has no operation there any more: its deadlines, and those below it, go with the next commit. */
  letGo(location: Location): void {
    for (const entry of this.history.letGo(location)) this.#letGo.add(entry);
  }

  /**
   * A sleep or timed-out wait that has ended, with no row of its own: the next commit marks it unless it writes
   * something later that shows the same (FLOW-7).
   */
  finishQuietly(entry: Entry): void {
    this.#finishedSleeps.add(entry);
  }

  /** True for a quietly finished entry that no commit has marked or passed yet. */
  isFinishedQuietly(entry: Entry): boolean {
    return this.#finishedSleeps.has(entry);
  }

  /** Called by the actor while it builds any commit. */
  beforeCommit(): void {
    this.commits += 1;
    for (const entry of this.#unwritten) this.ports.put(entry);
    this.#unwritten.clear();
    for (const entry of this.#letGo) {
      delete entry.dueAt;
      if (entry.kind === "step") this.put(entry);
      else this.complete(entry);
    }
    this.#letGo.clear();
    for (const entry of this.#finishedSleeps) {
      if (!isTerminal(entry) && !this.history.isPassed(entry)) this.complete(entry);
    }
    this.#finishedSleeps.clear();
  }

  // ---- attempts one at a time --------------------------------------------------------------------------------------

  /** Begins an attempt when no other careful one runs. Called inside a turn, as `begin` is. */
  whenAlone(attempt: object, begin: () => void): void {
    this.#alone.set(attempt, begin);
    if (this.#alone.size === 1) begin();
  }

  /** The attempt is over: the next one may begin. Called inside a turn. */
  leaveAlone(attempt: object): void {
    const wasFirst = this.#alone.keys().next().value === attempt;
    if (!this.#alone.delete(attempt) || !wasFirst || this.#halted) return;
    this.#alone.values().next().value?.();
  }

  // ---- deadlines in memory -----------------------------------------------------------------------------------------

  addWait(wait: Wait): void {
    this.#waits.add(wait);
  }

  removeWait(wait: Wait): void {
    this.#waits.delete(wait);
  }

  get wantsMessages(): boolean {
    for (const receiver of this.#receivers) if (receiver.firstAt() !== undefined) return true;
    return false;
  }

  addReceiver(receiver: Receiver): void {
    this.#receivers.add(receiver);
    if (receiver.firstAt() !== undefined) this.#wantsPass = true;
  }

  removeReceiver(receiver: Receiver): void {
    this.#receivers.delete(receiver);
  }

  /**
   * Settles what is due, in stored-time order, one at a time, each until the run is parked or only waits for running
   * work (ALARM-6). False: more is due than one pass takes, and the caller must leave a wake (ALARM-8).
   */
  async advance(): Promise<boolean> {
    this.#advancing ??= this.#advance().finally(() => {
      this.#advancing = undefined;
      this.turn(() => {});
    });
    await this.#advancing;
    // Asked now: what came while the pass ended, or was too much for it, is left to the next one.
    return this.#halted || this.#nextDue() === undefined;
  }

  /** True when a wait is due that was to end before this time (epoch ms). */
  isDueBefore(time: number): boolean {
    const wait = this.#waits.first;
    return wait !== undefined && wait.at <= this.ports.now() && wait.at < time;
  }

  async #advance(): Promise<void> {
    await this.settled();
    let heardAt: number | undefined;
    for (let passed = 0; passed < DUE_PER_PASS; passed += 1) {
      // A message of this very millisecond, the one that started the actor say, may be on its way in: it wins.
      const now = this.ports.now();
      if (heardAt !== now && this.#receivers.size > 0 && this.#waits.first?.at === now) {
        heardAt = now;
        await this.ports.yield();
      }
      const settle = this.#nextDue();
      if (!settle) this.#wantsPass = false;
      if (!settle || this.#halted) return;
      this.isReplaying = false;
      this.turn(settle);
      await this.settled();
    }
  }

  /** What comes next of all that is due: messages before deadlines of the same time, then by entry (ALARM-6). */
  #nextDue(): (() => void) | undefined {
    const wait = this.#waits.first;
    const deadline = wait && wait.at <= this.ports.now() ? wait : undefined;
    let first: { receiver: Receiver; at: number } | undefined;
    for (const receiver of this.#receivers) {
      const at = receiver.firstAt();
      if (at === undefined || (deadline && at > deadline.at)) continue;
      if (!first || at < first.at || (at === first.at && receiver.seq < first.receiver.seq)) first = { receiver, at };
    }
    if (first) return first.receiver.take.bind(first.receiver);
    if (!deadline) return undefined;
    return () => {
      this.#waits.delete(deadline);
      deadline.fire();
    };
  }

  /** Resolves when no scope is in user code, or it is there for something that is not ours to wait for (FLOW-10). */
  async settled(): Promise<void> {
    for (let round = 0; round <= YIELDS_PER_SETTLEMENT; round += 1) {
      for (let tick = 0; tick < TICKS_BEFORE_YIELD; tick += 1) {
        if (this.#scopesInUserCode === 0 || this.#halted) return;
        await undefined;
      }
      await this.ports.yield();
    }
  }
}

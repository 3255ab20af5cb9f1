/**
 * One activation of a workflow run: the bookkeeping that all its scopes and operations share.
 *
 * Owns: the turn (what happens in which order around a commit), the count of who is busy (FLOW-10). Does not own: what
 * waits (waiting.ts), marks that wait for a commit (late-marks.ts), what an operation does (ops/), scopes' order rules
 * (scope.ts), the start and the end of the function (run.ts).
 * Invariants:
 *  1. Nothing the engine settles becomes visible to user code before the commit of its turn (COMMIT-2).
 *  2. The run is parked when no scope is in user code and no leaf operation works; then it holds no timer here but
 *     those of durable waits.
 *  3. Once halted, nothing settles any more.
 */
import type { HistoryDivergedError } from "./errors.js";
import { releaseMessages } from "./held-messages.js";
import { makeEntry, type Entry, type EntryKind } from "./history/entry.js";
import type { History } from "./history/history.js";
import type { Location } from "./history/location.js";
import { LateMarks } from "./late-marks.js";
import { DUE_PER_PASS, OPERATIONS_PER_YIELD } from "./limits.js";
import type { WorkflowPorts } from "./ports.js";
import { Waiting } from "./waiting.js";

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
  /** What waits for time or for a message. */
  readonly waiting: Waiting;
  readonly #marks: LateMarks;
  /** Set while a failed workflow's function is replayed only to find what must be undone (FLOW-21). */
  readonly collector: RollbackCollector | undefined;
  readonly #alone = new Map<object, () => void>();
  #scopesInUserCode = 0;
  #workingLeaves = 0;
  #depth = 0;
  /** Commits that were built so far. */
  commits = 0;
  /** Until something happens that had not before: an attempt, an entry, a wait. A look at what must be undone does nothing new. */
  isReplaying: boolean;
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
    this.waiting = new Waiting(() => ports.now());
    this.#marks = new LateMarks(history);
    this.collector = collector;
    this.isReplaying = history.size > 0;
  }

  get isHalted(): boolean {
    return this.#halted;
  }

  get isParked(): boolean {
    return this.#parked;
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
    const parked = this.#scopesInUserCode === 0 && this.#workingLeaves === 0 && !this.waiting.nextDue();
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
      this.#marks.forget(entry);
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
    this.waiting.clear();
  }

  /** The run has its outcome and all its scopes are evicted: its last commit is made with this turn, then nothing settles. */
  close(): void {
    this.#scopesInUserCode = 0;
    this.#workingLeaves = 0;
    this.#workWanted = false;
    this.#parked = false;
    this.#commitWanted = true;
    this.waiting.clearWaits();
    this.#afterCommit.push(() => this.halt());
  }

  diverge(error: HistoryDivergedError): void {
    if (this.#halted) return;
    this.halt();
    this.#marks.takeBack();
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
    this.#marks.record(entry);
  }

  /** The code has no operation there any more: its deadlines, and those below it, go with the next commit. */
  letGo(location: Location): void {
    this.#marks.letGo(location);
  }

  /**
   * A sleep or timed-out wait that has ended, with no row of its own: the next commit marks it unless it writes
   * something later that shows the same (FLOW-7).
   */
  finishQuietly(entry: Entry): void {
    this.#marks.finish(entry);
  }

  /** True for a quietly finished entry that no commit has marked or passed yet. */
  isFinishedQuietly(entry: Entry): boolean {
    return this.#marks.isFinished(entry);
  }

  /** Called by the actor while it builds any commit. */
  beforeCommit(): void {
    this.commits += 1;
    this.#marks.write(this);
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

  // ---- what is due -------------------------------------------------------------------------------------------------

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
    return this.#halted || this.waiting.nextDue() === undefined;
  }

  async #advance(): Promise<void> {
    await this.settled();
    let heardAt: number | undefined;
    for (let passed = 0; passed < DUE_PER_PASS; passed += 1) {
      // A message of this very millisecond, the one that started the actor say, may be on its way in: it wins.
      const now = this.ports.now();
      if (heardAt !== now && this.waiting.mayBeOvertaken(now)) {
        heardAt = now;
        await this.ports.yield();
      }
      const settle = this.waiting.nextDue();
      if (!settle) this.waiting.passed();
      if (!settle || this.#halted) return;
      this.isReplaying = false;
      this.turn(settle);
      await this.settled();
    }
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

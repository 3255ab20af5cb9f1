/**
 * One activation of a workflow run: the bookkeeping that all its scopes and operations share.
 *
 * Owns: the turn (the order of things around a commit), the count of busy scopes and operations (FLOW-10). Does not own:
 * waits (waiting.ts), marks without a commit of their own (late-marks.ts), operations (ops/), the order within a scope
 * (scope.ts), the start and end of the function (run.ts).
 * Invariants:
 *  1. Nothing the engine settles becomes visible to user code before the commit of its turn (COMMIT-2).
 *  2. The run is parked when no scope is in user code and no leaf operation works; it then has no timers but those of
 *     durable waits.
 *  3. Once halted, nothing settles.
 */
import { ownField } from "../protocol/index.js";
import { Attempts } from "./attempts.js";
import type { HistoryDivergedError } from "./errors.js";
import { heldMessages, releaseMessages } from "./held-messages.js";
import { endAt, isTerminal, makeEntry, rowOf, skipStep, type Entry, type EntryKind } from "./history/entry.js";
import type { History } from "./history/history.js";
import type { Location } from "./history/location.js";
import { OVERWRITTEN_FORMAT } from "./history/vacant-rows.js";
import { LateMarks } from "./late-marks.js";
import { DUE_PER_PASS } from "./limits.js";
import { Pace } from "./pace.js";
import type { WorkflowPorts } from "./ports.js";
import { Waiting } from "./waiting.js";

/** How to roll back a completed step. */
export interface Compensation {
  readonly entry: Entry;
  readonly stepName: string;
  /** The step's definition with the rollback handler as its callback. */
  readonly step: { readonly run: (step: never) => unknown };
}

export interface RollbackCollector {
  add(compensation: Compensation): void;
}

/** Microtasks that user code gets between a settled operation and its next one before the engine yields. */
const TICKS_BEFORE_YIELD = 16;
const YIELDS_PER_SETTLEMENT = 2;

export class Activation {
  readonly ports: WorkflowPorts;
  readonly history: History;
  /** Set by the run: ends the workflow as failed, whatever its code does. */
  failRun: (error: Error) => void = () => {};
  /** Set by the run: operations that are not recorded never begin. */
  replaysOnly = false;
  /** Set by the run: creates the `ctx` of a scope. */
  createContext: (scope: never) => object = () => ({});
  /** Operations that wait for a deadline or a message. */
  readonly waiting: Waiting;
  readonly attempts = new Attempts();
  readonly #marks: LateMarks;
  readonly pace: Pace;
  readonly #userCodeRuns: WorkflowPorts["userCodeRuns"];
  /** Set while a rollback replays the function only to collect handlers (FLOW-21). */
  readonly collector: RollbackCollector | undefined;
  #scopesInUserCode = 0;
  #workingLeaves = 0;
  #depth = 0;
  /** The number of commits built so far. */
  commits = 0;
  /** True until something new happens: an attempt, an entry, a wait. Stays true during a rollback's replay. */
  isReplaying: boolean;
  #commitWanted = false;
  #workWanted = false;
  #afterCommit: (() => void)[] = [];
  #halted = false;
  #parked = false;
  #advancing: Promise<void> | undefined;

  constructor(ports: WorkflowPorts, history: History, collector?: RollbackCollector) {
    this.ports = ports;
    this.#userCodeRuns = ownField(ports, "userCodeRuns");
    this.history = history;
    this.waiting = new Waiting(() => ports.now());
    this.#marks = new LateMarks(history);
    this.pace = new Pace(ports);
    this.collector = collector;
    this.isReplaying = history.size > 0;
  }

  get isHalted(): boolean {
    return this.#halted;
  }

  /** True if code of the run gets no further: it is halted, or being paused. */
  get isStopped(): boolean {
    return this.#halted || this.attempts.arePaused;
  }

  /** True if the replay stops at the first operation, of each branch, that is not recorded or did not complete. */
  get stopsAtEnd(): boolean {
    return this.replaysOnly || this.collector !== undefined;
  }

  get isParked(): boolean {
    return this.#parked;
  }

  // ---- turns -------------------------------------------------------------------------------------------------------

  /**
   * Runs everything the engine does in reaction to one call, timer or settled promise. Then, in this order: detects a park,
   * commits what must be stored, and only after that settles promises and starts attempts.
   *
   * Of a run that is being paused only those of attempts happen: `goesOnPaused`.
   */
  turn(body: () => void, goesOnPaused = false): void {
    if (this.#halted || (this.attempts.arePaused && !goesOnPaused && this.#depth === 0)) return;
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
    // A due wait keeps the run from parking: the pass in progress settles it next, or the timer starts one at once. Where
    // only what is recorded is replayed, it ends there.
    const parked = this.attempts.arePaused
      ? this.attempts.areDrained
      : this.#scopesInUserCode === 0 && this.#workingLeaves === 0 && (this.replaysOnly || !this.waiting.nextDue());
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
    if (!this.attempts.areDrained || this.#halted) return;
    this.halt();
    this.attempts.drained();
  }

  /** Lets attempts end, then calls `drained`. */
  pause(drained: () => void): void {
    this.turn(() => {
      this.attempts.pause(drained);
      this.waiting.pause();
      this.#commitWanted = true;
    });
  }

  /** Runs `next` after this turn and its commit, if any. */
  afterTurn(next: () => void): void {
    this.#afterCommit.push(next);
  }

  /**
   * Deletes the entries at and below a location from history and storage. Messages they hold uncompleted become visible
   * again; with `undoReceives`, so do all messages they took (MSG-2).
   */
  deleteTree(location: Location, undoReceives = false): void {
    for (const entry of this.history.removeTree(location)) {
      if (entry.kind === "message") releaseMessages(entry, this.ports.messages, undoReceives);
      this.#marks.forget(entry);
      this.ports.delete(rowOf(entry));
    }
    this.deleteVacant(location);
  }

  /** As `deleteTree`, for an iteration that nothing enters again: new entries overwrite its rows. */
  prune(location: Location): void {
    for (const entry of this.history.removeTree(location)) {
      if (entry.kind === "message") releaseMessages(entry, this.ports.messages, false);
      this.#marks.forget(entry);
      // A start that finds it again must not hold its messages again.
      if (heldMessages(entry).length > 0) this.ports.delete(rowOf(entry));
      else this.history.vacant.add(entry);
    }
  }

  /** Deletes the rows of pruned entries at and below a location that nothing has overwritten. */
  deleteVacant(location: Location): void {
    for (const row of this.history.vacant.giveUp(location)) this.ports.delete(row);
  }

  /** Commits what is dirty at the end of this turn. */
  wantCommit(): void {
    this.#commitWanted = true;
  }

  /**
   * Starts user code, of an attempt say, after this turn's commit, which takes the lease: a crash from then on is noticed.
   */
  beginWork(body: () => void, attempt?: object): void {
    if (attempt) this.attempts.begins(attempt);
    this.isReplaying = false;
    this.#workWanted = true;
    this.#afterCommit.push(body);
  }

  /** Settles a promise of user code after this turn's commit. */
  release(settle: () => void): void {
    this.#afterCommit.push(() => {
      if (!this.isStopped) settle();
    });
  }

  /** Yields to other events, then runs `next` in a turn of its own; until then the run counts as busy (FLOW-12). */
  yield(next: () => void): void {
    this.countWork(1);
    const goOn = (): void => {
      this.countWork(-1);
      next();
    };
    void this.ports.yield().then(() => this.turn(goOn));
  }

  /** Stops settling anything: the activation is lost, the workflow ended, or its code diverged. */
  halt(): void {
    if (!this.#halted) this.#userCodeRuns?.(false);
    this.#halted = true;
    this.#afterCommit = [];
    this.waiting.clear();
  }

  /** Ends the run, its outcome known and its scopes evicted: makes the last commit with this turn, then halts. */
  close(): void {
    this.#scopesInUserCode = 0;
    this.#workingLeaves = 0;
    this.#workWanted = false;
    this.#parked = false;
    this.#commitWanted = true;
    this.waiting.clearWaits();
    this.deleteVacant([]);
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
    const before = this.#scopesInUserCode;
    this.#scopesInUserCode += change;
    if (!this.#halted && (before === 0 || this.#scopesInUserCode === 0))
      this.#userCodeRuns?.(this.#scopesInUserCode > 0);
  }

  countWork(change: 1 | -1): void {
    this.#workingLeaves += change;
  }

  // ---- entries -----------------------------------------------------------------------------------------------------

  newEntry(kind: EntryKind, location: Location): Entry {
    const entry = makeEntry({
      seq: this.ports.nextSeq(),
      location,
      kind,
      status: "pending",
      rev: 0,
      attempts: 0,
      interrupted: 0,
    });
    entry.startedAt = this.ports.now();
    return entry;
  }

  /** Adds the entry to the dirty set; the next commit, whoever wants it, writes it. */
  put(entry: Entry): void {
    this.isReplaying = false;
    entry.rev = this.ports.nextSeq();
    if (entry.ms === undefined && isTerminal(entry)) endAt(entry, this.ports.now());
    if (this.history.add(entry)) this.#overwrite(entry);
    this.ports.put(entry);
  }

  /** Gives a new entry the row of a pruned one. */
  #overwrite(entry: Entry): void {
    const row = this.history.vacant.take();
    if (row === undefined) return;
    entry.row = row;
    this.ports.requireFormat(OVERWRITTEN_FORMAT);
  }

  complete(entry: Entry, value?: Uint8Array): void {
    entry.status = "completed";
    entry.completedSeq = this.ports.nextSeq();
    delete entry.dueAt;
    if (value !== undefined) entry.value = value;
    this.put(entry);
  }

  /** An owner completes a step that waits for its next attempt; code goes on after this turn. */
  skip(entry: Entry, value: Uint8Array): void {
    skipStep(entry, value, this.ports.now(), this.ports.nextSeq());
    this.put(entry);
    this.#workWanted = true;
  }

  /** Completes an entry without a commit of its own: the next commit writes it, unless the code diverges before. */
  recordLater(entry: Entry): void {
    entry.status = "completed";
    entry.completedSeq = this.ports.nextSeq();
    entry.rev = entry.completedSeq;
    endAt(entry, this.ports.now());
    this.#marks.record(entry);
  }

  /** The code no longer has an operation there: the next commit removes its deadlines and those below it. */
  letGo(location: Location): void {
    this.#marks.letGo(location);
  }

  /**
   * Ends a sleep or timed-out wait without a row of its own: the next commit marks it, unless that commit writes a later entry
   * that implies it (FLOW-7).
   */
  finishQuietly(entry: Entry): void {
    this.#marks.finish(entry);
  }

  /** True for a quietly finished entry that no commit has marked yet. */
  isFinishedQuietly(entry: Entry): boolean {
    return this.#marks.isFinished(entry);
  }

  /** Called by the actor while it builds any commit. */
  beforeCommit(): void {
    this.commits += 1;
    this.#marks.write(this);
  }

  /** An attempt has ended, or does not begin: the next one may start. Called inside a turn. */
  attemptEnded(attempt: object): void {
    const next = this.attempts.ended(attempt);
    if (!this.#halted) next?.();
  }

  // ---- what is due -------------------------------------------------------------------------------------------------

  /**
   * Settles due waits in order of their stored times, one at a time, each until the run is parked or only waits for running
   * work (ALARM-6). False: more is due than one pass handles, and the caller must schedule a wake (ALARM-8).
   */
  async advance(): Promise<boolean> {
    this.#advancing ??= this.#advance().finally(() => {
      this.#advancing = undefined;
      this.turn(() => {});
    });
    await this.#advancing;
    // Checked only now: the next pass handles what became due meanwhile, or was too much for this one.
    return this.#halted || this.waiting.nextDue() === undefined;
  }

  async #advance(): Promise<void> {
    await this.settled();
    let heardAt: number | undefined;
    for (let passed = 0; passed < DUE_PER_PASS; passed += 1) {
      // A message with this same time, such as the one that started the actor, may still be arriving: it wins.
      const now = this.ports.now();
      if (heardAt !== now && this.waiting.mayBeOvertaken(now)) {
        heardAt = now;
        await this.ports.yield();
      }
      const settle = this.waiting.nextDue();
      if (!settle) this.waiting.passed();
      if (!settle || this.#halted) return;
      this.isReplaying = false;
      this.turn(settle, true);
      await this.settled();
    }
  }

  /**
   * Lets a receive that waits take a message that was just added, in a turn whose commit is the first to see the message
   * (MSG-1). False if something else goes first, or user code runs and may be about to receive it.
   */
  takeNow(): boolean {
    if (this.isStopped || this.#advancing || this.#depth > 0 || this.#scopesInUserCode > 0) return false;
    const take = this.waiting.nextReceive();
    if (!take) return false;
    this.isReplaying = false;
    // The code goes on after this turn: the lease must be committed with it.
    this.#workWanted = true;
    this.turn(take);
    return true;
  }

  /** Resolves when no scope is in user code, or when those that are await something outside the engine (FLOW-10). */
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

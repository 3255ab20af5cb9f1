/**
 * Binds the workflow engine to its actor: implements the engine's ports, starts the run and records its outcome.
 *
 * Owns: the run of this activation. Does not own: storage (commits.ts) and lease (alarm.ts), when a workflow that diverged is
 * tried again (recheck.ts).
 */
import { MAX_INTERRUPTIONS, ownField } from "../../protocol/index.js";
import {
  EvictedError,
  HistoryDivergedError,
  ScopeContext,
  WorkflowRun,
  branchError,
  encodeEntry,
  ownFailure,
  rowOf,
  type AttemptInfo,
  type AttemptSession,
  type EngineLog,
  type Entry,
  type FailureReport,
  type History,
  type InterceptedAttempt,
  type MessagePort,
  type OpenBranch,
  type Outcome,
  type WorkflowPorts,
} from "../../workflow/index.js";
import type { StepAttempt } from "../ports.js";
import type { PartActor } from "../activation/part.js";
import { Recheck } from "../activation/recheck.js";
import { loggedRun, mayRun, runTimes } from "../activation/workflow-outcome.js";
import { KEYS } from "../storage/record.js";
import type { FailureReports } from "./failure-reports.js";
import { interrupted, missing } from "./run-faults.js";
import { openAttempt } from "./step-context.js";
import { WorkflowBranches } from "./workflow-branches.js";
import type { WorkflowDefinition } from "./workflow-definition.js";
import { userCodeRuns } from "./user-code-runs.js";
import { stepOf } from "./workflow-view.js";
import { recordFailure, recordOf } from "./workflow-record.js";

/** The workflow of one activation. */
export interface DrivenWorkflow {
  readonly history: History;
  readonly failures: FailureReports;
  /** Its function. Undefined if the actor's code no longer has one. */
  readonly run: WorkflowDefinition["run"] | undefined;
}

export class WorkflowDriver implements WorkflowPorts {
  readonly #actor: PartActor;
  readonly #workflow: DrivenWorkflow;
  readonly #recheck: Recheck;
  readonly messages: MessagePort;
  readonly branches = new WorkflowBranches(() => this.#run?.openBranches() ?? []);
  readonly interceptAttempt: WorkflowPorts["interceptAttempt"];
  readonly userCodeRuns: WorkflowPorts["userCodeRuns"];
  #run: WorkflowRun | undefined;
  #careful = false;
  #confirmNext = false;
  /** While the run in memory is dropped for one that rolls it back. */
  #isReplaced = false;

  constructor(actor: PartActor, workflow: DrivenWorkflow) {
    this.#actor = actor;
    this.#workflow = workflow;
    this.#recheck = new Recheck(actor);
    this.messages = actor.queue;
    const intercept = ownField(actor.ports, "interceptAttempt");
    const watch = ownField(actor.ports, "userCode");
    this.userCodeRuns = watch && userCodeRuns(watch);
    this.interceptAttempt = intercept && ((attempt) => intercept(this.#stepAttempt(attempt)));
  }

  /** Whether the stored workflow has neither ended nor been paused, whether or not the code has one. */
  get #mayRun(): boolean {
    return mayRun(this.#actor.record.workflow);
  }

  get isRunning(): boolean {
    return this.#run !== undefined && !this.#run.isEnded;
  }

  /** True while the run is in memory and not parked (FLOW-10). */
  get isBusy(): boolean {
    return this.#run !== undefined && !this.#run.isEnded && !this.#run.isParked;
  }

  /** The earliest deadline of the entries, epoch ms. Undefined while the code does not match them, or the run is paused. */
  deadlineAt(): number | undefined {
    if (!this.#mayRun || this.#isDiverged) return undefined;
    return this.#workflow.history.earliestDueAt();
  }

  /** The same for the alarm. A run that only waits for a message asks for the latest possible alarm (ALARM-7). */
  wakeAt(): number | undefined {
    return this.deadlineAt() ?? (this.#mayRun ? Number.POSITIVE_INFINITY : undefined);
  }

  /** Starts the run if the workflow has not ended and is not running. The lease must be committed. */
  start(careful: boolean): void {
    if (!this.isRunning && this.#canBegin && !this.#recheck.isAhead) this.#startRun(careful);
  }

  #startRun(careful: boolean): void {
    const { run, history } = this.#workflow;
    if (!this.#mayRun) return this.#actor.workChanged();
    this.#recheck.looks();
    if (!run) return this.diverged(missing(this.#actor.record.name));
    this.#careful = careful;
    if ((this.#actor.lease?.found ?? 0) >= MAX_INTERRUPTIONS) return this.#interrupted();
    const { actorId, name, key, workflow: record } = this.#actor.record;
    const identity = { actorId, name, key, log: this.log, env: this.#actor.ports.env };
    this.#run = new WorkflowRun({
      ports: this,
      history,
      createContext: (scope) => new ScopeContext(scope, identity),
      run,
      ...(record?.status === "rolling_back"
        ? { rollingBack: branchError(ownFailure(record.failure)), cancels: ownField(record, "cancels") ?? false }
        : {}),
    });
    this.#run.start();
  }

  /**
   * Settles what is due, takes messages, and lets the run go on until it is parked or only waits for running work (ALARM-9).
   * Then other receivers get the remaining messages. The lease must be committed.
   */
  async advance(): Promise<void> {
    if (this.#mayRun && this.#actor.lease) this.start(false);
    const isDone = !this.#run || this.#run.isEnded || (await this.#run.advance());
    this.#actor.settle();
    this.timersChanged();
    if (!isDone) this.#actor.ports.waitUntil(this.yield().then(() => this.advance()));
  }

  /** False while the hooks of the start run, which may fail or refuse their caller. The start begins the run after them. */
  get #canBegin(): boolean {
    return this.#actor.isReady && !this.#actor.lost && !this.#actor.shutdown.isBegun;
  }

  /** Whether the code does not match the history and is not being tried again. */
  get #isDiverged(): boolean {
    return !this.isRunning && this.#recheck.isSet;
  }

  /** The code matches the history so far. */
  #goesOn(): void {
    if (this.isRunning) this.#recheck.clear();
  }

  // ---- messages ----------------------------------------------------------------------------------------------------

  /**
   * True if the run may take a message that is there now: it waits for one, or is not in memory and may. One that the
   * code lacks is looked for again because of it (FLOW-6).
   */
  get #mayWantMessages(): boolean {
    if (!this.#mayRun || this.#isDiverged) return false;
    return this.#run && !this.#run.isEnded ? this.#run.wantsMessages : true;
  }

  /** A message has joined the dirty set: takes it with the commit that would store it, if a receive waits for it. */
  takeMessage(): boolean {
    return this.#mayRun && this.isRunning && this.#canBegin && (this.#run?.takeNow() ?? false);
  }

  /** Messages join the dirty set: if the run is to take them, a crash must not leave it asleep. */
  expectMessages(): void {
    if (this.#mayWantMessages) this.#actor.holdLease();
  }

  offerMessages(): boolean {
    const mayWant = this.#mayWantMessages;
    if (mayWant) this.#actor.advanceSoon();
    return mayWant;
  }

  /** Each branch of the run in memory, if there is one. */
  get openBranches(): Iterable<OpenBranch> | undefined {
    return this.isRunning ? this.#run?.openBranches() : undefined;
  }

  // ---- control -----------------------------------------------------------------------------------------------------

  /** The message of the divergence that stopped the run, if any. */
  get divergence(): string | undefined {
    return this.isRunning ? undefined : this.#recheck.message;
  }

  /** Ends the workflow, without rollback. */
  cancel(reason: Error): void {
    if (this.isRunning) this.#run?.cancel(reason);
    else {
      this.finished({ status: "cancelled" });
      this.commit();
    }
  }

  /** Rolls the workflow back, and then ends it as cancelled. One commit says so, and keeps the lease. */
  cancelUndoing(reason: Error): void {
    this.rollingBack(reason, true);
    this.#recheck.clear();
    this.#actor.deadlinesChanged();
    this.#actor.holdLease();
    this.#isReplaced = true;
    this.#run?.evict(reason);
    this.#run = undefined;
    this.#isReplaced = false;
    this.#actor.commitOrThrow();
    this.restart();
  }

  /** The record says that it is paused: attempts end and are recorded, and nothing begins. Commits. */
  pause(): void {
    this.#recheck.clear();
    this.#actor.deadlinesChanged();
    if (this.isRunning) this.#run?.pause(() => this.restart());
    this.#actor.commitOrThrow();
    this.#actor.workChanged();
  }

  /** It goes on, and steps that wait for their next attempt make it now. Commits. */
  hurry(): void {
    this.#actor.holdLease();
    if (this.isRunning) this.#run?.hurry();
    this.#actor.deadlinesChanged();
    this.#actor.commitOrThrow();
    if (this.isRunning) this.#actor.advanceSoon();
    else this.restart();
    this.#actor.messagesChanged();
  }

  /** Completes a step that waits for its next attempt. False: the run in memory, if there is one, does not know of it. */
  skip(entry: Entry, value: Uint8Array): boolean {
    const skipped = this.isRunning && (this.#run?.skip(entry, value) ?? false);
    if (skipped) this.#actor.advanceSoon();
    return skipped;
  }

  /** Drops the run in memory, because its history has changed. */
  forget(): void {
    this.#run?.evict();
    this.#run = undefined;
    this.#recheck.clear();
  }

  restart(): void {
    if (this.isRunning || !this.#canBegin) return;
    this.start(false);
    this.#actor.advanceSoon();
  }

  /** Tries code that did not match again at once, and restarts the backoff. */
  recheck(): void {
    if (!this.#recheck.hurry()) return;
    this.#actor.holdLease();
    this.#actor.commitOrThrow();
    this.restart();
  }

  hasEnded(entry: Entry): boolean {
    return this.#run?.hasEnded(entry) ?? false;
  }

  // ---- the end of the activation -----------------------------------------------------------------------------------

  beforeCommit(): void {
    this.#run?.beforeCommit();
  }

  /** The actor goes to sleep: drops a parked run, like an eviction. Operations its code still calls never settle. */
  suspend(): void {
    this.#run?.abandon(new EvictedError("The actor went to sleep"));
  }

  /** The actor is destroyed: rejects the open operations of the run; none of them settles after that (START-9). */
  destroyed(): void {
    if (this.isRunning) this.#run?.evict(new EvictedError("The actor was destroyed"));
  }

  /** The activation is over: no operation of the run settles from here on. */
  abandon(reason: Error): void {
    this.#run?.abandon(reason);
  }

  // ---- ports of the engine -----------------------------------------------------------------------------------------

  get log(): EngineLog {
    return this.#actor.ports.log.child(loggedRun(this.#actor.record));
  }

  now(): number {
    return this.#actor.ports.now();
  }

  yield(): Promise<void> {
    return this.#actor.ports.yield();
  }

  nextSeq(): number {
    return this.#actor.nextSeq();
  }

  put(entry: Entry): void {
    this.#actor.put(KEYS.entry(rowOf(entry)), () => encodeEntry(entry));
    this.#actor.deadlinesChanged();
  }

  delete(row: number): void {
    this.#actor.delete(KEYS.entry(row));
    this.#actor.deadlinesChanged();
  }

  requireFormat(format: number): void {
    this.#actor.requireFormat(format);
  }

  commit(): boolean {
    if (!this.#actor.commit()) return false;
    if (this.#confirmNext) this.#actor.confirm();
    this.#confirmNext = false;
    if (this.#actor.queue.takeStaged()) this.#actor.messagesChanged();
    return true;
  }

  beginWork(): void {
    this.#goesOn();
    this.#actor.holdLease();
  }

  parked(): void {
    this.#goesOn();
    this.#careful = false;
    this.#confirmNext = true;
    // A paused run that was resumed before its last attempt ended begins anew after this commit.
    const isResumed = this.isRunning && this.#run?.isPausing === true && this.#mayRun;
    if (!this.#isReplaced && !isResumed) this.#actor.releaseLease();
  }

  timersChanged(): void {
    if (this.isBusy) this.#actor.timers.workflowBusy(this.#run?.nextWaitAt);
    else this.#actor.timers.workflowParked();
  }

  isCareful(): boolean {
    return this.#careful;
  }

  confirmed(): Promise<void> {
    return this.#actor.confirmed().catch(() => new Promise(() => {}));
  }

  openAttempt(info: AttemptInfo): AttemptSession {
    return openAttempt(this.#actor, this.branches, info);
  }

  #stepAttempt(attempt: InterceptedAttempt): StepAttempt {
    const { name, key } = this.#actor.record;
    return { ...attempt, ...stepOf(attempt.location, this.#workflow.history), name, key };
  }

  rollingBack(error: unknown, cancels = false): void {
    const times = runTimes(this.#actor.record.workflow);
    const failure = recordFailure(error);
    this.#actor.putRecord({ workflow: { status: "rolling_back", failure, ...(cancels && { cancels }), ...times } });
  }

  finished(outcome: Outcome): void {
    this.#recheck.clear();
    const times = runTimes(this.#actor.record.workflow, this.now());
    this.#actor.putRecord({ workflow: { ...recordOf(outcome), ...times } });
    // The deadlines of entries no longer count.
    this.#actor.deadlinesChanged();
    this.#actor.queue.releaseHeld();
  }

  diverged(error: HistoryDivergedError): void {
    this.#run?.abandon(new EvictedError());
    if (this.#recheck.set(error.message)) {
      this.log.error({ msg: error.message, code: `workflow/${error.code}`, location: error.location });
    }
    this.parked();
    this.commit();
    this.timersChanged();
  }

  report(failure: FailureReport): void {
    this.#workflow.failures.report(failure);
  }

  #interrupted(): void {
    const error = interrupted();
    this.report({ workflow: { error } });
    this.finished({ status: "failed", error });
    this.parked();
    this.commit();
  }
}

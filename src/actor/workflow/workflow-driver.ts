/**
 * Binds the workflow engine to its actor: the engine's ports, when the run starts, what its end means.
 *
 * Owns: the run of this activation. Does not own: storage and lease (actor-runtime.ts), when code that did not match its history
 * is looked at again (recheck.ts).
 */
import { ActorError, MAX_INTERRUPTIONS } from "../../protocol/index.js";
import {
  EvictedError,
  HistoryDivergedError,
  ScopeContext,
  WorkflowRun,
  branchError,
  encodeEntry,
  ownFailure,
  type AttemptInfo,
  type AttemptSession,
  type EngineLog,
  type Entry,
  type FailureReport,
  type History,
  type MessagePort,
  type Outcome,
  type WorkflowPorts,
} from "../../workflow/index.js";
import type { PartActor } from "../activation/part.js";
import { Recheck } from "../activation/recheck.js";
import { isInFlight } from "../activation/workflow-outcome.js";
import { KEYS } from "../storage/record.js";
import type { FailureReports } from "./failure-reports.js";
import { openAttempt } from "./step-context.js";
import { WorkflowBranches } from "./workflow-branches.js";
import type { WorkflowDefinition } from "./workflow-definition.js";
import { recordFailure, recordOf } from "./workflow-record.js";

/** What one activation has of the workflow. */
export interface DrivenWorkflow {
  readonly history: History;
  readonly failures: FailureReports;
  /** Its function; undefined if the actor's code has none any more. */
  readonly run: WorkflowDefinition["run"] | undefined;
}

export class WorkflowDriver implements WorkflowPorts {
  readonly #actor: PartActor;
  readonly #workflow: DrivenWorkflow;
  readonly #recheck: Recheck;
  readonly messages: MessagePort;
  readonly branches = new WorkflowBranches(() => this.#run?.openBranches() ?? []);
  #run: WorkflowRun | undefined;
  #careful = false;
  #confirmNext = false;

  constructor(actor: PartActor, workflow: DrivenWorkflow) {
    this.#actor = actor;
    this.#workflow = workflow;
    this.#recheck = new Recheck(actor);
    this.messages = actor.queue;
  }

  /** True while what is stored is a workflow that has not ended, whether the code has one or not. */
  get #isOpen(): boolean {
    return isInFlight(this.#actor.record.workflow);
  }

  get isRunning(): boolean {
    return this.#run !== undefined && !this.#run.isEnded;
  }

  /** True while the run is in memory and something of it moves (FLOW-10). */
  get isBusy(): boolean {
    return this.#run !== undefined && !this.#run.isEnded && !this.#run.isParked;
  }

  /** The earliest deadline that entries hold, epoch ms; none while the code does not match them. */
  deadlineAt(): number | undefined {
    if (!this.#isOpen || this.#isDiverged) return undefined;
    return this.#workflow.history.earliestDueAt();
  }

  /** The same for the alarm: a run that waits for a message alone is looked after as well, as late as can be (ALARM-7). */
  wakeAt(): number | undefined {
    return this.deadlineAt() ?? (this.#isOpen ? Number.POSITIVE_INFINITY : undefined);
  }

  /** Calls the function, if it has not ended and does not run yet. The lease must be committed. */
  start(careful: boolean): void {
    if (!this.isRunning && this.#mayBegin && !this.#recheck.isAhead) this.#startRun(careful);
  }

  #startRun(careful: boolean): void {
    const { run, history } = this.#workflow;
    if (!this.#isOpen) return this.#actor.workChanged();
    this.#recheck.looks();
    if (!run) return this.diverged(missing(this.#actor.record.name));
    this.#careful = careful;
    if ((this.#actor.lease?.found ?? 0) >= MAX_INTERRUPTIONS) return this.#interrupted();
    const { actorId, name, key, workflow: record } = this.#actor.record;
    const identity = { actorId, name, key, log: this.log };
    this.#run = new WorkflowRun({
      ports: this,
      history,
      createContext: (scope) => new ScopeContext(scope, identity),
      run,
      ...(record?.status === "rolling_back" ? { rollingBack: branchError(ownFailure(record.failure)) } : {}),
    });
    this.#run.start();
  }

  /**
   * Settles what is due and what messages are there, and lets the run move until it is parked or only waits for running
   * work (ALARM-9); then whoever else waits for messages gets what is left. The lease must be committed.
   */
  async advance(): Promise<void> {
    if (this.#isOpen && this.#actor.lease) this.start(false);
    const isDone = !this.#run || this.#run.isEnded || (await this.#run.advance());
    this.#actor.settle();
    this.timersChanged();
    if (!isDone) this.#actor.ports.waitUntil(this.yield().then(() => this.advance()));
  }

  /** Not while hooks of the start run, which may fail or refuse their caller: the start begins it when they have ended. */
  get #mayBegin(): boolean {
    return this.#actor.isReady && !this.#actor.lost && !this.#actor.shutdown.isBegun;
  }

  /** The code does not match the history, and is not being looked at again. */
  get #isDiverged(): boolean {
    return !this.isRunning && this.#recheck.isSet;
  }

  /** The code matches, for as far as it went. */
  #goesOn(): void {
    if (this.isRunning) this.#recheck.clear();
  }

  // ---- messages ----------------------------------------------------------------------------------------------------

  /**
   * True if the run may take a message that is there now: it waits for one, or is not in memory and may. One that the
   * code lacks is looked for again because of it (FLOW-6).
   */
  get #mayWantMessages(): boolean {
    if (!this.#isOpen || this.#isDiverged) return false;
    return this.#run && !this.#run.isEnded ? this.#run.wantsMessages : true;
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

  // ---- control -----------------------------------------------------------------------------------------------------

  /** The message of the divergence that stopped the run, if one did. */
  get divergence(): string | undefined {
    return this.isRunning ? undefined : this.#recheck.message;
  }

  /** Stops the run for good, undoing nothing. */
  cancel(reason: Error): void {
    if (this.isRunning) this.#run?.cancel(reason);
    else {
      this.finished({ status: "cancelled" });
      this.commit();
    }
  }

  /** Forgets the run in memory: the history it was made from has changed. */
  forget(): void {
    this.#run?.evict();
    this.#run = undefined;
    this.#recheck.clear();
  }

  restart(): void {
    if (this.isRunning || !this.#mayBegin) return;
    this.start(false);
    this.#actor.advanceSoon();
  }

  /** Looks again, at once, at code that did not match; the time between looks begins anew. */
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

  /** The actor goes to sleep: a parked run is dropped, as an eviction would; what its code still calls never answers. */
  suspend(): void {
    this.#run?.abandon(new EvictedError("The actor went to sleep"));
  }

  /** The actor is destroyed: the open operations of the run reject, then nothing of it settles any more (START-9). */
  destroyed(): void {
    if (this.isRunning) this.#run?.evict(new EvictedError("The actor was destroyed"));
  }

  /** The activation is over: nothing of the run settles any more. */
  abandon(reason: Error): void {
    this.#run?.abandon(reason);
  }

  // ---- ports of the engine -----------------------------------------------------------------------------------------

  get log(): EngineLog {
    return this.#actor.ports.log;
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
    this.#actor.put(KEYS.entry(entry.seq), () => encodeEntry(entry));
    this.#actor.deadlinesChanged();
  }

  delete(entry: Entry): void {
    this.#actor.delete(KEYS.entry(entry.seq));
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
    this.#actor.releaseLease();
  }

  timersChanged(): void {
    this.#actor.timers.setWorkflow(this.isBusy ? this.#run?.nextWaitAt : undefined);
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

  rollingBack(error: unknown): void {
    this.#actor.putRecord({ workflow: { status: "rolling_back", failure: recordFailure(error) } });
  }

  finished(outcome: Outcome): void {
    this.#recheck.clear();
    this.#actor.putRecord({ workflow: recordOf(outcome) });
    // The entries' deadlines count no more.
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
    const message = `The workflow was cut off ${MAX_INTERRUPTIONS} times in a row outside of any step`;
    const error = new ActorError("workflow", "interrupted", message);
    this.report({ workflow: { error } });
    this.finished({ status: "failed", error });
    this.parked();
    this.commit();
  }
}

/** The registry no longer has the workflow: the same as code that does not match (FLOW-6). */
function missing(name: string): HistoryDivergedError {
  const message =
    `The actor "${name}" has a workflow in flight, but its code has none any more. ` +
    "Put it back, or end it with c.workflow.cancel()";
  return new HistoryDivergedError(message, { location: "(root)", found: "a workflow", expected: "none" });
}

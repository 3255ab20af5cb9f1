/**
 * Binds the workflow engine to its actor: the engine's ports, when the run starts, what its end means.
 *
 * Owns: the run of this activation, the re-check after a divergence. Does not own: storage and lease (actor-runtime.ts).
 */
import { ActorError, backoffMs, own, ownField, MAX_INTERRUPTIONS } from "../../protocol/index.js";
import { describe } from "../activation/thrown.js";
import {
  EvictedError,
  HistoryDivergedError,
  ScopeContext,
  WorkflowRun,
  branchError,
  describeThrownError,
  encodeEntry,
  fitFailure,
  toBranchFailure,
  type AttemptInfo,
  type AttemptSession,
  type EngineLog,
  type Entry,
  type Failure,
  type FailureReport,
  type MessagePort,
  type Outcome,
  type WorkflowPorts,
} from "../../workflow/index.js";
import type { ActorActivation } from "../activation/activation.js";
import type { RecheckRow } from "../storage/deadlines.js";
import { openAttempt } from "../callbacks/step-context.js";
import { KEYS, type WorkflowRecord } from "../storage/record.js";
import { WorkflowBranches } from "../activation/workflow-branches.js";

const RECHECK_BACKOFF = { firstMs: 60_000, maxMs: 3_600_000 };
/** Encoded bytes of the failure in the actor's record; what its rollback handlers failed with stands beside it. */
const MAX_FAILURE_BYTES = 1_000_000;
/** What the workflow needs of its actor beside what every part does. */
export interface WorkflowActor extends ActorActivation {
  readonly queue: ActorActivation["queue"] &
    MessagePort & { releaseHeld(): void; checkRoom(bodies: readonly Uint8Array[]): void };
  readonly receivers: ActorActivation["receivers"] & { offer(): void };
  readonly isWorking: boolean;
  /** Why the activation is over, if it is: no user code may begin in it, nor once it ends. */
  readonly lost: Error | undefined;
  readonly failures: { add(event: unknown): void };
  lose(cause: unknown): void;
}

export class WorkflowHost implements WorkflowPorts {
  readonly #runtime: WorkflowActor;
  readonly messages: MessagePort;
  readonly branches = new WorkflowBranches(() => this.#run?.openBranches() ?? []);
  #run: WorkflowRun | undefined;
  #careful = false;
  #confirmNext = false;
  #recheck: RecheckRow | undefined;
  #staged = false;

  constructor(runtime: WorkflowActor) {
    this.#runtime = runtime;
    this.messages = this.#messagePort(() => runtime.queue);
  }

  /** True while there is a workflow that has not ended. */
  get isActive(): boolean {
    return this.#runtime.actor.workflow !== undefined && this.#isOpen;
  }

  /** True while what is stored is a workflow that has not ended, whether the code has one or not. */
  get #isOpen(): boolean {
    const status = this.#runtime.record.workflow?.status;
    return status === "running" || status === "rolling_back";
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
    if (!this.#isOpen || this.#divergedRow) return undefined;
    return this.#runtime.history.earliestDueAt();
  }

  /** The same for the alarm: a run that waits for a message alone is looked after as well, as late as can be (ALARM-7). */
  wakeAt(): number | undefined {
    return this.deadlineAt() ?? (this.#isOpen ? Number.POSITIVE_INFINITY : undefined);
  }

  /** Calls the function, if it has not ended and does not run yet, and settles what is due. The lease must be committed. */
  start(careful: boolean): void {
    if (this.isRunning || !this.#mayBegin) return;
    if (!this.#waitsForRecheck) this.#startRun(careful);
    this.advanceSoon();
  }

  #startRun(careful: boolean): void {
    const { workflow } = this.#runtime.actor;
    if (!this.#isOpen) return this.#runtime.workChanged();
    // It stays until the run has gone further than it did: a crash before that must not begin the backoff anew.
    this.#recheck = this.#runtime.deadlines.recheck.get();
    if (!workflow) return this.diverged(missing(this.#runtime.record.name));
    this.#careful = careful;
    if ((this.#runtime.lease?.found ?? 0) >= MAX_INTERRUPTIONS) return this.#interrupted();
    const { actorId, name, key, workflow: record } = this.#runtime.record;
    const identity = { actorId, name, key, log: this.log };
    this.#run = new WorkflowRun({
      ports: this,
      history: this.#runtime.history,
      createContext: (scope) => new ScopeContext(scope, identity),
      run: workflow.run,
      ...(record?.status === "rolling_back" ? { rollingBack: branchError(record.failure) } : {}),
    });
    this.#run.start();
  }

  /**
   * Settles what is due and what messages are there, and lets the run move until it is parked or only waits for running
   * work (ALARM-9); then whoever else waits for messages gets what is left. The lease must be committed.
   */
  async advance(): Promise<void> {
    if (this.#isOpen && this.#runtime.lease && !this.isRunning && this.#mayBegin && !this.#waitsForRecheck)
      this.#startRun(false);
    const isDone = !this.#run || this.#run.isEnded || (await this.#run.advance());
    this.#runtime.receivers.offer();
    if (!this.#runtime.isWorking) this.#runtime.releaseLease();
    this.#runtime.deadlinesChanged();
    this.#runtime.commit();
    this.timersChanged();
    if (!isDone) this.#runtime.ports.waitUntil(this.yield().then(() => this.advance()));
  }

  /** Not while hooks of the start run, which may fail or refuse their caller: the start begins it when they have ended. */
  get #mayBegin(): boolean {
    return this.#runtime.isReady && !this.#runtime.lost && !this.#runtime.shutdown.isBegun;
  }

  /** What stands while the code does not match the history, and is not being looked at again. */
  get #divergedRow(): RecheckRow | undefined {
    return this.isRunning ? undefined : this.#runtime.deadlines.recheck.get();
  }

  /** The code matches, for as far as it went. */
  #goesOn(): void {
    if (this.isRunning) this.#runtime.deadlines.recheck.delete();
  }

  get #waitsForRecheck(): boolean {
    return (this.#runtime.deadlines.recheck.get()?.at ?? 0) > this.now();
  }

  /** The same with nobody awaiting it: the object stays until it is done. */
  advanceSoon(): void {
    this.#runtime.ports.waitUntil(this.advance().catch((error: unknown) => this.#runtime.lose(error)));
  }

  /**
   * True if the run may take a message that is there now: it waits for one, or is not in memory and may. One that the
   * code lacks is looked for again because of it (FLOW-6).
   */
  mayWantMessages(): boolean {
    if (!this.#isOpen || this.#divergedRow) return false;
    return this.#run && !this.#run.isEnded ? this.#run.wantsMessages : true;
  }

  /** Messages join the dirty set: if the run is to take them, a crash must not leave it asleep. */
  expectMessages(): void {
    if (this.mayWantMessages()) this.#runtime.holdLease();
  }

  /** Messages join the queue, or come back to it, with the next commit; they are offered after it. */
  messagesStaged(): void {
    this.#staged = true;
  }

  /** The message of the divergence that stopped the run, if one did. */
  get divergence(): string | undefined {
    const row = this.#divergedRow;
    return row && String(row.message);
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
    this.#runtime.deadlines.recheck.delete();
  }

  restart(): void {
    this.start(false);
  }

  /** Looks again, at once, at code that did not match; the time between looks begins anew. */
  recheck(): void {
    const row = this.#runtime.deadlines.recheck.get();
    if (!row) return;
    this.#runtime.deadlines.recheck.put({ ...row, at: this.now(), delayMs: RECHECK_BACKOFF.firstMs / 2 });
    this.#runtime.holdLease();
    this.#runtime.commitOrThrow();
    this.start(false);
  }

  hasEnded(entry: Entry): boolean {
    return this.#run?.hasEnded(entry) ?? false;
  }

  beforeCommit(): void {
    this.#run?.beforeCommit();
  }

  /** The actor goes to sleep: a parked run is dropped, as an eviction would; what its code still calls never answers. */
  suspend(): void {
    this.#run?.abandon(new EvictedError("The actor went to sleep"));
  }

  /** The actor is destroyed: what the run waits for rejects. */
  evict(reason: Error): void {
    if (this.isRunning) this.#run?.evict(reason);
  }

  /** The activation is over: nothing of the run settles any more. */
  abandon(reason: Error): void {
    this.#run?.abandon(reason);
  }

  // ---- ports of the engine -----------------------------------------------------------------------------------------

  get log(): EngineLog {
    return this.#runtime.ports.log;
  }

  now(): number {
    return this.#runtime.ports.now();
  }

  yield(): Promise<void> {
    return this.#runtime.ports.yield();
  }

  nextSeq(): number {
    return this.#runtime.nextSeq();
  }

  put(entry: Entry): void {
    this.#runtime.put(KEYS.entry(entry.seq), () => encodeEntry(entry));
    this.#runtime.deadlinesChanged();
  }

  delete(entry: Entry): void {
    this.#runtime.delete(KEYS.entry(entry.seq));
    this.#runtime.deadlinesChanged();
  }

  requireFormat(format: number): void {
    this.#runtime.requireFormat(format);
  }

  commit(): boolean {
    if (!this.#runtime.commit()) return false;
    if (this.#confirmNext) this.#runtime.confirm();
    this.#confirmNext = false;
    if (this.#staged) this.#runtime.messagesChanged();
    this.#staged = false;
    return true;
  }

  beginWork(): void {
    this.#goesOn();
    this.#runtime.holdLease();
  }

  parked(): void {
    this.#goesOn();
    this.#careful = false;
    this.#confirmNext = true;
    this.#runtime.releaseLease();
  }

  timersChanged(): void {
    this.#runtime.timers.setWorkflow(this.isBusy ? this.#run?.nextWaitAt : undefined);
  }

  isCareful(): boolean {
    return this.#careful;
  }

  confirmed(): Promise<void> {
    return this.#runtime.confirmed().catch(() => new Promise(() => {}));
  }

  openAttempt(info: AttemptInfo): AttemptSession {
    return openAttempt(this.#runtime, info, (bodies) => {
      this.#runtime.queue.checkRoom(bodies);
      this.messagesStaged();
    });
  }

  rollingBack(error: unknown): void {
    this.#runtime.putRecord({ workflow: { status: "rolling_back", failure: recordFailure(error) } });
  }

  finished(outcome: Outcome): void {
    this.#runtime.deadlines.recheck.delete();
    this.#runtime.putRecord({ workflow: recordOf(outcome) });
    // The entries' deadlines count no more.
    this.#runtime.deadlinesChanged();
    this.#runtime.queue.releaseHeld();
    this.messagesStaged();
  }

  /** The actor's queue; what is put back is offered to whoever waits, after the commit. */
  #messagePort(queue: () => MessagePort): MessagePort {
    return {
      firstAt: (filter) => queue().firstAt(filter),
      take: (filter) => queue().take(filter),
      heldAmong: (names) => queue().heldAmong(names),
      encodeReply: (message, response) => queue().encodeReply(message, response),
      complete: (message, reply) => queue().complete(message, reply),
      putBack: (messages, held) => {
        queue().putBack(messages, held);
        this.messagesStaged();
      },
    };
  }

  diverged(error: HistoryDivergedError): void {
    this.#run?.abandon(new EvictedError());
    const before = this.#recheck;
    // The row holds the last delay: it tells how many looks came before.
    const looks = before ? Math.log2(Number(before.delayMs) / RECHECK_BACKOFF.firstMs) + 1 : 0;
    const delayMs = backoffMs(looks + 1, RECHECK_BACKOFF);
    this.#runtime.deadlines.recheck.put({ at: this.now() + delayMs, delayMs, message: error.message });
    if (before?.message !== error.message)
      this.log.error({ msg: error.message, code: `workflow/${error.code}`, location: error.location });
    this.parked();
    this.commit();
    this.timersChanged();
  }

  /** Tells the hook once the commit that records the failure is made; without one, final failures are logged. */
  report(failure: FailureReport): void {
    const workflowId = this.#runtime.record.actorId;
    const [[kind, fields]] = Object.entries(failure) as [
      [string, { readonly error: unknown; readonly willRetry?: boolean }],
    ];
    const { error, ...rest } = own(fields);
    this.#runtime.failures.add({ [kind]: { workflowId, ...rest, error: describeThrownError(error) } });
    const entry = { msg: `A ${kind} failed`, ...rest, error: describe(error) };
    if (ownField(rest, "willRetry")) this.log.debug(entry);
    else if (kind === "step") this.log.warn(entry);
    else this.log.error(entry);
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

/** What of a failure the record can hold beside everything else. */
function recordFailure(error: unknown): Failure {
  return fitFailure(toBranchFailure(error), MAX_FAILURE_BYTES);
}

function recordOf(known: Outcome): WorkflowRecord {
  const outcome = own(known);
  switch (outcome.status) {
    case "completed":
      return { status: "completed", value: outcome.value };
    case "failed":
      return {
        status: "failed",
        failure: recordFailure(outcome.error),
        ...(outcome.rollbackErrors && outcome.rollbackErrors.length > 0
          ? { rollbackErrors: outcome.rollbackErrors }
          : {}),
      };
    case "cancelled":
      return { status: "cancelled" };
  }
}

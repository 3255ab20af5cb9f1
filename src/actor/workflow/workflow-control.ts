import { ActorError, encodeValue, ownField, readOptions } from "../../protocol/index.js";
import {
  CancelledError,
  Restart,
  hasCheckpoint,
  heldMessages,
  isOfRollback,
  ownFailure,
  skipStep,
  type Entry,
  type History,
  type OpenBranch,
} from "../../workflow/index.js";
import type { PartActor } from "../activation/part.js";
import { describeWorkflow, isInFlight, pausedOf, refuseRollback, runTimes } from "../activation/workflow-outcome.js";
import type {
  WorkflowCancelOptions,
  WorkflowHistoryEntry,
  WorkflowHistoryOptions,
  WorkflowPlan,
  WorkflowStatus,
} from "../api/workflow-status.js";
import { putEntry, putRestart } from "./edited-history.js";
import { parkedOn } from "./parked-on.js";
import { planOf } from "./workflow-plan.js";
import { describeHistory } from "./workflow-view.js";

/** The storage format since which a run may be paused, or undone before it is cancelled: an older release would go on, or fail it. */
const CONTROL_FORMAT = 4;
/** UTF-16 units of the reason of a pause, and of who did something. */
const MAX_REASON = 1_000;
const MAX_BY = 200;
/** How many of the last acts are kept. */
const MAX_ACTS = 20;

/** How an act is to be done; of `cancel`, `rollback` too. */
type ActOptions = Omit<WorkflowCancelOptions, "dryRun"> & { readonly dryRun?: boolean };

/** What control needs from the workflow's driver. */
export interface ControlledWorkflow {
  readonly isRunning: boolean;
  readonly isBusy: boolean;
  readonly divergence: string | undefined;
  /** Each branch of the run in memory, if there is one. */
  readonly openBranches: Iterable<OpenBranch> | undefined;
  deadlineAt(): number | undefined;
  /** True for a wait that has ended in memory but is not yet marked by a commit. */
  hasEnded(entry: Entry): boolean;
  cancel(reason: Error): void;
  cancelUndoing(reason: Error): void;
  pause(): void;
  hurry(): void;
  /** Completes a step that waits for its next attempt. False: the run in memory, if there is one, does not know of it. */
  skip(entry: Entry, value: Uint8Array): boolean;
  /** Drops the run in memory, because its history has changed. */
  forget(): void;
  restart(): void;
  /** Tries code that did not match its history again. */
  recheck(): void;
}

/** `c.workflow`: inspects and controls the workflow from actions, through which users may expose it (RIVET-23). */
export class WorkflowControl {
  readonly #activation: PartActor;
  readonly #stored: { readonly history: History };
  readonly #workflow: ControlledWorkflow;

  constructor(activation: PartActor, stored: { readonly history: History }, workflow: ControlledWorkflow) {
    this.#activation = activation;
    this.#stored = stored;
    this.#workflow = workflow;
  }

  status(): WorkflowStatus {
    const { divergence } = this.#workflow;
    const record = this.#activation.record.workflow;
    const status = describeWorkflow(record, divergence, () => this.#workflow.deadlineAt());
    if (!isInFlight(record) || divergence !== undefined) return status;
    const { history } = this.#stored;
    const isWorking = this.#activation.lease !== undefined;
    const now = this.#activation.ports.now();
    const parked = parkedOn(
      { history, branches: this.#workflow.openBranches, isWorking, paused: pausedOf(record) },
      now,
    );
    return { ...status, ...(parked && { parkedOn: parked }) };
  }

  /**
   * Entries in the order in which their operations began.
   * @throws {TypeError} when an option is not valid
   */
  history(options?: WorkflowHistoryOptions): WorkflowHistoryEntry[] {
    const isOver = !isInFlight(this.#activation.record.workflow);
    const hasEnded = (entry: Entry): boolean => this.#workflow.hasEnded(entry);
    return describeHistory({ history: this.#stored.history, isOver, hasEnded }, options);
  }

  /**
   * Ends the workflow as `cancelled`; with `rollback`, after undoing what a failure would undo. Does nothing if it has ended.
   * Committed on return.
   * @throws {TypeError} when an option is not valid
   * @throws {workflow/rolling_back} when it is to be undone, and is being undone
   */
  cancel(options?: ActOptions): WorkflowPlan | undefined {
    const { rollback = false, dryRun, by } = readAct("cancel", options, ["rollback"]);
    if (typeof rollback !== "boolean") throw typeError("`rollback` must be true or false");
    const { workflow } = this.#activation.record;
    const { history } = this.#stored;
    if (!isInFlight(workflow)) return this.#nothing(dryRun);
    if (rollback) refuseRollback(workflow, "cancelled in this way");
    const undoes = rollback && hasCheckpoint(history);
    if (dryRun) {
      const first = `${undoes ? "undoes completed steps that have a rollback, the latest first, then " : ""}ends the workflow`;
      return planOf(history, first, { released: [...history.entries()].flatMap(heldMessages) });
    }
    this.#note("cancel", by);
    if (undoes) {
      this.#activation.requireFormat(CONTROL_FORMAT);
      this.#workflow.cancelUndoing(new CancelledError());
    } else this.#workflow.cancel(new CancelledError());
    this.#activation.commitOrThrow();
    return undefined;
  }

  /**
   * Pauses the workflow: attempts that run end and are recorded, and nothing begins until `resume`. Does nothing if it is paused
   * or has ended. Committed on return.
   * @throws {TypeError} when the reason is not a short string
   * @throws {workflow/rolling_back} when it is being undone
   */
  pause(reason?: string, options?: Pick<ActOptions, "by">): void {
    if (reason !== undefined && (typeof reason !== "string" || reason.length > MAX_REASON))
      throw new TypeError(`The reason of a pause must be a string of at most ${MAX_REASON} characters`);
    const { dryRun, by } = readAct("pause", options);
    if (dryRun !== undefined) throw typeError("pause has no dry run");
    refuseRollback(this.#activation.record.workflow, "paused");
    if (this.#activation.record.workflow?.status !== "running" || pausedOf(this.#activation.record.workflow)) return;
    const since = this.#activation.ports.now();
    this.#note("pause", by);
    this.#activation.requireFormat(CONTROL_FORMAT);
    const kept = runTimes(this.#activation.record.workflow);
    const paused = reason === undefined ? ([since] as const) : ([since, reason] as const);
    this.#activation.putRecord({ workflow: { status: "running", paused, ...kept } });
    this.#workflow.pause();
  }

  /**
   * Lets a paused workflow go on. If it is not paused, steps that wait for their next attempt make it now. Does nothing if it
   * has ended. Committed on return.
   */
  resume(options?: ActOptions): WorkflowPlan | undefined {
    const { dryRun, by } = readAct("resume", options);
    const { workflow } = this.#activation.record;
    const { history } = this.#stored;
    if (!isInFlight(workflow) || this.#workflow.divergence !== undefined) return this.#nothing(dryRun);
    if (pausedOf(workflow)) {
      if (dryRun) return planOf(history, "lets the workflow go on");
      this.#note("resume", by);
      this.#activation.putRecord({ workflow: { status: "running", ...runTimes(this.#activation.record.workflow) } });
      this.#workflow.hurry();
      return undefined;
    }
    const now = this.#activation.ports.now();
    const retries = [...history.waiting()].filter(({ kind, dueAt = 0 }) => kind === "step" && dueAt > now);
    if (retries.length === 0) return this.#nothing(dryRun);
    if (dryRun) return planOf(history, "does not wait for the next attempt", { again: retries });
    this.#note("resume", by);
    if (!this.#workflow.isRunning) {
      for (const entry of retries) {
        entry.dueAt = now;
        history.add(entry);
        putEntry(this.#activation, entry);
      }
    }
    this.#workflow.hurry();
    return undefined;
  }

  /**
   * Retries a failed workflow. The operation whose error ended it starts over. What was recorded after its failure is
   * deleted, and messages taken there return to the queue. Steps that were rolled back start over as well; everything else
   * stays. A diverged workflow is tried again at once. Does nothing in any other state. Committed on return.
   * @throws {workflow/rolling_back} when it is still being undone; in a hook of the start nothing happens then
   */
  retry(options?: ActOptions): WorkflowPlan | undefined {
    const { dryRun, by } = readAct("retry", options);
    const { workflow } = this.#activation.record;
    if (this.#workflow.divergence !== undefined) {
      if (dryRun) return planOf(this.#stored.history, "looks at the code again now");
      this.#note("retry", by);
      this.#workflow.recheck();
      return undefined;
    }
    // A start must not fail because of what its hook finds the workflow at.
    if (this.#activation.isReady) refuseRollback(workflow, "retried");
    if (workflow?.status !== "failed") return this.#nothing(dryRun);
    const failure = ownFailure(workflow.failure);
    if (dryRun) return this.#planned("", (restart) => restart.recover(failure));
    this.#restart("retry", by, (restart) => restart.recover(failure));
    return undefined;
  }

  /** Its other name. */
  recover(options?: ActOptions): WorkflowPlan | undefined {
    return this.retry(options);
  }

  /**
   * Completes the step that holds the workflow with a value: one that waits for its next attempt, or one whose failure ended the run,
   * which is then retried. Committed on return.
   * @throws {value/not_serializable} when the value cannot be stored
   * @throws {value/too_large} when it is larger than the result of a step may be
   * @throws {workflow/step_not_found} when there is no such entry
   * @throws {workflow/not_a_step} when the entry is not a step
   * @throws {workflow/step_passed} when the step does not hold the workflow
   * @throws {workflow/rolling_back} when the workflow is being undone
   * @throws {actor/workflow_in_flight} when an attempt of the step is running
   */
  skip(entryId: string, value?: unknown, options?: ActOptions): WorkflowPlan | undefined {
    const { dryRun, by } = readAct("skip", options);
    const { workflow } = this.#activation.record;
    refuseRollback(workflow, "mended");
    const { history } = this.#stored;
    const target = targetOf([...history.entries()], entryId, "skip");
    const bytes = encodeValue(value);
    const first = `completes "${String(target.location.at(-1))}" with the value`;
    if (workflow?.status === "failed") {
      const failure = ownFailure(workflow.failure);
      const recover = (restart: Restart): void => restart.recover(failure);
      const tried = new Restart(history.copy(), this.#activation.ports.now());
      recover(tried);
      if (![...tried.failedSteps].some(({ seq }) => seq === target.seq)) throw passed(entryId);
      if (dryRun) return this.#planned(first, recover, target.seq);
      this.#restart("skip", by, (restart) => {
        recover(restart);
        this.#complete(target, bytes);
      });
      return undefined;
    }
    if (!isInFlight(workflow)) throw passed(entryId);
    for (const { operation } of this.#workflow.openBranches ?? [])
      if (operation?.entry === target && !operation.isWaiting) throw inFlight("one of its steps can be skipped");
    const waits = target.status === "pending" && target.dueAt !== undefined && target.failure !== undefined;
    if (!waits || history.isPassed(target)) throw passed(entryId);
    if (dryRun) return planOf(history, first);
    this.#note("skip", by);
    if (!this.#workflow.skip(target, bytes)) {
      this.#complete(target, bytes);
      putEntry(this.#activation, target);
      this.#goOn();
    }
    return undefined;
  }

  /**
   * Runs the workflow again from a step, or from its start. That entry and later ones are deleted. A loop around it starts
   * over, and a join or race around it is open again. Messages taken after it return to the queue, and earlier steps that
   * were rolled back start over. State is not rewound. Does nothing without a workflow. Committed on return.
   * @throws {actor/workflow_in_flight} when it is neither parked nor ended
   * @throws {workflow/step_not_found} when there is no such entry
   * @throws {workflow/not_a_step} when the entry is not a step
   */
  replayFrom(entryId?: string, options?: ActOptions): WorkflowPlan | undefined {
    const { dryRun, by } = readAct("replayFrom", options);
    if (this.#workflow.isBusy) throw inFlight("it can be replayed");
    const { history } = this.#stored;
    const target = entryId === undefined ? undefined : targetOf([...history.entries()], entryId, "replay");
    if (!this.#activation.record.workflow) return this.#nothing(dryRun);
    if (dryRun) {
      const find = (copy: History): Entry | undefined => target && copy.find(target.location);
      return this.#planned("", (restart, copy) => restart.replayFrom(find(copy)));
    }
    this.#restart(
      "replayFrom",
      by,
      (restart) => restart.replayFrom(target),
      target ? undefined : this.#activation.ports.now(),
    );
    return undefined;
  }

  #nothing(dryRun: boolean | undefined): WorkflowPlan | undefined {
    return dryRun ? planOf(this.#stored.history, "does nothing") : undefined;
  }

  /** What a restart would do: done to a copy. `completed`: `seq` of a step that would be completed. */
  #planned(first: string, edit: (restart: Restart, copy: History) => void, completed?: number): WorkflowPlan {
    const copy = this.#stored.history.copy();
    const restart = new Restart(copy, this.#activation.ports.now());
    edit(restart, copy);
    return planOf(copy, first, { restart, completed });
  }

  /** Keeps who did what, with the commit of what is done. */
  #note(act: string, by: string | undefined): void {
    const { workflow } = this.#activation.record;
    if (!workflow) return;
    const now = this.#activation.ports.now();
    const line = by === undefined ? ([now, act] as const) : ([now, act, by] as const);
    const acts = [...(ownField(workflow, "acts") ?? []), line].slice(-MAX_ACTS);
    this.#activation.putRecord({ workflow: { ...workflow, acts } });
  }

  #complete(entry: Entry, value: Uint8Array): void {
    skipStep(entry, value, this.#activation.ports.now(), this.#activation.nextSeq());
    this.#stored.history.add(entry);
  }

  /** `startedAt`, epoch ms: the run begins anew. A paused run stays paused. */
  #restart(act: string, by: string | undefined, edit: (restart: Restart) => void, startedAt?: number): void {
    this.#workflow.forget();
    const { history } = this.#stored;
    // The counter begins behind what is stored when it is first read: no new entry gets the id of one that goes.
    this.#activation.nextSeq();
    const restart = new Restart(history, this.#activation.ports.now());
    edit(restart);
    putRestart(this.#activation, history, restart);
    this.#note(act, by);
    const { workflow } = this.#activation.record;
    const paused = pausedOf(workflow);
    const times = startedAt === undefined ? {} : { times: [startedAt] as const };
    this.#activation.putRecord({
      workflow: { status: "running", ...(paused && { paused }), ...runTimes(workflow), ...times },
    });
    this.#goOn();
  }

  /** The history was edited: commits that, and runs it unless it is paused. */
  #goOn(): void {
    this.#activation.deadlinesChanged();
    const isPaused = pausedOf(this.#activation.record.workflow) !== undefined;
    if (!isPaused) this.#activation.holdLease();
    this.#activation.commitOrThrow();
    if (!isPaused) this.#workflow.restart();
    this.#activation.messagesChanged();
  }
}

/** @throws {TypeError} when an option is not valid */
function readAct(act: string, given: ActOptions | undefined, more: readonly "rollback"[] = []): ActOptions {
  const options = readOptions(act, given, ["dryRun", "by", ...more], typeError);
  const { dryRun, by } = options;
  if (dryRun !== undefined && typeof dryRun !== "boolean") throw typeError("`dryRun` must be true or false");
  if (by !== undefined && (typeof by !== "string" || by.length > MAX_BY))
    throw typeError(`\`by\` must be a string of at most ${MAX_BY} characters`);
  return options;
}

function typeError(problem: string): TypeError {
  return new TypeError(problem);
}

function inFlight(what: string): ActorError {
  return new ActorError(
    "actor",
    "workflow_in_flight",
    `The workflow is running; ${what} when it is parked or has ended`,
  );
}

function passed(entryId: string): ActorError {
  const message =
    `The step ${entryId} does not hold the workflow: one that waits for its next attempt can be skipped, ` +
    "or one whose failure ended the run";
  return new ActorError("workflow", "step_passed", message);
}

function targetOf(entries: readonly Entry[], entryId: string, act: string): Entry {
  const target = entries.find((entry) => String(entry.seq) === entryId);
  if (!target || isOfRollback(target))
    throw new ActorError("workflow", "step_not_found", `Workflow step not found: ${String(entryId).slice(0, 100)}`);
  if (target.kind !== "step") throw new ActorError("workflow", "not_a_step", `Workflow ${act} target must be a step`);
  return target;
}

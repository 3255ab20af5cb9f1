import { ActorError } from "../../protocol/index.js";
import {
  CancelledError,
  Restart,
  completedMessages,
  encodeEntry,
  heldMessages,
  isOfRollback,
  ownFailure,
  rowOf,
  takenMessages,
  type Entry,
  type History,
  type OpenBranch,
} from "../../workflow/index.js";
import type { PartActor } from "../activation/part.js";
import { describeWorkflow, isInFlight, pausedOf, runTimes } from "../activation/workflow-outcome.js";
import { KEYS, type WorkflowRecord } from "../storage/record.js";
import type { WorkflowHistoryEntry, WorkflowHistoryOptions, WorkflowStatus } from "../api/workflow-status.js";
import { parkedOn } from "./parked-on.js";
import { describeHistory } from "./workflow-view.js";

/** The storage format since which a run may be paused: an older release would go on with it. */
const PAUSED_FORMAT = 4;
/** UTF-16 units of the reason of a pause. */
const MAX_REASON = 1_000;

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
  pause(): void;
  hurry(): void;
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

  /** Ends the workflow as `cancelled`, without rollback. Does nothing if it has ended. Committed on return. */
  cancel(): void {
    if (!isInFlight(this.#activation.record.workflow)) return;
    this.#workflow.cancel(new CancelledError());
    this.#activation.commitOrThrow();
  }

  /**
   * Pauses the workflow: attempts that run end and are recorded, and nothing begins until `resume`. Does nothing if it is paused
   * or has ended. Committed on return.
   * @throws {TypeError} when the reason is not a short string
   * @throws {workflow/rolling_back} when it is being undone
   */
  pause(reason?: string): void {
    if (reason !== undefined && (typeof reason !== "string" || reason.length > MAX_REASON))
      throw new TypeError(`The reason of a pause must be a string of at most ${MAX_REASON} characters`);
    const { workflow } = this.#activation.record;
    refuseRollback(workflow, "paused");
    if (workflow?.status !== "running" || pausedOf(workflow)) return;
    const since = this.#activation.ports.now();
    this.#activation.requireFormat(PAUSED_FORMAT);
    this.#activation.putRecord({
      workflow: { ...workflow, paused: reason === undefined ? [since] : [since, reason] },
    });
    this.#workflow.pause();
  }

  /**
   * Lets a paused workflow go on. If it is not paused, steps that wait for their next attempt make it now. Does nothing if it
   * has ended. Committed on return.
   */
  resume(): void {
    const { workflow } = this.#activation.record;
    if (!workflow || !isInFlight(workflow) || this.#workflow.divergence !== undefined) return;
    if (pausedOf(workflow)) {
      this.#activation.putRecord({ workflow: { status: "running", ...runTimes(workflow) } });
      return this.#workflow.hurry();
    }
    const now = this.#activation.ports.now();
    const retries = [...this.#stored.history.waiting()].filter(({ kind, dueAt = 0 }) => kind === "step" && dueAt > now);
    if (retries.length === 0) return;
    if (!this.#workflow.isRunning) {
      for (const entry of retries) {
        entry.dueAt = now;
        this.#stored.history.add(entry);
        this.#put(entry);
      }
    }
    this.#workflow.hurry();
  }

  /**
   * Retries a failed workflow. The operation whose error ended it starts over. What was recorded after its failure is
   * deleted, and messages taken there return to the queue. Steps that were rolled back start over as well; everything else
   * stays. A diverged workflow is tried again at once. Does nothing in any other state. Committed on return.
   */
  recover(): void {
    const { workflow } = this.#activation.record;
    if (this.#workflow.divergence !== undefined) return this.#workflow.recheck();
    if (workflow?.status !== "failed") return;
    this.#workflow.forget();
    const restart = new Restart(this.#stored.history, this.#activation.ports.now());
    restart.recover(ownFailure(workflow.failure));
    this.#resume(restart);
  }

  /**
   * Runs the workflow again from a step, or from its start. That entry and later ones are deleted. A loop around it starts
   * over, and a join or race around it is open again. Messages taken after it return to the queue, and earlier steps that
   * were rolled back start over. State is not rewound. Does nothing without a workflow. Committed on return.
   * @throws {actor/workflow_in_flight} when it is neither parked nor ended
   * @throws {workflow/step_not_found} when there is no such entry
   * @throws {workflow/not_a_step} when the entry is not a step
   */
  replayFrom(entryId?: string): void {
    if (this.#workflow.isBusy) {
      throw new ActorError(
        "actor",
        "workflow_in_flight",
        "The workflow is running; it can be replayed when it is parked or has ended",
      );
    }
    const target = entryId === undefined ? undefined : targetOf([...this.#stored.history.entries()], entryId);
    if (!this.#activation.record.workflow) return;
    this.#workflow.forget();
    const now = this.#activation.ports.now();
    const restart = new Restart(this.#stored.history, now);
    restart.replayFrom(target);
    this.#resume(restart, target ? undefined : now);
  }

  /** Returns messages to the queue under their old ids, even if it is full. One already replied to gets no second reply. */
  #giveBack(entry: Entry): void {
    if (entry.kind !== "message") return;
    const { queue } = this.#activation;
    const held = heldMessages(entry);
    const completed = completedMessages(entry);
    queue.putBack(held, true);
    queue.putBack(
      completed.map(({ id, name, body, createdAt }) => ({ id, name, body, createdAt })),
      false,
    );
    if (held.length + completed.length === 0) queue.putBack(takenMessages(entry), false);
  }

  #put(entry: Entry): void {
    entry.rev = this.#activation.nextSeq();
    this.#activation.put(KEYS.entry(rowOf(entry)), () => encodeEntry(entry));
  }

  /** `startedAt`, epoch ms: the run begins anew. */
  #resume({ changed, removed, vacant }: Restart, startedAt?: number): void {
    for (const row of vacant) this.#activation.delete(KEYS.entry(row));
    for (const entry of removed) {
      this.#giveBack(entry);
      this.#activation.delete(KEYS.entry(rowOf(entry)));
    }
    for (const entry of changed) this.#put(entry);
    for (const entry of this.#stored.history.entries()) this.#activation.queue.holdAgain(heldMessages(entry));
    const times =
      startedAt === undefined ? runTimes(this.#activation.record.workflow) : { times: [startedAt] as const };
    this.#activation.putRecord({ workflow: { status: "running", ...times } });
    this.#activation.deadlinesChanged();
    this.#activation.holdLease();
    this.#activation.commitOrThrow();
    this.#workflow.restart();
    this.#activation.messagesChanged();
  }
}

/** @throws {workflow/rolling_back} when the workflow is being undone */
function refuseRollback(workflow: WorkflowRecord | undefined, done: string): void {
  if (workflow?.status !== "rolling_back") return;
  const message = `The workflow has failed and is being undone; it can be ${done} when that has ended`;
  throw new ActorError("workflow", "rolling_back", message);
}

function targetOf(entries: readonly Entry[], entryId: string): Entry {
  const target = entries.find((entry) => String(entry.seq) === entryId);
  if (!target || isOfRollback(target))
    throw new ActorError("workflow", "step_not_found", `Workflow step not found: ${entryId}`);
  if (target.kind !== "step") throw new ActorError("workflow", "not_a_step", "Workflow replay target must be a step");
  return target;
}

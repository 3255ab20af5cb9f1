import { ActorError, decodeValue } from "../protocol/index.js";
import { CancelledError, isTerminal, type Entry } from "../workflow/index.js";
import type { ActorActivation } from "./activation.js";
import { KEYS } from "./record.js";
import type { WorkflowHistoryEntry, WorkflowStatus } from "./workflow-status.js";

/** What control needs of the workflow's host. */
export interface ControlledWorkflow {
  readonly isRunning: boolean;
  readonly isBusy: boolean;
  readonly divergence: string | undefined;
  deadlineAt(): number | undefined;
  cancel(reason: Error): void;
  /** Forgets the run in memory: what it was made from has changed. */
  forget(): void;
  restart(): void;
}

/** `c.workflow`: the workflow seen and steered from actions; users expose of it what they like (decision 16). */
export class WorkflowControl {
  readonly #activation: ActorActivation;
  readonly #workflow: ControlledWorkflow;

  constructor(activation: ActorActivation, workflow: ControlledWorkflow) {
    this.#activation = activation;
    this.#workflow = workflow;
  }

  status(): WorkflowStatus {
    const record = this.#activation.record.workflow;
    if (!record) return { status: "none" };
    if (record.status === "completed") return { status: "completed", output: decodeValue(record.value) };
    if (record.status === "failed" || record.status === "rolling_back") {
      const { name, message, metadata } = record.failure.error;
      const error = { name, message, ...(metadata === undefined ? {} : { metadata }) };
      return { status: record.status, error, ...(record.status === "failed" && record.rollbackErrors ? { rollbackErrors: record.rollbackErrors } : {}) };
    }
    if (this.#workflow.divergence !== undefined) {
      return { status: "diverged", error: { name: "HistoryDivergedError", message: this.#workflow.divergence } };
    }
    const wakeAt = this.#workflow.deadlineAt();
    return { status: record.status, ...(wakeAt === undefined ? {} : { wakeAt }) };
  }

  /** All entries, in the order in which their operations were met. */
  history(): WorkflowHistoryEntry[] {
    return [...this.#activation.history.entries()].sort((a, b) => a.seq - b.seq).map(describe);
  }

  /** Ends the workflow as `cancelled`, undoing nothing. Nothing happens if it has ended. */
  cancel(): void {
    const status = this.#activation.record.workflow?.status;
    if (status !== "running" && status !== "rolling_back") return;
    this.#workflow.cancel(new CancelledError());
    this.#activation.commitOrThrow();
  }

  /** Lets a failed workflow try again: failed operations start over, completed ones stay. Nothing happens otherwise. */
  recover(): void {
    if (this.#activation.record.workflow?.status !== "failed") return;
    for (const entry of Array.from(this.#activation.history.entries())) {
      if (entry.status === "failed" || (entry.status === "pending" && entry.kind === "step")) this.#remove(entry);
      else if (entry.location[0] === -1) this.#remove(entry);
    }
    this.#resume();
  }

  /**
   * Runs the workflow again from an entry on, or from its start. Entries from the target on are deleted; if it lies in a
   * loop, that loop starts over. State is not rewound. @throws actor/workflow_in_flight unless it is parked or has ended
   */
  replayFrom(entryId?: string): void {
    if (this.#workflow.isBusy) {
      throw new ActorError("actor", "workflow_in_flight", "The workflow is running; it can be replayed when it is parked or has ended");
    }
    const entries = [...this.#activation.history.entries()].sort((a, b) => a.seq - b.seq);
    const from = entryId === undefined ? 0 : this.#replayStart(entries, entryId);
    for (const entry of entries) if (entry.seq >= from) this.#remove(entry);
    this.#resume();
  }

  #replayStart(entries: readonly Entry[], entryId: string): number {
    const target = entries.find((entry) => String(entry.seq) === entryId);
    if (!target) throw new ActorError("workflow", "step_not_found", `Workflow step not found: ${entryId}`);
    if (target.kind !== "step") throw new ActorError("workflow", "not_a_step", "Workflow replay target must be a step");
    const loops = entries.filter((entry) => entry.kind === "loop" && entry.location.every((segment, index) => target.location[index] === segment));
    return loops[0]?.seq ?? target.seq;
  }

  #remove(entry: Entry): void {
    for (const each of this.#activation.history.removeTree(entry.location)) this.#activation.delete(KEYS.entry(each.seq));
  }

  #resume(): void {
    this.#workflow.forget();
    this.#activation.putRecord({ workflow: { status: "running" } });
    this.#activation.deadlinesChanged();
    this.#activation.holdLease();
    this.#activation.commitOrThrow();
    this.#workflow.restart();
  }
}

function describe(entry: Entry): WorkflowHistoryEntry {
  const { failure, value, dueAt } = entry;
  return {
    id: String(entry.seq),
    location: entry.location,
    kind: entry.kind,
    status: entry.status,
    attempts: entry.attempts,
    interrupted: entry.interrupted,
    ...(dueAt === undefined || isTerminal(entry) ? {} : { dueAt }),
    ...(value === undefined ? {} : { value: decodeValue(value) }),
    ...(failure ? { error: { kind: failure.kind, name: failure.error.name, message: failure.error.message } } : {}),
  };
}

import { ActorError, decodeValue, ownField } from "../protocol/index.js";
import { CancelledError, encodeEntry, heldMessages, isTerminal, type Entry, type StoredMessage } from "../workflow/index.js";
import type { ActorActivation } from "./activation.js";
import { KEYS, type WorkflowRecord } from "./record.js";
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

/** The actor's queue, as far as it knows what the workflow holds. */
interface HeldMessages {
  putBack(messages: readonly StoredMessage[], held: boolean): void;
  holdAgain(messages: readonly StoredMessage[]): void;
}
type ControlledActor = ActorActivation & { readonly queue: HeldMessages };

/** `c.workflow`: the workflow seen and steered from actions; users expose of it what they like (decision 16). */
export class WorkflowControl {
  readonly #activation: ControlledActor;
  readonly #workflow: ControlledWorkflow;

  constructor(activation: ControlledActor, workflow: ControlledWorkflow) {
    this.#activation = activation;
    this.#workflow = workflow;
  }

  status(): WorkflowStatus {
    const record = this.#activation.record.workflow;
    if (!record) return { status: "none" };
    if (record.status === "completed") return { status: "completed", output: decodeValue(record.value) };
    if (this.#workflow.divergence !== undefined) {
      return { status: "diverged", error: { name: "HistoryDivergedError", message: this.#workflow.divergence } };
    }
    if (record.status === "failed" || record.status === "rolling_back") return failedStatus(record);
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

  /**
   * Lets a failed workflow try again: the operations that failed it start over, all others stay, also those whose
   * failure the code has handled. Nothing happens if it has not failed.
   */
  recover(): void {
    if (this.#activation.record.workflow?.status !== "failed") return;
    this.#workflow.forget();
    const { history } = this.#activation;
    for (const entry of this.#entries()) {
      if (isOfRollback(entry)) this.#remove(entry);
      else if (entry.status === "completed" || history.isPassed(entry)) continue;
      else if (entry.kind === "join" || entry.kind === "race") this.#reopen(entry);
      else if (entry.status === "failed" || entry.kind === "step") this.#remove(entry);
    }
    this.#resume();
  }

  /**
   * Runs the workflow again from an entry on, or from its start. Entries from the target on are deleted; if it lies in a
   * loop, that loop starts over, and a join or race that it lies in is open again. State is not rewound.
   * @throws actor/workflow_in_flight unless it is parked or has ended
   */
  replayFrom(entryId?: string): void {
    if (this.#workflow.isBusy) {
      throw new ActorError("actor", "workflow_in_flight", "The workflow is running; it can be replayed when it is parked or has ended");
    }
    const entries = this.#entries();
    const target = entryId === undefined ? undefined : targetOf(entries, entryId);
    this.#workflow.forget();
    const around = target ? entries.filter((entry) => isAround(entry, target)) : [];
    const from = around.find((entry) => entry.kind === "loop")?.seq ?? target?.seq ?? 0;
    for (const entry of entries) if (entry.seq >= from || isOfRollback(entry)) this.#remove(entry);
    for (const entry of around) if (entry.seq < from) this.#reopen(entry);
    this.#resume();
  }

  #entries(): Entry[] {
    return [...this.#activation.history.entries()].sort((a, b) => a.seq - b.seq);
  }

  #remove(entry: Entry): void {
    for (const each of this.#activation.history.removeTree(entry.location)) {
      this.#activation.queue.putBack(heldMessages(each), true);
      this.#activation.delete(KEYS.entry(each.seq));
    }
  }

  /** A join or race runs its branches again; what they recorded still answers. */
  #reopen(entry: Entry): void {
    const { branches } = entry.data as { branches: readonly string[] };
    entry.status = "pending";
    entry.data = { branches, results: {} };
    delete entry.value;
    delete entry.failure;
    delete entry.completedSeq;
    entry.rev = this.#activation.nextSeq();
    this.#activation.history.add(entry);
    this.#activation.put(KEYS.entry(entry.seq), () => encodeEntry(entry));
  }

  #resume(): void {
    for (const entry of this.#entries()) this.#activation.queue.holdAgain(heldMessages(entry));
    this.#activation.putRecord({ workflow: { status: "running" } });
    this.#activation.deadlinesChanged();
    this.#activation.holdLease();
    this.#activation.commitOrThrow();
    this.#workflow.restart();
    this.#activation.messagesChanged();
  }
}

function failedStatus(record: WorkflowRecord & { readonly status: "failed" | "rolling_back" }): WorkflowStatus {
  const { name, message, metadata } = record.failure.error;
  const rollbackErrors = record.status === "failed" ? ownField(record, "rollbackErrors") : undefined;
  const all = rollbackErrors ? { ...(metadata as object | undefined), rollbackErrors } : metadata;
  return { status: record.status, error: { name, message, ...(all === undefined ? {} : { metadata: all }) }, ...(rollbackErrors ? { rollbackErrors } : {}) };
}

/** What rollback handlers have recorded stands below a number that no name can be. */
function isOfRollback(entry: Entry): boolean {
  return typeof entry.location[0] === "number";
}

function targetOf(entries: readonly Entry[], entryId: string): Entry {
  const target = entries.find((entry) => String(entry.seq) === entryId);
  if (!target || isOfRollback(target)) throw new ActorError("workflow", "step_not_found", `Workflow step not found: ${entryId}`);
  if (target.kind !== "step") throw new ActorError("workflow", "not_a_step", "Workflow replay target must be a step");
  return target;
}

/** True for a loop, join or race that the target lies in. */
function isAround(entry: Entry, target: Entry): boolean {
  const holds = entry.kind === "loop" || entry.kind === "join" || entry.kind === "race";
  return holds && entry.location.length < target.location.length && entry.location.every((segment, index) => target.location[index] === segment);
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

import { ActorError } from "../../protocol/index.js";
import {
  CancelledError,
  Restart,
  completedMessages,
  encodeEntry,
  heldMessages,
  isOfRollback,
  ownFailure,
  takenMessages,
  type Entry,
  type History,
} from "../../workflow/index.js";
import type { PartActor } from "../activation/part.js";
import { describeWorkflow, isInFlight } from "../activation/workflow-outcome.js";
import { KEYS } from "../storage/record.js";
import type { WorkflowHistoryEntry, WorkflowStatus } from "../api/workflow-status.js";
import { describeHistory } from "./workflow-view.js";

/** What control needs of the workflow's driver. */
export interface ControlledWorkflow {
  readonly isRunning: boolean;
  readonly isBusy: boolean;
  readonly divergence: string | undefined;
  deadlineAt(): number | undefined;
  /** True for a wait that has ended in memory, and that no commit has marked yet. */
  hasEnded(entry: Entry): boolean;
  cancel(reason: Error): void;
  /** Forgets the run in memory: what it was made from has changed. */
  forget(): void;
  restart(): void;
  /** Looks again at code that did not match its history. */
  recheck(): void;
}

/** `c.workflow`: the workflow seen and steered from actions; users expose of it what they like (RIVET-23). */
export class WorkflowControl {
  readonly #activation: PartActor;
  readonly #history: History;
  readonly #workflow: ControlledWorkflow;

  constructor(activation: PartActor, history: History, workflow: ControlledWorkflow) {
    this.#activation = activation;
    this.#history = history;
    this.#workflow = workflow;
  }

  status(): WorkflowStatus {
    return describeWorkflow(this.#activation.record.workflow, this.#workflow.divergence, () =>
      this.#workflow.deadlineAt(),
    );
  }

  /** All entries, in the order in which their operations were met. */
  history(): WorkflowHistoryEntry[] {
    const isOver = !isInFlight(this.#activation.record.workflow);
    return describeHistory({ history: this.#history, isOver, hasEnded: (entry) => this.#workflow.hasEnded(entry) });
  }

  /** Ends the workflow as `cancelled`, undoing nothing. Nothing happens if it has ended. */
  cancel(): void {
    if (!isInFlight(this.#activation.record.workflow)) return;
    this.#workflow.cancel(new CancelledError());
    this.#activation.commitOrThrow();
  }

  /**
   * Lets a failed workflow try again. The operation whose error ended it starts over, and what was recorded after its
   * failure goes: messages that were taken there come back. Steps that were undone start over, too; everything else stays.
   * One whose code does not match its history is looked at again at once. Nothing happens in any other state.
   */
  recover(): void {
    const { workflow } = this.#activation.record;
    if (this.#workflow.divergence !== undefined) return this.#workflow.recheck();
    if (workflow?.status !== "failed") return;
    this.#workflow.forget();
    const restart = new Restart(this.#history);
    restart.recover(ownFailure(workflow.failure));
    this.#resume(restart);
  }

  /**
   * Runs the workflow again from a step on, or from its start. That entry and those behind it are deleted; if it lies in a
   * loop, that loop starts over, and a join or race that it lies in is open again. Messages that were taken behind it come
   * back, and steps before it that were undone start over. State is not rewound. Without a workflow nothing happens.
   * @throws actor/workflow_in_flight unless it is parked or has ended
   */
  replayFrom(entryId?: string): void {
    if (this.#workflow.isBusy) {
      throw new ActorError(
        "actor",
        "workflow_in_flight",
        "The workflow is running; it can be replayed when it is parked or has ended",
      );
    }
    const target = entryId === undefined ? undefined : targetOf([...this.#history.entries()], entryId);
    // There is no workflow.
    if (!this.#activation.record.workflow) return;
    this.#workflow.forget();
    const restart = new Restart(this.#history);
    restart.replayFrom(target);
    this.#resume(restart);
  }

  /** Under their old ids, however full the queue is. One that was replied to comes again, and is replied to no more. */
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

  #resume({ changed, removed }: Restart): void {
    for (const entry of removed) {
      this.#giveBack(entry);
      this.#activation.delete(KEYS.entry(entry.seq));
    }
    for (const entry of changed) {
      entry.rev = this.#activation.nextSeq();
      this.#activation.put(KEYS.entry(entry.seq), () => encodeEntry(entry));
    }
    for (const entry of this.#history.entries()) this.#activation.queue.holdAgain(heldMessages(entry));
    this.#activation.putRecord({ workflow: { status: "running" } });
    this.#activation.deadlinesChanged();
    this.#activation.holdLease();
    this.#activation.commitOrThrow();
    this.#workflow.restart();
    this.#activation.messagesChanged();
  }
}

function targetOf(entries: readonly Entry[], entryId: string): Entry {
  const target = entries.find((entry) => String(entry.seq) === entryId);
  if (!target || isOfRollback(target))
    throw new ActorError("workflow", "step_not_found", `Workflow step not found: ${entryId}`);
  if (target.kind !== "step") throw new ActorError("workflow", "not_a_step", "Workflow replay target must be a step");
  return target;
}

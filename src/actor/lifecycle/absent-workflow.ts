/**
 * Stands in for the part `workflow` in a Worker without the workflow engine.
 *
 * It matters for an actor whose earlier deploy left a workflow in flight: nothing of that is deleted, messages are accepted
 * for it, and nobody else gets the messages it holds. Once the code is back, the next re-check continues the workflow.
 */
import { ActorError, decodeValue, own } from "../../protocol/index.js";
import type { ActivePart, MessageTaker, PartActor } from "../activation/part.js";
import type { TakenMessage } from "../activation/part-members.js";
import { Recheck } from "../activation/recheck.js";
import { describeWorkflow, isInFlight, mayRun, runTimes } from "../activation/workflow-outcome.js";
import type {
  WorkflowCancelOptions,
  WorkflowDryRun,
  WorkflowHistoryEntry,
  WorkflowStatus,
} from "../api/workflow-status.js";
import { KEYS } from "../storage/record.js";

const DEPLOY = 'deploy a Worker that imports `workflow` from "perdure/workflow"';

type CancelOptions = WorkflowCancelOptions & Partial<WorkflowDryRun>;

export class AbsentWorkflow implements ActivePart, MessageTaker {
  readonly #actor: PartActor;
  readonly #recheck: Recheck;
  readonly members = { workflow: (): object => this.#view };
  readonly messages: MessageTaker = this;
  readonly #view = Object.freeze({
    status: () => this.#status(),
    history: () => this.#history(),
    cancel: (options?: CancelOptions) => this.#cancel(options),
    pause: () => this.#refuse(),
    resume: () => this.#refuse(),
    skip: () => this.#refuse(),
    retry: () => this.#refuse(),
    recover: () => this.#refuse(),
    replayFrom: (entryId?: string) => this.#replayFrom(entryId),
  });

  constructor(actor: PartActor) {
    this.#actor = actor;
    this.#recheck = new Recheck(actor);
  }

  get #isInFlight(): boolean {
    return isInFlight(this.#actor.record.workflow);
  }

  get #mayRun(): boolean {
    return mayRun(this.#actor.record.workflow);
  }

  /** The deadlines of its entries cannot be read here; the re-check takes care of it. */
  wakeAt(): number | undefined {
    return this.#mayRun ? Number.POSITIVE_INFINITY : undefined;
  }

  /** Sets the re-check at the first start, whatever caused it. */
  load(): void {
    if (this.#mayRun && !this.#recheck.isSet) this.#look();
  }

  begin(): void {
    if (this.#mayRun) this.#look();
    else this.#actor.workChanged();
  }

  async advance(): Promise<void> {
    const { lease, isReady, lost, shutdown } = this.#actor;
    if (this.#mayRun && lease && isReady && !lost && !shutdown.isBegun) this.#look();
    this.#actor.settle();
  }

  #look(): void {
    if (this.#recheck.isAhead) return;
    const { name } = this.#actor.record;
    const message =
      `The actor "${name}" has a workflow in flight, but its Worker no longer has one. ` +
      `It waits: ${DEPLOY}, or end it with c.workflow.cancel()`;
    this.#recheck.looks();
    if (this.#recheck.set(message)) {
      this.#actor.ports.log.error({ msg: message, code: "workflow/history_diverged", location: "(root)" });
    }
  }

  // ---- messages ----------------------------------------------------------------------------------------------------

  take(): boolean {
    return false;
  }

  expect(): void {}

  offer(): boolean {
    return false;
  }

  /** Reads only the message rows; the other rows belong to the engine. */
  *taken(): IterableIterator<TakenMessage> {
    for (const [, bytes] of this.#actor.storedRows(KEYS.entries)) {
      const { k: kind, s: status, v: value, x: data } = own(decodeValue(bytes) as StoredReceive);
      if (kind !== "message" || status !== "completed" || value === undefined) continue;
      const { held = false, completed = [] } = own(data);
      for (const { id, createdAt } of decodeValue(value) as TakenMessage[]) {
        yield { id, createdAt, isHeld: held && !completed.includes(id) };
      }
    }
  }

  // ---- c.workflow --------------------------------------------------------------------------------------------------

  #status(): WorkflowStatus {
    const divergence = this.#isInFlight ? this.#recheck.message : undefined;
    return describeWorkflow(this.#actor.record.workflow, divergence, () => undefined);
  }

  #history(): WorkflowHistoryEntry[] {
    this.#refuse();
    return [];
  }

  #cancel(options?: CancelOptions): void {
    if (!this.#isInFlight) return;
    // Handlers are in the code that is not there, and what tells of the history is, too.
    const { rollback, dryRun } = own(options);
    if (rollback || dryRun) this.#refuse();
    this.#recheck.clear();
    const times = runTimes(this.#actor.record.workflow, this.#actor.ports.now());
    this.#actor.putRecord({ workflow: { status: "cancelled", ...times } });
    this.#actor.deadlinesChanged();
    this.#actor.queue.releaseHeld();
    this.#actor.commitOrThrow();
    this.#actor.messagesChanged();
  }

  #replayFrom(entryId: string | undefined): void {
    this.#refuse();
    if (entryId !== undefined) {
      throw new ActorError("workflow", "step_not_found", `Workflow step not found: ${entryId}`);
    }
  }

  /** @throws {workflow/not_deployed} when the actor has a workflow */
  #refuse(): void {
    if (!this.#actor.record.workflow) return;
    throw new ActorError("workflow", "not_deployed", `This Worker cannot read the actor's workflow: ${DEPLOY}`);
  }
}

/** The fields of an entry's row that describe received messages. */
interface StoredReceive {
  readonly k: string;
  readonly s: string;
  readonly v?: Uint8Array;
  readonly x?: { readonly held?: boolean; readonly completed?: readonly number[] };
}

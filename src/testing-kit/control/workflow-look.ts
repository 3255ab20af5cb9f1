import type { WorkflowHistoryEntry, WorkflowStatus } from "../../actor/index.js";
import { checkStepPath, matchesStep, type StepPath } from "../doubles/step-path.js";
import type { StoredActor } from "./stored-actor.js";

/** An operation of a workflow, as it is stored. */
export interface HistoryEntry extends Omit<WorkflowHistoryEntry, "value"> {
  /** The operation's name. */
  readonly name: string;
  /** What it gave; of a receive, the messages that it took. */
  readonly result?: unknown;
}

/** A workflow as it is stored: how it stands, and what it has recorded. */
export interface WorkflowLook extends WorkflowStatus {
  /** All operations, in the order in which they began. */
  readonly entries: readonly HistoryEntry[];
  /**
   * Its steps: all, those of a name, or those of a path in which `"*"` stands for any one segment.
   *
   * @example
   *     expect(world.history(order).steps("charge")).toMatchObject([{ attempts: 3, result: { id: "ch_1" } }]);
   * @throws TypeError when it is neither a name nor a path
   */
  steps(step?: StepPath): HistoryEntry[];
}

export function lookAtWorkflow(stored: StoredActor): WorkflowLook {
  const entries = stored.workflowHistory().map(toEntry);
  return {
    ...stored.workflowStatus(),
    entries,
    steps: (step) => {
      const path = step === undefined ? undefined : checkStepPath(step);
      return entries.filter(
        ({ kind, location }) => kind === "step" && (path === undefined || matchesStep(path, location)),
      );
    },
  };
}

function toEntry({ value, ...entry }: WorkflowHistoryEntry): HistoryEntry {
  const name = entry.location.findLast((segment) => typeof segment === "string") ?? "";
  return { ...entry, name, ...(value !== undefined && { result: value }) };
}

import { ActorError, own } from "../../protocol/index.js";
import type { WorkflowHistoryEntry, WorkflowStatus } from "../api/workflow-status.js";
import type { InspectedActor } from "./inspected-actor.js";
import { pageOf, type ListPage } from "./paging.js";
import { workflowStatusOf } from "./summary.js";

/** An entry without its value, which may be large. */
export type InspectedEntry = Omit<WorkflowHistoryEntry, "value"> & { readonly hasValue: boolean };

export interface InspectedHistory extends ListPage<InspectedEntry> {
  readonly status: WorkflowStatus;
  /** The number of all entries. */
  readonly size: number;
}

/** A page of the history, in the order in which the operations began. */
export function historyOf(
  actor: InspectedActor,
  asked: { readonly from?: string; readonly limit?: number },
): InspectedHistory {
  const entries = entriesOf(actor);
  const { items, ...next } = pageOf(entries, ({ id }) => Number(id), asked);
  return { status: workflowStatusOf(actor), size: entries.length, items: items.map(withoutValue), ...next };
}

/** One entry with its value. @throws {workflow/step_not_found} when there is no such entry */
export function entryOf(actor: InspectedActor, id: string): WorkflowHistoryEntry {
  const found = entriesOf(actor).find((entry) => entry.id === id);
  if (!found)
    throw new ActorError("workflow", "step_not_found", `The history has no entry ${String(id).slice(0, 100)}`);
  return found;
}

/** @throws {workflow/not_deployed} when the actor has a workflow and this Worker cannot read it */
function entriesOf({ record, rows, workflow }: InspectedActor): WorkflowHistoryEntry[] {
  if (!record.workflow) return [];
  if (workflow) return workflow.history(record, (prefix) => rows.list(prefix));
  throw new ActorError(
    "workflow",
    "not_deployed",
    'This Worker cannot read the actor\'s workflow: deploy one that imports `workflow` from "perdure/workflow"',
  );
}

function withoutValue(entry: WorkflowHistoryEntry): InspectedEntry {
  const { value, ...rest } = own(entry);
  return { ...rest, hasValue: value !== undefined };
}

import { ActorError, own } from "../../protocol/index.js";
import type { StoredWorkflow } from "../activation/part.js";
import type { WorkflowHistoryEntry, WorkflowStatus } from "../api/workflow-status.js";
import type { InspectedActor } from "./inspected-actor.js";
import { limitOf, numberFrom, type ListPage } from "./paging.js";
import { workflowStatusOf } from "./workflow-now.js";

/** A page of entries, which have no values. */
export interface InspectedHistory extends ListPage<WorkflowHistoryEntry> {
  readonly status: WorkflowStatus;
}

/** A page of the history, in the order in which the operations began. */
export async function historyOf(
  actor: InspectedActor,
  asked: { readonly from?: string; readonly limit?: number },
): Promise<InspectedHistory> {
  const [from, limit] = [String(numberFrom(asked)), limitOf(asked)];
  const found = workflowOf(actor)?.history({ from, limit: limit + 1, values: false }) ?? [];
  const next = found[limit]?.id;
  return {
    status: await workflowStatusOf(actor),
    items: found.slice(0, limit),
    ...(next !== undefined && { next }),
  };
}

/** One entry with its value. @throws {workflow/step_not_found} when there is no such entry */
export function entryOf(actor: InspectedActor, id: string): WorkflowHistoryEntry {
  const [found] = /^\d{1,15}$/.test(id) ? (workflowOf(actor)?.history({ from: id, limit: 1 }) ?? []) : [];
  if (found?.id === id) return own(found);
  throw new ActorError("workflow", "step_not_found", `The history has no entry ${id.slice(0, 100)}`);
}

/** @throws {workflow/not_deployed} when the actor has a workflow and this Worker cannot read it */
function workflowOf({ record, workflow }: InspectedActor): StoredWorkflow | undefined {
  if (workflow || !record.workflow) return workflow;
  throw new ActorError(
    "workflow",
    "not_deployed",
    'This Worker cannot read the actor\'s workflow: deploy one that imports `workflow` from "perdure/workflow"',
  );
}

import { decodeRow } from "../../protocol/index.js";
import { describeWorkflow, isInFlight } from "../activation/workflow-outcome.js";
import type { WorkflowParkedOn, WorkflowStatus } from "../api/workflow-status.js";
import { DEADLINE_IDS, type RecheckRow } from "../storage/deadlines.js";
import { isFarAhead } from "../storage/next-wake.js";
import { KEYS } from "../storage/record.js";
import type { InspectedActor } from "./inspected-actor.js";

/**
 * How the workflow stands, as it is stored. Only a run in memory knows which step runs: what it waits for is then told by it, as
 * far as it stands where storage does.
 */
export async function workflowStatusOf(actor: InspectedActor): Promise<WorkflowStatus> {
  const { record, rows } = actor;
  const recheck = rows.get(KEYS.deadline(DEADLINE_IDS.recheck));
  const row = recheck && (decodeRow(recheck) as RecheckRow);
  const status = describeWorkflow(record.workflow, row && String(row.message), () => undefined);
  if (!isInFlight(record.workflow) || row) return status;
  const parkedOn = inMemory(actor, status) ?? (await stored(actor));
  return { ...status, ...(parkedOn && { parkedOn }) };
}

/** Undefined if no run is in memory. */
function inMemory({ activation }: InspectedActor, { status }: WorkflowStatus): WorkflowParkedOn | undefined {
  if (!activation?.isReady) return undefined;
  const control = activation.parts.members.get("workflow")?.() as { status(): WorkflowStatus } | undefined;
  const now = control?.status();
  return now?.status === status ? now.parkedOn : undefined;
}

async function stored({ rows, ports, workflow }: InspectedActor): Promise<WorkflowParkedOn | undefined> {
  const now = ports.now();
  const hasLease = rows.get(KEYS.lease) !== undefined;
  // Rows are read before: a start may begin meanwhile, and end what reads them.
  const armedAt = await rows.getAlarm();
  // What only waits for a message has an alarm far ahead: a near one is that of work that was cut off.
  return workflow?.parkedOn(hasLease || (armedAt !== null && !isFarAhead(armedAt, now)), now);
}

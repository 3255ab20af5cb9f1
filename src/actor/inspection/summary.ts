import { tabsOf } from "../definition/inspector.js";
import type { WorkflowStatus } from "../api/workflow-status.js";
import { DEADLINE_IDS } from "../storage/deadlines.js";
import { KEYS } from "../storage/record.js";
import { openSockets } from "./connections.js";
import type { InspectedActor } from "./inspected-actor.js";
import { tableNames } from "./tables.js";
import { workflowStatusOf } from "./workflow-now.js";

export interface InspectedSummary {
  readonly actorId: string;
  readonly name: string;
  readonly key: readonly string[];
  /** Epoch ms. */
  readonly createdAt: number;
  /** The object's clock, epoch ms. */
  readonly now: number;
  readonly storageFormat: number;
  /** Whether it is in memory and serves. */
  readonly isAwake: boolean;
  /** False if the registry no longer has an actor of this name. */
  readonly isRegistered: boolean;
  readonly actions: readonly string[];
  /** Bytes of the stored state; absent if there is none. */
  readonly stateBytes?: number;
  readonly workflow: WorkflowStatus;
  readonly queueSize: number;
  readonly connections: number;
  readonly schedules: number;
  readonly tables: number;
  /** Whether its code has `c.db`. */
  readonly isDatabaseEnabled: boolean;
  /** The tabs that its definition hides from inspectors, by RivetKit's names. */
  readonly hiddenTabs: readonly string[];
}

export async function summaryOf(actor: InspectedActor): Promise<InspectedSummary> {
  const { record, rows, definition } = actor;
  const state = rows.get(KEYS.state);
  const schedules = [DEADLINE_IDS.schedules, DEADLINE_IDS.jobs].map((kind) => countOf(actor, KEYS.deadline(kind)));
  const seen = {
    actorId: record.actorId,
    name: record.name,
    key: record.key,
    createdAt: record.createdAt,
    now: actor.ports.now(),
    storageFormat: record.format,
    isRegistered: definition !== undefined,
    actions: [...(definition?.actions.keys() ?? [])],
    ...(state && { stateBytes: state.byteLength }),
    isAwake: actor.activation !== undefined,
    queueSize: countOf(actor, KEYS.messages),
    connections: openSockets(actor).length,
    schedules: schedules.reduce((sum, count) => sum + count, 0),
    tables: tableNames(actor).length,
    isDatabaseEnabled: definition?.parts.some(({ part }) => part.name === "db") ?? false,
    hiddenTabs: tabsOf(definition?.config.inspector).flatMap(({ id, hidden }) => (hidden === true ? [id] : [])),
  };
  // Last, as it may wait: a start that begins meanwhile ends what reads the rows.
  return { ...seen, workflow: await workflowStatusOf(actor) };
}

function countOf({ rows }: InspectedActor, prefix: string): number {
  let count = 0;
  for (const _ of rows.list(prefix)) count += 1;
  return count;
}

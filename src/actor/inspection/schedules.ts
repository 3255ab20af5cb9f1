import { decodeRow, decodeValue } from "../../protocol/index.js";
import { DEADLINE_IDS, type Cadence, type CronJob, type ScheduleRow } from "../storage/deadlines.js";
import { KEYS } from "../storage/record.js";
import type { InspectedActor } from "./inspected-actor.js";

/** An action that will be called. Times in epoch ms. */
export interface InspectedSchedule {
  /** The id of a scheduled action, the name of a recurring job. */
  readonly id: string;
  readonly at: number;
  readonly action: string;
  readonly args: unknown;
  /** For a recurring job. */
  readonly cadence?: Cadence;
}

/** Scheduled actions and recurring jobs, the next first. */
export function schedulesOf({ rows }: InspectedActor): { readonly items: readonly InspectedSchedule[] } {
  const items: InspectedSchedule[] = [];
  for (const kind of [DEADLINE_IDS.schedules, DEADLINE_IDS.jobs]) {
    const prefix = KEYS.deadline(kind);
    for (const [key, bytes] of rows.list(prefix)) {
      const row = decodeRow(bytes, 2) as ScheduleRow & Partial<Pick<CronJob, "cadence">>;
      const { at, action, args, cadence } = row;
      items.push({
        id: key.slice(prefix.length),
        at,
        action,
        args: decodeValue(args),
        ...(cadence && { cadence: { ...cadence } }),
      });
    }
  }
  return { items: items.sort((a, b) => a.at - b.at) };
}

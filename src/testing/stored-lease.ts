import { DEADLINE_IDS, isResting, KEYS, mayRun, type ActorRecord, type DeadlineRow } from "../actor/index.js";
import { decodeValue } from "../protocol/index.js";
import { decodeEntry, History } from "../workflow/index.js";

/** True when a start that finds these rows and this alarm takes it that work was cut off: the lease is held. */
export function holdsLease(rows: ReadonlyMap<string, Uint8Array>, alarmAt: number | null, now: number): boolean {
  return rows.has(KEYS.lease) || !isResting(alarmAt, deadlinesIn(rows), now);
}

/** All that needs a wake, but for the lease: epoch ms each, infinite for a workflow that waits for a message alone. */
export function deadlinesIn(rows: ReadonlyMap<string, Uint8Array>): number[] {
  const record = rows.get(KEYS.actor);
  const deadlines = under(rows, KEYS.deadlines).map(([, bytes]) => (decodeValue(bytes) as DeadlineRow).at);
  if (!mayRun(record && (decodeValue(record) as ActorRecord).workflow)) return deadlines;
  const entries = under(rows, KEYS.entries).map(([seq, bytes]) => decodeEntry(Number(seq), bytes));
  // Without its code the workflow waits for the re-check alone.
  return [
    ...deadlines,
    rows.has(KEYS.deadline(DEADLINE_IDS.recheck)) ? Infinity : (new History(entries).earliestDueAt() ?? Infinity),
  ];
}

function under(rows: ReadonlyMap<string, Uint8Array>, prefix: string): [rest: string, bytes: Uint8Array][] {
  return [...rows].filter(([key]) => key.startsWith(prefix)).map(([key, bytes]) => [key.slice(prefix.length), bytes]);
}

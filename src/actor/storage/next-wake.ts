import { BEYOND_LEASES_MS } from "./lease.js";

const YEAR_MS = 365 * 24 * 3_600_000;

/** What can need a wake: epoch ms each, infinite for a wait that only a message ends. */
export interface WakeTimes {
  /** Of entries and of the table `d/`. */
  readonly stored: readonly number[];
  readonly lease: number | undefined;
}

/**
 * The one function that says when the object must wake (ALARM-1): the earliest deadline, or null. While the lease is held,
 * what is due already is in hand and the lease guards it; otherwise it wants a wake at once (ALARM-8). `armedAt`: the alarm as it
 * stands; one that is far ahead need not be moved for a deadline that is farther still.
 */
export function nextWakeAt({ stored, lease }: WakeTimes, now: number, armedAt: number | null = null): number | null {
  if (lease !== undefined) return clamp(Math.min(lease, earliestOf(stored.filter((at) => at > now))), now);
  if (stored.length === 0) return null;
  const earliest = earliestOf(stored);
  return armedAt !== null && armedAt > now + YEAR_MS / 2 && earliest > now + YEAR_MS ? armedAt : clamp(earliest, now);
}

/** True for the alarm of an actor that rests: none, or exactly its earliest deadline, or far ahead of everything. Any other guards work. */
export function isResting(armedAt: number | null, stored: readonly number[], now: number): boolean {
  if (stored.length === 0 || armedAt === null) return stored.length === 0 && armedAt === null;
  const earliest = earliestOf(stored);
  return armedAt === clamp(earliest, now) || (armedAt > now + BEYOND_LEASES_MS && armedAt < earliest);
}

/** However many there are; infinite without any. */
function earliestOf(times: readonly number[]): number {
  return times.reduce((earliest, at) => Math.min(earliest, at), Number.POSITIVE_INFINITY);
}

/**
 * The platform takes whole ms, later than the epoch and not too far away; the table keeps the truth (ALARM-7). It would cut a
 * fraction off, and the alarm would come before its deadline, find nothing due, and come again at once.
 */
function clamp(at: number, now: number): number {
  return Math.ceil(Math.min(Math.max(at, 1), now + YEAR_MS));
}

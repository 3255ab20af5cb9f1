import { BEYOND_LEASES_MS } from "./lease.js";

const YEAR_MS = 365 * 24 * 3_600_000;

/** The times that can need a wake, epoch ms; infinite for a wait that only a message ends. */
export interface WakeTimes {
  /** Deadlines of workflow entries and of the table `d/`. */
  readonly stored: readonly number[];
  readonly lease: number | undefined;
}

/**
 * Computes when the object must wake (ALARM-1): at the earliest deadline; null for never. While the lease is held, work
 * that is already due is being done and the lease guards it; otherwise it needs a wake at once (ALARM-8). `farAt` is
 * the alarm now, or before the lease: one that is far ahead stays, or comes back, for a deadline that is further still.
 */
export function nextWakeAt({ stored, lease }: WakeTimes, now: number, farAt: number | null = null): number | null {
  if (lease !== undefined) return clamp(Math.min(lease, earliestOf(stored.filter((at) => at > now))), now);
  if (stored.length === 0) return null;
  const earliest = earliestOf(stored);
  const isKept = farAt !== null && farAt > now + YEAR_MS / 2 && earliest > Math.max(farAt, now + YEAR_MS);
  return isKept ? farAt : clamp(earliest, now);
}

/**
 * True for the alarm of an actor at rest: none, exactly its earliest deadline, or far ahead of any lease. Every other
 * alarm guards work (ALARM-13).
 */
export function isResting(armedAt: number | null, stored: readonly number[], now: number): boolean {
  if (stored.length === 0 || armedAt === null) return stored.length === 0 && armedAt === null;
  const earliest = earliestOf(stored);
  return armedAt === clamp(earliest, now) || (armedAt > now + BEYOND_LEASES_MS && armedAt < earliest);
}

/**
 * True for an alarm that can be no lease, and no retry of a start that failed: it is that of an actor at rest, whatever
 * its deadlines are.
 */
export function isFarAhead(armedAt: number | null, now: number): armedAt is number {
  return armedAt !== null && armedAt > now + BEYOND_LEASES_MS;
}

/** Infinite for an empty array. Not `Math.min(...times)`: a large array would overflow the stack. */
function earliestOf(times: readonly number[]): number {
  return times.reduce((earliest, at) => Math.min(earliest, at), Number.POSITIVE_INFINITY);
}

/**
 * The platform takes whole ms, after the epoch and not too far ahead; the table keeps the real time (ALARM-7). It would
 * cut off a fraction, so that the alarm comes before its deadline, finds nothing due and is set again at once.
 */
function clamp(at: number, now: number): number {
  return Math.ceil(Math.min(Math.max(at, 1), now + YEAR_MS));
}

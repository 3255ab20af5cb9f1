const YEAR_MS = 365 * 24 * 3_600_000;

/** What can need a wake: epoch ms each. */
export interface Deadlines {
  /** Of entries and of the table `d/`. */
  readonly stored: Iterable<number>;
  readonly lease: number | undefined;
}

/**
 * The one function that says when the object must wake (D1): the earliest deadline, or null. While the lease is held,
 * what is due already is in hand and the lease guards it; otherwise it wants a wake at once (D9).
 */
export function nextWakeAt(deadlines: Deadlines, now: number): number | null {
  let earliest = deadlines.lease ?? Number.POSITIVE_INFINITY;
  for (const at of deadlines.stored) {
    if (at < earliest && (at > now || deadlines.lease === undefined)) earliest = at;
  }
  return earliest === Number.POSITIVE_INFINITY ? null : clamp(earliest, now);
}

/**
 * The platform takes whole ms, later than the epoch and not too far away; the table keeps the truth (D8). It would cut a
 * fraction off, and the alarm would come before its deadline, find nothing due, and come again at once.
 */
function clamp(at: number, now: number): number {
  return Math.ceil(Math.min(Math.max(at, 1), now + YEAR_MS));
}

/** How delays grow. */
export interface Backoff {
  /** The delay after the first failure. */
  readonly firstMs: number;
  /** The longest; without it there is none. */
  readonly maxMs?: number;
}

/** More would leave what a number can hold, and 0 · ∞ is no delay. */
const MAX_DOUBLINGS = 50;

/**
 * The delay after so many failures in a row: `firstMs · 2^(failures - 1)`, at most `maxMs`. `chance`, from 0 up to 1, takes off up to
 * half of it, so that callers who failed together do not come back together, and none comes later than it says.
 */
export function backoffMs(failures: number, { firstMs, maxMs = Infinity }: Backoff, chance = 0): number {
  return Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, MAX_DOUBLINGS)) * (1 - chance / 2);
}

/** An exponential backoff. */
export interface Backoff {
  /** The delay after the first failure. */
  readonly firstMs: number;
  /** The longest delay; unlimited if omitted. */
  readonly maxMs?: number;
}

/** Keeps the power finite: 0 · ∞ would be NaN. */
const MAX_DOUBLINGS = 50;

/**
 * The delay after `failures` consecutive failures: `firstMs · 2^(failures - 1)`, at most `maxMs`. `chance`, from 0 up to 1, is
 * the jitter: it subtracts up to half, so that callers that failed together do not retry together.
 */
export function backoffMs(failures: number, { firstMs, maxMs = Infinity }: Backoff, chance = 0): number {
  return Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, MAX_DOUBLINGS)) * (1 - chance / 2);
}

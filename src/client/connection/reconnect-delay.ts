import { backoffMs } from "../../protocol/page.js";

const BACKOFF = { firstMs: 250, maxMs: 30_000 };

/**
 * The delay after this many failures in a row: 250 ms · 2ⁿ, at most 30 s, minus up to half of it as jitter.
 */
export function reconnectDelayMs(failures: number, random: () => number): number {
  return backoffMs(failures, BACKOFF, random());
}

import { backoffMs } from "../../protocol/index.js";

const BACKOFF = { firstMs: 250, maxMs: 30_000 };

/**
 * How long a connection waits after this many failures in a row: 250 ms · 2^n, at most 30 s, of which up to half is
 * taken off by chance.
 */
export function reconnectDelayMs(failures: number, random: () => number): number {
  return backoffMs(failures, BACKOFF, random());
}

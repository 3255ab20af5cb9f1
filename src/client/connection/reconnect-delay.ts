const FIRST_RECONNECT_MS = 250;
const MAX_RECONNECT_MS = 30_000;

/**
 * How long a connection waits after this many failures in a row: 250 ms · 2^n, at most 30 s, of which up to half is
 * taken off by chance.
 */
export function reconnectDelayMs(failures: number, random: () => number): number {
  return Math.min(MAX_RECONNECT_MS, FIRST_RECONNECT_MS * 2 ** (failures - 1)) * (1 - random() / 2);
}

// What Cloudflare asks, by the price lists of its documentation as of PRICES.asOf, on the paid plan beyond what it includes.
// The same figures are in docs/guides/limits-and-cost.md.

export const PRICES = {
  asOf: "November 2026",
  lists: [
    "https://developers.cloudflare.com/durable-objects/platform/pricing/",
    "https://developers.cloudflare.com/workers/platform/pricing/",
  ],
  /** Dollars for a million of each. */
  rowsWritten: 1,
  objectRequests: 0.15,
  workerRequests: 0.3,
  gigabyteSeconds: 12.5,
  /** What an object in memory counts as. */
  gigabytes: 0.128,
};

/**
 * Dollars for a million operations. The Worker's CPU and the rows read are below a cent of it.
 *
 * @param {{ rows: number, requests: number, ms: number }} each of one operation: rows written, requests from outside, and
 *   how long the object is active, for which the caller's time is taken: it is no shorter
 */
export function dollarsPerMillion({ rows, requests, ms }) {
  const { rowsWritten, objectRequests, workerRequests, gigabyteSeconds, gigabytes } = PRICES;
  return rows * rowsWritten + requests * (objectRequests + workerRequests) + (ms / 1_000) * gigabytes * gigabyteSeconds;
}

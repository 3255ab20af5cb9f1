import { decodeValue, encodeValue, backoffMs } from "../../protocol/index.js";

/** How long the first lease of a burst of work lasts. */
export const LEASE_MS = 10_000;
/** How far ahead the alarm extends it while work runs: an object with no client is cut after about 140 s otherwise. */
export const LEASE_EXTENSION_MS = 30_000;
const BACKOFF = { firstMs: LEASE_MS, maxMs: 300_000 };
/** No lease ever stands so far ahead. */
export const BEYOND_LEASES_MS = 2 * BACKOFF.maxMs;

/**
 * The sign that work is running: a boot that finds it knows that the last activation was cut off (ALARM-13). Stored is
 * its time alone, as the physical alarm; its row is for what boots that found it have counted.
 */
export interface Lease {
  /** Epoch ms at which the alarm must come. */
  readonly at: number;
  /** Boots in a row that found it with nothing committed in between. */
  readonly found: number;
  /** The actor's counter at the last of them. */
  readonly counter: number;
  /** Boots in a row that found it at all, failed starts included: drives the backoff. */
  readonly boots: number;
}

export function newLease(now: number): Lease {
  return { at: now + LEASE_MS, found: 0, counter: 0, boots: 0 };
}

/** The lease of which a boot sees the alarm alone; null: that was lost. */
export function leaseAt(at: number | null): Lease {
  return { at: at ?? 0, found: 0, counter: 0, boots: 0 };
}

/** The lease as a boot rewrites it that found one. `armed` is true while the alarm still stands before its time. */
export function foundLease(lease: Lease, now: number, counter: number, armed: boolean): Lease {
  const boots = lease.boots + 1;
  return {
    at: armed && lease.at > now ? lease.at : now + backoffMs(boots, BACKOFF),
    found: counter > lease.counter ? 1 : lease.found + 1,
    counter,
    boots,
  };
}

/** The start that found it failed by itself (a hook threw): that was no cut-off, but the backoff goes on growing. */
export function startFailed(lease: Lease): Lease {
  return { ...lease, found: Math.max(0, lease.found - 1) };
}

export function encodeLease(lease: Lease): Uint8Array<ArrayBuffer> {
  return encodeValue([lease.at, lease.found, lease.counter, lease.boots]);
}

export function decodeLease(bytes: Uint8Array): Lease {
  const [at = 0, found = 0, counter = 0, boots = 0] = decodeValue(bytes) as number[];
  return { at, found, counter, boots };
}

import { decodeValue, encodeValue, backoffMs } from "../../protocol/index.js";

/** How far ahead the first lease of a burst of work is, in ms. */
export const LEASE_MS = 10_000;
/**
 * How far ahead the alarm extends it while work runs, in ms. Otherwise the platform cuts an object with no client after
 * 140 s.
 */
export const LEASE_EXTENSION_MS = 30_000;
const BACKOFF = { firstMs: LEASE_MS, maxMs: 300_000 };
/** Further ahead than any lease, in ms. */
export const BEYOND_LEASES_MS = 2 * BACKOFF.maxMs;

/**
 * Held while work runs that a crash would interrupt. A boot that finds it knows that the last activation was cut off.
 * Its time is stored as the platform's alarm alone; it has a row only once a boot has found it, for the counts
 * (ALARM-13).
 */
export interface Lease {
  /** When the alarm must come, epoch ms. */
  readonly at: number;
  /** Boots in a row that found it with nothing committed in between. */
  readonly found: number;
  /** The actor's counter at the last of those boots. */
  readonly counter: number;
  /** Boots in a row that found it, failed starts included. Drives the backoff. */
  readonly boots: number;
}

export function newLease(now: number): Lease {
  return { at: now + LEASE_MS, found: 0, counter: 0, boots: 0 };
}

/** The lease that a boot reads off the alarm; null if the alarm was lost. */
export function leaseAt(at: number | null): Lease {
  return { at: at ?? 0, found: 0, counter: 0, boots: 0 };
}

/** The lease that a boot writes after it found one. `armed`: the platform still holds its alarm. */
export function foundLease(lease: Lease, now: number, counter: number, armed: boolean): Lease {
  const boots = lease.boots + 1;
  return {
    at: armed && lease.at > now ? lease.at : now + backoffMs(boots, BACKOFF),
    found: counter > lease.counter ? 1 : lease.found + 1,
    counter,
    boots,
  };
}

/**
 * The lease after a start that found it failed because a hook threw: not a cut-off, but the backoff goes on growing.
 */
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

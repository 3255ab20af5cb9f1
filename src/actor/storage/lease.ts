import { decodeValue, encodeValue, backoffMs } from "../../protocol/index.js";

/** How far ahead the first lease of a burst of work is, in ms. */
export const LEASE_MS = 1_000;
/** The furthest ahead that running work extends it, in ms. The platform cuts an object with no client after 140 s. */
export const LONGEST_LEASE_MS = 10_000;
const BACKOFF = { firstMs: 10_000, maxMs: 300_000 };
/** Work that lives this long after a cut-off is in no crash loop, even if its lease is further ahead. */
const OUTLIVES_MS = 30_000;
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
  return { at: now + leaseMs(0), found: 0, counter: 0, boots: 0 };
}

/**
 * How far ahead an extension sets the lease of work that is `workedMs` old: a crash then costs a wait that is in
 * proportion to the work, and work of hours few alarms.
 */
function leaseMs(workedMs: number): number {
  return Math.min(LEASE_MS + Math.max(0, workedMs), LONGEST_LEASE_MS);
}

/**
 * The lease of work that goes on; `since` is when it began, or when a boot found it. One that was found keeps its time
 * and its backoff until the work has outlived them: only then is it in no crash loop.
 */
export function extendedLease(lease: Lease, since: number, now: number): Lease {
  const workedMs = now - since;
  if (lease.boots > 0 && lease.at > now && workedMs < OUTLIVES_MS) return lease;
  return { ...lease, at: now + leaseMs(workedMs), boots: workedMs < BACKOFF.firstMs ? lease.boots : 0 };
}

/** When to extend a lease that backed off further than running work may be from its next alarm (ALARM-12). */
export function outlivedAt(lease: Lease, now: number): number | undefined {
  return lease.at > now + OUTLIVES_MS ? now + OUTLIVES_MS : undefined;
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

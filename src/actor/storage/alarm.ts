import { Deadlines, type DeadlineRow, type DeadlineSlot } from "./deadlines.js";
import type { DirtySet } from "./dirty-set.js";
import { LEASE_EXTENSION_MS, encodeLease, leaseAt, newLease, type Lease } from "./lease.js";
import { isResting, nextWakeAt } from "./next-wake.js";
import { KEYS } from "./record.js";

/**
 * Everything that can need a wake, and the physical alarm, which is a function of it and of nothing else (ALARM-1).
 *
 * Owns: the lease, the time for which the platform's alarm is armed. Does not own: the rows of the table `d/`
 * (deadlines.ts), the deadlines of the workflow's entries, which are asked for. Invariants: the alarm that a commit writes
 * is never later than the earliest deadline it leaves behind, but for 1 ms; while the lease is held it is not the alarm of
 * an actor that rests. So the lease needs no row: a start that finds any other alarm than the deadlines ask for, or none
 * where one must be, knows that work was cut off.
 */
export class Wakes {
  readonly deadlines: Deadlines;
  readonly #dirty: DirtySet;
  readonly #now: () => number;
  readonly #workflowDeadline: () => number | undefined;
  #lease: Lease | undefined;
  /** The lease has a row: a start has found it. */
  #isCounted = false;
  #isReleased = false;
  #extendAt: number | undefined;
  #armedAt: number | null = null;
  #stale = false;

  constructor(dirty: DirtySet, now: () => number, workflowDeadline: () => number | undefined) {
    this.#dirty = dirty;
    this.deadlines = new Deadlines(dirty, () => this.markStale());
    this.#now = now;
    this.#workflowDeadline = workflowDeadline;
  }

  /** What the start gate read: nothing is dirty because of it. */
  load(rows: Iterable<readonly [string, Uint8Array]>, lease: Lease | undefined): void {
    this.deadlines.load(rows);
    this.#lease = lease;
    this.#isCounted = lease !== undefined;
  }

  /** The lease under which the last activation was cut off, by the alarm that the start gate read; undefined if it was not. */
  cutOffLease(armedAt: number | null, now: number): Lease | undefined {
    return this.#lease ?? (isResting(armedAt, this.#stored(), now) ? undefined : leaseAt(armedAt));
  }

  // ---- the lease ---------------------------------------------------------------------------------------------------

  get lease(): Lease | undefined {
    return this.#lease;
  }

  holdLease(): void {
    if (this.#lease) return;
    this.#lease = newLease(this.#now());
    this.#isReleased = false;
    this.markStale();
  }

  /** When the lease must be extended though its own time is later: what it guards must not live without an alarm (ALARM-12). */
  get extendAt(): number | undefined {
    return this.#extendAt;
  }

  /** A start has found it, or failed under it: what it counts is stored. */
  setLease(lease: Lease): void {
    this.#lease = lease;
    this.#isCounted = true;
    const inTimeAt = this.#now() + LEASE_EXTENSION_MS;
    this.#extendAt = lease.at > inTimeAt ? (this.#extendAt ?? inTimeAt) : undefined;
    this.#dirty.put(KEYS.lease, () => encodeLease(lease));
    this.markStale();
  }

  /** While work runs, each alarm puts the lease ahead again. What lives so long is in no crash loop: the backoff begins anew. */
  extendLease(): void {
    if (!this.#lease) return;
    const extended = { ...this.#lease, at: this.#now() + LEASE_EXTENSION_MS, boots: 0 };
    if (this.#isCounted) return this.setLease(extended);
    this.#lease = extended;
    this.markStale();
  }

  releaseLease(): void {
    this.markStale();
    if (!this.#lease) return;
    this.#lease = undefined;
    this.#isReleased = true;
    this.#extendAt = undefined;
    if (this.#isCounted) this.#dirty.delete(KEYS.lease);
    this.#isCounted = false;
  }

  /** The next commit lets the lease go, also if it writes no row. */
  get isReleased(): boolean {
    return this.#isReleased;
  }

  // ---- the alarm ---------------------------------------------------------------------------------------------------

  /** A deadline moved: the next commit looks at the alarm again. */
  markStale(): void {
    this.#stale = true;
  }

  /** The start gate read the platform's alarm, or the alarm was delivered and the platform holds none now. */
  setArmedAt(at: number | null): void {
    this.#armedAt = at;
  }

  /** What the next commit must arm; undefined: the alarm is right as it is. */
  alarmToWrite(): number | null | undefined {
    if (!this.#stale) return undefined;
    const wake = this.#next();
    return wake === this.#armedAt ? undefined : wake;
  }

  /** The commit that asked `alarmToWrite` was made. */
  committed(alarm: number | null | undefined): void {
    this.#stale = false;
    this.#isReleased = false;
    if (alarm !== undefined) this.#armedAt = alarm;
  }

  /** Puts a missing or late alarm right; never moves an earlier one later (ALARM-2). */
  repair(): void {
    const wake = this.#next();
    if (wake !== null && (this.#armedAt === null || this.#armedAt > wake)) this.markStale();
  }

  /** True when the alarm should have come by now: the platform is late, or has lost it (ALARM-2). */
  isOverdue(now: number): boolean {
    return this.#armedAt !== null && this.#armedAt <= now;
  }

  /** True when something is due, be it beside a row of the table. */
  isDue(now: number, beside?: DeadlineSlot<DeadlineRow>): boolean {
    return this.#stored(beside).some((at) => at <= now);
  }

  #next(): number | null {
    const stored = this.#stored();
    const now = this.#now();
    const wake = nextWakeAt({ stored, lease: this.#lease?.at }, now, this.#armedAt);
    return this.#lease && !this.#isCounted && wake !== null && isResting(wake, stored, now) ? wake + 1 : wake;
  }

  #stored(beside?: DeadlineSlot<DeadlineRow>): number[] {
    const deadlines = this.deadlines.times(beside);
    const workflow = this.#workflowDeadline();
    if (workflow !== undefined) deadlines.push(workflow);
    return deadlines;
  }
}

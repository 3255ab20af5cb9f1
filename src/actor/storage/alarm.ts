import { Deadlines, type DeadlineRow, type DeadlineSlot } from "./deadlines.js";
import type { DirtySet } from "./dirty-set.js";
import { encodeLease, extendedLease, leaseAt, newLease, outlivedAt, type Lease } from "./lease.js";
import { isFarAhead, isResting, nextWakeAt } from "./next-wake.js";
import { KEYS } from "./record.js";

/**
 * The platform's alarm, which is computed from all deadlines and the lease alone (ALARM-1).
 *
 * Owns: the lease, the time the platform's alarm is armed for. Does not own: the rows of the table `d/` (deadlines.ts),
 * the deadlines of workflow entries. Invariants:
 *  1. The alarm that a commit writes is at most 1 ms later than the earliest deadline it leaves behind.
 *  2. While the lease is held, the alarm differs from that of an actor at rest. So the lease needs no row: a start that
 *     finds an alarm other than the deadlines ask for, or none where they ask for one, knows that work was cut off
 *     (ALARM-13).
 */
export class Alarm {
  readonly deadlines: Deadlines;
  readonly #dirty: DirtySet;
  readonly #now: () => number;
  readonly #workflowDeadline: () => number | undefined;
  #lease: Lease | undefined;
  /** When this activation began to hold the lease, epoch ms. */
  #heldSince = 0;
  /** True once a start has found the lease: from then on it has a row. */
  #isCounted = false;
  #isReleased = false;
  #extendAt: number | undefined;
  #armedAt: number | null = null;
  /**
   * The furthest alarm so far. One that is far ahead comes back after the lease of a burst: a burst that takes less than a
   * turn then changes nothing for the platform, which would have to write down the change.
   */
  #furthestAt: number | null = null;
  #stale = false;

  constructor(dirty: DirtySet, now: () => number, workflowDeadline: () => number | undefined) {
    this.#dirty = dirty;
    this.deadlines = new Deadlines(dirty, () => this.markStale());
    this.#now = now;
    this.#workflowDeadline = workflowDeadline;
  }

  /** Takes over the stored rows at the start. Marks nothing as dirty. */
  load(rows: Iterable<readonly [string, Uint8Array]>, lease: Lease | undefined): void {
    this.deadlines.load(rows);
    this.#lease = lease;
    this.#heldSince = this.#now();
    this.#isCounted = lease !== undefined;
  }

  /**
   * The lease under which the last activation was cut off, or undefined. `armedAt` is the alarm the start gate read. One far
   * ahead is at rest: then the workflow's history need not be read to know its deadlines.
   */
  cutOffLease(armedAt: number | null, now: number): Lease | undefined {
    if (this.#lease || isFarAhead(armedAt, now)) return this.#lease;
    return isResting(armedAt, this.#stored(), now) ? undefined : leaseAt(armedAt);
  }

  // ---- the lease ---------------------------------------------------------------------------------------------------

  get lease(): Lease | undefined {
    return this.#lease;
  }

  holdLease(): void {
    if (this.#lease) return;
    this.#heldSince = this.#now();
    this.#lease = newLease(this.#heldSince);
    this.#isReleased = false;
    this.markStale();
  }

  /** When to extend a lease that is backed off far, epoch ms: running work needs an alarm near (ALARM-12). */
  get extendAt(): number | undefined {
    return this.#extendAt;
  }

  /** Call when a start found the lease, or failed under it: stores its counts. */
  setLease(lease: Lease): void {
    const now = this.#now();
    if (!this.#isCounted) this.#heldSince = now;
    this.#lease = lease;
    this.#isCounted = true;
    const outlived = outlivedAt(lease, now);
    this.#extendAt = outlived && (this.#extendAt ?? outlived);
    this.#dirty.put(KEYS.lease, () => encodeLease(lease));
    this.markStale();
  }

  /** Call at each alarm while work runs. */
  extendLease(): void {
    this.markStale();
    if (!this.#lease) return;
    const extended = extendedLease(this.#lease, this.#heldSince, this.#now());
    if (extended === this.#lease) return;
    if (this.#isCounted) this.setLease(extended);
    else this.#lease = extended;
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

  /** True until the commit that releases the lease, which must be made even if it writes no row. */
  get isReleased(): boolean {
    return this.#isReleased;
  }

  // ---- the alarm ---------------------------------------------------------------------------------------------------

  /** Call when a deadline moved: the next commit computes the alarm again. */
  markStale(): void {
    this.#stale = true;
  }

  /** Call with the platform's alarm as the start gate read it, or with null once the alarm was delivered. */
  setArmedAt(at: number | null): void {
    this.#armedAt = at;
    if (at !== null && (this.#furthestAt === null || at > this.#furthestAt)) this.#furthestAt = at;
  }

  /** The alarm that the next commit must set, null to delete it; undefined if it is right already. */
  alarmToWrite(): number | null | undefined {
    if (!this.#stale) return undefined;
    const wake = this.#next();
    return wake === this.#armedAt ? undefined : wake;
  }

  /** Call after a commit, with the value of `alarmToWrite` that it wrote. */
  committed(alarm: number | null | undefined): void {
    this.#stale = false;
    this.#isReleased = false;
    if (alarm !== undefined) this.setArmedAt(alarm);
  }

  /**
   * Makes the next commit set an alarm that is missing or late; never moves an earlier one later (ALARM-2). One far ahead is
   * compared with the rows of the table alone.
   */
  repair(): void {
    const armedAt = this.#armedAt;
    if (isFarAhead(armedAt, this.#now())) {
      if (this.deadlines.times().some((at) => at < armedAt)) this.markStale();
      return;
    }
    const wake = this.#next();
    if (wake !== null && (armedAt === null || armedAt > wake)) this.markStale();
  }

  /** True when the alarm should have been delivered: the platform is late, or lost it (ALARM-2). */
  isOverdue(now: number): boolean {
    return this.#armedAt !== null && this.#armedAt <= now;
  }

  /** True when a deadline is due, other than `except`. While the alarm is far ahead, none of a workflow is. */
  isDue(now: number, except?: DeadlineSlot<DeadlineRow>): boolean {
    const times = isFarAhead(this.#armedAt, now) ? this.deadlines.times(except) : this.#stored(except);
    return times.some((at) => at <= now);
  }

  #next(): number | null {
    const stored = this.#stored();
    const now = this.#now();
    const wake = nextWakeAt({ stored, lease: this.#lease?.at }, now, this.#furthestAt);
    return this.#lease && !this.#isCounted && wake !== null && isResting(wake, stored, now) ? wake + 1 : wake;
  }

  #stored(except?: DeadlineSlot<DeadlineRow>): number[] {
    const deadlines = this.deadlines.times(except);
    const workflow = this.#workflowDeadline();
    if (workflow !== undefined) deadlines.push(workflow);
    return deadlines;
  }
}

import type { Timer } from "../ports.js";

/** A deadline in memory. */
export interface TimedCall {
  readonly at: number;
  readonly fire: () => void;
}

/**
 * The deadlines of running work: timeouts of calls and attempts, waits beside running branches. They share one platform
 * timer. It may come too early, and is then set anew: a busy workflow begins and ends a deadline with each step. Without
 * deadlines and work there is no timer, so the object can hibernate (ALARM-5).
 */
export class Timers {
  readonly #timer: Timer;
  readonly #calls = new Set<TimedCall>();
  readonly #now: () => number;
  readonly #fireWorkflow: () => void;
  #workflowAt: number | undefined;
  #isWorkflowBusy = false;
  #setFor: number | undefined;

  constructor(timer: Timer, now: () => number, fireWorkflow: () => void) {
    this.#timer = timer;
    this.#now = now;
    this.#fireWorkflow = fireWorkflow;
  }

  /** A time that is not finite never comes. The platform would fire for it at once, again and again. */
  add(call: TimedCall): void {
    if (!Number.isFinite(call.at)) return;
    this.#calls.add(call);
    this.#set();
  }

  remove(call: TimedCall): void {
    this.#calls.delete(call);
    this.#set();
  }

  /**
   * The earliest deadline of a busy workflow, epoch ms, if it has one. It keeps its timer until it is parked; from then on the
   * alarm wakes it.
   */
  workflowBusy(at: number | undefined): void {
    this.#isWorkflowBusy = true;
    this.#workflowAt = at !== undefined && Number.isFinite(at) ? at : undefined;
    this.#set();
  }

  workflowParked(): void {
    this.#isWorkflowBusy = false;
    this.#workflowAt = undefined;
    this.#set();
  }

  clear(): void {
    this.#calls.clear();
    this.#isWorkflowBusy = false;
    this.#workflowAt = undefined;
    this.#set();
  }

  #set(): void {
    let earliest = this.#workflowAt;
    for (const call of this.#calls) if (earliest === undefined || call.at < earliest) earliest = call.at;
    if (earliest === this.#setFor) return;
    if (this.#setFor !== undefined && (earliest === undefined ? this.#isWorkflowBusy : this.#setFor < earliest)) return;
    this.#setFor = earliest;
    if (earliest === undefined) this.#timer.clear();
    else this.#timer.set(earliest, () => this.#fire());
  }

  #fire(): void {
    this.#setFor = undefined;
    const now = this.#now();
    const due = [...this.#calls].filter((call) => call.at <= now).sort((a, b) => a.at - b.at);
    for (const call of due) {
      this.#calls.delete(call);
      call.fire();
    }
    if (this.#workflowAt !== undefined && this.#workflowAt <= now) this.#fireWorkflow();
    this.#set();
  }
}

/**
 * After repeated crashes, the lease is minutes ahead. But the platform ends work about 140 s after the
 * last alarm (ALARM-12), so long work would never finish. This timer moves the lease, and with it the alarm, back to its
 * usual distance once the activation has run for a while. A crash before it fires leaves the lease as it was.
 */
export class LeaseTimer {
  readonly #timers: Timers;
  readonly #extend: () => void;
  #call: TimedCall | undefined;

  constructor(timers: Timers, extend: () => void) {
    this.#timers = timers;
    this.#extend = extend;
  }

  /** Epoch ms. Undefined if there is no lease, or it is near enough. */
  set(at: number | undefined): void {
    if (at === this.#call?.at) return;
    if (this.#call) this.#timers.remove(this.#call);
    this.#call = at === undefined ? undefined : { at, fire: this.#extend };
    if (this.#call) this.#timers.add(this.#call);
  }
}

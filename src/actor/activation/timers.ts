import type { Timer } from "../ports.js";

/** A deadline that lives only in memory. */
export interface TimedCall {
  readonly at: number;
  readonly fire: () => void;
}

/**
 * The deadlines of running work (timeouts of calls and attempts, waits beside running branches) behind the one timer
 * that the activation holds. With none of them there is no timer, so that the object can hibernate (ALARM-5).
 */
export class Timers {
  readonly #timer: Timer;
  readonly #calls = new Set<TimedCall>();
  readonly #now: () => number;
  readonly #fireWorkflow: () => void;
  #workflowAt: number | undefined;
  #setFor: number | undefined;

  constructor(timer: Timer, now: () => number, fireWorkflow: () => void) {
    this.#timer = timer;
    this.#now = now;
    this.#fireWorkflow = fireWorkflow;
  }

  /** A time that is none never comes: the platform would take it for "now", again and again. */
  add(call: TimedCall): void {
    if (!Number.isFinite(call.at)) return;
    this.#calls.add(call);
    this.#set();
  }

  remove(call: TimedCall): void {
    this.#calls.delete(call);
    this.#set();
  }

  /** The earliest deadline of a workflow that is busy; undefined when it is parked: then the alarm wakes it. */
  setWorkflow(at: number | undefined): void {
    this.#workflowAt = at !== undefined && Number.isFinite(at) ? at : undefined;
    this.#set();
  }

  clear(): void {
    this.#calls.clear();
    this.#workflowAt = undefined;
    this.#set();
  }

  #set(): void {
    let earliest = this.#workflowAt;
    for (const call of this.#calls) if (earliest === undefined || call.at < earliest) earliest = call.at;
    if (earliest === this.#setFor) return;
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
 * After boots in a row that were cut off, the lease stands minutes ahead. Work that lives on must not wait for that: the
 * platform cuts it at about 140 s without an alarm (ALARM-12), so that it would never come to its end. This timer brings the lease,
 * and with it the alarm, back to its usual distance. A crash before it fires leaves the distance as it was.
 */
export class LeaseTimer {
  readonly #timers: Timers;
  readonly #extend: () => void;
  #call: TimedCall | undefined;

  constructor(timers: Timers, extend: () => void) {
    this.#timers = timers;
    this.#extend = extend;
  }

  /** Epoch ms; undefined when the lease is gone, or near enough. */
  set(at: number | undefined): void {
    if (at === this.#call?.at) return;
    if (this.#call) this.#timers.remove(this.#call);
    this.#call = at === undefined ? undefined : { at, fire: this.#extend };
    if (this.#call) this.#timers.add(this.#call);
  }
}

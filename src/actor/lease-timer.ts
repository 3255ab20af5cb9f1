import type { TimedCall, Timers } from "./timers.js";

/**
 * After boots in a row that were cut off, the lease stands minutes ahead. Work that lives on must not wait for that: the
 * platform cuts it at about 140 s without an alarm (D5), so that it would never come to its end. This timer brings the lease,
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

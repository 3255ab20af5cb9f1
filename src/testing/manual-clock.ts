/** A clock that stands until it is moved, with timers that fire when it passes them. */
export class ManualClock {
  #now: number;
  #jumped = 0;
  #order = 0;
  readonly #timers = new Set<{ at: number; readonly order: number; readonly fire: () => void }>();

  /** Starts at `now`, epoch ms. */
  constructor(now = 1_700_000_000_000) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  /** Gives back the way to cancel. */
  setTimer(at: number, fire: () => void): () => void {
    const timer = { at, order: (this.#order += 1), fire };
    this.#timers.add(timer);
    this.onSet();
    return () => this.#timers.delete(timer);
  }

  /** Called when a timer, or the clock, was set. */
  onSet: () => void = () => {};

  /** Resolves when the clock has moved that far. */
  delay(durationMs: number): Promise<void> {
    return new Promise((resolve) => this.setTimer(this.#now + durationMs, resolve));
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }

  nextTimerAt(): number | undefined {
    return this.#earliest()?.at;
  }

  /** Moves to a time (also back), firing nothing. */
  moveTo(now: number): void {
    this.#now = now;
  }

  /** The clock is set, forward or back, and no time passes: its timers have as long to go as before. */
  jump(byMs: number): void {
    this.#now += byMs;
    this.#jumped += byMs;
    for (const timer of this.#timers) timer.at += byMs;
    this.onSet();
  }

  /** The sum of all jumps, ms: how much of its movement is no time that passed. */
  get jumped(): number {
    return this.#jumped;
  }

  /** Fires the earliest timer that is due. False: none is. */
  fireNext(): boolean {
    const due = this.#earliest();
    if (!due || due.at > this.#now) return false;
    this.#timers.delete(due);
    due.fire();
    return true;
  }

  #earliest(): { readonly at: number; readonly order: number; readonly fire: () => void } | undefined {
    let earliest: { readonly at: number; readonly order: number; readonly fire: () => void } | undefined;
    for (const timer of this.#timers) {
      if (!earliest || timer.at < earliest.at || (timer.at === earliest.at && timer.order < earliest.order))
        earliest = timer;
    }
    return earliest;
  }
}

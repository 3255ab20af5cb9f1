/**
 * The attempts of steps that a run makes, and which of them goes next after a crash: one at a time, to identify the one that
 * keeps killing the object (ALARM-14). Of a run that is being paused, they alone go on (CONTROL-1).
 */
export class Attempts {
  readonly #begun = new Set<object>();
  readonly #alone = new Map<object, () => void>();
  #drained: (() => void) | undefined;

  /** Whether the run is being paused: no attempt begins. */
  get arePaused(): boolean {
    return this.#drained !== undefined;
  }

  /** Whether it is, and none is left. */
  get areDrained(): boolean {
    return this.arePaused && this.#begun.size === 0;
  }

  /** `drained` is for when none is left. */
  pause(drained: () => void): void {
    this.#drained ??= drained;
  }

  drained(): void {
    this.#drained?.();
  }

  /** One begins with the commit of this turn. */
  begins(attempt: object): void {
    this.#begun.add(attempt);
  }

  /** Calls `begin` when no other careful attempt runs. Both are called inside a turn. */
  whenAlone(attempt: object, begin: () => void): void {
    this.#alone.set(attempt, begin);
    if (this.#alone.size === 1) begin();
  }

  /** One has ended, or does not begin. Returns the beginning of the careful one that is next. */
  ended(attempt: object): (() => void) | undefined {
    this.#begun.delete(attempt);
    const wasFirst = this.#alone.keys().next().value === attempt;
    return this.#alone.delete(attempt) && wasFirst && !this.arePaused ? this.#alone.values().next().value : undefined;
  }
}

/**
 * The abort signal of one action, made when its code asks for it. It aborts when the action times out, and when a
 * shutdown begins while the action runs.
 */
export class ActionSignal {
  readonly #shutdown: AbortSignal;
  /** A shutdown that began before the action does not abort it. */
  readonly #follows: boolean;
  readonly #onShutdown = (): void => this.#made?.abort(this.#shutdown.reason);
  #made: AbortController | undefined;
  #reason: unknown;
  #isAborted = false;
  #isOver = false;

  constructor(shutdown: AbortSignal) {
    this.#shutdown = shutdown;
    this.#follows = !shutdown.aborted;
  }

  get signal(): AbortSignal {
    if (!this.#made) {
      this.#made = new AbortController();
      this.#look();
      if (this.#isAborted) this.#made.abort(this.#reason);
      else if (this.#follows && !this.#isOver)
        this.#shutdown.addEventListener("abort", this.#onShutdown, { once: true });
    }
    return this.#made.signal;
  }

  throwIfAborted(): void {
    this.#look();
    if (this.#isAborted) throw this.#reason;
  }

  abort(reason: unknown): void {
    this.#look();
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    this.#made?.abort(reason);
  }

  /** The action has ended: a later shutdown does not abort its signal. */
  over(): void {
    this.#look();
    this.#isOver = true;
    if (this.#made) this.#shutdown.removeEventListener("abort", this.#onShutdown);
  }

  /** Takes over the abort of a shutdown that began meanwhile. */
  #look(): void {
    if (this.#isAborted || this.#isOver || !this.#follows || !this.#shutdown.aborted) return;
    this.#isAborted = true;
    this.#reason = this.#shutdown.reason;
  }
}

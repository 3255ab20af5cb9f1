/**
 * The calls of one connection that have no answer yet. A limited number runs and the rest wait their turn; their total
 * size is limited. A single call is always admitted, however large (CONN-6).
 */
export class CallsInFlight {
  #running = 0;
  #bytes = 0;
  readonly #waiting: (() => void)[] = [];

  /** Admits a call of this size. Returns false if all calls together would be too large. */
  admit(sizeBytes: number, limitBytes: number): boolean {
    if (this.#bytes > 0 && this.#bytes + sizeBytes > limitBytes) return false;
    this.#bytes += sizeBytes;
    return true;
  }

  /** Resolves when an admitted call may run. Call `done` when it has ended. */
  async turn(limit: number): Promise<void> {
    if (this.#running < limit) this.#running += 1;
    // `done` hands its place on, so the count stays.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  done(sizeBytes: number): void {
    this.#bytes -= sizeBytes;
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }

  /** An admitted call ended without asking for its turn. */
  dropped(sizeBytes: number): void {
    this.#bytes -= sizeBytes;
  }
}

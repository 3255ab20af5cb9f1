/**
 * The calls of one connection that have no answer yet: so many run, later ones wait their turn, and all together have so many
 * bytes. Whoever floods a connection is refused; one call alone is always taken.
 */
export class CallsInFlight {
  #running = 0;
  #bytes = 0;
  readonly #waiting: (() => void)[] = [];

  /** Takes a call of that size; false: the calls together would be too large. */
  admit(sizeBytes: number, limitBytes: number): boolean {
    if (this.#bytes > 0 && this.#bytes + sizeBytes > limitBytes) return false;
    this.#bytes += sizeBytes;
    return true;
  }

  /** Resolves when a call that was taken may run; it must be `done` after that. */
  async turn(limit: number): Promise<void> {
    if (this.#running < limit) this.#running += 1;
    // Whoever is done gives its place away.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  done(sizeBytes: number): void {
    this.#bytes -= sizeBytes;
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }

  /** A call ended before its turn was asked for. */
  dropped(sizeBytes: number): void {
    this.#bytes -= sizeBytes;
  }
}

/**
 * The end of a scope or an attempt, as its code learns of it. Its signal is made when code first asks for it: most is
 * never asked for, and a signal costs more than the rest of a step.
 */
export class Abort {
  #controller: AbortController | undefined;
  #aborted: { readonly reason: unknown } | undefined;
  readonly #followers = new Set<(reason: unknown) => void>();

  get isAborted(): boolean {
    return this.#aborted !== undefined;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  /** Calls `aborted` once, unless it is unfollowed before. */
  follow(aborted: (reason: unknown) => void): void {
    this.#followers.add(aborted);
  }

  unfollow(aborted: (reason: unknown) => void): void {
    this.#followers.delete(aborted);
  }

  abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = { reason };
    for (const follower of this.#followers) follower(reason);
    this.#followers.clear();
    this.#controller?.abort(reason);
  }
}

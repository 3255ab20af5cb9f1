/**
 * What user code has begun and not awaited when it ends: a step's attempt, an iteration, a branch, a workflow waits for it.
 *
 * Owns: which effects are open, and which were refused with nobody there to handle it. Does not own: how long one waits.
 * Invariant: where nothing is open and nothing was refused, `settled` gives nothing and costs no microtask.
 */
import { isThenable } from "./thenable.js";

/** Microtasks that a function which nobody awaits gets to begin its next effect. */
const LINGER_TICKS = 16;

export class Effects {
  readonly #open = new Set<Promise<unknown>>();
  readonly #refused = new Set<Handled>();
  #isClosed = false;

  /** What is begun from here on belongs to nobody: it settles, or is refused, as any promise. */
  close(): void {
    this.#isClosed = true;
  }

  /** Runs `work`, at once and for as long as it takes; what it gives or throws is the promise that user code gets. */
  begin<T>(work: () => T | PromiseLike<T>): Promise<T> {
    if (this.#isClosed) return (async () => work())();
    let result: T | PromiseLike<T>;
    try {
      result = work();
    } catch (error) {
      return this.#refuse(Handled.reject<T>(error) as Handled<T>);
    }
    if (!isThenable(result)) return Promise.resolve(result);
    const handed = new Handled<T>((resolve) => resolve(result));
    const ended: Promise<unknown> = handed.observe(
      () => this.#open.delete(ended),
      () => {
        this.#open.delete(ended);
        this.#refuse(handed);
      },
    );
    this.#open.add(ended);
    return handed;
  }

  /**
   * Resolves when all that was begun has ended, and what was begun while it waited; undefined if nothing is left to wait for.
   * @throws what was refused first, unless somebody handles that
   */
  settled(): Promise<void> | undefined {
    return this.#open.size === 0 && !this.#unhandled ? undefined : this.#settle();
  }

  async #settle(): Promise<void> {
    do {
      await Promise.all(this.#open);
      // The waits of user code end now: what it goes on to begin belongs to it as well, and so does its `catch`.
      for (let tick = 0; tick < LINGER_TICKS && this.#open.size === 0; tick += 1) await undefined;
    } while (this.#open.size > 0);
    const refused = this.#unhandled;
    // Told once.
    this.#refused.clear();
    if (refused)
      await refused.observe(
        () => {},
        (error) => Promise.reject(error),
      );
  }

  get #unhandled(): Handled | undefined {
    for (const each of this.#refused) if (!each.isHandled) return each;
    return undefined;
  }

  #refuse<T>(refused: Handled<T>): Handled<T> {
    // Nobody else may handle it; then the end of the user code tells of it, not the platform.
    refused.observe(
      () => {},
      () => {},
    );
    this.#refused.add(refused as Handled);
    return refused;
  }
}

/** A promise that knows whether anybody handles what becomes of it: `await` of a subclass calls its `then`. */
class Handled<T = unknown> extends Promise<T> {
  isHandled = false;

  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  /** As `then`, which it does not count as. */
  observe<A, B>(fulfilled: (value: T) => A, rejected: (reason: unknown) => B | PromiseLike<B>): Promise<A | B> {
    return super.then(fulfilled, rejected);
  }

  // oxlint-disable-next-line unicorn/no-thenable -- a promise it is
  override then<A = T, B = never>(
    fulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.isHandled = true;
    return super.then(fulfilled, rejected);
  }
}

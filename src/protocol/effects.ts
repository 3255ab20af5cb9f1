/**
 * Effects: promises that user code started and may not await. A step's attempt, an iteration, a branch and a workflow wait
 * for theirs before they end.
 *
 * Owns: which effects are open, and which rejected without a handler. Does not own: how long to wait for them.
 * Invariant: with no open effect and no unhandled rejection, `settled` returns undefined and costs no microtask.
 */
import { isThenable } from "./thenable.js";

/** Microtasks that code which nobody awaits gets to start its next effect. */
const LINGER_TICKS = 16;

export class Effects {
  /** Made with the first effect: most code begins none. */
  #open: Set<Promise<unknown>> | undefined;
  #refused: Set<Handled> | undefined;
  #isClosed = false;

  /** Effects started from here on are ordinary promises that nobody waits for. */
  close(): void {
    this.#isClosed = true;
  }

  /** Runs `work` at once; returns a promise of its result and tracks it until it settles. */
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
    const open = (this.#open ??= new Set());
    const ended: Promise<unknown> = handed.observe(
      () => open.delete(ended),
      () => {
        open.delete(ended);
        this.#refuse(handed);
      },
    );
    open.add(ended);
    return handed;
  }

  /**
   * Resolves when all effects have ended, also those started meanwhile; undefined if there is nothing to wait for. Rejects
   * with the first rejection that nobody handles.
   */
  settled(): Promise<void> | undefined {
    return !this.isOpen && !this.#unhandled ? undefined : this.#settle();
  }

  /** True while one has not ended. */
  get isOpen(): boolean {
    return this.#open !== undefined && this.#open.size > 0;
  }

  async #settle(): Promise<void> {
    do {
      await Promise.all(this.#open ?? []);
      // User code that awaited these effects continues now: it may start more, or handle a rejection.
      for (let tick = 0; tick < LINGER_TICKS && !this.isOpen; tick += 1) await undefined;
    } while (this.isOpen);
    const refused = this.#unhandled;
    // Reported once.
    this.#refused?.clear();
    if (refused)
      await refused.observe(
        () => {},
        (error) => Promise.reject(error),
      );
  }

  get #unhandled(): Handled | undefined {
    for (const each of this.#refused ?? []) if (!each.isHandled) return each;
    return undefined;
  }

  #refuse<T>(refused: Handled<T>): Handled<T> {
    // Not an unhandled rejection for the platform: `settled` reports it.
    refused.observe(
      () => {},
      () => {},
    );
    (this.#refused ??= new Set()).add(refused as Handled);
    return refused;
  }
}

/** A promise that knows whether it has a handler: `await` of a subclass calls its `then`. */
class Handled<T = unknown> extends Promise<T> {
  isHandled = false;

  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  /** Like `then`, without counting as a handler. */
  observe<A, B>(fulfilled: (value: T) => A, rejected: (reason: unknown) => B | PromiseLike<B>): Promise<A | B> {
    return super.then(fulfilled, rejected);
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it is a promise
  override then<A = T, B = never>(
    fulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.isHandled = true;
    return super.then(fulfilled, rejected);
  }
}

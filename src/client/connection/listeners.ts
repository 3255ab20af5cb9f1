/** Takes a listener away again. Calling it twice does nothing more. */
export type Unsubscribe = () => void;

/**
 * Functions to be told of something. One that throws harms no other: its error is the platform's to report, as with
 * any event target. One that is taken away while others are being told is not called any more.
 */
export class Listeners<A extends readonly unknown[]> {
  readonly #all = new Set<{ readonly listener: (...args: A) => void; readonly isOnce: boolean }>();

  get size(): number {
    return this.#all.size;
  }

  add(listener: (...args: A) => void, isOnce = false): Unsubscribe {
    // One entry each time: a function that is added twice is told twice.
    const entry = { listener, isOnce };
    this.#all.add(entry);
    return () => void this.#all.delete(entry);
  }

  tell(...args: A): void {
    // Those that are there now: one may add others.
    for (const entry of Array.from(this.#all)) {
      if (!this.#all.has(entry)) continue;
      if (entry.isOnce) this.#all.delete(entry);
      callSafely(entry.listener, args);
    }
  }
}

/** What it throws is reported as uncaught, and stops nobody. */
export function callSafely<A extends readonly unknown[]>(listener: (...args: A) => void, args: A): void {
  try {
    listener(...args);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** Removes a listener. Calling it again does nothing. */
export type Unsubscribe = () => void;

/**
 * A list of listeners. One that throws does not affect the others: the platform reports its error, as for any event
 * target. One that is removed while others are called is not called any more.
 */
export class Listeners<A extends readonly unknown[]> {
  readonly #all = new Set<{ readonly listener: (...args: A) => void; readonly isOnce: boolean }>();

  get size(): number {
    return this.#all.size;
  }

  add(listener: (...args: A) => void, isOnce = false): Unsubscribe {
    // One entry per call: a function that is added twice is called twice.
    const entry = { listener, isOnce };
    this.#all.add(entry);
    return () => void this.#all.delete(entry);
  }

  tell(...args: A): void {
    // A copy, since a listener may add others.
    for (const entry of Array.from(this.#all)) {
      if (!this.#all.has(entry)) continue;
      if (entry.isOnce) this.#all.delete(entry);
      callSafely(entry.listener, args);
    }
  }
}

/** Calls a listener; an error is reported as uncaught, and stops no other listener. */
export function callSafely<A extends readonly unknown[]>(listener: (...args: A) => void, args: A): void {
  try {
    listener(...args);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

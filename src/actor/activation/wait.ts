/**
 * A wait that ends with its own result, at a deadline, or when a signal aborts.
 *
 * The first of these wins, synchronously: the timer fires, the signal dispatches its abort, or `begin` settles the wait.
 * A result that is a promise arrives a microtask after it settled, so a deadline or an abort of the same turn wins over
 * it. The wait's timer and listeners are removed however it ends.
 */
import type { TimedCall } from "./timers.js";

/** Fires deadlines: the activation's `Timers`, or a timer of the wait's own. */
export interface DeadlineTimers {
  add(call: TimedCall): void;
  remove(call: TimedCall): void;
}

/** Returns what the wait resolves to, or throws what it rejects with. */
type Outcome<T> = () => T;

/** What ends a wait before its result. */
export interface WaitEnds<T> {
  /** `at` is epoch ms. */
  readonly deadline: { readonly at: number; readonly outcome: Outcome<T> } | undefined;
  /** A signal that has already aborted ends the wait at once. */
  readonly aborts: readonly WaitAbort<T>[];
}

export interface WaitAbort<T> {
  readonly signal: AbortSignal;
  readonly outcome: Outcome<T>;
}

/** Rejects the wait with the signal's reason. */
export function abortedBy(signal: AbortSignal): WaitAbort<never> {
  const outcome = (): never => {
    throw signal.reason;
  };
  return { signal, outcome };
}

/** Settles the wait. Has no effect once the wait has ended. */
export interface Settle<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** Calls `begin` at once. The function it returns is called when the wait ends, before the promise settles. */
export function wait<T>(
  timers: DeadlineTimers,
  ends: WaitEnds<T>,
  begin: (settle: Settle<T>) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    let release: () => void = () => {};
    const over = (settle: () => void): void => {
      const stop = release;
      isOver = true;
      release = () => {};
      stop();
      settle();
    };
    const settle: Settle<T> = {
      resolve: (value) => over(() => resolve(value)),
      reject: (error) => over(() => reject(error)),
    };
    const end = (outcome: () => T): void => {
      let result: T;
      try {
        result = outcome();
      } catch (error) {
        return settle.reject(error);
      }
      settle.resolve(result);
    };
    const stop = begin(settle);
    if (isOver) return stop();
    const { deadline, aborts } = ends;
    const timer = deadline && { at: deadline.at, fire: () => end(deadline.outcome) };
    const listeners = aborts.map(({ signal, outcome }) => ({ signal, listener: () => end(outcome) }));
    release = () => {
      stop();
      if (timer) timers.remove(timer);
      for (const { signal, listener } of listeners) signal.removeEventListener("abort", listener);
    };
    if (timer) timers.add(timer);
    for (const { signal, listener } of listeners) signal.addEventListener("abort", listener, { once: true });
    listeners.find(({ signal }) => signal.aborted)?.listener();
  });
}

/** A `wait` for a promise. */
export function waitFor<T>(timers: DeadlineTimers, ends: WaitEnds<T>, result: PromiseLike<T>): Promise<T> {
  return wait(timers, ends, ({ resolve, reject }) => {
    result.then(resolve, reject);
    return () => {};
  });
}

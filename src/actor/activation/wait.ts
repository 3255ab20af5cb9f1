/**
 * A wait that ends with its own result, with a deadline, or with the abort of a signal.
 *
 * Whichever comes first ends it, at once: a deadline when its timer fires, an abort while its signal dispatches it, a
 * result when `begin` hands it over. Nothing that comes later in the same turn changes that. A result that is a promise is
 * handed over a microtask after it settled, so a deadline or an abort of the same turn wins over it. No timer and no
 * listener outlives the wait, whatever ended it.
 */
import type { TimedCall } from "./timers.js";

/** What fires deadlines: the `Timers` of the activation, or a timer of the wait's own. */
export interface DeadlineTimers {
  add(call: TimedCall): void;
  remove(call: TimedCall): void;
}

/** Gives what the wait then resolves to, or throws what it rejects with. */
type Outcome<T> = () => T;

/** What ends a wait before its result does. */
export interface WaitEnds<T> {
  /** `at`: epoch ms. */
  readonly deadline: { readonly at: number; readonly outcome: Outcome<T> } | undefined;
  /** One that has aborted already ends the wait as it begins. */
  readonly aborts: readonly WaitAbort<T>[];
}

export interface WaitAbort<T> {
  readonly signal: AbortSignal;
  readonly outcome: Outcome<T>;
}

/** The wait rejects with the signal's reason. */
export function abortedBy(signal: AbortSignal): WaitAbort<never> {
  const outcome = (): never => {
    throw signal.reason;
  };
  return { signal, outcome };
}

/** Hands the result over; what comes after the end of the wait is dropped. */
export interface Settle<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** `begin` is called at once. What it returns is called when the wait ends, before anybody is told. */
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

/** The same for a result that is a promise. */
export function waitFor<T>(timers: DeadlineTimers, ends: WaitEnds<T>, result: PromiseLike<T>): Promise<T> {
  return wait(timers, ends, ({ resolve, reject }) => {
    result.then(resolve, reject);
    return () => {};
  });
}

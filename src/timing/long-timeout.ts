/** The longest delay that every platform's timers accept. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The handle that `setLongTimeout` returns. */
export interface LongTimeoutHandle {
  /** Cancels the timeout. */
  abort(): void;
}

/**
 * `setTimeout` for delays of any length; the platform's own fires at once beyond 24.8 days. It lives in memory only: in
 * an actor use `c.schedule.after`, in a workflow `ctx.sleep`.
 *
 * @param afterMs in ms; a negative value counts as 0
 * @example
 *     const reminder = setLongTimeout(() => notify(), 40 * 24 * 3_600_000);
 *     reminder.abort();
 * @throws RangeError when `afterMs` is not a finite number
 */
export function setLongTimeout(listener: () => void, afterMs: number): LongTimeoutHandle {
  if (!Number.isFinite(afterMs))
    throw new RangeError(`setLongTimeout() takes a number of milliseconds, not ${afterMs}`);
  let timer: ReturnType<typeof setTimeout>;
  const wait = (leftMs: number): void => {
    const ms = Math.min(Math.max(0, leftMs), MAX_TIMER_MS);
    timer = setTimeout(() => (leftMs > ms ? wait(leftMs - ms) : listener()), ms);
  };
  wait(afterMs);
  return { abort: () => clearTimeout(timer) };
}

/** The longest delay that timers of every platform take. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** What `setLongTimeout` gives. */
export interface LongTimeoutHandle {
  /** The listener is not called any more. */
  abort(): void;
}

/**
 * `setTimeout` for delays of any length: those of the platform end at 24.8 days, and longer ones fire at once. It lives in
 * memory only: for an actor use `c.schedule.after`, in a workflow `ctx.sleep`.
 *
 * @param afterMs below zero counts as zero
 * @throws RangeError if it is no finite number
 * @example
 *     const reminder = setLongTimeout(() => notify(), 40 * 24 * 3_600_000);
 *     reminder.abort();
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

/** The longest delay that every platform's timers accept. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Options of `sleep` and `interval`. */
export interface SleepOptions {
  /** Ends the wait. */
  readonly signal?: AbortSignal | null;
}

/**
 * Resolves after `ms` ms, for delays of any length. It lives in memory only: in a workflow use `ctx.sleep`, which
 * survives a crash.
 *
 * @example
 *     await sleep(500, { signal: c.abortSignal });
 * @throws the signal's reason when it fires first
 * @throws RangeError when `ms` is not a finite number
 */
export async function sleep(ms: number, { signal }: SleepOptions = {}): Promise<void> {
  if (!Number.isFinite(ms)) throw new RangeError(`sleep() takes a number of milliseconds, not ${ms}`);
  const end = performance.now() + ms;
  for (let left = ms; ; left = end - performance.now()) {
    await pause(Math.min(Math.max(0, left), MAX_TIMER_MS), signal ?? undefined);
    if (left <= MAX_TIMER_MS) return;
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** The longest delay that timers of every platform take. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface SleepOptions {
  readonly signal?: AbortSignal | null;
}

/**
 * Resolves after `ms` milliseconds, however many those are. It lives in memory only: in a workflow use `ctx.sleep`, which
 * survives. Rejects with the signal's reason if that aborts first, with a RangeError if `ms` is not finite.
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

import { sleep, type SleepOptions } from "./sleep.js";

/** Ticks at a fixed rate: await them one by one, or iterate. */
export interface Interval extends AsyncIterable<number> {
  /** Resolves at the next tick. Rejects with the signal's reason when it fires. */
  (): Promise<void>;
  /**
   * Yields the number of each tick, from 1; a tick that nobody awaited in time is skipped. Ends when the signal fires.
   */
  [Symbol.asyncIterator](): AsyncIterator<number>;
}

/**
 * Ticks every `ms` ms, counted from the first wait: the time spent working between two ticks does not delay the next
 * one. It lives in memory only, and an actor stays awake while it awaits a tick.
 *
 * @example
 *     const tick = interval(100);
 *     while (!c.aborted) await tick();
 *
 *     for await (const n of interval(1_000, { signal })) report(n);
 * @throws RangeError when `ms` is not a positive finite number
 */
export function interval(ms: number, options: SleepOptions = {}): Interval {
  if (!(ms > 0 && Number.isFinite(ms)))
    throw new RangeError(`interval() takes a positive number of milliseconds, not ${ms}`);
  const nextTick = ticker(ms, options);
  const tick = async (): Promise<void> => void (await nextTick());
  return Object.assign(tick, { [Symbol.asyncIterator]: () => ticks(ms, options) });
}

async function* ticks(ms: number, options: SleepOptions): AsyncGenerator<number, void> {
  const nextTick = ticker(ms, options);
  for (;;) {
    let tick: number;
    try {
      tick = await nextTick();
    } catch (error) {
      if (options.signal?.aborted) return;
      throw error;
    }
    yield tick;
  }
}

function ticker(ms: number, options: SleepOptions): () => Promise<number> {
  let start: number | undefined;
  let last = 0;
  return async () => {
    start ??= performance.now();
    const tick = Math.max(last + 1, Math.floor((performance.now() - start) / ms) + 1);
    last = tick;
    const due = start + tick * ms;
    // Timers may fire slightly early.
    for (let left = due - performance.now(); left > 0; left = due - performance.now()) await sleep(left, options);
    return tick;
  };
}

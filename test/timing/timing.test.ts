import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { interval, joinSignals, sleep } from "../../src/timing/index.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** How many listeners a signal has, counted by what is added and removed. */
function counted(signal: AbortSignal): () => number {
  const added = vi.spyOn(signal, "addEventListener");
  const removed = vi.spyOn(signal, "removeEventListener");
  return () => added.mock.calls.length - removed.mock.calls.length;
}

async function settled(promise: Promise<unknown>): Promise<string> {
  let state = "pending";
  promise.then(
    (value) => (state = `resolved ${String(value)}`),
    (error: unknown) => (state = `rejected ${String(error)}`),
  );
  await vi.advanceTimersByTimeAsync(0);
  return state;
}

describe("sleep", () => {
  test("resolves after its time, not before", async () => {
    const slept = sleep(50);
    await vi.advanceTimersByTimeAsync(49);
    expect(await settled(slept)).toBe("pending");
    await vi.advanceTimersByTimeAsync(1);
    expect(await settled(slept)).toBe("resolved undefined");
  });

  test("may be longer than a timer can be", async () => {
    const days = 24 * 3_600_000;
    const slept = sleep(40 * days);
    await vi.advanceTimersByTimeAsync(39 * days);
    expect(await settled(slept)).toBe("pending");
    await vi.advanceTimersByTimeAsync(days);
    expect(await settled(slept)).toBe("resolved undefined");
  });

  test("rejects with the signal's reason, and leaves neither timer nor listener", async () => {
    const controller = new AbortController();
    const listeners = counted(controller.signal);
    const slept = sleep(50, { signal: controller.signal });
    await vi.advanceTimersByTimeAsync(10);
    controller.abort("enough");
    expect(await settled(slept)).toBe("rejected enough");
    expect(vi.getTimerCount()).toBe(0);
    expect(await settled(sleep(50, { signal: controller.signal }))).toBe("rejected enough");
    const other = new AbortController();
    const others = counted(other.signal);
    const done = sleep(50, { signal: other.signal });
    await vi.advanceTimersByTimeAsync(50);
    await done;
    // The first was removed by the abort itself.
    expect([listeners(), others()]).toEqual([1, 0]);
  });

  test.each([0, -5])("of %i ms resolves in another turn", async (ms) => {
    expect(await settled(sleep(ms))).toBe("resolved undefined");
  });

  test.each([NaN, Infinity, undefined as unknown as number])("of %s is a RangeError", async (ms) => {
    await expect(sleep(ms)).rejects.toThrow(RangeError);
  });
});

describe("interval", () => {
  test("ticks at a fixed rate, whatever the work between two ticks takes", async () => {
    const started = performance.now();
    const times: number[] = [];
    const tick = interval(100);
    const run = (async () => {
      for (let i = 0; i < 4; i++) {
        await tick();
        times.push(performance.now() - started);
        await sleep(30);
      }
    })();
    await vi.advanceTimersByTimeAsync(1000);
    await run;
    expect(times).toEqual([100, 200, 300, 400]);
  });

  test("leaves out ticks that nobody awaited", async () => {
    const ticks: number[] = [];
    const run = (async () => {
      for await (const n of interval(100)) {
        ticks.push(n);
        if (n >= 5) break;
        await sleep(n === 1 ? 250 : 10);
      }
    })();
    await vi.advanceTimersByTimeAsync(1000);
    await run;
    expect(ticks).toEqual([1, 4, 5]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("does not tick before its time when timers fire early", async () => {
    const clock = vi.spyOn(performance, "now").mockReturnValue(0);
    const ticked = interval(100)();
    clock.mockReturnValue(99);
    await vi.advanceTimersByTimeAsync(100);
    expect(await settled(ticked)).toBe("pending");
    clock.mockReturnValue(100);
    await vi.advanceTimersByTimeAsync(1);
    expect(await settled(ticked)).toBe("resolved undefined");
    clock.mockRestore();
  });

  test("ends when its signal aborts: a loop quietly, a tick with the reason", async () => {
    const controller = new AbortController();
    const ticks: number[] = [];
    const run = (async () => {
      for await (const n of interval(100, { signal: controller.signal })) ticks.push(n);
    })();
    const tick = interval(1000, { signal: controller.signal })();
    const failed = settled(tick);
    await vi.advanceTimersByTimeAsync(250);
    controller.abort("enough");
    await run;
    await failed;
    await expect(tick).rejects.toBe("enough");
    expect(ticks).toEqual([1, 2]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("counts each loop from its own start", async () => {
    const every = interval(100);
    const first = every[Symbol.asyncIterator]().next();
    await vi.advanceTimersByTimeAsync(100);
    expect(await first).toEqual({ done: false, value: 1 });
    const second = every[Symbol.asyncIterator]().next();
    await vi.advanceTimersByTimeAsync(100);
    expect(await second).toEqual({ done: false, value: 1 });
  });

  test.each([0, -1, NaN, Infinity])("of %s ms is a RangeError", (ms) => {
    expect(() => interval(ms)).toThrow(RangeError);
  });
});

describe("joinSignals", () => {
  test("aborts with the first, and with its reason", () => {
    const [a, b] = [new AbortController(), new AbortController()];
    const joined = joinSignals(a.signal, null, b.signal, undefined);
    expect(joined.aborted).toBe(false);
    b.abort("b");
    a.abort("a");
    expect([joined.aborted, joined.reason]).toEqual([true, "b"]);
  });

  test("of one that has aborted has aborted", () => {
    const joined = joinSignals(new AbortController().signal, AbortSignal.abort("then"));
    expect([joined.aborted, joined.reason]).toEqual([true, "then"]);
  });

  test.each([[[]], [[null, undefined]]])("of none never aborts: %j", (signals) => {
    expect(joinSignals(...signals).aborted).toBe(false);
  });

  test("leaves no listener once it has aborted, or is disposed of", () => {
    const [a, b] = [new AbortController(), new AbortController()];
    const [onA, onB] = [counted(a.signal), counted(b.signal)];
    const joined = joinSignals(a.signal, b.signal);
    const disposed = joinSignals(a.signal, b.signal);
    disposed.dispose();
    a.abort();
    expect([onA(), onB()]).toEqual([0, 0]);
    expect([joined.aborted, disposed.aborted]).toEqual([true, false]);
  });

  test("is a signal like any other", async () => {
    const controller = new AbortController();
    const slept = sleep(1000, { signal: joinSignals(controller.signal, new AbortController().signal) });
    controller.abort("enough");
    expect(await settled(slept)).toBe("rejected enough");
    expect(joinSignals(controller.signal)).toBeInstanceOf(AbortSignal);
  });
});

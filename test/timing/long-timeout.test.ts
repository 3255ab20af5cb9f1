import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { setLongTimeout } from "../../src/timing/index.js";

const DAY = 24 * 3_600_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a timeout longer than the platform's timers comes at its time, and once", () => {
  const listener = vi.fn<() => void>();
  setLongTimeout(listener, 60 * DAY);
  vi.advanceTimersByTime(60 * DAY - 1);
  expect(listener).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(listener).toHaveBeenCalledTimes(1);
  expect(vi.getTimerCount()).toBe(0);
});

test("one that was aborted does not, and leaves no timer", () => {
  const listener = vi.fn<() => void>();
  const handle = setLongTimeout(listener, 60 * DAY);
  vi.advanceTimersByTime(30 * DAY);
  handle.abort();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(60 * DAY);
  expect(listener).not.toHaveBeenCalled();
});

test("below zero is soon; what is no number is refused", () => {
  const listener = vi.fn<() => void>();
  setLongTimeout(listener, -5);
  vi.advanceTimersByTime(0);
  expect(listener).toHaveBeenCalledTimes(1);
  for (const ms of [NaN, Infinity]) expect(() => setLongTimeout(listener, ms)).toThrow(RangeError);
});

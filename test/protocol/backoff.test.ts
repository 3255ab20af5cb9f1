import { expect, test } from "vitest";
import { backoffMs } from "../../src/protocol/index.js";

const delays = (count: number, backoff: Parameters<typeof backoffMs>[1], chance?: number): number[] =>
  Array.from({ length: count }, (_, index) => backoffMs(index + 1, backoff, chance));

test("doubles with each failure, up to its longest", () => {
  expect(delays(6, { firstMs: 25, maxMs: 200 })).toEqual([25, 50, 100, 200, 200, 200]);
  expect(delays(3, { firstMs: 50 })).toEqual([50, 100, 200]);
});

test("chance takes off up to half, of the longest delay too, and adds nothing", () => {
  expect(delays(4, { firstMs: 100, maxMs: 300 }, 0.5)).toEqual([75, 150, 225, 225]);
  expect(backoffMs(1, { firstMs: 100 }, 0.999_999)).toBeGreaterThan(50);
});

test("is a number for any number of failures", () => {
  expect(backoffMs(5000, { firstMs: 0 })).toBe(0);
  expect(backoffMs(5000, { firstMs: 1, maxMs: 1000 })).toBe(1000);
  expect(Number.isFinite(backoffMs(5000, { firstMs: 1000 }))).toBe(true);
});

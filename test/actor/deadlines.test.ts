import { describe, expect, it } from "vitest";
import { nextWakeAt } from "../../src/actor/index.js";

const NOW = 1_700_000_000_000;
const YEAR_MS = 365 * 24 * 3_600_000;

describe("the next wake", () => {
  it("is none when nothing is stored", () => {
    expect(nextWakeAt({ stored: [], lease: undefined }, NOW)).toBe(null);
  });

  it("is the earliest of all deadlines, the lease included", () => {
    expect(nextWakeAt({ stored: [NOW + 30, NOW + 10, NOW + 20], lease: undefined }, NOW)).toBe(NOW + 10);
    expect(nextWakeAt({ stored: [NOW + 30], lease: NOW + 5 }, NOW)).toBe(NOW + 5);
    expect(nextWakeAt({ stored: [NOW + 3], lease: NOW + 5 }, NOW)).toBe(NOW + 3);
    expect(nextWakeAt({ stored: [], lease: NOW + 5 }, NOW)).toBe(NOW + 5);
  });

  it("is now for what is due and has no lease, and is not moved by it under a lease, which guards it", () => {
    expect(nextWakeAt({ stored: [NOW - 10, NOW + 10], lease: undefined }, NOW)).toBe(NOW - 10);
    expect(nextWakeAt({ stored: [NOW - 10, NOW], lease: NOW + 500 }, NOW)).toBe(NOW + 500);
    expect(nextWakeAt({ stored: [NOW - 10, NOW + 10], lease: NOW + 500 }, NOW)).toBe(NOW + 10);
  });

  it("is a whole number of milliseconds, after the epoch and at most a year ahead", () => {
    // Not before its time: an alarm that finds nothing due would come again at once.
    expect(nextWakeAt({ stored: [NOW + 0.1], lease: undefined }, NOW)).toBe(NOW + 1);
    for (const at of [0, -1, -NOW, Number.NEGATIVE_INFINITY]) expect(nextWakeAt({ stored: [at], lease: undefined }, NOW)).toBe(1);
    for (const at of [NOW + 2 * YEAR_MS, Number.MAX_SAFE_INTEGER]) expect(nextWakeAt({ stored: [at], lease: undefined }, NOW)).toBe(NOW + YEAR_MS);
    expect(nextWakeAt({ stored: [NOW + YEAR_MS], lease: undefined }, NOW)).toBe(NOW + YEAR_MS);
  });
});

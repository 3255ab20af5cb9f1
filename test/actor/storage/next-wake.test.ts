import { describe, expect, it } from "vitest";
import { isResting } from "../../../src/actor/index.js";
import { nextWakeAt } from "../../../src/actor/internal.js";

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
    // Never early: an alarm that finds nothing due would be set again at once.
    expect(nextWakeAt({ stored: [NOW + 0.1], lease: undefined }, NOW)).toBe(NOW + 1);
    for (const at of [0, -1, -NOW, Number.NEGATIVE_INFINITY])
      expect(nextWakeAt({ stored: [at], lease: undefined }, NOW)).toBe(1);
    for (const at of [NOW + 2 * YEAR_MS, Number.MAX_SAFE_INTEGER])
      expect(nextWakeAt({ stored: [at], lease: undefined }, NOW)).toBe(NOW + YEAR_MS);
    expect(nextWakeAt({ stored: [NOW + YEAR_MS], lease: undefined }, NOW)).toBe(NOW + YEAR_MS);
  });
});

describe("an alarm that is far ahead", () => {
  const farAt = NOW + YEAR_MS - 24 * 3_600_000;

  it("is not moved for what is farther still, or never due", () => {
    for (const at of [NOW + 2 * YEAR_MS, Number.POSITIVE_INFINITY])
      expect(nextWakeAt({ stored: [at], lease: undefined }, NOW, farAt)).toBe(farAt);
    expect(nextWakeAt({ stored: [Number.POSITIVE_INFINITY], lease: undefined }, NOW)).toBe(NOW + YEAR_MS);
  });

  it("is moved for anything nearer, and when half the way is gone", () => {
    expect(nextWakeAt({ stored: [farAt - 1], lease: undefined }, NOW, farAt)).toBe(farAt - 1);
    expect(nextWakeAt({ stored: [Number.POSITIVE_INFINITY], lease: NOW + 5 }, NOW, farAt)).toBe(NOW + 5);
    expect(nextWakeAt({ stored: [Number.POSITIVE_INFINITY], lease: undefined }, NOW, NOW + YEAR_MS / 2)).toBe(
      NOW + YEAR_MS,
    );
    const behindAll = NOW + 3 * YEAR_MS;
    expect(nextWakeAt({ stored: [NOW + 2 * YEAR_MS], lease: undefined }, NOW, behindAll)).toBe(NOW + YEAR_MS);
  });
});

describe("the alarm of an actor that rests", () => {
  it("is none if nothing is stored, and exactly the earliest deadline otherwise", () => {
    expect(isResting(null, [], NOW)).toBe(true);
    expect(isResting(NOW + 20, [NOW + 30.5, NOW + 20], NOW)).toBe(true);
    expect(isResting(NOW + 31, [NOW + 30.5], NOW)).toBe(true);
    expect(isResting(NOW - 20, [NOW - 20], NOW), "it comes late").toBe(true);
  });

  it("is any alarm beyond all leases for a wait that no deadline ends", () => {
    for (const at of [NOW + YEAR_MS, NOW + 600_001]) expect(isResting(at, [Number.POSITIVE_INFINITY], NOW)).toBe(true);
    expect(isResting(NOW + 600_001, [NOW + 600_000], NOW), "later than a deadline").toBe(false);
  });

  it("is no other: not one that is missing, too early or too late by a millisecond, or stands for nothing", () => {
    expect(isResting(NOW + 10_000, [], NOW)).toBe(false);
    for (const stored of [[NOW + 20], [Number.POSITIVE_INFINITY]]) expect(isResting(null, stored, NOW)).toBe(false);
    for (const at of [NOW + 19, NOW + 21]) expect(isResting(at, [NOW + 20], NOW)).toBe(false);
    for (const at of [NOW - 1, NOW + 10_000, NOW + 300_000])
      expect(isResting(at, [Number.POSITIVE_INFINITY], NOW)).toBe(false);
  });
});

import { describe, expect, it } from "vitest";
import { retryDelayMs, retryPolicy } from "../../src/workflow/internal.js";

describe("retry policy", () => {
  it("has the documented defaults (D16)", () => {
    expect(retryPolicy({})).toEqual({
      maxRetries: 3,
      backoffBaseMs: 100,
      backoffMaxMs: 30_000,
      timeoutMs: 30_000,
      retryOnTimeout: false,
    });
  });

  it.each([
    ["timeout 0 as none", { timeout: 0 }, { timeoutMs: undefined }],
    ["a negative timeout as due now", { timeout: -5 }, { timeoutMs: 0 }],
    ["an endless timeout as none", { timeout: Number.POSITIVE_INFINITY }, { timeoutMs: undefined }],
    [
      "NaN as not given",
      { maxRetries: Number.NaN, retryBackoffBase: Number.NaN, retryBackoffMax: Number.NaN },
      { maxRetries: 3, backoffBaseMs: 100, backoffMaxMs: 30_000 },
    ],
    ["negative numbers as not given", { maxRetries: -1, retryBackoffBase: -1 }, { maxRetries: 3, backoffBaseMs: 100 }],
    ["zero retries", { maxRetries: 0 }, { maxRetries: 0 }],
    ["endless retries", { maxRetries: Number.POSITIVE_INFINITY }, { maxRetries: Number.POSITIVE_INFINITY }],
  ])("takes %s", (_, config, expected) => {
    expect(retryPolicy(config)).toMatchObject(expected);
  });
});

describe("retry delay", () => {
  const delays = (config: object, count: number): number[] =>
    Array.from({ length: count }, (_, n) => retryDelayMs(retryPolicy(config), n + 1, new Error("no")));

  it("doubles from twice the base up to the maximum (D6)", () => {
    expect(delays({}, 4)).toEqual([200, 400, 800, 1_600]);
    expect(delays({ retryBackoffBase: 2, retryBackoffMax: 20 }, 5)).toEqual([4, 8, 16, 20, 20]);
    expect(delays({}, 12).at(-1)).toBe(30_000);
  });

  it("is 1 ms after the first failure with base 1 and maximum 1 (D32)", () => {
    expect(delays({ retryBackoffBase: 1, retryBackoffMax: 1 }, 1)).toEqual([1]);
  });

  it("is a finite number after however many failures", () => {
    for (const config of [
      {},
      { retryBackoffBase: 0 },
      { retryBackoffBase: 1, retryBackoffMax: Number.POSITIVE_INFINITY },
    ]) {
      for (const failures of [1, 100, 1_023, 1_024, 5_000]) {
        const delay = retryDelayMs(retryPolicy(config), failures, new Error("no"));
        expect(Number.isFinite(delay)).toBe(true);
        expect(delay).toBeGreaterThanOrEqual(0);
      }
    }
  });

  it("is a year at most, whoever asks for more", () => {
    const year = 365 * 86_400_000;
    expect(retryDelayMs(retryPolicy({}), 1, Object.assign(new Error("no"), { retryAfter: 1e300 }))).toBe(year);
    expect(retryDelayMs(retryPolicy({ retryBackoffBase: 1e300, retryBackoffMax: 1e300 }), 1, new Error("no"))).toBe(
      year,
    );
  });

  it("is what a thrown retryAfter says, if that is a time", () => {
    const after = (retryAfter: unknown): number =>
      retryDelayMs(retryPolicy({}), 1, Object.assign(new Error("no"), { retryAfter }));
    expect(after(70_000)).toBe(70_000);
    expect(after(0)).toBe(0);
    for (const wrong of [-1, Number.NaN, Number.POSITIVE_INFINITY, "5", null]) expect(after(wrong)).toBe(200);
    for (const thrown of [undefined, null, "text", 5]) expect(retryDelayMs(retryPolicy({}), 1, thrown)).toBe(200);
  });
});

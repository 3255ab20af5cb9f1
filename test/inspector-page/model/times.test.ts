import { expect, it } from "vitest";
import { absolute, bytesOf, fromNow, grouped, lengthOf, shortLength } from "../../../src/inspector-page/internal.js";

it("lengths are told in at most two units", () => {
  const lengths = [0, 80, 1_450, 12_000, 61_000, 3_600_000, 90_061_000, -5, Number.NaN];
  expect(lengths.map(lengthOf)).toEqual([
    "0 ms",
    "80 ms",
    "1.4 s",
    "12 s",
    "1 min 1 s",
    "1 h",
    "1 d 1 h",
    "0 ms",
    "an unknown time",
  ]);
  expect([61_000, 90_061_000, 80].map(shortLength)).toEqual(["1 min", "1 d", "80 ms"]);
});

it("times are told from now, in whole seconds", () => {
  const times = [100_000, 99_500, 100_500, 87_100, 340_000];
  expect(times.map((time) => fromNow(time, 100_000))).toEqual(["just now", "just now", "now", "12 s ago", "in 4 min"]);
  expect(fromNow(98_100, 100_000)).toBe("1 s ago");
});

it("times are shown as the reader's clock has them", () => {
  expect(absolute(new Date(2026, 11, 1, 9, 5, 7, 3).getTime())).toBe("2026-12-01 09:05:07.003");
  expect(absolute(Number.NaN)).toBe("an unknown time");
});

it("numbers and sizes can be read", () => {
  expect([0, 999, 1_204, 1_234_567].map(grouped)).toEqual(["0", "999", "1,204", "1,234,567"]);
  expect([1, 512, 1_900, 2_000_000].map(bytesOf)).toEqual(["1 byte", "512 bytes", "1.9 KB", "2.0 MB"]);
});

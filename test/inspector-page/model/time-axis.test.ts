import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { timeAxis } from "../../../src/inspector-page/internal.js";

const DAY = 86_400_000;

describe("the axis of time", () => {
  it("is linear while nothing is squeezed", () => {
    const axis = timeAxis([0, 100, 250, 1_000]);
    expect([0, 250, 500, 1_000].map((time) => axis.at(time))).toEqual([0, 0.25, 0.5, 1]);
    expect(axis.breaks).toEqual([]);
  });

  it("cuts three days between two seconds short, so that the seconds can be seen", () => {
    const axis = timeAxis([0, 1_000, 1_000 + 3 * DAY, 2_000 + 3 * DAY]);
    expect(axis.breaks.map(({ from, to }) => [from, to])).toEqual([[1_000, 1_000 + 3 * DAY]]);
    expect(axis.at(1_000)).toBeCloseTo(0.44);
    expect(axis.at(1_000 + 3 * DAY)).toBeCloseTo(0.56);
    expect(axis.at(2_000 + 3 * DAY)).toBeCloseTo(1);
  });

  it("cuts several waits, also of different lengths", () => {
    const moments = [
      0,
      10,
      10 + DAY,
      20 + DAY,
      20 + 2 * DAY,
      30 + 2 * DAY,
      30 + 2 * DAY + 60_000,
      40 + 2 * DAY + 60_000,
    ];
    expect(timeAxis(moments).breaks).toHaveLength(3);
  });

  it("leaves short waits as they are, however short the steps beside them", () => {
    expect(timeAxis([0, 1, 500, 501, 900, 901]).breaks).toEqual([]);
  });

  it("stands still for moments that are all the same, or none", () => {
    expect([timeAxis([]).at(5), timeAxis([7]).at(7), timeAxis([7, 7]).breaks.length]).toEqual([1, 0, 0]);
  });

  it("never runs backwards, and stays within its ends", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 4e12 }), { minLength: 1, maxLength: 60 }), (moments) => {
        const axis = timeAxis(moments);
        const places = moments.toSorted((a, b) => a - b).map((time) => axis.at(time));
        for (const [index, place] of places.entries()) {
          expect(place).toBeGreaterThanOrEqual(places[index - 1] ?? 0);
          expect(place).toBeLessThanOrEqual(1);
        }
        if (axis.to > axis.from) expect(axis.at(axis.to)).toBeCloseTo(1, 5);
      }),
    );
  });
});

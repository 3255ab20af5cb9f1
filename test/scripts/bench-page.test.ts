import { describe, expect, test } from "vitest";
import { isReached } from "../../bench/goals.mjs";
import { counted, figure, type Figure } from "../../bench/measure.mjs";
import { page } from "../../bench/page.mjs";
import type { PeersReport } from "../../bench/peers/table.mjs";
import type { Report } from "../../bench/report.mjs";

const about = {
  date: "2026-12-01T00:00:00.000Z",
  commit: "abc",
  version: "1.2.3",
  machine: "a machine",
  node: "v1",
  workerd: "1.2",
  rounds: 7,
  isQuick: false,
  load: { before: [0, 0, 0], after: [1, 1, 1] },
};
const slow: Figure = figure({ bare: [{ ms: 1 }], perdure: [{ ms: 2 }] }, "ms", { name: "write", goal: "1.15 ×" });

describe("a goal", () => {
  test.each([
    [slow, false],
    [counted({ name: "rows", unit: "rows", bare: 1, perdure: 2, goal: "2 rows" }), true],
    [counted({ name: "bytes", unit: "KiB", perdure: 70.1, goal: "70 KiB" }), false],
    [counted({ name: "none", unit: "KiB", perdure: 1 }), undefined],
    [counted({ name: "not counted here", unit: "fsyncs", perdure: Number.NaN, goal: "1 fsyncs" }), undefined],
  ])("of %o is reached: %s", (each, reached) => {
    expect(isReached(each)).toBe(reached);
  });

  test("in another unit than its figure is a mistake of the bench", () => {
    const mistaken = counted({ name: "bytes", unit: "KiB", perdure: 1, goal: "4 MiB" });
    expect(() => isReached(mistaken)).toThrow("A goal in MiB for a figure in KiB");
  });
});

describe("docs/speed.md", () => {
  test("says which goals are missed, and by how much", () => {
    const report: Report = { ...about, jobs: [{ name: "job", title: "A job", seconds: 1, figures: [slow] }] };
    const text = page(report, undefined);
    expect(text).toContain("Of 1 goals 0 are reached.");
    expect(text).toContain("- **write**, 2 × where the goal is ≤ 1.15 ×.");
    expect(text).toContain("version | 1.2.3, commit abc |");
  });

  test("has a cell for each peer: its figure, that it failed and why, or nothing where it has no such thing", () => {
    const peers = ["one", "two", "three"].map((name) => ({
      name,
      title: name,
      version: "1",
      promise: `what ${name} is`,
    }));
    const cells = { one: { median: 1, min: 1, max: 2 }, two: { why: "not done in 30 s" } };
    const report: PeersReport = {
      ...about,
      peers,
      jobs: [{ name: "job", title: "A job", rows: [{ name: "write", unit: "ms", cells }] }],
    };
    const text = page(undefined, report);
    expect(text).toContain("| write | 1 ms (1–2) | failed |  |");
    expect(text).toContain("two, write: not done in 30 s.");
    expect(text).toContain("- **three** 1: what three is");
  });
});

import { describe, expect, it } from "vitest";
import { ROW_HEIGHT, scrollFor, verbsFor, visibleRows } from "../../../src/inspector-page/internal.js";
import { entryAt } from "./entries.js";

describe("the list", () => {
  it("has few rows in the document, wherever it is scrolled to", () => {
    for (const scrollTop of [0, 140_000, 279_000, 1e9]) {
      const { first, last } = visibleRows(scrollTop, 560, 10_000);
      expect(last - first).toBeLessThanOrEqual(46);
      expect(first).toBeGreaterThanOrEqual(0);
      expect(last).toBeLessThanOrEqual(10_000);
    }
    expect(visibleRows(0, 560, 3)).toEqual({ first: 0, last: 3 });
  });

  it("scrolls only for a row out of sight", () => {
    expect(scrollFor(5, 0, 560)).toBeUndefined();
    expect(scrollFor(100, 0, 560)).toBe(101 * ROW_HEIGHT - 560);
    expect(scrollFor(2, 560, 560)).toBe(2 * ROW_HEIGHT);
  });
});

describe("what can be done to a workflow", () => {
  const allowed = (status: string): string[] =>
    verbsFor(status, undefined).flatMap(({ name, refusal }) => (refusal === undefined ? [name] : []));

  it("depends on how it stands", () => {
    expect(allowed("failed")).toEqual(["recover", "replay"]);
    expect(allowed("running")).toEqual(["replay", "pause", "resume", "cancel"]);
    expect(allowed("paused")).toEqual(["replay", "resume", "cancel"]);
    expect(allowed("diverged")).toEqual(["recover", "replay", "cancel"]);
    expect(allowed("completed")).toEqual(["replay"]);
  });

  it("names the step from which it would be replayed", () => {
    const means = (entry?: Parameters<typeof verbsFor>[1]): string | undefined =>
      verbsFor("failed", entry).find(({ name }) => name === "replay")?.means;
    expect(means(entryAt(["poll", 3, "ask"], { id: "7" }))).toContain("from ask (entry 7) on");
    expect(means(entryAt(["nap"], { kind: "sleep" }))).toContain("from its start on");
    expect(means()).toContain("from its start on");
  });
});

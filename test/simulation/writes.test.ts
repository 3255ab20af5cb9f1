import { describe, expect, it } from "vitest";
import { simulateWrites, type WritesResult } from "./writes.js";

const SEEDS = Number(process.env["SEEDS"] ?? 60);
const FIRST = Number(process.env["SEED"] ?? 1);
const COUNT = process.env["SEED"] === undefined ? SEEDS : 1;

describe("what steps and actions write to SQL and c.kv", () => {
  it(
    `of ${COUNT} seeds is stored with the rest of its turn or not at all, and steps write once`,
    { timeout: 3_600_000 },
    async () => {
      const failed: WritesResult[] = [];
      const sum = { written: 0, commits: 0, crashes: 0 };
      for (let seed = FIRST; seed < FIRST + COUNT; seed += 1) {
        const result = await simulateWrites(seed);
        sum.written += result.written;
        sum.commits += result.commits;
        sum.crashes += result.crashes;
        if (result.violations.length > 0) failed.push(result);
      }
      console.log(
        `writes: ${COUNT} seeds, ${sum.written} rows and values, ${sum.commits} commits, ${sum.crashes} ` +
          `crashes, ${failed.length} with violations`,
      );
      const report = failed
        .slice(0, 5)
        .map(
          (each) =>
            `SEED=${each.seed} npx vitest run --project simulation test/simulation/writes.test.ts\n  ${each.violations.join("\n  ")}`,
        );
      expect(report, `${failed.length} seeds failed: ${failed.map((each) => each.seed).join(" ")}`).toEqual([]);
      expect(sum.written).toBeGreaterThan(COUNT);
    },
  );

  it("a seed gives the same run twice", async () => {
    for (const seed of [1, 2, 3, 7])
      expect((await simulateWrites(seed)).trace).toBe((await simulateWrites(seed)).trace);
  });
});

import { describe, expect, it } from "vitest";
import { simulateRecurring, type RecurringResult } from "./recurring.js";

const SEEDS = Number(process.env["SEEDS"] ?? 40);
const FIRST = Number(process.env["SEED"] ?? 1);
const COUNT = process.env["SEED"] === undefined ? SEEDS : 1;

describe("recurring jobs", () => {
  it(
    `of ${COUNT} seeds run at most once each time, and come again, whatever happens to them`,
    { timeout: 3_600_000 },
    async () => {
      const failed: RecurringResult[] = [];
      const sum = { begun: 0, commits: 0, crashes: 0 };
      for (let seed = FIRST; seed < FIRST + COUNT; seed += 1) {
        const result = await simulateRecurring(seed);
        sum.begun += result.begun;
        sum.commits += result.commits;
        sum.crashes += result.crashes;
        if (result.violations.length > 0) failed.push(result);
      }
      console.log(
        `recurring jobs: ${COUNT} seeds, ${sum.begun} occurrences, ${sum.commits} commits, ${sum.crashes} ` +
          `crashes, ${failed.length} with violations`,
      );
      const report = failed
        .slice(0, 5)
        .map(
          (each) =>
            `SEED=${each.seed} npx vitest run --project simulation test/simulation/recurring.test.ts\n  ${each.violations.join("\n  ")}`,
        );
      expect(report, `${failed.length} seeds failed: ${failed.map((each) => each.seed).join(" ")}`).toEqual([]);
      expect(sum.begun).toBeGreaterThan(COUNT);
    },
  );

  it("a seed gives the same run twice", async () => {
    for (const seed of [1, 2, 3, 7])
      expect((await simulateRecurring(seed)).trace).toBe((await simulateRecurring(seed)).trace);
  });
});

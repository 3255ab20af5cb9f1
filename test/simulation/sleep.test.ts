import { describe, expect, it } from "vitest";
import { simulateSleeping, type SleepingResult } from "./sleeping.js";

const SEEDS = Number(process.env["SEEDS"] ?? 60);
const FIRST = Number(process.env["SEED"] ?? 1);
const COUNT = process.env["SEED"] === undefined ? SEEDS : 1;

describe("actors that go to sleep", () => {
  it(
    `of ${COUNT} seeds lose nothing by it, live one life at a time, and sleep in the end`,
    { timeout: 3_600_000 },
    async () => {
      const failed: SleepingResult[] = [];
      const sum = { sleeps: 0, commits: 0, crashes: 0 };
      for (let seed = FIRST; seed < FIRST + COUNT; seed += 1) {
        const result = await simulateSleeping(seed);
        sum.sleeps += result.sleeps;
        sum.commits += result.commits;
        sum.crashes += result.crashes;
        if (result.violations.length > 0) failed.push(result);
      }
      console.log(
        `sleep: ${COUNT} seeds, ${sum.sleeps} sleeps, ${sum.commits} commits, ${sum.crashes} crashes, ${failed.length} with violations`,
      );
      const report = failed
        .slice(0, 5)
        .map(
          (each) =>
            `SEED=${each.seed} npx vitest run --project simulation test/simulation/sleep.test.ts\n  ${each.violations.join("\n  ")}`,
        );
      expect(report, `${failed.length} seeds failed: ${failed.map((each) => each.seed).join(" ")}`).toEqual([]);
      expect(sum.sleeps).toBeGreaterThan(COUNT);
    },
  );

  it("a seed gives the same run twice", async () => {
    for (const seed of [1, 2, 3, 7])
      expect((await simulateSleeping(seed)).trace).toBe((await simulateSleeping(seed)).trace);
  });
});

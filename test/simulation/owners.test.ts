import { describe, expect, it } from "vitest";
import { simulateOwners, type OwnersResult } from "./simulate-owners.js";

const SEEDS = Number(process.env["SEEDS"] ?? 120);
const FIRST = Number(process.env["SEED"] ?? 1);
const COUNT = process.env["SEED"] === undefined ? SEEDS : 1;

describe("owners", () => {
  it(
    `${COUNT} programs that are deployed anew and steered while they run come to their end, and nothing is lost or done twice`,
    { timeout: 3_600_000 },
    async () => {
      const failed: OwnersResult[] = [];
      const sum = { deploys: 0, operations: 0, crashes: 0, commits: 0 };
      for (let seed = FIRST; seed < FIRST + COUNT; seed += 1) {
        const result = await simulateOwners(seed).catch((error: unknown) => {
          throw new Error(`SEED=${seed} npx vitest run --project simulation test/simulation/owners.test.ts`, {
            cause: error,
          });
        });
        for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += result[key];
        if (result.violations.length > 0) failed.push(result);
      }
      console.log(
        `owners: ${COUNT} programs, ${sum.deploys} deploys, ${sum.operations} operations, ${sum.commits} ` +
          `commits, ${sum.crashes} crashes, ${failed.length} with violations`,
      );
      const report = failed
        .slice(0, 5)
        .map(
          (each) =>
            `SEED=${each.seed} npx vitest run --project simulation test/simulation/owners.test.ts\n  ${each.violations.join("\n  ")}`,
        );
      expect(report, `${failed.length} seeds failed: ${failed.map((each) => each.seed).join(" ")}`).toEqual([]);
    },
  );

  it("a seed gives the same run twice", async () => {
    for (const seed of [1, 2, 3, 6, 7])
      expect((await simulateOwners(seed)).trace).toBe((await simulateOwners(seed)).trace);
  });
});

import { describe, expect, it } from "vitest";
import { simulate, type SimulationResult } from "./simulate.js";

const SEEDS = Number(process.env["SEEDS"] ?? 200);
const FIRST = Number(process.env["SEED"] ?? 1);
const COUNT = process.env["SEED"] === undefined ? SEEDS : 1;

describe("simulation", () => {
  it(`${COUNT} random programs keep every promise wherever they are cut off`, { timeout: 3_600_000 }, async () => {
    const failed: SimulationResult[] = [];
    let commits = 0;
    let crashes = 0;
    let events = 0;
    let deaths = 0;
    for (let seed = FIRST; seed < FIRST + COUNT; seed += 1) {
      const result = await simulate(seed).catch((error: unknown) => {
        throw new Error(`SEED=${seed} npx vitest run --project simulation test/simulation/simulation.test.ts`, {
          cause: error,
        });
      });
      commits += result.commits;
      crashes += result.crashes;
      events += result.events;
      deaths += result.deaths;
      if (result.violations.length > 0) failed.push(result);
    }
    console.log(
      `simulation: ${COUNT} programs, ${events} events, ${commits} commits, ${crashes} crashes, ${deaths} ` +
        `lives destroyed, ${failed.length} with violations`,
    );
    const report = failed
      .slice(0, 5)
      .map(
        (each) =>
          `SEED=${each.seed} npx vitest run --project simulation test/simulation/simulation.test.ts\n  ${each.violations.join("\n  ")}`,
      );
    expect(report, `${failed.length} seeds failed: ${failed.map((each) => each.seed).join(" ")}`).toEqual([]);
  });

  it("a seed gives the same run twice", async () => {
    for (const seed of [1, 2, 3, 5, 7, 11]) expect((await simulate(seed)).trace).toBe((await simulate(seed)).trace);
  });
});

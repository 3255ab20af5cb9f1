import { expect, it } from "vitest";
import { simulateHostile, type HostileResult } from "./simulate-hostile.js";

// Callers of one actor, some of whom send what they should not, while others work, and it dies. `HOSTILE_SEEDS=n` runs more
// seeds, `SEED=n` one, `FIRST=n` begins with that one.

const FIRST = Number(process.env["FIRST"] ?? 1);
const SEEDS = process.env["SEED"]
  ? [Number(process.env["SEED"])]
  : Array.from({ length: Number(process.env["HOSTILE_SEEDS"] ?? 60) }, (_, index) => FIRST + index);
const replay = (seed: number): string =>
  `SEED=${seed} npx vitest run --project simulation test/simulation/hostile.test.ts`;

it("tells each caller the truth, and has nobody else pay for it", { timeout: 3_600_000 }, async () => {
  const totals = { seeds: 0, commits: 0, crashes: 0, operations: 0, acknowledged: 0, refused: 0 };
  const failed: HostileResult[] = [];
  for (const seed of SEEDS) {
    const result = await simulateHostile(seed);
    if (result.violations.length > 0) failed.push(result);
    totals.seeds += 1;
    for (const key of Object.keys(totals) as (keyof typeof totals)[]) if (key !== "seeds") totals[key] += result[key];
  }
  console.log(JSON.stringify({ ...totals, failed: failed.length }));
  expect(
    failed.slice(0, 5).map((each) => [replay(each.seed), ...each.violations].join("\n  ")),
    `failed: ${failed.map((each) => each.seed).join(" ")}`,
  ).toEqual([]);
  if (SEEDS.length > 30) expect(Math.min(totals.crashes, totals.acknowledged, totals.refused)).toBeGreaterThan(100);
});

it("does the same again for the same seed", async () => {
  for (const seed of [1, 2, 3]) expect((await simulateHostile(seed)).trace).toBe((await simulateHostile(seed)).trace);
});

import { expect, it } from "vitest";
import { simulateDesk, type DeskResult } from "./simulate-desk.js";

// A workflow with its queue, its connections, raw requests and raw sockets, all of one actor, with deaths and evictions.
// `DESK_SEEDS=n` runs more seeds, `SEED=n` one; `DESK_EVERY=1` has a death at every commit, not at every seventh.

const SEEDS = process.env["SEED"]
  ? [Number(process.env["SEED"])]
  : Array.from({ length: Number(process.env["DESK_SEEDS"] ?? 40) }, (_, index) => index + 1);
const replay = (seed: number): string =>
  `SEED=${seed} npx vitest run --project simulation test/simulation/desk.test.ts`;

it("keeps what it has promised to whoever is connected, whatever dies when", { timeout: 3_600_000 }, async () => {
  const totals = {
    seeds: 0,
    commits: 0,
    crashes: 0,
    evictions: 0,
    destroyed: 0,
    operations: 0,
    acknowledged: 0,
    received: 0,
  };
  const failed: DeskResult[] = [];
  for (const seed of SEEDS) {
    const result = await simulateDesk(seed);
    if (result.violations.length > 0) failed.push(result);
    totals.seeds += 1;
    for (const key of Object.keys(totals) as (keyof typeof totals)[]) if (key !== "seeds") totals[key] += result[key];
  }
  console.log(JSON.stringify({ ...totals, failed: failed.length }));
  expect(
    failed.slice(0, 5).map((each) => [replay(each.seed), ...each.violations].join("\n  ")),
    `failed: ${failed.map((each) => each.seed).join(" ")}`,
  ).toEqual([]);
  if (SEEDS.length > 30)
    expect(Math.min(totals.crashes, totals.evictions, totals.acknowledged, totals.received)).toBeGreaterThan(100);
});

it("does the same again for the same seed", async () => {
  for (const seed of [1, 2, 3]) expect((await simulateDesk(seed)).trace).toBe((await simulateDesk(seed)).trace);
});

it("keeps it with one death at any commit", { timeout: 3_600_000 }, async () => {
  const failed: string[] = [];
  let runs = 0;
  const every = Number(process.env["DESK_EVERY"] ?? 7);
  for (const seed of [4, 8]) {
    const { commits, violations } = await simulateDesk(seed, { crash: { commit: Infinity, kind: "refuse" } });
    expect(violations).toEqual([]);
    for (let commit = 1 + (seed % every); commit <= commits; commit += every) {
      for (const kind of ["crash-before", "crash-after", "refuse"] as const) {
        runs += 1;
        const result = await simulateDesk(seed, { crash: { commit, kind } });
        if (result.violations.length > 0)
          failed.push(`seed ${seed}, ${kind} at commit ${commit}: ${result.violations.join("; ")}`);
      }
    }
  }
  expect(failed).toEqual([]);
  expect(runs).toBeGreaterThan(60);
});

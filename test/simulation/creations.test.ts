import { expect, it } from "vitest";
import { simulateCreations } from "./simulate-creations.js";

// Random creators of one actor, some of them refused, with deaths at commits and port calls. `CREATION_SEEDS=n` runs
// more of them, `SEED=n` one.

const SEEDS = process.env["SEED"]
  ? [Number(process.env["SEED"])]
  : Array.from({ length: Number(process.env["CREATION_SEEDS"] ?? 200) }, (_, index) => index + 1);

it(
  "a caller that is refused leaves nothing of an actor, whatever dies when, and nobody is refused for another",
  { timeout: 3_600_000 },
  async () => {
    const totals = { commits: 0, crashes: 0, lives: 0, refusals: 0 };
    for (const seed of SEEDS) {
      const { violations, commits, crashes, lives, refusals } = await simulateCreations(seed);
      expect(
        violations,
        `replay with SEED=${seed} npx vitest run --project simulation test/simulation/creations.test.ts`,
      ).toEqual([]);
      totals.commits += commits;
      totals.crashes += crashes;
      totals.lives += lives;
      totals.refusals += refusals;
    }
    console.log(JSON.stringify(totals));
    if (SEEDS.length > 100) expect(Math.min(totals.crashes, totals.lives, totals.refusals)).toBeGreaterThan(100);
  },
);

it("does the same again for the same seed", async () => {
  for (const seed of [1, 2, 3, 4])
    expect((await simulateCreations(seed)).trace).toBe((await simulateCreations(seed)).trace);
});

import { expect, it } from "vitest";
import { simulateConnections } from "./simulate-connections.js";

// Random clients of one actor, with evictions and deaths. `CONNECTION_SEEDS=n` runs more of them, `SEED=n` one.

const SEEDS = process.env["SEED"]
  ? [Number(process.env["SEED"])]
  : Array.from({ length: Number(process.env["CONNECTION_SEEDS"] ?? 150) }, (_, index) => index + 1);

it(
  "keeps connections, their events and the presence they count true, whatever dies when",
  { timeout: 3_600_000 },
  async () => {
    const totals = { seeds: 0, commits: 0, crashes: 0, evictions: 0, events: 0, violations: 0 };
    for (const seed of SEEDS) {
      const { commits, crashes, evictions, events, violations } = await simulateConnections(seed);
      expect(
        violations,
        `replay with SEED=${seed} npx vitest run --project simulation test/simulation/connections.test.ts`,
      ).toEqual([]);
      totals.seeds += 1;
      totals.commits += commits;
      totals.crashes += crashes;
      totals.evictions += evictions;
      totals.events += events;
    }
    console.log(JSON.stringify(totals));
    if (SEEDS.length > 50) expect(Math.min(totals.crashes, totals.evictions, totals.events)).toBeGreaterThan(100);
  },
);

it("does the same again for the same seed", async () => {
  for (const seed of [1, 2, 3, 4])
    expect((await simulateConnections(seed)).trace).toBe((await simulateConnections(seed)).trace);
});

import { describe, expect, it } from "vitest";
import { simulateEffects, type EffectsResult } from "./effects.js";

const SEEDS = Number(process.env["SEEDS"] ?? 80);
const FIRST = Number(process.env["SEED"] ?? 1);
const COUNT = process.env["SEED"] === undefined ? SEEDS : 1;

describe("effects that nobody awaits", () => {
  it(
    `of ${COUNT} seeds are stored with their step, once, and none of a failed attempt`,
    { timeout: 3_600_000 },
    async () => {
      const failed: EffectsResult[] = [];
      const sum = { effects: 0, crashes: 0 };
      for (let seed = FIRST; seed < FIRST + COUNT; seed += 1) {
        const result = await simulateEffects(seed);
        sum.effects += result.effects;
        sum.crashes += result.crashes;
        if (result.violations.length > 0) failed.push(result);
      }
      console.log(
        `effects: ${COUNT} seeds, ${sum.effects} effects, ${sum.crashes} crashes, ${failed.length} with violations`,
      );
      const report = failed
        .slice(0, 5)
        .map(
          (each) =>
            `SEED=${each.seed} npx vitest run --project simulation test/simulation/effects.test.ts\n  ` +
            `${each.violations.slice(0, 8).join("\n  ")}`,
        );
      expect(report, `${failed.length} seeds failed: ${failed.map((each) => each.seed).join(" ")}`).toEqual([]);
      expect(sum.effects).toBeGreaterThan(COUNT);
    },
  );
});

import { describe, expect, it } from "vitest";
import { simulate } from "./simulate.js";

/**
 * Seeds that once failed. Each bug has a test of its own as well, since a seed means another program when what draws it
 * changes: then the seeds here are only seeds.
 */
const SEEDS: readonly (readonly [seed: number, why: string])[] = [
  [1482, "an actor was destroyed while its undoing looked for handlers, and the look went on: taken for a divergence"],
  [1016, "while onDestroy took its time, an overdue deadline of the workflow asked for one alarm after the other"],
  [2837, "the same; a workflow cancelled there had its end overwritten"],
];

describe("seeds that once failed", () => {
  for (const [seed, why] of SEEDS) {
    it(`${seed}: ${why}`, async () => {
      expect((await simulate(seed)).violations).toEqual([]);
    });
  }
});

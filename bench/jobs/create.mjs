// The first call of an actor that was not there.
import { action } from "../calls.mjs";
import { sequentialCalls } from "../sequential-calls.mjs";

/** @type {import("../job.mjs").Job} */
export const create = {
  name: "create",
  title: "A new actor and its first call, a write",
  run: (bench) =>
    sequentialCalls(bench, {
      name: "create",
      count: bench.pick(40, 3),
      make: (side) => action(side, "value", `new-${bench.fresh()}`, "set", 1),
      goals: { fetch: "1.2 ×" },
    }),
};

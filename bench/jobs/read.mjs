// An action that changes nothing.
import { action } from "../calls.mjs";
import { sequentialCalls } from "../sequential-calls.mjs";

/** @type {import("../job.mjs").Job} */
export const read = {
  name: "read",
  title: "An action that reads, over HTTP",
  run: (bench) =>
    sequentialCalls(bench, {
      name: "read",
      count: bench.pick(500, 5),
      make: (side) => action(side, "value", "one", "get"),
      goals: { fetch: "1.2 ×", cpu: "1.25 ×" },
    }),
};

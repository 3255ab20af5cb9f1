// An action that changes state.
import { action } from "../calls.mjs";
import { sequentialCalls } from "../sequential-calls.mjs";

/** @type {import("../job.mjs").Job} */
export const write = {
  name: "write",
  title: "An action that writes, over HTTP",
  run: (bench) =>
    sequentialCalls(bench, {
      name: "write",
      count: bench.pick(300, 5),
      make: (side) => action(side, "value", "one", "set", bench.fresh()),
      goals: { fetch: "1.15 ×", cpu: "1.25 ×" },
    }),
};

// A message from outside to a workflow that takes it: until the sender has its answer, which does not wait for the taking.
import { message } from "../calls.mjs";
import { sequentialCalls } from "../sequential-calls.mjs";

/** @type {import("../job.mjs").Job} */
export const messageOutside = {
  name: "message-outside",
  title: "A message from outside to a workflow",
  run: (bench) =>
    sequentialCalls(bench, {
      name: "message",
      count: bench.pick(200, 5),
      make: (side) => message(side, "inbox", "one", bench.fresh()),
      hasTail: true,
      goals: { fetch: "1.15 ×" },
    }),
};

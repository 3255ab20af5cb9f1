// Messages of an actor to itself, each taken by its workflow with a step that changes state.
import { action, call } from "../calls.mjs";
import { figure, timed } from "../measure.mjs";

/** @type {import("../job.mjs").Job} */
export const messageInside = {
  name: "message-inside",
  title: "A message from inside, taken",
  run: (bench) =>
    bench.withSides(async (sides) => {
      const count = bench.pick(500, 10);
      const turns = await bench.alternate(sides, async (side) => {
        const before = side.cpuMs;
        const ms = await timed(() => call(side, action(side, "inbox", "one", "fill", count)));
        return { ms: ms / count, cpu: (side.cpuMs - before) / count };
      });
      return [
        figure(turns, "ms", { name: "message from inside", goal: "0.12 ms" }),
        figure(turns, "cpu", { name: "message from inside, CPU" }),
      ];
    }),
};

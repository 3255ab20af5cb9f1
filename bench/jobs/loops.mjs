// Iterations of a loop, each with a step that changes state.
import { action, call, message } from "../calls.mjs";
import { figure, timed } from "../measure.mjs";

/** @type {import("../job.mjs").Job} */
export const loops = {
  name: "loops",
  title: "Iterations of a loop, an iteration",
  run: (bench) =>
    bench.withSides(async (sides) => {
      const count = bench.pick(2_000, 20);
      const turns = await bench.alternate(sides, async (side) => {
        const run =
          side === sides.bare
            ? action(side, "loops", "one", "iterate", count)
            : message(side, "loops", "one", count, { wait: true });
        const before = side.cpuMs;
        const ms = await timed(() => call(side, run));
        return { ms: ms / count, cpu: (side.cpuMs - before) / count };
      });
      return [
        figure(turns, "ms", { name: "loop iteration", goal: "0.05 ms" }),
        figure(turns, "cpu", { name: "loop iteration, CPU" }),
      ];
    }),
};

// Steps that change the state: an entry and the state for each. By hand both in one write to the disk, before the next.
import { action, call, message } from "../calls.mjs";
import { figure, timed } from "../measure.mjs";

/** @type {import("../job.mjs").Job} */
export const stateSteps = {
  name: "state-steps",
  title: "Steps of a workflow that change its state, a step",
  run: (bench) =>
    bench.withSides(async (sides) => {
      const count = bench.pick(1_000, 20);
      const turns = await bench.alternate(sides, async (side) => {
        const key = `turn-${bench.fresh()}`;
        const run =
          side === sides.bare
            ? action(side, "changing", key, "changingSteps", count)
            : message(side, "changing", key, count, { wait: true });
        const before = side.cpuMs;
        const ms = await timed(() => call(side, run));
        return { ms: ms / count, cpu: (side.cpuMs - before) / count };
      });
      return [
        figure(turns, "ms", { name: "a step that changes state" }),
        figure(turns, "cpu", { name: "a step that changes state, CPU" }),
      ];
    }),
};

// From nothing to the first answer: the process begins, loads the minified Worker, and answers a call to a new actor.
import { action, call } from "../calls.mjs";
import { figure, timed } from "../measure.mjs";

/** @type {import("../job.mjs").Job} */
export const coldStart = {
  name: "cold-start",
  title: "A cold start",
  run: (bench) =>
    bench.withSides(
      async (sides) => {
        const turns = await bench.alternate(sides, async (side) => {
          const first = action(side, "value", `new-${bench.fresh()}`, "get");
          const ms = await timed(async () => {
            await side.start();
            await call(side, first);
          });
          const cpu = side.cpuMs;
          await side.kill();
          return { ms, cpu };
        });
        return [
          figure(turns, "ms", { name: "cold start, minified", goal: "1.5 ×" }),
          figure(turns, "cpu", { name: "cold start, minified, CPU" }),
        ];
      },
      { isMinified: true, isStarted: false },
    ),
};

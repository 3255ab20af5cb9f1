// Steps of a workflow, next to puts that wait for the disk each, and to puts that wait once.
import { action, call, message } from "../calls.mjs";
import { figure, timed } from "../measure.mjs";

/** @type {import("../job.mjs").Job} */
export const steps = {
  name: "steps",
  title: "Steps of a workflow, a step",
  run: (bench) =>
    bench.withSides(async (sides) => {
      const figures = [];
      for (const count of [bench.pick(1_000, 20), bench.pick(10_000, 60)]) {
        const turns = await bench.alternate(sides, async (side) => {
          if (side === sides.perdure) {
            // By itself each: what one turn has left behind is no burden of the next.
            const key = `turn-${bench.fresh()}`;
            const ms = (await timed(() => call(side, message(side, "steps", key, count, { wait: true })))) / count;
            return { synced: ms, batched: ms };
          }
          const byHand = (/** @type {boolean} */ isSynced) =>
            timed(() => call(side, action(side, "steps", "one", "steps", count, isSynced)));
          return { synced: (await byHand(true)) / count, batched: (await byHand(false)) / count };
        });
        const name = `a step of ${count.toLocaleString("en")}`;
        figures.push(
          figure(turns, "synced", { name: `${name}, by hand with the disk each`, goal: "0.15 ×" }),
          figure(turns, "batched", { name: `${name}, by hand with the disk once`, goal: "0.04 ms" }),
        );
      }
      return figures;
    }),
};

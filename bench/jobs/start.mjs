// The first call to an actor that is not in memory, and has a long history: one that reads, and a message that moves it. By
// hand: an object that reads as many rows, for both.
import { action, call, evict, message } from "../calls.mjs";
import { figure, median, timed } from "../measure.mjs";

/** @type {import("../job.mjs").Job} */
export const start = {
  name: "start",
  title: "A start with a long history",
  run: (bench) =>
    bench.withSides(async (sides) => {
      const entries = bench.pick(10_000, 50);
      const { bare, perdure } = sides;
      await Promise.all([
        call(bare, action(bare, "long", "one", "steps", entries, false)),
        call(perdure, message(perdure, "long", "one", entries, { wait: true })),
      ]);
      const turns = await bench.alternate(sides, async (side) => {
        const load = action(side, "long", "one", "load");
        const ofStart = async (/** @type {import("../calls.mjs").Call} */ first) => {
          const times = [];
          for (let index = 0; index < bench.pick(3, 1); index += 1) {
            await evict(side, "long", "one");
            times.push(await timed(() => call(side, first)));
          }
          return median(times);
        };
        return {
          move: await ofStart(side === bare ? load : message(side, "long", "one", bench.fresh(), { wait: true })),
          read: await ofStart(side === bare ? load : action(side, "long", "one", "get")),
        };
      });
      const history = `${entries.toLocaleString("en")} entries`;
      return [
        figure(turns, "move", { name: `start with ${history} and move`, goal: "60 ms" }),
        figure(turns, "read", { name: `start with ${history} and read`, goal: "15 ms" }),
      ];
    }),
};

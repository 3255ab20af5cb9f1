// One sleeper after the other, alone: how late a wake is.
import { setTimeout as delay } from "node:timers/promises";
import { action, call, message } from "../calls.mjs";
import { figure, median } from "../measure.mjs";

const SLEEP_MS = 50;

/** @type {import("../job.mjs").Job} */
export const wakes = {
  name: "wakes",
  title: "A wake after its time",
  run: (bench) =>
    bench.withSides(async (sides) => {
      const count = bench.pick(10, 2);
      const turns = await bench.alternate(sides, async (side) => {
        const key = `turn-${bench.fresh()}`;
        const read = action(side, "sleeper", key, side.name === "bare" ? "lateMs" : "get");
        await call(side, read);
        /** @type {number[]} */
        let late = [];
        for (let wake = 1; wake <= count; wake += 1) {
          const at = Date.now() + SLEEP_MS;
          await call(
            side,
            side.name === "bare" ? action(side, "sleeper", key, "sleepUntil", at) : message(side, "sleeper", key, at),
          );
          do {
            await delay(SLEEP_MS / 2);
            late = await call(side, read);
          } while (late.length < wake);
        }
        // A wake in the instant that it was due is one of a part of a millisecond.
        return { late: Math.max(median(late), 0.5) };
      });
      return [figure(turns, "late", { name: "wake after its time" })];
    }),
};

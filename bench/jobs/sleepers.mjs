// Sleepers that are all due at one instant: how late the median and the last wakes.
import { setTimeout as delay } from "node:timers/promises";
import { action, call, message } from "../calls.mjs";
import { alternate, figure, median } from "../measure.mjs";

/** How many are sent to sleep at a time, and how long that may take for each, on a machine that has nothing else to do. */
const AT_ONCE = 25;
const EACH_MS = 8;
const LIMIT_MS = 60_000;

/** @type {import("../job.mjs").Job} */
export const sleepers = {
  name: "sleepers",
  title: "Sleepers that are due at one instant",
  run: (bench) =>
    bench.withSides(async (sides) => {
      const count = bench.pick(500, 20);
      const turn = async (/** @type {import("../side.mjs").Side} */ side) => {
        const { keys, at } = await putToSleep(bench, side, count);
        await delay(at - Date.now());
        // Nobody is asked while others are still to wake: asking starts an actor.
        await delay(bench.pick(3_000, 500));
        /** @type {number[]} */
        const late = [];
        for (const key of keys) late.push(await latenessOf(side, key));
        return { last: Math.max(...late), median: median(late) };
      };
      // New sleepers each turn, and a long wait: few turns, and none to warm up.
      const turns = await alternate(Math.min(bench.rounds, 3), 0, {
        bare: () => turn(sides.bare),
        perdure: () => turn(sides.perdure),
      });
      return [
        figure(turns, "last", { name: `the last of ${count} sleepers`, goal: "1.3 ×" }),
        figure(turns, "median", { name: `the median of ${count} sleepers` }),
      ];
    }),
};

/**
 * New sleepers that all sleep when they are due; on a busy machine after some attempts, with more time each.
 *
 * @param {import("../job.mjs").Bench} bench
 * @param {import("../side.mjs").Side} side
 * @param {number} count
 */
async function putToSleep(bench, side, count) {
  for (let eachMs = EACH_MS; ; eachMs *= 2) {
    const turn = bench.fresh();
    const keys = Array.from({ length: count }, (_, index) => `${turn}-${index}`);
    const at = Date.now() + 1_000 + count * eachMs;
    for (let begun = 0; begun < count; begun += AT_ONCE)
      await Promise.all(keys.slice(begun, begun + AT_ONCE).map((key) => call(side, sleep(side, key, at))));
    if (Date.now() < at - 500) return { keys, at };
  }
}

/**
 * @param {import("../side.mjs").Side} side
 * @param {string} key
 * @param {number} at
 */
function sleep(side, key, at) {
  return side.name === "bare" ? action(side, "sleeper", key, "sleepUntil", at) : message(side, "sleeper", key, at);
}

/**
 * @param {import("../side.mjs").Side} side
 * @param {string} key
 * @returns {Promise<number>}
 */
async function latenessOf(side, key) {
  for (const deadline = Date.now() + LIMIT_MS; Date.now() < deadline; await delay(50)) {
    const [lateMs] = await call(side, action(side, "sleeper", key, side.name === "bare" ? "lateMs" : "get"));
    // A wake in the instant that it was due is one of a part of a millisecond.
    if (lateMs !== undefined) return Math.max(lateMs, 0.5);
  }
  throw new Error(`${key} did not wake`);
}

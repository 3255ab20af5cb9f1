// What many actors add to the resident memory of workerd, each: live ones, just called, and ones whose workflow sleeps. Both
// are in memory: the platform takes idle objects out of it after a while, ours like those by hand.
import { action, call, message } from "../calls.mjs";
import { figure } from "../measure.mjs";

const AT_ONCE = 25;
const HOUR_MS = 3_600_000;

/** @type {import("../job.mjs").Job} */
export const memory = {
  name: "memory",
  title: "Memory of an actor",
  run: async (bench) => {
    const count = bench.pick(2_000, 75);
    /** @type {import("../measure.mjs").Turns} */
    const turns = { bare: [], perdure: [] };
    for (let round = 0; round < bench.pick(Math.min(bench.rounds, 3), 1); round += 1) {
      const live = await grown(bench, count, (side, key) => action(side, "value", key, "set", bench.fresh()));
      const sleeping = await grown(bench, count, (side, key) => {
        const at = Date.now() + HOUR_MS;
        return side.name === "bare"
          ? action(side, "sleeper", key, "sleepUntil", at)
          : message(side, "sleeper", key, at);
      });
      for (const name of /** @type {const} */ (["bare", "perdure"]))
        turns[name].push({ live: live[name], sleeping: sleeping[name] });
    }
    return [
      figure(turns, "live", { name: "memory of a live actor", unit: "KiB" }),
      figure(turns, "sleeping", { name: "memory of an actor that sleeps", unit: "KiB" }),
    ];
  },
};

/**
 * KiB each, in processes of their own.
 *
 * @param {import("../job.mjs").Bench} bench
 * @param {number} count
 * @param {(side: import("../side.mjs").Side, key: string) => import("../calls.mjs").Call} make
 */
function grown(bench, count, make) {
  return bench.withSides(async ({ bare, perdure }) => {
    const of = async (/** @type {import("../side.mjs").Side} */ side) => {
      const callAll = async (/** @type {string} */ prefix, /** @type {number} */ all) => {
        for (let begun = 0; begun < all; begun += AT_ONCE)
          await Promise.all(
            Array.from({ length: AT_ONCE }, (_, index) => call(side, make(side, `${prefix}-${begun + index}`))),
          );
      };
      // The heap's first growth is of the process, not of an actor.
      await callAll("warm", Math.ceil(count / 4));
      const before = side.residentKiB;
      await callAll("kept", count);
      return (side.residentKiB - before) / count;
    };
    return { bare: await of(bare), perdure: await of(perdure) };
  });
}

// How long after a SIGKILL work goes on: from the start of the next process to the first sign of life. One object has worked
// for long when the process is killed, another has just begun; the lease of the first may run for longer. Beside them are
// actors that slept, and for which the kill is none.
import { setTimeout as delay } from "node:timers/promises";
import { Beats } from "../beats.mjs";
import { action, call, message, written } from "../calls.mjs";
import { counted, figure } from "../measure.mjs";

/** Actors that sleep while the process is killed: what wakes them must not be taken for work that was cut off. */
const SLEEPERS = 20;
/** How long after the kill they sleep. */
const SLEEP_ON_MS = 2_500;

/** @type {import("../job.mjs").Job} */
export const recovery = {
  name: "recovery",
  title: "Work goes on after SIGKILL",
  run: async (bench) => {
    const [youngMs, oldMs] = [bench.pick(2_000, 200), bench.pick(20_000, 400)];
    const beats = await Beats.listen();
    let falseFinds = 0;
    let finds = 0;
    try {
      // New processes and storage each turn: nothing is warm, and nothing is left of a turn.
      /** @type {import("../measure.mjs").Turns} */
      const turns = { bare: [], perdure: [] };
      const rounds = bench.pick(Math.min(bench.rounds, 3), 1);
      for (let round = 0; round < rounds; round += 1) {
        await bench.withSides(async (sides) => {
          for (const name of /** @type {const} */ (["bare", "perdure"])) {
            const side = sides[name];
            await beginWork(side, beats, "old");
            await delay(oldMs - youngMs);
            await beginWork(side, beats, "young");
            const wakeAt = Date.now() + youngMs + SLEEP_ON_MS;
            if (name === "perdure") await putToSleep(side, wakeAt);
            await delay(Math.max(0, wakeAt - SLEEP_ON_MS - Date.now()));
            await side.kill();
            const startedAt = performance.now();
            const since = async (/** @type {string} */ key) => (await beats.next(`${name}-${key}`)) - startedAt;
            const all = Promise.all([since("young"), since("old")]);
            await side.start();
            const [young, old] = await all;
            if (name === "perdure") {
              await delay(Math.max(0, wakeAt + 1_000 - Date.now()));
              for (let index = 0; index < SLEEPERS; index += 1)
                falseFinds += (await written(side, "sleeper", `${index}`)).found;
              for (const key of ["young", "old"]) finds += (await written(side, "beating", key)).found > 0 ? 1 : 0;
            }
            await side.kill();
            turns[name].push({ young, old });
          }
        });
      }
      return [
        figure(turns, "young", { name: `resume work that is ${youngMs / 1_000} s old`, goal: "1500 ms" }),
        figure(turns, "old", { name: `resume work that is ${oldMs / 1_000} s old`, goal: "10000 ms" }),
        counted({ name: `found cut off, of ${2 * rounds} that were`, unit: "times", perdure: finds }),
        counted({
          name: `found cut off, of ${SLEEPERS * rounds} that only slept`,
          unit: "times",
          perdure: falseFinds,
          goal: "0 times",
        }),
      ];
    } finally {
      beats.close();
    }
  },
};

/**
 * @param {import("../side.mjs").Side} side
 * @param {number} wakeAt
 */
async function putToSleep(side, wakeAt) {
  for (let index = 0; index < SLEEPERS; index += 1) await call(side, message(side, "sleeper", `${index}`, wakeAt));
}

/**
 * Resolves when the object has said once that it works.
 *
 * @param {import("../side.mjs").Side} side
 * @param {Beats} beats
 * @param {string} key
 */
async function beginWork(side, beats, key) {
  const url = beats.url(`${side.name}-${key}`);
  const first = beats.next(`${side.name}-${key}`);
  await call(
    side,
    side.name === "bare" ? action(side, "beating", key, "beat", url) : message(side, "beating", key, url),
  );
  await first;
}

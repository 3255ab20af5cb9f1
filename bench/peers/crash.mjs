// What a SIGKILL of all processes costs: until work goes on, and what was answered and is gone.
import { setTimeout as delay } from "node:timers/promises";
import { Beats } from "../beats.mjs";
import { timed } from "../measure.mjs";
import { callOf, few, having, post } from "./jobs.mjs";
import { rounds, rowOf } from "./turns.mjs";

const WORK_MS = 2_000;
const RESUME_LIMIT_MS = 45_000;
const WRITES = 50;

/** @type {import("./jobs.mjs").Job} */
export const crash = {
  name: "crash",
  title: "After SIGKILL",
  run: async (bench, peers) => {
    const beats = await Beats.listen();
    const workMs = bench.isQuick ? 200 : WORK_MS;
    try {
      const measured = await rounds(
        having(peers, "beat"),
        { rounds: few(bench), warmUps: 0, limitMs: 2 * RESUME_LIMIT_MS },
        async (running) => {
          // Work that goes on for ever would be beside all that is measured after it.
          if (running.processes.isSpent) {
            await running.processes.end();
            running.processes = running.peer.processes();
            await running.processes.start();
          }
          running.processes.isSpent = true;
          const { peer, processes } = running;
          const name = `${peer.name}-${bench.fresh()}`;
          const begun = beats.next(name, RESUME_LIMIT_MS);
          await Promise.all([begun, post(running, callOf(running, "beat", name, beats.url(name)))]);
          await delay(workMs);
          const written = await writes(running, `kept-${name}`);
          await processes.kill();
          // A request that was on its way is none of the next process.
          await delay(50);
          const startedAt = performance.now();
          const resumed = beats.next(name, RESUME_LIMIT_MS);
          resumed.catch(() => {});
          try {
            const answers = await timed(() => processes.start());
            const lost = written === undefined ? Number.NaN : written - (await readBack(running, `kept-${name}`));
            const resumes = (await resumed) - startedAt;
            return { answers, resumes, after: Math.max(resumes - answers, 0), lost };
          } finally {
            // The next of this peer starts anew, and until then nothing of it works.
            await processes.kill();
          }
        },
      );
      return [
        rowOf(measured, "answers", { name: "until it answers, from the start of its processes" }),
        rowOf(measured, "resumes", {
          name: `until work that was ${workMs / 1_000} s old goes on, from the same start`,
        }),
        rowOf(measured, "after", { name: "the same, from when it answers" }),
        rowOf(measured, "lost", { name: `of ${WRITES} writes that were answered, lost`, unit: "writes" }),
      ];
    } finally {
      beats.close();
    }
  },
};

/** @param {import("./turns.mjs").Running} running @param {string} key */
async function writes(running, key) {
  if (!running.peer.calls.set) return undefined;
  for (let value = 1; value <= WRITES; value += 1) await post(running, callOf(running, "set", key, value));
  return WRITES;
}

/** @param {import("./turns.mjs").Running} running @param {string} key @returns {Promise<number>} */
function readBack(running, key) {
  return post(running, callOf(running, "get", key));
}

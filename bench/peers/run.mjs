// `npm run bench -- --against peers`: the jobs that other libraries have something for, of all of them in one run.
import { crash } from "./crash.mjs";
import { installPeers } from "./install.mjs";
import { answerTo, JOBS as QUIET_JOBS, post } from "./jobs.mjs";
import { PEERS } from "./peers.mjs";
import { sizes } from "./sizes.mjs";
import { linesOf } from "./table.mjs";
import { reasonOf, within } from "./turns.mjs";

/**
 * @typedef {import("./table.mjs").PeersReport} PeersReport
 * @typedef {import("./turns.mjs").Running} Running
 */

const START_LIMIT_MS = 60_000;

/** In the order of the table; what leaves its processes killed is the last that needs them. */
export const JOBS = [...QUIET_JOBS, crash, sizes];

/**
 * @param {{ rounds: number, isQuick: boolean, only?: readonly string[] }} options `only`: names of jobs and of peers
 * @returns {Promise<Pick<PeersReport, "peers" | "jobs">>}
 */
export async function againstPeers({ rounds, isQuick, only = [] }) {
  installPeers();
  const jobs = chosen(JOBS, only);
  const peers = chosen(PEERS, only);
  let last = 0;
  // Never the same twice: the platform writes a row that does not change without waiting for the disk.
  const bench = { rounds, isQuick, fresh: () => (last += 1) };
  /** @type {Running[]} */
  const running = [];
  /** @type {Map<string, string>} */
  const missing = new Map();
  try {
    // One after the other: together they would take one another's time.
    for (const peer of peers) {
      const processes = peer.processes();
      const started = { peer, processes, failures: 0 };
      try {
        await within(START_LIMIT_MS, processes.start());
        await within(START_LIMIT_MS, answersRight(started));
        running.push(started);
      } catch (error) {
        missing.set(peer.name, `did not start: ${reasonOf(error)}`);
        console.error(error);
        await processes.end();
      }
    }
    const done = [];
    for (const { name, title, run } of jobs) {
      const rows = await run(bench, running);
      for (const row of rows)
        for (const [peer, why] of missing) if (row.cells[peer] === undefined) row.cells[peer] = { why };
      console.log(linesOf({ name, title, rows }, peers).join("\n"));
      done.push({ name, title, rows });
    }
    return { peers: peers.map(({ name, title, version, promise }) => ({ name, title, version, promise })), jobs: done };
  } finally {
    await Promise.all(running.map(({ processes }) => processes.end()));
  }
}

/** What answers fast and wrong is not measured; the actors that it asks are those of the jobs. @param {Running} running */
async function answersRight(running) {
  const { set, get, request } = running.peer.calls;
  if (set && get) {
    await patiently(() => post(running, set("one", 5)));
    const value = await post(running, get("one"));
    if (value !== 5) throw new Error(`a value of 5 reads as ${value}`);
  }
  if (request) {
    const { output, response = output } = await patiently(() => answerTo(running, request("one", 7)));
    if (response !== 7) throw new Error(`a request of 7 is answered with ${JSON.stringify(response)}`);
  }
}

/** What was just started is asked again where it fails. @template T @param {() => Promise<T>} ask */
async function patiently(ask) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (tries === 3) throw error;
    }
  }
}

/**
 * Those that are named, or all if none is.
 *
 * @template {{ name: string }} T
 * @param {readonly T[]} all
 * @param {readonly string[]} names
 */
function chosen(all, names) {
  const found = all.filter(({ name }) => names.includes(name));
  return found.length > 0 ? found : all;
}

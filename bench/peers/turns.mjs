// Turns of several peers in alternation, each bounded: what does not end in time is a cell that says so.
import { quantile } from "../measure.mjs";

/**
 * @typedef {import("../measure.mjs").Summary} Summary
 * @typedef {Partial<Summary> & { why?: string }} Cell `why`: of a turn that failed; without a median, all did
 * @typedef {{ name: string, unit: string, note?: string, cells: Record<string, Cell> }} Row
 * @typedef {{ peer: import("./peers.mjs").Peer, processes: import("./processes.mjs").Processes, failures: number }} Running
 *   `failures`: turns that failed
 */

const LIMIT_MS = 30_000;
/** Failed turns after which a peer has no more of them in this job, and in the whole run. */
const FAILURES = { ofJob: 2, ofRun: 6 };

/**
 * One turn of each peer a round; who begins changes.
 *
 * @param {readonly Running[]} peers
 * @param {{ rounds: number, warmUps?: number, limitMs?: number }} options
 * @param {(running: Running) => Promise<Record<string, number>>} turn
 */
export async function rounds(peers, { rounds: count, warmUps = 1, limitMs = LIMIT_MS }, turn) {
  /** @type {Map<string, Record<string, number>[]>} */
  const turns = new Map(peers.map(({ peer }) => [peer.name, []]));
  /** @type {Map<string, string[]>} */
  const failures = new Map(peers.map(({ peer }) => [peer.name, []]));
  for (let round = -warmUps; round < count; round += 1) {
    const first = (round + warmUps) % peers.length;
    for (const running of [...peers.slice(first), ...peers.slice(0, first)]) {
      const { name } = running.peer;
      const failed = failures.get(name) ?? [];
      if (failed.length === FAILURES.ofJob || running.failures === FAILURES.ofRun) continue;
      try {
        const measured = await within(limitMs, turn(running));
        if (round >= 0) turns.get(name)?.push(measured);
      } catch (error) {
        failed.push(reasonOf(error));
        running.failures += 1;
      }
    }
  }
  return { turns, failures };
}

/**
 * A row of the figures that turns have by a name.
 *
 * @param {Awaited<ReturnType<typeof rounds>>} measured
 * @param {string} key
 * @param {{ name: string, unit?: string, note?: string }} about
 * @returns {Row}
 */
export function rowOf({ turns, failures }, key, { name, unit = "ms", note }) {
  /** @type {Record<string, Cell>} */
  const cells = {};
  for (const [peer, all] of turns) {
    const values = all.flatMap((turn) => (Number.isFinite(turn[key]) ? [/** @type {number} */ (turn[key])] : []));
    const [why] = failures.get(peer) ?? [];
    if (values.length === 0 && why === undefined) continue;
    cells[peer] = {
      ...(values.length > 0 && { median: quantile(values, 0.5), min: Math.min(...values), max: Math.max(...values) }),
      ...(why !== undefined && { why }),
    };
  }
  return { name, unit, cells, ...(note !== undefined && { note }) };
}

/**
 * @template T
 * @param {number} ms
 * @param {Promise<T>} work
 * @returns {Promise<T>}
 */
export async function within(ms, work) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not done in ${ms / 1_000} s`)), ms);
  });
  try {
    return await /** @type {Promise<T>} */ (Promise.race([work, late]));
  } finally {
    clearTimeout(timer);
  }
}

/** The first line of what went wrong. @param {unknown} error */
export function reasonOf(error) {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  return line.slice(0, 160);
}

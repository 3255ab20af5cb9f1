// What a process has used, from /proc; NaN where there is none.
import { readdirSync, readFileSync } from "node:fs";

/**
 * Milliseconds of processor time, of all threads.
 *
 * @param {number} pid
 */
export function cpuMs(pid) {
  let ns = 0;
  for (const thread of list(`/proc/${pid}/task`))
    ns += Number(read(`/proc/${pid}/task/${thread}/schedstat`).split(" ")[0]);
  return ns === 0 ? Number.NaN : ns / 1e6;
}

/**
 * KiB of resident memory.
 *
 * @param {number} pid
 */
export function residentKiB(pid) {
  return Number(/^VmRSS:\s*(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? Number.NaN);
}

/** @param {string} directory */
function list(directory) {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** @param {string} path */
function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

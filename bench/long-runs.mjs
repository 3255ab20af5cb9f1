// `node bench/long-runs.mjs`: what a long history costs to start from, and a long loop to keep in memory. The pure core
// on Node, in the world of the tests: no disk, no network, and the clock stands still. Times are the processor's, so that
// what else the machine does is not in them; on the platform each 25 operations cost a turn of the event loop more.
import { build } from "esbuild";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const root = join(import.meta.dirname, "..");
const ENTRIES = [100, 300, 1_000, 3_000, 10_000];
const SAMPLES = 9;
const ITERATIONS = 100_000;
const EVERY = 10_000;

setFlagsFromString("--expose-gc");
/** @type {() => void} */
const collectGarbage = runInNewContext("gc");
const nextTurn = (/** @type {() => void} */ run) => void setImmediate(run);

// Below the project, so that the bundle finds its packages.
const scratch = mkdtempSync(join(root, "node_modules", ".long-runs-"));
try {
  const outfile = join(scratch, "long-runs.mjs");
  await build({
    entryPoints: [join(root, "bench", "long-runs.ts")],
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    alias: aliases(),
    outfile,
    logLevel: "error",
  });
  const { replay, loop } = await import(pathToFileURL(outfile).href);

  console.log("one loop, by iterations\n");
  line("iterations", "heap", "keys stored", "an iteration");
  /** @type {{ iteration: number, heap: number, keys: number, at: number }[]} */
  const marks = [];
  /** Milliseconds that looking took, of all so far. */
  let paused = 0;
  await loop(
    ITERATIONS,
    EVERY,
    nextTurn,
    (/** @type {number} */ iteration, /** @type {{ keys: number }} */ { keys }) => {
      const at = cpuMs();
      collectGarbage();
      marks.push({ iteration, keys, heap: process.memoryUsage().heapUsed, at: at - paused });
      paused += cpuMs() - at;
    },
  );
  const largest = Math.max(...marks.map(({ heap }) => heap));
  for (const [index, { iteration, heap, keys, at }] of marks.entries()) {
    const before = marks[index - 1];
    const each = before ? `${(((at - before.at) / EVERY) * 1_000).toFixed(1)} µs` : "";
    line(count(iteration), `${(heap / 1_000_000).toFixed(2)} MB`, count(keys), each, bar(heap / largest));
  }

  console.log("\nstart from storage, and replay, by entries\n");
  line("entries", "stored", "median", "an entry");
  await replay(1_000, SAMPLES, nextTurn, cpuMs);
  /** @type {{ entries: number, ms: number, bytes: number }[]} */
  const replays = [];
  for (const entries of ENTRIES) {
    const { bytes, samples } = await replay(entries, SAMPLES, nextTurn, cpuMs);
    replays.push({ entries, bytes, ms: median(samples) });
  }
  const slowest = Math.max(...replays.map(({ ms, entries }) => ms / entries));
  for (const { entries, bytes, ms } of replays) {
    line(
      count(entries),
      `${count(bytes / 1_000)} kB`,
      `${ms.toFixed(1)} ms`,
      `${((ms / entries) * 1_000).toFixed(1)} µs`,
      bar(ms / entries / slowest),
    );
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** The package's own names mean the sources, as everywhere in development. */
function aliases() {
  return Object.fromEntries(
    ["testing", "workflow", "index"].map((entry) => [
      entry === "index" ? "perdure" : `perdure/${entry}`,
      join(root, "src", "entry", `${entry}.ts`),
    ]),
  );
}

/** @param {string[]} cells */
function line(...cells) {
  console.log(`${cells.map((cell, index) => (index < 4 ? cell.padStart(14) : `   ${cell}`)).join("")}`);
}

/** @param {number} part of the largest */
function bar(part) {
  return "█".repeat(Math.max(1, Math.round(part * 40)));
}

/** What this process has computed so far. */
function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** @param {number} value */
function count(value) {
  return Math.round(value).toLocaleString("en");
}

/** @param {readonly number[]} samples */
function median(samples) {
  return samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? Number.NaN;
}

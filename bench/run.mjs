// `npm run bench`: what an actor costs, next to a Durable Object written by hand, on the workerd of this repository and
// without a dev server in between. `--only write,read` runs these jobs, `--rounds 5` has so many turns of each side, `--quick`
// sees only that all jobs work, `--json FILE` writes the figures there, `--write` into bench/results/ and docs/speed.md.
// `--against peers` measures other libraries beside ours instead: bench/peers/. The page has the newest figures of both.
import { writeFileSync } from "node:fs";
import process from "node:process";
import { parseArgs } from "node:util";
import { onStop } from "../scripts/stop-signals.mjs";
import { Bench } from "./job.mjs";
import { JOBS } from "./jobs/index.mjs";
import { circumstances, line, load } from "./report.mjs";
import { keep, writePage } from "./results.mjs";

const ROUNDS = 7;
/** Jobs that run at a time where nobody looks at the figures: most of them wait. */
const AT_ONCE = 4;

const { values: options } = parseArgs({
  options: {
    against: { type: "string" },
    only: { type: "string" },
    rounds: { type: "string" },
    quick: { type: "boolean", default: false },
    json: { type: "string" },
    write: { type: "boolean", default: false },
  },
});
const rounds = Number(options.rounds ?? (options.quick ? 1 : ROUNDS));
if (!Number.isInteger(rounds) || rounds < 1)
  fail(`--rounds must be a whole number of at least 1, not ${options.rounds}`);
if (options.write && (options.quick || options.only)) fail("--write is of all jobs, and not of quick ones");
if (options.against !== undefined && options.against !== "peers") fail(`--against knows peers, not ${options.against}`);
const only = options.only?.split(",");

onStop((what, code) => {
  console.error(what);
  process.exit(code);
});

const about = circumstances();
const before = load();
console.log(`${about.machine}; Node ${about.node}; load ${before.join(", ")}; ${rounds} turns each`);
const found = options.against === undefined ? await ourJobs() : await peersJobs();
const report = { ...about, rounds, isQuick: options.quick, load: { before, after: load() }, ...found };
console.log(`\nload ${report.load.after.join(", ")}`);

if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, undefined, 2)}\n`);
if (options.write) {
  keep(report, options.against);
  writePage();
}
process.exit();

async function ourJobs() {
  const jobs = chosen(only);
  const bench = new Bench({ rounds, isQuick: options.quick });
  console.log("median (range)".padEnd(52) + "by hand".padStart(28) + "perdure".padStart(28) + "ratio".padStart(22));
  const done = await inOrder(jobs, options.quick ? AT_ONCE : 1, async ({ name, title, run }) => {
    const startedAt = performance.now();
    const figures = await run(bench);
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    console.log([`\n${title} (${name}, ${seconds} s)`, ...figures.map(line)].join("\n"));
    return { name, title, seconds, figures };
  });
  return { jobs: done };
}

/** Others are loaded, and installed, only when they are asked for. */
async function peersJobs() {
  const { againstPeers } = await import("./peers/run.mjs");
  return againstPeers({ rounds, isQuick: options.quick, only: only ?? [] });
}

/**
 * @template T, R
 * @param {readonly T[]} items
 * @param {number} atOnce
 * @param {(item: T) => Promise<R>} run
 * @returns {Promise<R[]>}
 */
async function inOrder(items, atOnce, run) {
  /** @type {R[]} */
  const results = [];
  const entries = items.entries();
  const worker = async () => {
    for (const [index, item] of entries) results[index] = await run(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

/** @param {readonly string[] | undefined} names */
function chosen(names) {
  if (names === undefined) return JOBS;
  const unknown = names.filter((name) => !JOBS.some((job) => job.name === name));
  if (unknown.length > 0)
    fail(`No job is named ${unknown.join(", ")}; there are ${JOBS.map(({ name }) => name).join(", ")}`);
  return JOBS.filter(({ name }) => names.includes(name));
}

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  console.error(message);
  process.exit(1);
}

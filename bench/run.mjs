// `npm run bench`: what an actor costs, next to a Durable Object written by hand, on the workerd of this repository and
// without a dev server in between. `--only write,read` runs these jobs, `--rounds 5` has so many turns of each side, `--quick`
// sees only that all jobs work, `--json FILE` writes the figures there, `--write` into bench/results/ and docs/speed.md.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { onStop } from "../scripts/stop-signals.mjs";
import { Bench } from "./job.mjs";
import { JOBS } from "./jobs/index.mjs";
import { circumstances, line, load, page } from "./report.mjs";

const ROUNDS = 7;
/** Jobs that run at a time where nobody looks at the figures: most of them wait. */
const AT_ONCE = 4;

const { values: options } = parseArgs({
  options: {
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
const jobs = chosen(options.only);

onStop((what, code) => {
  console.error(what);
  process.exit(code);
});

const bench = new Bench({ rounds, isQuick: options.quick });
const about = circumstances();
const before = load();
console.log(`${about.machine}; Node ${about.node}; load ${before.join(", ")}; ${rounds} turns each`);
console.log("median (range)".padEnd(52) + "by hand".padStart(28) + "perdure".padStart(28) + "ratio".padStart(22));
const done = await inOrder(jobs, options.quick ? AT_ONCE : 1, async ({ name, title, run }) => {
  const figures = await run(bench);
  console.log([`\n${title} (${name})`, ...figures.map(line)].join("\n"));
  return { name, title, figures };
});
const report = { ...about, rounds, isQuick: options.quick, load: { before, after: load() }, jobs: done };
console.log(`\nload ${report.load.after.join(", ")}`);

if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, undefined, 2)}\n`);
if (options.write) {
  const results = join(import.meta.dirname, "results");
  mkdirSync(results, { recursive: true });
  writeFileSync(join(results, `${about.date.slice(0, 10)}.json`), `${JSON.stringify(report, undefined, 2)}\n`);
  writeFileSync(join(import.meta.dirname, "..", "docs", "speed.md"), page(report));
}
process.exit();

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

/** @param {string | undefined} only */
function chosen(only) {
  if (only === undefined) return JOBS;
  const names = only.split(",");
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

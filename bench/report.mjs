// What a run has found, on a screen, as JSON, and as the page docs/speed.md.
import { execFileSync } from "node:child_process";
import { cpus, loadavg, totalmem } from "node:os";
import process from "node:process";

/**
 * @typedef {import("./measure.mjs").Figure} Figure
 * @typedef {import("./measure.mjs").Summary} Summary
 * @typedef {{ date: string, commit: string, machine: string, node: string, rounds: number, isQuick: boolean,
 *   load: { before: number[], after: number[] }, jobs: { name: string, title: string, figures: Figure[] }[] }} Report
 */

/** Where and when; the load tells how much else the machine did. */
export function circumstances() {
  const model = cpus()[0]?.model ?? "unknown processor";
  return {
    date: new Date().toISOString(),
    commit: commit(),
    machine: `${cpus().length} × ${model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform} ${process.arch}`,
    node: process.version,
  };
}

/** Of the last minute, five and fifteen. */
export function load() {
  return loadavg().map((value) => Math.round(value * 100) / 100);
}

/** @param {Figure} figure */
export function line({ name, unit, bare, perdure, ratio, goal }) {
  return [
    name.padEnd(52),
    shown(bare, unit).padStart(28),
    shown(perdure, unit).padStart(28),
    shown(ratio, "×").padStart(22),
    goal === undefined ? "" : `   ≤ ${goal}`,
  ].join("");
}

/** @param {Report} report */
export function page({ date, commit, machine, node, rounds, load, jobs }) {
  const tables = jobs.map(
    ({ title, figures }) =>
      `## ${title}\n\n| | by hand | Perdure | ratio | goal |\n|---|---|---|---|---|\n${figures.map(row).join("\n")}\n`,
  );
  return `# Speed

What Perdure costs next to a Durable Object that one writes by hand for the same purpose, on bare workerd. Each side is a
process of its own; they take turns, ${rounds} each, so that what the machine does meanwhile happens to both. A figure is the median of
the turns, with the smallest and the largest behind it; the ratio is of the two turns of a round. CPU is what workerd has
computed for one call. Written by \`npm run bench -- --write\`; [Limits and cost](guides/limits-and-cost.md) says what is billed.

| | |
|---|---|
| date | ${date} |
| commit | ${commit} |
| machine | ${machine} |
| Node | ${node} |
| load before, after | ${load.before.join(", ")}; ${load.after.join(", ")} |

${tables.join("\n")}`;
}

/** @param {Figure} figure */
function row({ name, unit, bare, perdure, ratio, goal }) {
  const cells = [
    name,
    shown(bare, unit),
    shown(perdure, unit),
    shown(ratio, "×"),
    goal === undefined ? "" : `≤ ${goal}`,
  ];
  return `| ${cells.join(" | ")} |`;
}

/**
 * @param {Summary | undefined} summary
 * @param {string} unit
 */
function shown(summary, unit) {
  if (!summary || Number.isNaN(summary.median)) return "";
  const { median, min, max } = summary;
  const digits = median >= 100 ? 0 : median >= 10 ? 1 : median >= 0.1 ? 2 : 3;
  const [middle, from, to] = [median, min, max].map((value) => String(Number(value.toFixed(digits))));
  return from === to ? `${middle} ${unit}` : `${middle} ${unit} (${from}–${to})`;
}

function commit() {
  try {
    return execFileSync("git", ["describe", "--always", "--dirty"], {
      cwd: import.meta.dirname,
      encoding: "utf8",
    }).trim();
  } catch {
    return "unknown";
  }
}

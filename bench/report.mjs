// What a run has found, on a screen and as JSON; where, when and of what.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";
import process from "node:process";

/**
 * @typedef {import("./measure.mjs").Figure} Figure
 * @typedef {import("./measure.mjs").Summary} Summary
 * @typedef {{ date: string, commit: string, version: string, machine: string, node: string, workerd: string, rounds: number,
 *   isQuick: boolean, load: { before: number[], after: number[] },
 *   jobs: { name: string, title: string, seconds: number, figures: Figure[] }[] }} Report
 */

/** Where and when; the load tells how much else the machine did. */
export function circumstances() {
  const model = cpus()[0]?.model ?? "unknown processor";
  return {
    date: new Date().toISOString(),
    commit: commit(),
    version: versionIn("package.json"),
    machine: `${cpus().length} × ${model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform} ${process.arch}`,
    node: process.version,
    workerd: versionIn("node_modules/workerd/package.json"),
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

/**
 * @param {Summary | undefined} summary
 * @param {string} unit
 */
export function shown(summary, unit) {
  if (!summary || Number.isNaN(summary.median)) return "";
  const { median, min, max } = summary;
  const digits = median >= 100 ? 0 : median >= 10 ? 1 : median >= 0.1 ? 2 : 3;
  const [middle, from, to] = [median, min, max].map((value) => String(Number(value.toFixed(digits))));
  const figure = `${middle} ${unit}`.trimEnd();
  return from === to ? figure : `${figure} (${from}–${to})`;
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

/** @param {string} path below the repository */
function versionIn(path) {
  return JSON.parse(readFileSync(join(import.meta.dirname, "..", path), "utf8")).version;
}

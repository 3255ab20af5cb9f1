// docs/speed.md, of the newest figures in bench/results/.
import { isReached } from "./goals.mjs";
import { NOTES } from "./notes.mjs";
import { peersSection } from "./peers/table.mjs";
import { PRICES } from "./prices.mjs";
import { shown } from "./report.mjs";

/**
 * @typedef {import("./measure.mjs").Figure} Figure
 * @typedef {import("./report.mjs").Report} Report
 * @typedef {import("./peers/table.mjs").PeersReport} PeersReport
 */

/** What most readers look for: job, figure, and what it is to them. */
const IN_SHORT = /** @type {const} */ ([
  ["write", "write, Node's fetch", "an action that writes, over HTTP"],
  ["read", "read, Node's fetch", "an action that reads"],
  ["sockets", "write over a socket", "an action that writes, over a WebSocket"],
  ["concurrency", "32 callers on one actor", "the same of 32 callers at a time, each"],
  ["create", "create, Node's fetch", "a new actor and its first call"],
  ["message-outside", "message, Node's fetch", "a message to a workflow"],
  ["request-reply", "request and reply, p50", "a request to a workflow, and its reply"],
  ["steps", "a step of 1,000, by hand with the disk each", "a step of a workflow"],
  ["recovery", "resume work that is 2 s old", "work goes on after SIGKILL"],
  ["cold-start", "cold start, minified", "a cold start"],
  ["bundles", "Worker: counter", "the Worker of a counter, in gzip"],
]);

/**
 * @param {Report | undefined} report
 * @param {PeersReport | undefined} peers
 */
export function page(report, peers) {
  const sections = [
    report === undefined ? "No run stands here yet.\n" : ownSections(report),
    ...(peers === undefined ? [] : [peersSection(peers)]),
  ];
  return `# Speed

What Perdure costs next to a Durable Object that one writes by hand for the same purpose, on this project's own machine.
\`npm run bench\` measures it on yours; [Limits and cost](guides/limits-and-cost.md) says what is billed. Written by
\`npm run bench -- --write\`.

${sections.join("\n")}`;
}

/** @param {Report} report */
function ownSections({ date, commit, version, machine, node, workerd, rounds, load, jobs }) {
  const figures = jobs.flatMap(({ figures }) => figures);
  const withGoal = figures.filter((figure) => isReached(figure) !== undefined);
  const missed = withGoal.filter((figure) => !isReached(figure));
  const tables = jobs.map(({ title, figures }) => `### ${title}\n\n${table(figures)}`);
  return `## In short

${table(inShort(jobs))}
Both sides are a process of their own: a bare workerd with one Worker, and nothing in between. They take turns, ${rounds} each,
so that what the machine does meanwhile happens to both. A figure is the median of the turns, with the smallest and the
largest behind it; the ratio is of the two turns of a round, and below 1 ours is the faster. Node's fetch is most of a
call's time and the same for both: the thin client is one socket that is kept open, with next to no share of its own. CPU is
what workerd has computed for one operation.

| | |
|---|---|
| date | ${date} |
| version | ${version}, commit ${commit} |
| machine | ${machine} |
| runs on | workerd ${workerd}; Node ${node} calls it |
| load of the machine before, after | ${load.before.join(", ")}; ${load.after.join(", ")} |

${goals(withGoal, missed)}
## All figures

Dollars are for a million operations: rows written, a request to the Worker and one to the object, and the object's time of
as long as the caller waits; by Cloudflare's prices of ${PRICES.asOf}, without what the paid plan includes.

${tables.join("\n")}`;
}

/** @param {readonly Figure[]} withGoal @param {readonly Figure[]} missed */
function goals(withGoal, missed) {
  if (withGoal.length === 0) return "";
  const list = missed.map((figure) =>
    `- **${figure.name}**, ${found(figure)} where the goal is ≤ ${figure.goal}. ${noteOf(figure)}`.trimEnd(),
  );
  const rest = missed.length === 0 ? "" : ` Not yet:\n\n${list.join("\n")}`;
  return `## Goals\n\nOf ${withGoal.length} goals ${withGoal.length - missed.length} are reached.${rest}\n`;
}

/** Where a name has figures in several units, a note names one of them. @param {Figure} figure */
function noteOf({ name, unit }) {
  return NOTES[`${name}, ${unit}`] ?? NOTES[name] ?? "";
}

/** What a goal is compared with. @param {Figure} figure */
function found({ goal, ratio, perdure, unit }) {
  return goal?.endsWith("×") ? shown(ratio, "×") : shown(perdure, unit);
}

/** @param {Report["jobs"]} jobs @returns {Figure[]} */
function inShort(jobs) {
  return IN_SHORT.flatMap(([job, name, title]) => {
    const figure = jobs.find((each) => each.name === job)?.figures.find((each) => each.name === name);
    return figure === undefined ? [] : [{ ...figure, name: title }];
  });
}

/** @param {readonly Figure[]} figures */
function table(figures) {
  const byName = Map.groupBy(figures, ({ name }) => name);
  if (byName.size < figures.length) return tableByUnit(byName);
  return `| | by hand | Perdure | ratio | goal |\n|---|---|---|---|---|\n${figures.map(row).join("\n")}\n`;
}

/** @param {Figure} figure */
function row(figure) {
  const { name, unit, bare, perdure, ratio } = figure;
  return `| ${[name, shown(bare, unit), shown(perdure, unit), shown(ratio, "×"), judged(figure)].join(" | ")} |`;
}

/** One row for what is counted in several units. @param {Map<string, Figure[]>} byName */
function tableByUnit(byName) {
  const units = [...new Set([...byName.values()].flat().map(({ unit }) => unit))];
  const head = ["", ...units.flatMap((unit) => [`${unit}, by hand`, "Perdure"]), "goal"];
  const rows = [...byName].map(([name, figures]) => {
    const cells = units.flatMap((unit) => {
      const figure = figures.find((each) => each.unit === unit);
      return [shown(figure?.bare, ""), shown(figure?.perdure, "")];
    });
    return [name, ...cells, figures.map(judged).filter(Boolean).join("; ")];
  });
  return `${[head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")}\n`;
}

/** @param {Figure} figure */
function judged(figure) {
  return figure.goal === undefined ? "" : `≤ ${figure.goal}${isReached(figure) === false ? ", missed" : ""}`;
}

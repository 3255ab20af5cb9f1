// What the run against others has found: on a screen, and as a section of docs/speed.md.

/**
 * @typedef {import("./turns.mjs").Row} Row
 * @typedef {import("./turns.mjs").Cell} Cell
 * @typedef {{ name: string, title: string, version: string, promise: string }} AboutPeer
 * @typedef {{ name: string, title: string, rows: Row[] }} DoneJob
 * @typedef {{ date: string, commit: string, machine: string, node: string, rounds: number, isQuick: boolean,
 *   load: { before: number[], after: number[] }, peers: AboutPeer[], jobs: DoneJob[] }} PeersReport
 */

/** @param {DoneJob} job @param {readonly { name: string, title: string }[]} peers */
export function linesOf({ name, title, rows }, peers) {
  const width = Math.max(24, ...peers.map(({ title }) => title.length));
  return [
    `\n${title} (${name})`.padEnd(60) + peers.map((peer) => peer.title.padStart(width)).join(""),
    ...rows.map(
      (row) =>
        row.name.padEnd(60) + peers.map((peer) => shown(row.cells[peer.name], row.unit).padStart(width)).join(""),
    ),
  ];
}

/** @param {PeersReport} report */
export function peersSection({ date, commit, machine, node, rounds, load, peers, jobs }) {
  const head = ["", ...peers.map(({ title }) => title)];
  const rows = jobs.flatMap((job) =>
    job.rows.map((row) => [row.name, ...peers.map(({ name }) => shown(row.cells[name], row.unit))]),
  );
  const reasons = jobs.flatMap((job) => job.rows.flatMap((row) => peers.flatMap((peer) => reason(row, peer))));
  return `## Against others

The same jobs, payloads and client for all, each in processes and a folder of its own, in one run, in ${rounds} alternating turns;
where it is possible under the same \`wrangler dev\`, whose own share is in every figure, so that these are larger than
the ones above. Each is written as its documentation writes it, with its own defaults of what is durable when. A figure is the median
of the turns, with the smallest and the largest behind it; an empty cell: there is no such thing. \`npm run bench -- --against peers\`.

${[head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")}
${[...new Set(reasons)].map((text) => `\n${text}`).join("")}
What each is, and what it promises:

${peers.map(({ title, version, promise }) => `- **${title}**${version === "" ? "" : ` ${version}`}: ${promise}`).join("\n")}

| | |
|---|---|
| date | ${date} |
| commit | ${commit} |
| machine | ${machine} |
| Node | ${node} |
| load before, after | ${load.before.join(", ")}; ${load.after.join(", ")} |
`;
}

/** @param {Row} row @param {AboutPeer} peer */
function reason(row, { name, title }) {
  const cell = row.cells[name];
  if (cell?.why === undefined) return [];
  return [`${title}, ${row.name}${cell.median === undefined ? "" : ", a turn that failed"}: ${cell.why}.\n`];
}

/**
 * @param {Cell | undefined} cell
 * @param {string} unit
 */
function shown(cell, unit) {
  if (!cell) return "";
  const { median, min = 0, max = 0 } = cell;
  if (median === undefined) return "failed";
  const size = Math.abs(median);
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : 2;
  const [middle, from, to] = [median, min, max].map((value) => String(Number(value.toFixed(digits))));
  return from === to ? `${middle} ${unit}` : `${middle} ${unit} (${from}–${to})`;
}

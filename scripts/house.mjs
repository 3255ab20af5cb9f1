// `npm run house` prints how src/ is cut: the folders, their rooms and who imports whom. `npm run house -- DIR` measures
// another checkout, an older one for a comparison; folders named after it are shown room by room.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { FOLDERS } from "../test/architecture/import-rules.ts";
import { circleIn, importsOf, targetOf } from "../test/architecture/source-imports.ts";
import { withoutComments } from "../test/architecture/source-files.ts";

/**
 * @typedef {{ path: string, lines: number, targets: string[] }} File `targets`: files of src it imports, types included
 * @typedef {{ name: string, files: number, lines: number, floor: number, imports: string[] }} Room
 */

const TOPS = "tops";

const [root = join(import.meta.dirname, ".."), ...shown] = process.argv.slice(2);
const files = filesOf(root);
const folders = [...new Set(files.map(({ path }) => path.split("/")[1] ?? ""))];

console.log(table(["folder", "files", "lines", "rooms", "floors", "circle", "largest room"], folders.map(rowOfFolder)));
for (const folder of shown.length > 0 ? shown : folders) {
  const rooms = roomsOf(folder);
  if (rooms.length === 1 && shown.length === 0) continue;
  console.log(`\n${folder}, from the top floor down`);
  const rows = rooms.map(({ floor, name, files, lines, imports }) => [floor, name, files, lines, imports.join(", ")]);
  console.log(table(["floor", "room", "files", "lines", "imports"], rows));
}

/** @param {string} directory @returns {File[]} */
function filesOf(directory) {
  const paths = globSync("src/**/*.{ts,tsx}", { cwd: directory })
    .map((path) => path.replaceAll("\\", "/"))
    .toSorted();
  return paths.map((path) => {
    const source = readFileSync(join(directory, path), "utf8");
    const relative = importsOf(source).filter(({ specifier }) => specifier.startsWith("."));
    return {
      path,
      lines: withoutComments(source)
        .split("\n")
        .filter((line) => line.trim() !== "").length,
      targets: [...new Set(relative.map(({ specifier }) => `${targetOf(path, specifier)}.ts`))],
    };
  });
}

/** A file directly in its folder belongs to the room ".". @param {string} path */
function roomOf(path) {
  return path.split("/").slice(2, -1).join("/") || ".";
}

/** What one sees on opening the folder: its rooms, and the files beside them, each for itself. @param {string} path */
function itemOf(path) {
  const room = roomOf(path);
  return room === "." ? (path.split("/").at(-1) ?? "") : room;
}

/**
 * @param {string} folder
 * @param {(path: string) => string} nameOf
 */
function graphOf(folder, nameOf) {
  /** @type {Map<string, Set<string>>} */
  const graph = new Map();
  for (const { path, targets } of files) {
    if (!path.startsWith(`src/${folder}/`)) continue;
    const name = nameOf(path);
    const imported = targets.filter((target) => target.startsWith(`src/${folder}/`)).map(nameOf);
    graph.set(name, new Set([...(graph.get(name) ?? []), ...imported.filter((other) => other !== name)]));
  }
  return graph;
}

/**
 * The longest way down from each, in floors; NaN for all if there is a circle.
 *
 * @param {ReadonlyMap<string, Set<string>>} graph
 * @returns {Map<string, number>}
 */
function floorsOf(graph) {
  /** @type {Map<string, number>} */
  const floors = new Map();
  if (circleIn(graph) !== undefined) return new Map([...graph.keys()].map((name) => [name, Number.NaN]));
  /** @type {(name: string) => number} */
  const floorOf = (name) => {
    const floor =
      floors.get(name) ??
      [...(graph.get(name) ?? [])].reduce((highest, below) => Math.max(highest, floorOf(below) + 1), 1);
    floors.set(name, floor);
    return floor;
  };
  for (const name of graph.keys()) floorOf(name);
  return floors;
}

/** @param {string} folder @returns {Room[]} */
function roomsOf(folder) {
  const tops = new Set(
    ["index", "internal", ...(FOLDERS[folder]?.tops ?? [])].map((file) => `src/${folder}/${file}.ts`),
  );
  // What stands above all rooms is none.
  const nameOf = (/** @type {string} */ path) => (tops.has(path) ? TOPS : roomOf(path));
  const graph = graphOf(folder, nameOf);
  graph.delete(TOPS);
  const floors = floorsOf(graph);
  return [...graph]
    .map(([name, imports]) => {
      const own = files.filter(({ path }) => path.startsWith(`src/${folder}/`) && nameOf(path) === name);
      return {
        name,
        files: own.length,
        lines: sum(own),
        floor: floors.get(name) ?? 0,
        imports: [...imports].toSorted(),
      };
    })
    .toSorted((a, b) => b.floor - a.floor);
}

/** @param {string} folder */
function rowOfFolder(folder) {
  const own = files.filter(({ path }) => path.startsWith(`src/${folder}/`));
  const rooms = roomsOf(folder);
  const largest = rooms.toSorted((a, b) => b.lines - a.lines)[0];
  const items = graphOf(folder, itemOf);
  const share = Math.round((100 * (largest?.lines ?? 0)) / sum(own));
  const floors = Math.max(...floorsOf(items).values());
  return [
    folder,
    own.length,
    sum(own),
    rooms.length,
    floors,
    circleIn(items)?.join(" → ") ?? "none",
    `${largest?.name} ${share} %`,
  ];
}

/** @param {File[]} some */
function sum(some) {
  return some.reduce((total, { lines }) => total + lines, 0);
}

/**
 * @param {string[]} head
 * @param {(string | number)[][]} rows
 */
function table(head, rows) {
  const all = [head, ...rows.map((row) => row.map((cell) => (Number.isNaN(cell) ? "-" : String(cell))))];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

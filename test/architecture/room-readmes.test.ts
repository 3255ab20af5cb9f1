import { describe, expect, test } from "vitest";
import { FOLDERS } from "./import-rules.js";
import { exists, filesIn, read } from "./source-files.js";

// Every room has a README.md: its first paragraph says what the room owns and what it may import, which must be what the
// import table allows; a map of its files may follow.

const MAX_LINES = 12;

type Place = { readonly path: string; readonly imports: readonly string[] };

const places: Place[] = Object.entries(FOLDERS).flatMap(([folder, { folders, rooms }]) => {
  const named = (room: string): string => (room === "." ? folder : room);
  const importsOf = (room: string): string[] => rooms[room]?.imports.map(named) ?? [];
  const others = Object.keys(rooms).filter((room) => room !== ".");
  return [
    { path: `src/${folder}`, imports: [...Object.keys(folders), ...importsOf(".")] },
    ...others.map((room) => ({ path: `src/${folder}/${room}`, imports: importsOf(room) })),
  ];
});

const readme = ({ path }: Place): string => read(`${path}/README.md`);
const linesOf = (place: Place): string[] =>
  readme(place)
    .split("\n")
    .filter((line) => line.trim() !== "");
/** What the file map names: a line for each file or room. */
const mapOf = (place: Place): string[] => linesOf(place).flatMap((line) => /^- `([^`]+)`/.exec(line)?.[1] ?? []);

describe("the README of", () => {
  test("every folder and room is there", () => {
    expect(places.filter(({ path }) => !exists(`${path}/README.md`)).map(({ path }) => path)).toEqual([]);
  });

  test.each(places)("$path names what it may import in its first paragraph, and nothing else", (place) => {
    const [title, paragraph = ""] = readme(place).split(/\n\n+/);
    expect(title).toBe(`# ${place.path.slice("src/".length)}`);
    const imports = paragraph.split(/May\s+import/)[1] ?? "";
    expect([...imports.matchAll(/`([\w-]+)\/`/g)].map(([, name]) => name).sort()).toEqual([...place.imports].sort());
  });

  test.each(places)("$path is short, its map aside", (place) => {
    expect(linesOf(place).length - mapOf(place).length).toBeLessThanOrEqual(MAX_LINES);
  });

  test.each(places)("$path has a map of all its files, or none", (place) => {
    const map = mapOf(place);
    const names = filesIn(`${place.path}/*.{ts,tsx}`).map((path) => path.slice(place.path.length + 1));
    const rooms = filesIn(`${place.path}/*/README.md`).map((path) => `${path.split("/").at(-2)}/`);
    if (map.length > 0)
      expect([...map].sort()).toEqual(
        [...names, ...rooms].filter((name) => !/^(index|internal)\.ts$/.test(name)).sort(),
      );
  });
});

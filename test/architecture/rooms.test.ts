import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import { FOLDERS } from "./import-rules.js";
import { roomOf } from "./import-walk.js";
import { exists, filesIn, read } from "./source-files.js";
import { circleIn, importsOf, targetOf } from "./source-imports.js";

// The rooms of the import table, held against the files that are there.

const MAX_FILES = 24;

const files = filesIn("src/**/*.{ts,tsx}");
const folders = Object.entries(FOLDERS);

/** The files of src that a file imports, without their ending. */
function targetsOf(path: string): string[] {
  return importsOf(read(path))
    .filter(({ specifier }) => specifier.startsWith("."))
    .map(({ specifier }) => targetOf(path, specifier));
}

/** Room to the rooms of its folder that its files import, types included. */
function arrowsOf(folder: string): Map<string, Set<string>> {
  const arrows = new Map<string, Set<string>>();
  for (const path of files.filter((each) => each.startsWith(`src/${folder}/`))) {
    const room = roomOf(path);
    if (room === undefined) continue;
    const targets = targetsOf(path).filter((target) => target.startsWith(`src/${folder}/`));
    const rooms = targets.map((target) => roomOf(target) ?? posix.basename(target));
    arrows.set(room, new Set([...(arrows.get(room) ?? []), ...rooms.filter((other) => other !== room)]));
  }
  return arrows;
}

describe("rooms of src", () => {
  test("are all in the import table, and all of the table's are there", () => {
    const found = new Set(
      files.flatMap((path) => (roomOf(path) === undefined ? [] : [`${path.split("/")[1]} ${roomOf(path)}`])),
    );
    const listed = folders.flatMap(([folder, { rooms }]) => Object.keys(rooms).map((room) => `${folder} ${room}`));
    expect([...found].sort()).toEqual(listed.sort());
  });

  test("have at most 24 files, the index and the internal of their folder not counted", () => {
    const sizes = Map.groupBy(
      files.filter((path) => !/^src\/[^/]+\/(index|internal)\.ts$/.test(path)),
      (path) => posix.dirname(path),
    );
    expect(
      [...sizes].filter(([, { length }]) => length > MAX_FILES).map(([room, { length }]) => `${room} ${length}`),
    ).toEqual([]);
  });

  test.each(folders.map(([folder]) => folder))("of %s import exactly what the table allows", (folder) => {
    const arrows = arrowsOf(folder);
    const found = Object.fromEntries([...arrows].map(([room, others]) => [room, [...others].sort()]));
    // An arrow that no file needs any more is taken out of the table.
    const allowed = Object.entries(FOLDERS[folder]?.rooms ?? {}).map(
      ([room, { imports }]) => [room, [...imports].sort()] as const,
    );
    expect(found).toEqual(Object.fromEntries(allowed));
  });

  test.each(folders.map(([folder]) => folder))("of %s form no circle, of types neither", (folder) => {
    expect(circleIn(arrowsOf(folder))).toBeUndefined();
  });
});

describe("the import table", () => {
  test("has each room after those that it imports, so that no arrow runs upwards", () => {
    const upwards = folders.flatMap(([folder, { rooms }]) => {
      const order = Object.keys(rooms);
      return Object.entries(rooms).flatMap(([room, { imports }], floor) =>
        imports
          .filter((other) => !order.slice(0, floor).includes(other))
          .map((other) => `${folder}: ${room} imports ${other}`),
      );
    });
    expect(upwards).toEqual([]);
  });

  test("has each folder after those that it imports", () => {
    const order = folders.map(([folder]) => folder);
    const upwards = folders.flatMap(([folder, { folders: others }]) =>
      Object.keys(others)
        .filter((other) => order.indexOf(other) >= order.indexOf(folder))
        .map((other) => `${folder} imports ${other}`),
    );
    expect(upwards).toEqual([]);
  });

  test("allows a folder no other folder and no package that it does not use", () => {
    const unused = folders.flatMap(([folder, { folders: others, packages = {} }]) => {
      const own = files.filter((path) => path.startsWith(`src/${folder}/`));
      const imported = new Set(own.flatMap(targetsOf).map((target) => target.split("/")[1]));
      const specifiers = own.flatMap((path) => importsOf(read(path)).map(({ specifier }) => specifier));
      return [
        ...Object.keys(others).filter((other) => !imported.has(other)),
        ...Object.keys(packages).filter((start) => !specifiers.some((specifier) => specifier.startsWith(start))),
      ].map((name) => `${folder} imports no ${name}`);
    });
    expect(unused).toEqual([]);
  });

  test("names only files that are there", () => {
    const named = folders.flatMap(([folder, { tops = [], packages = {}, folders: others }]) => [
      ...[...tops, ...Object.values(packages).flatMap(({ onlyIn }) => onlyIn ?? [])].map(
        (file) => `src/${folder}/${file}.ts`,
      ),
      ...Object.entries(others).flatMap(([other, { files: shown = [] }]) =>
        shown.map((file) => `src/${other}/${file}.ts`),
      ),
    ]);
    expect(named.filter((path) => !exists(path))).toEqual([]);
  });
});

test("circles are found, and what only meets again is none", () => {
  expect(
    circleIn(
      new Map([
        ["a", ["b"]],
        ["b", ["c", "d"]],
        ["c", ["d"]],
        ["d", ["b"]],
      ]),
    ),
  ).toEqual(["b", "c", "d", "b"]);
  expect(
    circleIn(
      new Map([
        ["a", ["b", "c"]],
        ["b", ["d"]],
        ["c", ["d"]],
      ]),
    ),
  ).toBeUndefined();
});

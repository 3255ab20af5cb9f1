import { describe, expect, test } from "vitest";
import { FOLDERS } from "./import-rules.js";
import { violations } from "./import-walk.js";
import { BAD, GOOD } from "./seeds.js";
import { filesIn, read } from "./source-files.js";
import { importsOf } from "./source-imports.js";

describe("imports", () => {
  test("every file keeps to the import table", () => {
    const files = filesIn("src/**/*.{ts,tsx}", "test/**/*.ts").filter((path) => path !== "test/architecture/seeds.ts");
    expect(files.flatMap((path) => violations(path, read(path)))).toEqual([]);
  });

  test("every folder of src is in the import table", () => {
    const folders = new Set(filesIn("src/**/*.{ts,tsx}").map((path) => path.split("/")[1]));
    expect([...folders].filter((folder) => FOLDERS[folder ?? ""] === undefined)).toEqual([]);
  });
});

describe("the import table itself", () => {
  test("lets no room import a part", () => {
    const rooms = Object.values(FOLDERS).flatMap((folder) => Object.entries(folder.rooms));
    const parts = rooms.flatMap(([name, { isPart }]) => (isPart ? [name] : []));
    expect(parts).toEqual(["workflow", "sql", "inspection", "inspector"]);
    expect(rooms.filter(([, { imports }]) => imports.some((each) => parts.includes(each)))).toEqual([]);
  });

  test.each(BAD.filter(({ nets }) => nets.includes("walk")))("refuses $path: $source", ({ path, source }) => {
    expect(violations(path, source)).toHaveLength(1);
  });

  test.each(GOOD)("allows $path: $source", ({ path, source }) => {
    expect(violations(path, source)).toEqual([]);
  });

  test("sees every form of import", () => {
    const source = [
      'import a from "a";',
      'import type { b } from "b";',
      'import {\n  c,\n  type d,\n} from "c";',
      'import "d";',
      'export * as e from "e";',
      'export type { f } from "f";',
      'export const g = () => import("g");',
      '// import "h";',
      '/* import "i"; */',
    ].join("\n");
    expect(importsOf(source).map(({ specifier, typesOnly }) => (typesOnly ? `type ${specifier}` : specifier))).toEqual([
      "a",
      "type b",
      "c",
      "d",
      "e",
      "type f",
      "g",
    ]);
  });
});

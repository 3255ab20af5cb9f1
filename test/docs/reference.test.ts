import { basename } from "node:path";
import { describe, expect, test } from "vitest";
import { filesIn, read } from "../architecture/source-files.js";

// test/architecture/surface.test.ts keeps the lists of exported names; the pages must have a line for each, and no other.
const SURFACES = filesIn("test/architecture/surface/*.txt").map((path) => basename(path, ".txt"));
const namesOn = (page: string): string[] =>
  [...page.matchAll(/^- `((?:type )?\w+)`: \S/gm)].map(([, name = ""]) => name);

describe("the reference", () => {
  test("has a page for each entry point", () => {
    expect(filesIn("docs/reference/*.md").map((path) => basename(path, ".md"))).toEqual(SURFACES);
  });

  test.each(SURFACES)("of %s has one line for each name that it exports", (entry) => {
    const page = read(`docs/reference/${entry}.md`);
    expect(namesOn(page).sort()).toEqual(read(`test/architecture/surface/${entry}.txt`).trim().split("\n").sort());
    expect([...page.matchAll(/^- /gm)]).toHaveLength(namesOn(page).length);
  });
});

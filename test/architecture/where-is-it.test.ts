import { describe, expect, test } from "vitest";
import { exists, filesIn, read } from "./source-files.js";

// ARCHITECTURE.md has a table from behaviour to source to test, so that anything is found within a minute.

type Row = { behaviour: string; sources: string[]; tests: string[] };

const rows = parseRows(read("ARCHITECTURE.md"));

describe("the Where is it? table of ARCHITECTURE.md", () => {
  test("names files that exist", () => {
    const paths = rows.flatMap(({ sources, tests }) => [...sources, ...tests]);
    expect(paths.filter((path) => !exists(path))).toEqual([]);
  });

  test("gives a source and a test for every behaviour", () => {
    expect(rows.filter(({ sources, tests }) => sources.length === 0 || tests.length === 0)).toEqual([]);
  });

  test("has a row for every operation of the workflow engine", () => {
    const named = new Set(rows.flatMap(({ sources }) => sources));
    expect(filesIn("src/workflow/ops/*.ts").filter((path) => !named.has(path))).toEqual([]);
  });
});

/** Paths stand in backticks and start at the root of the repository. */
function parseRows(markdown: string): Row[] {
  const section = /^## Where is it\?$([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(markdown)?.[1];
  if (section === undefined) throw new Error('ARCHITECTURE.md has no "## Where is it?" section');
  const [header, divider, ...body] = section.split("\n").filter((line) => line.startsWith("|"));
  if (!/^\| *behaviour *\| *source *\| *test *\|$/i.test(header ?? "") || divider === undefined) {
    throw new Error("The table's columns must be: behaviour | source | test");
  }
  return body.map((line) => {
    const [behaviour = "", source = "", test = ""] = line.split("|").slice(1);
    const paths = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path);
    return { behaviour: behaviour.trim(), sources: paths(source), tests: paths(test) };
  });
}

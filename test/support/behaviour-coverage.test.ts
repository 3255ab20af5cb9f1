import { describe, expect, it } from "vitest";
import { coverageProblems, readCoverage } from "./behaviour-coverage.js";

const files: Record<string, string> = { "test/a.test.ts": 'it("holds one", …); it(`holds ${each}`, …); ' };
const sourceOf = (file: string): string | undefined => files[file];
const ONE = "`test/a.test.ts` › holds one";
const table = (...rows: string[]): string =>
  ["# Numbers", "", "| number | behaviour | tests | note |", "|---|---|---|---|", ...rows].join("\n");
const problems = (...rows: string[]): string[] =>
  coverageProblems(readCoverage(table(...rows)), { A: 2, B: 1 }, sourceOf);

describe("a table of behaviours and tests", () => {
  it("is right with a test that exists, or a reason, for each number", () => {
    expect(
      problems(
        `| A1 | does | ${ONE}<br>\`test/a.test.ts\` › holds \${each} | in two |`,
        "| A2 | does |  | why |",
        `| B1 | does | ${ONE} |  |`,
      ),
    ).toEqual([]);
  });

  it("says which number is missing, strange, twice there or out of its place", () => {
    expect(problems("| A1 | does |  | why |", "| B1 | does |  | why |")).toEqual(["A2 is missing"]);
    expect(
      problems("| A1 | does |  | why |", "| A2 | does |  | why |", "| A3 | does |  | why |", "| B1 | does |  | why |"),
    ).toEqual(["A3 is no behaviour of these sections"]);
    expect(
      problems("| A1 | does |  | why |", "| A1 | does |  | why |", "| A2 | does |  | why |", "| B1 | does |  | why |"),
    ).toEqual(["A1 has two rows"]);
    expect(problems("| A2 | does |  | why |", "| A1 | does |  | why |", "| B1 | does |  | why |")).toEqual([
      "the rows are out of order",
    ]);
  });

  it("says which number has neither a test nor a reason", () => {
    expect(problems(`| A1 | does | ${ONE} |  |`, "| A2 | does |  |  |", "| B1 | does |  | why |")).toEqual([
      "A2 has neither a test nor a reason",
    ]);
  });

  it("says which number has no behaviour", () => {
    expect(problems("| A1 |  |  | why |", "| A2 | does |  | why |", "| B1 | does |  | why |")).toEqual([
      "A1 does not say what it is",
    ]);
  });

  it("says which test does not exist: neither a part of a name nor another file will do", () => {
    expect(
      problems(
        "| A1 | does | `test/a.test.ts` › holds on |  |",
        "| A2 | does | `test/b.test.ts` › holds one |  |",
        `| B1 | does | ${ONE} |  |`,
      ),
    ).toEqual(["A1: there is no test test/a.test.ts › holds on", "A2: there is no test test/b.test.ts › holds one"]);
  });

  it("may name a case of the published clients", () => {
    const row = "| A1 | does | `conformance/some-cases.mjs` › is met |  |";
    expect(
      coverageProblems(readCoverage(table(row)), { A: 1 }, (file) =>
        file === "conformance/some-cases.mjs" ? 'case("is met", …)' : undefined,
      ),
    ).toEqual([]);
    expect(() => readCoverage(table("| A1 | does | `conformance/run.mjs` › is met |  |"))).toThrow("is no test");
  });

  it("refuses a row that it cannot read", () => {
    expect(() => readCoverage(table("| A1 | does | test/a.test.ts › holds one |  |"))).toThrow(
      'A1: "test/a.test.ts › holds one" is no test',
    );
    expect(() => readCoverage(table("| A1 | does | `test/a.test.ts` › either | or |  |"))).toThrow(
      "A1: a row has four cells",
    );
    expect(readCoverage(table("| A1 | does | `test/a.test.ts` › either \\| or |  |"))[0]?.tests).toEqual([
      { file: "test/a.test.ts", name: "either | or" },
    ]);
  });
});

import { expect, it } from "vitest";
import { exists, read } from "../architecture/source-files.js";
import { coverageProblems, readCoverage } from "../support/behaviour-coverage.js";

it("every behaviour of the sections A and B has a test that exists, or a reason why none holds it", () => {
  const rows = readCoverage(read("test/actor/coverage.md"));
  expect(coverageProblems(rows, { A: 56, B: 35 }, (file) => (exists(file) ? read(file) : undefined))).toEqual([]);
});

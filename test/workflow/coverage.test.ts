import { expect, it } from "vitest";
import { exists, read } from "../architecture/source-files.js";
import { coverageProblems, readCoverage } from "../support/behaviour-coverage.js";

it("every behaviour of the sections C and D has a test that exists, or a reason why none holds it", () => {
  const rows = readCoverage(read("test/workflow/coverage.md"));
  expect(coverageProblems(rows, { C: 32, D: 160 }, (file) => (exists(file) ? read(file) : undefined))).toEqual([]);
});

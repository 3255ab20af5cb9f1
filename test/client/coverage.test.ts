import { expect, it } from "vitest";
import { exists, read } from "../architecture/source-files.js";
import { coverageProblems, readCoverage } from "../support/behaviour-coverage.js";

it("every behaviour of the section F has a test that exists, or a reason why none holds it", () => {
  const rows = readCoverage(read("test/client/coverage.md"));
  expect(coverageProblems(rows, { F: 42 }, (file) => (exists(file) ? read(file) : undefined))).toEqual([]);
});

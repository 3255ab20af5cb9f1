import { expect, test } from "vitest";
import { checkCommits } from "../../scripts/commit-form.mjs";
import { ROOT } from "./source-files.js";

test("commits since scripts/commit-form.mjs have the form that it asks for", () => {
  expect(checkCommits(ROOT)).toEqual([]);
});

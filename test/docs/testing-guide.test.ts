import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT, read } from "../architecture/source-files.js";
import { blocksOf } from "./markdown.js";

// The guide "Testing" shows a project. Its tests run here like all others, over the sources, and in scripts/check-package.mjs
// over the packed package, in an empty folder.
const PROJECT = "test/package/testing";

test("the guide shows each file of its project as it is", () => {
  const shown = Object.fromEntries(blocksOf("docs/guides/testing.md").map(({ file, code }) => [file, code]));
  const files = readdirSync(join(ROOT, PROJECT)).filter((name) => name.endsWith(".ts"));
  expect(shown).toEqual(Object.fromEntries(files.map((name) => [name, read(`${PROJECT}/${name}`)])));
});

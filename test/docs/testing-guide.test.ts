import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT, read } from "../architecture/source-files.js";
import { blocksOf } from "./markdown.js";

// The guides about tests show projects. Their tests run like all others, over the sources, and in scripts/check-package.mjs
// over the packed package, in an empty folder.
const PROJECTS = { testing: "test/package/testing", "testing-in-workerd": "test/package/in-workerd" };

test.each(Object.entries(PROJECTS))("the guide %s shows each file of its project as it is", (page, project) => {
  const shown = Object.fromEntries(blocksOf(`docs/guides/${page}.md`).map(({ file, code }) => [file, code]));
  const files = readdirSync(join(ROOT, project)).filter((name) => name.endsWith(".ts"));
  expect(shown).toEqual(Object.fromEntries(files.map((name) => [name, read(`${project}/${name}`)])));
});

test("the guide testing-in-workerd shows the settings of its project as they are", () => {
  const page = read("docs/guides/testing-in-workerd.md");
  for (const name of ["wrangler.toml", "tsconfig.json"])
    expect(page).toContain(read(`${PROJECTS["testing-in-workerd"]}/${name}`));
});

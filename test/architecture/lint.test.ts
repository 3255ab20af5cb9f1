import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { lintConfig } from "../../scripts/lint-config.mjs";
import { afterAll, describe, expect, test } from "vitest";
import { BAD, GOOD, type Seed } from "./seeds.js";
import { ROOT, read } from "./source-files.js";

const scratch = mkdtempSync(join(tmpdir(), "perdure-lint-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

type Diagnostic = { filename: string; code: string };

/** Writes each seed into a project of its own and lints them all in one go, which costs one second and not one minute. */
function problems(name: string, seeds: readonly Pick<Seed, "path" | "source">[]): string[][] {
  const folder = (index: number): string => `${name}-${index}`;
  for (const [index, { path, source }] of seeds.entries()) write(folder(index), path, source);
  const oxlint = join(ROOT, "node_modules", "oxlint", "bin", "oxlint");
  const folders = seeds.map((_, index) => folder(index));
  const { stdout, stderr } = spawnSync(process.execPath, [oxlint, "--format", "json", ...folders], {
    cwd: scratch,
    encoding: "utf8",
  });
  if (stderr !== "") throw new Error(stderr);
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: Diagnostic[] };
  return seeds.map((_, index) =>
    diagnostics.filter(({ filename }) => filename.startsWith(`${folder(index)}/`)).map(({ code }) => code),
  );
}

function write(folder: string, path: string, source: string): void {
  const file = join(scratch, folder, path);
  mkdirSync(dirname(file), { recursive: true });
  copyFileSync(join(ROOT, ".oxlintrc.json"), join(scratch, folder, ".oxlintrc.json"));
  writeFileSync(file, source);
}

describe("lint rules", () => {
  test("are those that `npm run lint-config` writes", () => {
    expect(read(".oxlintrc.json")).toBe(lintConfig());
  });

  test("catch every seeded violation", () => {
    const bad = BAD.filter(({ nets }) => nets.includes("lint"));
    const missed = problems("bad", bad).flatMap((found, index) => (found.length === 0 ? [bad[index]] : []));
    expect(missed).toEqual([]);
  });

  test("say nothing about what is allowed", () => {
    const wrong = problems("good", GOOD).flatMap((found, index) =>
      found.length > 0 ? [{ ...GOOD[index], found }] : [],
    );
    expect(wrong).toEqual([]);
  });

  test("catch a cycle, one of types too", () => {
    write("cycle-0", "src/actor/two.ts", 'import type { One } from "./one.js";\nexport type Two = One | 1;\n');
    const one = { path: "src/actor/one.ts", source: 'import type { Two } from "./two.js";\nexport type One = Two;\n' };
    expect(problems("cycle", [one])[0]).toContain("import(no-cycle)");
  });
});

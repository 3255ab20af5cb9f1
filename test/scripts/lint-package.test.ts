import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { lintPackage } from "../../scripts/lint-package.mjs";

describe("publint and attw over a packed package", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "perdure-lint-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function pack(manifest: object, files: Readonly<Record<string, string>>): string {
    const all = {
      ...files,
      "package.json": JSON.stringify({
        name: "odd",
        version: "1.0.0",
        license: "MIT",
        type: "module",
        files: ["dist"],
        ...manifest,
      }),
    };
    for (const [path, text] of Object.entries(all)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    execFileSync("npm", ["pack", "--silent"], { cwd: folder });
    return join(folder, "odd-1.0.0.tgz");
  }

  const entry = { types: "./dist/index.d.ts", default: "./dist/index.js" };

  test("say nothing of modules whose types are beside them", async () => {
    const tarball = pack(
      { exports: { ".": entry } },
      { "dist/index.js": "export const one = 1;\n", "dist/index.d.ts": "export declare const one: number;\n" },
    );
    expect(await lintPackage(tarball)).toEqual([]);
  });

  test("find an entry whose file is not published, and one whose types describe another kind of module", async () => {
    const tarball = pack(
      {
        exports: {
          ".": { types: "./dist/index.d.cts", default: "./dist/index.js" },
          "./gone": { types: "./dist/gone.d.ts", default: "./dist/gone.js" },
        },
      },
      { "dist/index.js": "export const one = 1;\n", "dist/index.d.cts": "export declare const one: number;\n" },
    );
    const problems = await lintPackage(tarball);
    expect(
      problems.filter((problem) => problem.startsWith("publint: ") && problem.includes("./dist/gone.js")),
    ).not.toEqual([]);
    expect(
      problems.filter((problem) => problem.startsWith("attw: NoResolution ") && problem.includes("./gone")),
    ).not.toEqual([]);
    expect(problems.filter((problem) => problem.startsWith("attw: FalseCJS "))).not.toEqual([]);
  });

  test("find a package without types", async () => {
    const tarball = pack({ exports: { ".": "./dist/index.js" } }, { "dist/index.js": "export const one = 1;\n" });
    expect(await lintPackage(tarball)).toContain("attw: it has no types");
  });
});

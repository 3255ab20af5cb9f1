import { describe, expect, test } from "vitest";
import { filesIn, read } from "./source-files.js";

type Manifest = { version: string; dependencies?: Record<string, string>; devDependencies?: Record<string, string> };

const manifest = JSON.parse(read("package.json")) as Manifest;
const installed = (name: string): Manifest => JSON.parse(read(`node_modules/${name}/package.json`)) as Manifest;

describe("dependencies", () => {
  test("are pinned to exact versions", () => {
    const all = { ...manifest.dependencies, ...manifest.devDependencies };
    expect(Object.entries(all).filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  });

  test("are installed in the versions pinned", () => {
    const all = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(all.filter(([name, version]) => installed(name).version !== version)).toEqual([]);
  });

  test("bring exactly one workerd, one miniflare and one wrangler, or tests and dev server run on different platforms", () => {
    for (const name of ["workerd", "miniflare", "wrangler"]) {
      expect(filesIn(`node_modules/${name}/package.json`, `node_modules/**/node_modules/${name}/package.json`), name).toHaveLength(1);
    }
    const { dependencies } = installed("@cloudflare/vitest-plugin");
    expect(manifest.devDependencies).toMatchObject({ miniflare: dependencies?.["miniflare"], wrangler: dependencies?.["wrangler"] });
  });

  test("that users install are named in ARCHITECTURE.md, with the reason for them", () => {
    const architecture = read("ARCHITECTURE.md");
    expect(Object.keys(manifest.dependencies ?? {}).filter((name) => !architecture.includes(`\`${name}\``))).toEqual([]);
  });
});

import { describe, expect, test } from "vitest";
import { filesIn, read } from "./source-files.js";

type Manifest = { version: string; dependencies?: Record<string, string>; devDependencies?: Record<string, string> };

const manifest = JSON.parse(read("package.json")) as Manifest;
const installed = (name: string): Manifest => JSON.parse(read(`node_modules/${name}/package.json`)) as Manifest;

/** Whether a version is one that `^1.2.3` lets npm take, for a major version of 1 or more. */
function isIn(range: string, version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = range.slice(1).split(".").map(Number);
  const [own = NaN, ownMinor = NaN, ownPatch = NaN] = version.split(".").map(Number);
  return own === major && (ownMinor > minor || (ownMinor === minor && ownPatch >= patch));
}

describe("dependencies", () => {
  test("of users are ranges, so that a package that they have as well comes once, and hold what is installed here", () => {
    const all = Object.entries(manifest.dependencies ?? {});
    expect(all.filter(([, range]) => !/^\^[1-9]\d*\.\d+\.\d+$/.test(range))).toEqual([]);
    expect(all.filter(([name, range]) => !isIn(range, installed(name).version))).toEqual([]);
    expect(["4.5.9", "4.6.0", "4.13.19", "5.6.0"].filter((version) => isIn("^4.6.0", version))).toEqual([
      "4.6.0",
      "4.13.19",
    ]);
  });

  test("for development are pinned to exact versions, and installed in them", () => {
    const all = Object.entries(manifest.devDependencies ?? {});
    expect(all.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
    expect(all.filter(([name, version]) => installed(name).version !== version)).toEqual([]);
  });

  test("bring exactly one workerd, one miniflare and one wrangler, or tests and dev server run on different platforms", () => {
    for (const name of ["workerd", "miniflare", "wrangler"]) {
      expect(
        filesIn(`node_modules/${name}/package.json`, `node_modules/**/node_modules/${name}/package.json`),
        name,
      ).toHaveLength(1);
    }
    const { dependencies } = installed("@cloudflare/vitest-plugin");
    expect(manifest.devDependencies).toMatchObject({
      miniflare: dependencies?.["miniflare"],
      wrangler: dependencies?.["wrangler"],
    });
  });

  test("that users install are named in ARCHITECTURE.md, with the reason for them", () => {
    const architecture = read("ARCHITECTURE.md");
    expect(Object.keys(manifest.dependencies ?? {}).filter((name) => !architecture.includes(`\`${name}\``))).toEqual(
      [],
    );
  });
});

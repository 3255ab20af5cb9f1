import { describe, expect, test } from "vitest";
import { bundle, bundlePage, PAGE, WORKERS, type Bundle } from "../../bench/bundle.mjs";
import { read } from "./source-files.js";

// What a Worker carries is what it imports. Measured on 1 December 2026; each budget is 2 % above that. Who needs more says
// why in the commit that raises it: `npm run bundle-size` shows where the bytes are.
const BUDGETS = {
  counter: { bytes: 336_500, gzip: 111_500 },
  "counter, workflow": { bytes: 432_500, gzip: 142_300 },
  "counter, db": { bytes: 349_600, gzip: 116_200 },
  "counter, workflow, db": { bytes: 446_300, gzip: 147_000 },
} satisfies Record<keyof typeof WORKERS, Pick<Bundle, "bytes" | "gzip">>;
const PAGE_BUDGET = { bytes: 86_400, gzip: 31_500 };
/** Of its first chunks, which is all that one fetches that speaks JSON. */
const JSON_PAGE_BUDGET = { bytes: 62_600, gzip: 22_700 };

/** What each part brings. */
const WORKFLOW = /^src\/(workflow|actor\/workflow)\//;
const SQL = /^src\/actor\/sql\//;
const INSPECTOR = /^src\/(actor\/inspection|router\/inspector|inspector-page)\/|^src\/worker\/inspector|preact/;
const DRIZZLE = /drizzle/;
/** What is for tests alone. */
const TESTS = /^src\/testing(-kit)?\//;

const modulesOf = ({ parts }: Bundle, pattern: RegExp): string[] =>
  parts.map(([path]) => path).filter((path) => pattern.test(path));

describe("the bundle of", () => {
  test.each(Object.keys(WORKERS) as (keyof typeof WORKERS)[])(
    "a Worker of %s has its parts, no others, and is within its budget",
    async (name) => {
      const made = await bundle(WORKERS[name], "worker");
      expect(modulesOf(made, /^src\/actor\/lifecycle\//).length).toBeGreaterThan(5);
      expect(modulesOf(made, WORKFLOW).length > 20).toBe(name.includes("workflow"));
      if (!name.includes("workflow")) expect(modulesOf(made, WORKFLOW)).toEqual([]);
      expect(modulesOf(made, SQL).length > 4).toBe(name.includes("db"));
      if (!name.includes("db")) expect(modulesOf(made, SQL)).toEqual([]);
      expect(modulesOf(made, INSPECTOR)).toEqual([]);
      expect(modulesOf(made, DRIZZLE)).toEqual([]);
      expect(modulesOf(made, TESTS)).toEqual([]);
      expect(made.bytes).toBeLessThanOrEqual(BUDGETS[name].bytes);
      expect(made.gzip).toBeLessThanOrEqual(BUDGETS[name].gzip);
      // A budget that nothing comes near says nothing.
      expect(made.bytes).toBeGreaterThan(BUDGETS[name].bytes * 0.9);
    },
  );

  test("Workers has the sizes that the README names", async () => {
    const [, plain, workflows, sql] =
      /about (\d+) KB \(gzip, with `--minify`\), (\d+) KB with workflows, (\d+) KB with SQL/.exec(
        read("README.md").replaceAll("\n", " "),
      ) ?? [];
    const named = { counter: plain, "counter, workflow": workflows, "counter, workflow, db": sql };
    for (const [name, kilobytes] of Object.entries(named) as [keyof typeof WORKERS, string][]) {
      const { gzip } = await bundle(WORKERS[name], "worker");
      expect(Math.abs(gzip / 1000 / Number(kilobytes) - 1), name).toBeLessThan(0.03);
    }
  });

  test("a page that calls actors has nothing of the server, and is within its budget", async () => {
    const { first, all } = await bundlePage(PAGE);
    expect(modulesOf(all, /^src\/(actor|workflow|router|durable-object|drizzle)\/|croner|hono/)).toEqual([]);
    expect(all.bytes).toBeLessThanOrEqual(PAGE_BUDGET.bytes);
    expect(all.gzip).toBeLessThanOrEqual(PAGE_BUDGET.gzip);
    expect(all.bytes).toBeGreaterThan(PAGE_BUDGET.bytes * 0.9);
    expect(first.gzip).toBeLessThanOrEqual(JSON_PAGE_BUDGET.gzip);
    expect(first.bytes).toBeLessThanOrEqual(JSON_PAGE_BUDGET.bytes);
  });

  test("a page that speaks JSON fetches nothing of CBOR and BARE", async () => {
    const { first, all } = await bundlePage(PAGE);
    const BINARY = /^src\/protocol\/(cbor\/|messages\/(cbor|bare))/;
    expect(modulesOf(first, BINARY)).toEqual([]);
    expect(modulesOf(all, BINARY).length).toBeGreaterThan(8);
  });
});

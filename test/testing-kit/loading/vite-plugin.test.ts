import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { workerFiles } from "../../../src/entry/testing/vitest.js";

// A run of vitest with it is in scripts/check-package.mjs, with the package as it is published.

const plugin = workerFiles();
const asked: unknown[] = [];
/** What Vite's hooks are called on: it finds everything, or nothing. */
const host = (found: boolean) => ({
  resolve: async (source: string, importer: string | undefined, options: object) => {
    asked.push([source, importer, options]);
    return found ? { id: `/found/${source}` } : null;
  },
});
const resolveId = (source: string, found = true): Promise<unknown> =>
  plugin.resolveId.call(host(found), source, "/project/worker.ts");

describe("the plugin of perdure/testing/vitest", () => {
  it("puts a module of the package in the place of cloudflare:workers", async () => {
    expect(await resolveId("cloudflare:workers")).toEqual({ id: "/found/perdure/testing/cloudflare-workers" });
    expect(asked).toEqual([["perdure/testing/cloudflare-workers", "/project/worker.ts", { skipSelf: true }]]);
    expect(await resolveId("./other.js")).toBeUndefined();
    expect(await resolveId("perdure")).toBeUndefined();
  });

  it("says of other modules of the platform that they are not here", async () => {
    await expect(resolveId("cloudflare:sockets")).rejects.toThrow('"cloudflare:sockets" exists in the Workers runtime');
  });

  it("has the hooks of Node registered before the user's own files", () => {
    const own = { test: { setupFiles: ["./mine.ts"] } };
    expect(plugin.config(own)).toEqual({ test: { setupFiles: ["perdure/testing/register", "./mine.ts"] } });
    expect(own.test.setupFiles, "which Vite puts together with these").toEqual([]);
    expect(plugin.config({ test: { setupFiles: "./mine.ts" } }).test.setupFiles).toEqual([
      "perdure/testing/register",
      "./mine.ts",
    ]);
    expect(plugin.config({}).test.setupFiles).toEqual(["perdure/testing/register"]);
  });

  it("makes texts of a Worker's texts", () => {
    const sql = join(import.meta.dirname, "../../package/worker-files/migrations/0000_first.sql");
    expect(plugin.load(sql)).toBe('export default "create table visits (page text);\\n";');
    expect(plugin.load(`${sql}?raw`)).toBeUndefined();
    expect(plugin.load("/project/worker.ts")).toBeUndefined();
  });
});

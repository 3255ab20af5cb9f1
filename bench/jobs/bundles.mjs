// Bytes, not times: of Workers and of the client, minified, in gzip; and of what an installation brings beside ourselves.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { bundle, PAGE, roomOf, sharesOf, withoutBinary, WORKERS } from "../bundle.mjs";
import { counted } from "../measure.mjs";

const root = join(import.meta.dirname, "..", "..");

const BARE = `
  import { DurableObject } from "cloudflare:workers";
  export class Counter extends DurableObject {
    add() {
      const value = (this.ctx.storage.kv.get("value") ?? 0) + 1;
      this.ctx.storage.kv.put("value", value);
      return value;
    }
  }
  export default {
    async fetch(request, env) {
      const [, name] = new URL(request.url).pathname.split("/");
      return Response.json(await env.COUNTERS.get(env.COUNTERS.idFromName(name)).add());
    },
  };`;
/** What `npm pack` packs. */
const PUBLISHED = ["dist", "docs", "README.md", "CHANGELOG.md", "LICENSE", "package.json"];
/** @type {Record<string, { goal: string }>} */
const GOALS = { counter: { goal: "70 KiB" }, "counter, workflow, db": { goal: "90 KiB" } };

/** @type {import("../job.mjs").Job} */
export const bundles = {
  name: "bundles",
  title: "Bytes, minified and in gzip",
  run: async () => {
    const kib = async (/** @type {Parameters<typeof bundle>} */ ...args) => (await bundle(...args)).gzip / 1_024;
    const bare = await kib(BARE, "worker");
    const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    execFileSync(process.execPath, [join(root, "scripts", "build.mjs")]);
    const installed = [...PUBLISHED, ...Object.keys(dependencies).map((name) => join("node_modules", name))].map(
      (path) => bytesOf(join(root, path)),
    );
    const workers = [];
    for (const [name, program] of Object.entries(WORKERS))
      workers.push(
        counted({ name: `Worker: ${name}`, unit: "KiB", bare, perdure: await kib(program, "worker"), ...GOALS[name] }),
      );
    const shares = (await sharesOf(WORKERS.counter, "worker", groupOf)).map(({ name, gzip }) =>
      counted({ name: `of the counter: ${name}`, unit: "KiB", perdure: gzip / 1_024 }),
    );
    return [
      ...workers,
      ...shares,
      counted({
        name: "client, JSON only",
        unit: "KiB",
        perdure: await kib(PAGE, "browser", [withoutBinary]),
        goal: "14.5 KiB",
      }),
      counted({ name: "client with CBOR and BARE", unit: "KiB", perdure: await kib(PAGE, "browser"), goal: "21 KiB" }),
      counted({
        name: `an installation, with ${Object.keys(dependencies).join(" and ")}`,
        unit: "KiB",
        goal: "4096 KiB",
        perdure: installed.reduce((sum, bytes) => sum + bytes, 0) / 1_024,
      }),
    ];
  },
};

/**
 * The folder of `src/`, or the package, that a module is of.
 *
 * @param {string} path
 */
function groupOf(path) {
  return /^src\/[^/]+/.exec(path)?.[0] ?? roomOf(path);
}

/**
 * @param {string} path of a file or a folder
 * @returns {number}
 */
function bytesOf(path) {
  return [path, ...(statSync(path).isFile() ? [] : readdirSync(path, { recursive: true, encoding: "utf8" }))]
    .map((name) => statSync(name === path ? path : join(path, name)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}

// Bytes, not times: of Workers and of the client, minified, in gzip; and of an installation.
import { bundle, bundlePage, PAGE, roomOf, sharesOf, WORKERS } from "../bundle.mjs";
import { installSize } from "../install-size.mjs";
import { counted } from "../measure.mjs";

/** A counter without a library. */
export const BARE = `
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
/** @type {Record<string, { goal: string }>} */
const GOALS = { counter: { goal: "70 KiB" }, "counter, workflow, db": { goal: "90 KiB" } };

/** @type {import("../job.mjs").Job} */
export const bundles = {
  name: "bundles",
  title: "Bytes, minified and in gzip",
  run: async (bench) => {
    const kib = async (/** @type {Parameters<typeof bundle>} */ ...args) => (await bundle(...args)).gzip / 1_024;
    const bare = await kib(BARE, "worker");
    const page = await bundlePage(PAGE);
    const { packed, installed } = installSize({ isOffline: bench.isQuick });
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
        perdure: page.first.gzip / 1_024,
        goal: "14.5 KiB",
      }),
      counted({ name: "client with CBOR and BARE", unit: "KiB", perdure: page.all.gzip / 1_024, goal: "21 KiB" }),
      counted({ name: "package as it is downloaded", unit: "MiB", perdure: packed / 2 ** 20 }),
      counted({ name: "npm install, with its dependencies", unit: "MiB", perdure: installed / 2 ** 20, goal: "4 MiB" }),
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

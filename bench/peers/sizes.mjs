// Bytes, not times: of a counter's Worker, minified and in gzip, and of what an installation of each package brings.
import { build } from "esbuild";
import { existsSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { bundle, WORKERS } from "../bundle.mjs";
import { bytesIn } from "../disk.mjs";
import { installSize } from "../install-size.mjs";
import { BARE } from "../jobs/bundles.mjs";
import { reasonOf } from "./turns.mjs";

const here = import.meta.dirname;
const MODULES = join(here, "node_modules");

/** A counter, or the smallest workflow. @type {Record<string, string>} */
const COUNTERS = {
  agents: `
    import { Agent, callable, routeAgentRequest } from "agents";
    export class Counter extends Agent {
      initialState = { count: 0 };
      @callable() increment(by) { this.setState({ count: this.state.count + by }); return this.state.count; }
    }
    export default { fetch: async (request, env) => (await routeAgentRequest(request, env)) ?? new Response() };`,
  partyserver: `
    import { routePartykitRequest, Server } from "partyserver";
    export class Counter extends Server {
      async onRequest() {
        const count = ((await this.ctx.storage.get("count")) ?? 0) + 1;
        await this.ctx.storage.put("count", count);
        return Response.json(count);
      }
    }
    export default { fetch: async (request, env) => (await routePartykitRequest(request, env)) ?? new Response() };`,
  workflows: `
    import { WorkflowEntrypoint } from "cloudflare:workers";
    export class Count extends WorkflowEntrypoint {
      async run(event, step) { await step.sleep("a while", "1 second"); }
    }
    export default { fetch: async (request, env) => Response.json((await env.COUNT.create()).id) };`,
};

/** @type {import("./jobs.mjs").Job} */
export const sizes = {
  name: "sizes",
  title: "Bytes",
  run: async (bench) => {
    const { installed } = installSize({ isOffline: bench.isQuick });
    const bare = await gzipped(BARE);
    /** @type {Record<string, import("./turns.mjs").Cell>} */
    const bundles = { bare: kib(bare), perdure: kib((await bundle(WORKERS.counter, "worker")).gzip) };
    /** @type {Record<string, import("./turns.mjs").Cell>} */
    const installs = { perdure: kib(installed) };
    for (const [name, program] of Object.entries(COUNTERS)) {
      try {
        bundles[name] = kib(await gzipped(program));
      } catch (error) {
        bundles[name] = { why: reasonOf(error) };
      }
    }
    for (const name of ["agents", "partyserver", "rivetkit"])
      if (existsSync(join(MODULES, name))) installs[name] = kib(closureBytes(name));
    return [
      { name: "Worker of a counter, minified, gzip", unit: "KiB", cells: bundles },
      { name: "npm install, with its dependencies", unit: "KiB", cells: installs },
    ];
  },
};

/** As wrangler bundles for a Worker. @param {string} contents */
async function gzipped(contents) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: here, loader: "js" },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["workerd", "worker", "browser", "import"],
    external: ["cloudflare:*", "node:*", ...builtinModules],
    target: "es2022",
    write: false,
    logLevel: "silent",
  });
  const [script] = outputFiles;
  return gzipSync(script?.contents ?? "", { level: 9 }).length;
}

/** A package and all that it depends on or needs beside it, as npm has laid them beside one another. @param {string} name */
function closureBytes(name) {
  const found = new Set([name]);
  for (const each of found) {
    const manifest = join(MODULES, each, "package.json");
    if (!existsSync(manifest)) continue;
    const {
      dependencies = {},
      optionalDependencies = {},
      peerDependencies = {},
      peerDependenciesMeta = {},
    } = JSON.parse(readFileSync(manifest, "utf8"));
    const peers = Object.keys(peerDependencies).filter((peer) => !peerDependenciesMeta[peer]?.optional);
    for (const each of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) found.add(each);
  }
  return [...found]
    .map((each) => join(MODULES, each))
    .filter((directory) => existsSync(directory))
    .reduce((sum, directory) => sum + bytesIn(directory), 0);
}

/** @param {number} bytes */
function kib(bytes) {
  const value = bytes / 1_024;
  return { median: value, min: value, max: value };
}

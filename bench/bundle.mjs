// Bundles a program for a Worker or a page, minified, and says what is in it.
import { build } from "esbuild";
import { join, relative } from "node:path";
import { gzipSync } from "node:zlib";

/** @typedef {{ bytes: number, gzip: number, parts: [path: string, bytes: number][] }} Bundle */

const root = join(import.meta.dirname, "..");

/** `perdure/…` in a program is the source of that entry. @type {import("esbuild").Plugin} */
const fromSource = {
  name: "from-source",
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^perdure(\/|$)/ }, ({ path }) => {
      const entry = path === "perdure" ? "index" : path.slice("perdure/".length);
      return resolve(`./src/entry/${entry}.ts`, { resolveDir: root, kind: "import-statement" });
    });
  },
};

/** Everything of CBOR and BARE, by file name. */
const BINARY = /[\\/]src[\\/]protocol[\\/](?:cbor[\\/][\w-]+|(?:[\w-]+[\\/])?(?:bare[\w-]*|wire-cbor|values))\.ts$/;

/** A client that speaks JSON only: what the binary encodings are made of is replaced by nothing. @type {import("esbuild").Plugin} */
export const withoutBinary = {
  name: "without-binary",
  setup({ onLoad }) {
    onLoad({ filter: BINARY }, () => ({
      contents: "module.exports = new Proxy({}, { get: () => () => {} });",
      loader: "js",
    }));
  },
};

/**
 * The bundle, and the modules that have bytes in it, the largest first.
 *
 * @param {string} contents
 * @param {"browser" | "worker"} platform
 * @param {import("esbuild").Plugin[]} [plugins]
 * @returns {Promise<Bundle>}
 */
export async function bundle(contents, platform, plugins = []) {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: root, loader: "ts" },
    bundle: true,
    minify: true,
    treeShaking: true,
    format: "esm",
    platform: platform === "browser" ? "browser" : "neutral",
    ...(platform === "worker" && { mainFields: ["module", "main"], conditions: ["workerd", "worker", "import"] }),
    external: platform === "worker" ? ["cloudflare:*", "node:*"] : [],
    target: "es2022",
    write: false,
    metafile: true,
    logLevel: "error",
    plugins: [fromSource, ...plugins],
  });
  const code = /** @type {import("esbuild").OutputFile} */ (outputFiles[0]).contents;
  const inputs = Object.entries(Object.values(metafile.outputs)[0]?.inputs ?? {});
  const parts = inputs
    .filter(([path, { bytesInOutput }]) => bytesInOutput > 0 && path !== "<stdin>")
    .map(
      ([path, { bytesInOutput }]) =>
        /** @type {[string, number]} */ ([relative(root, join(root, path)).replaceAll("\\", "/"), bytesInOutput]),
    );
  return {
    bytes: code.length,
    gzip: gzipSync(code, { level: 9 }).length,
    parts: parts.sort(([, a], [, b]) => b - a),
  };
}

const COUNTER = "state: { count: 0 }, actions: { increment: (c, by: number) => (c.state.count += by) }";
const WORKFLOW = 'run: workflow(async (ctx) => { await ctx.sleep("a while", 1_000); })';

/** @param {readonly string[]} imports @param {readonly string[]} members */
function workerOf(imports, members) {
  return `
import { actor, setup } from "perdure";
import { createHandler } from "perdure/cloudflare";
${imports.join("\n")}
const counter = actor({ ${[COUNTER, ...members].join(", ")} });
const handler = createHandler(setup({ use: { counter } }));
export const { ActorObject } = handler;
export default handler;`;
}

const IMPORT_WORKFLOW = 'import { workflow } from "perdure/workflow";';
const IMPORT_DB = 'import { db } from "perdure/db";';

/** Workers of one counter, by what they import beside it. */
export const WORKERS = {
  counter: workerOf([], []),
  "counter, workflow": workerOf([IMPORT_WORKFLOW], [WORKFLOW]),
  "counter, db": workerOf([IMPORT_DB], ["db: db()"]),
  "counter, workflow, db": workerOf([IMPORT_WORKFLOW, IMPORT_DB], [WORKFLOW, "db: db()"]),
};

/** A page that calls actors. */
export const PAGE =
  'import { createClient } from "perdure/client"; globalThis.client = createClient("https://example.com");';

/**
 * Bytes by the room, or package, that their module is in, the largest first.
 *
 * @param {Bundle} bundled
 * @returns {[room: string, bytes: number][]}
 */
export function byRoom({ parts }) {
  /** @type {Map<string, number>} */
  const rooms = new Map();
  for (const [path, bytes] of parts) {
    const room = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path.slice(0, path.lastIndexOf("/"));
    rooms.set(room, (rooms.get(room) ?? 0) + bytes);
  }
  return [...rooms].sort(([, a], [, b]) => b - a);
}

// Bundles a program for a Worker or a page, minified, and says what is in it.
import { build, transform } from "esbuild";
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

/**
 * The bundle, and the modules that have bytes in it, the largest first.
 *
 * @param {string} contents
 * @param {"browser" | "worker"} platform
 * @returns {Promise<Bundle>}
 */
export async function bundle(contents, platform) {
  const { outputFiles, metafile } = await build({
    ...optionsFor(contents, platform),
    minify: true,
    metafile: true,
  });
  return bundleOf(outputFiles, Object.values(metafile.outputs));
}

/**
 * A page in chunks: what it fetches to begin with, and what with everything that it may fetch later.
 *
 * @param {string} contents
 * @returns {Promise<{ first: Bundle, all: Bundle }>}
 */
export async function bundlePage(contents) {
  const outdir = join(root, "page");
  const { outputFiles, metafile } = await build({
    ...optionsFor(contents, "browser"),
    minify: true,
    metafile: true,
    splitting: true,
    outdir,
  });
  const { outputs } = metafile;
  const fetched = new Set(Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === "<stdin>"));
  for (const path of fetched)
    for (const { path: imported, kind } of outputs[path]?.imports ?? [])
      if (kind === "import-statement") fetched.add(imported);
  return {
    first: bundleOf(
      outputFiles.filter(({ path }) => fetched.has(relative(root, path).replaceAll("\\", "/"))),
      [...fetched].flatMap((path) => outputs[path] ?? []),
    ),
    all: bundleOf(outputFiles, Object.values(outputs)),
  };
}

/**
 * @param {readonly import("esbuild").OutputFile[]} files
 * @param {readonly import("esbuild").Metafile["outputs"][string][]} outputs
 * @returns {Bundle}
 */
function bundleOf(files, outputs) {
  const parts = outputs
    .flatMap(({ inputs }) => Object.entries(inputs))
    .filter(([path, { bytesInOutput }]) => bytesInOutput > 0 && path !== "<stdin>")
    .map(([path, { bytesInOutput }]) => /** @type {[string, number]} */ ([path.replaceAll("\\", "/"), bytesInOutput]));
  return {
    bytes: files.reduce((sum, { contents }) => sum + contents.length, 0),
    gzip: files.reduce((sum, { contents }) => sum + gzipped(contents), 0),
    parts: parts.sort(([, a], [, b]) => b - a),
  };
}

/**
 * What each room, package or module has in a bundle, the most in gzip first: its minified bytes, and how much smaller the
 * gzip is without it. All of them together are a little less than the bundle: what two have in common is counted for neither.
 *
 * @param {string} contents
 * @param {"browser" | "worker"} platform
 * @param {(path: string) => string} [groupOf]
 * @returns {Promise<{ name: string, bytes: number, gzip: number }[]>}
 */
export async function sharesOf(contents, platform, groupOf = roomOf) {
  // With the white space left, each module begins with a line that names it.
  const { outputFiles } = await build({
    ...optionsFor(contents, platform),
    minifySyntax: true,
  });
  /** @type {{ group: string, lines: string[] }[]} */
  const modules = [{ group: "", lines: [] }];
  for (const line of /** @type {import("esbuild").OutputFile} */ (outputFiles[0]).text.split("\n")) {
    const [, path] = /^\/\/ ((?:\.\.\/)*(?:src|node_modules)\/\S+|<stdin>)$/.exec(line) ?? [];
    if (path === undefined) modules.at(-1)?.lines.push(line);
    else modules.push({ group: path === "<stdin>" ? "" : groupOf(path), lines: [] });
  }
  const sizeWithout = async (/** @type {string | undefined} */ left) => {
    const kept = modules.flatMap(({ group, lines }) => (group === left ? [] : lines)).join("\n");
    const { code } = await transform(kept, { minifyWhitespace: true, minifyIdentifiers: true, format: "esm" });
    return { bytes: Buffer.byteLength(code), gzip: gzipped(code) };
  };
  const all = await sizeWithout(undefined);
  const shares = [];
  for (const name of new Set(modules.map(({ group }) => group).filter(Boolean))) {
    const rest = await sizeWithout(name);
    shares.push({ name, bytes: all.bytes - rest.bytes, gzip: all.gzip - rest.gzip });
  }
  return shares.sort((a, b) => b.gzip - a.gzip);
}

/**
 * The room, or package, that a module is in.
 *
 * @param {string} path
 */
export function roomOf(path) {
  return /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path.slice(0, path.lastIndexOf("/"));
}

/** @param {string | Uint8Array} code */
const gzipped = (code) => gzipSync(code, { level: 9 }).length;

/**
 * As wrangler bundles a Worker, or a bundler a page.
 *
 * @param {string} contents
 * @param {"browser" | "worker"} platform
 * @returns {import("esbuild").BuildOptions & { write: false }}
 */
function optionsFor(contents, platform) {
  return {
    stdin: { contents, resolveDir: root, loader: "ts" },
    absWorkingDir: root,
    bundle: true,
    treeShaking: true,
    format: "esm",
    platform: platform === "browser" ? "browser" : "neutral",
    ...(platform === "worker" && { mainFields: ["module", "main"], conditions: ["workerd", "worker", "import"] }),
    external: platform === "worker" ? ["cloudflare:*", "node:*"] : [],
    target: "es2022",
    write: false,
    logLevel: "error",
    plugins: [fromSource],
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

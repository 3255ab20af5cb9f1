// How many bytes the client adds to a page: bundled for browsers, minified, gzip. Prints a table; `--json` prints data.
// The second row is what a client without the binary encodings would have: their modules are replaced by nothing.
import { build } from "esbuild";
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import process from "node:process";
import { gzipSync } from "node:zlib";

/** @typedef {{ name: string, bytes: number, gzip: number, parts: [string, number][] }} Size */

const root = join(import.meta.dirname, "..");
const PUBLISHED = join(root, "conformance", "node_modules", "rivetkit", "dist", "browser", "client.js");
const USE = 'import { createClient } from "CLIENT"; globalThis.client = createClient("https://example.com");';

/** Everything of CBOR and BARE, by file name. */
const BINARY = /[\\/]src[\\/]protocol[\\/](?:cbor[\\/][\w-]+|bare[\w-]*|wire-cbor|values)\.ts$/;

/** @type {import("esbuild").Plugin} */
const withoutBinary = {
  name: "without-binary",
  setup({ onLoad }) {
    onLoad({ filter: BINARY }, () => ({
      contents: "module.exports = new Proxy({}, { get: () => () => {} });",
      loader: "js",
    }));
  },
};

/** @type {Size[]} */
const sizes = [
  await measure("client: json, cbor, bare", join(root, "src", "entry", "client.ts")),
  await measure("the same without cbor and bare", join(root, "src", "entry", "client.ts"), [withoutBinary]),
];
if (existsSync(PUBLISHED)) sizes.push(await measure("rivetkit/client 2.3.19, for comparison", PUBLISHED));

if (process.argv.includes("--json")) {
  console.log(JSON.stringify(sizes, undefined, 2));
} else {
  const width = Math.max(...sizes.map(({ name }) => name.length));
  for (const { name, bytes, gzip } of sizes)
    console.log(`${name.padEnd(width)}  ${String(bytes).padStart(8)} bytes  ${String(gzip).padStart(8)} gzip`);
  console.log("\nThe largest parts of the first, minified:");
  for (const [path, bytes] of sizes[0]?.parts.slice(0, 12) ?? []) console.log(`${String(bytes).padStart(8)}  ${path}`);
}

/**
 * @param {string} name
 * @param {string} entry
 * @param {import("esbuild").Plugin[]} [plugins]
 * @returns {Promise<Size>}
 */
async function measure(name, entry, plugins = []) {
  const { outputFiles, metafile } = await build({
    stdin: { contents: USE.replace("CLIENT", entry.replaceAll("\\", "/")), resolveDir: root },
    bundle: true,
    minify: true,
    treeShaking: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    write: false,
    metafile: true,
    logLevel: "error",
    plugins,
  });
  const code = /** @type {import("esbuild").OutputFile} */ (outputFiles[0]).contents;
  const inputs = Object.values(metafile.outputs)[0]?.inputs ?? {};
  const parts = Object.entries(inputs).map(
    ([path, { bytesInOutput }]) => /** @type {[string, number]} */ ([relative(root, join(root, path)), bytesInOutput]),
  );
  return {
    name,
    bytes: code.length,
    gzip: gzipSync(code, { level: 9 }).length,
    parts: parts.sort(([, a], [, b]) => b - a),
  };
}

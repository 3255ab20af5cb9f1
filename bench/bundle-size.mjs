// How many bytes Perdure adds to a Worker, by what it imports, and to a page: minified, and gzip; and where they are, by
// room and package. `--modules` tells modules instead of rooms, `--json` prints data. A page in chunks fetches those of CBOR
// and BARE when it asks for them. The budgets are in test/architecture/bundles.test.ts.
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { bundle, bundlePage, PAGE, roomOf, sharesOf, WORKERS } from "./bundle.mjs";

/** @typedef {{ name: string, bytes: number, gzip: number }} Size */

const PUBLISHED = join(
  import.meta.dirname,
  ..."../conformance/node_modules/rivetkit/dist/browser/client.js".split("/"),
);
const groupOf = process.argv.includes("--modules") ? (/** @type {string} */ path) => path : roomOf;

/** @type {Size[]} */
const workers = [];
for (const [name, program] of Object.entries(WORKERS)) workers.push({ name, ...(await bundle(program, "worker")) });

const { first, all } = await bundlePage(PAGE);
/** @type {Size[]} */
const pages = [
  { name: "client that speaks json", ...first },
  { name: "with the chunks of cbor and bare", ...all },
  { name: "all in one file", ...(await bundle(PAGE, "browser")) },
];
if (existsSync(PUBLISHED)) {
  const page = PAGE.replace("perdure/client", PUBLISHED.replaceAll("\\", "/"));
  pages.push({ name: "rivetkit/client 2.3.19, for comparison", ...(await bundle(page, "browser")) });
}
const shares = {
  counter: await sharesOf(WORKERS.counter, "worker", groupOf),
  "counter, workflow, db": await sharesOf(WORKERS["counter, workflow, db"], "worker", groupOf),
  client: await sharesOf(PAGE, "browser", groupOf),
};

if (process.argv.includes("--json")) {
  console.log(JSON.stringify({ workers, pages, shares }, undefined, 2));
} else {
  print("Workers", workers);
  print("Pages", pages);
  for (const [name, sizes] of Object.entries(shares))
    print(`Where the bytes of "${name}" are (gzip: what it would be smaller without)`, sizes);
}

/**
 * @param {string} title
 * @param {readonly Size[]} sizes
 */
function print(title, sizes) {
  console.log(`\n${title}:`);
  const width = Math.max(...sizes.map(({ name }) => name.length));
  for (const { name, bytes, gzip } of sizes)
    console.log(`${name.padEnd(width)}  ${String(bytes).padStart(8)} bytes  ${String(gzip).padStart(8)} gzip`);
}

// How many bytes Perdure adds to a Worker, by what it imports, and to a page: minified, and gzip. Prints tables; `--json`
// prints data. The page's second row is what a client without the binary encodings would have: their modules are replaced
// by nothing. The budgets are in test/architecture/bundles.test.ts.
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { bundle, byRoom, PAGE, withoutBinary, WORKERS } from "./bundle.mjs";

/** @typedef {{ name: string } & import("./bundle.mjs").Bundle} Size */

const PUBLISHED = join(
  import.meta.dirname,
  ..."../conformance/node_modules/rivetkit/dist/browser/client.js".split("/"),
);

/** @type {Size[]} */
const workers = [];
for (const [name, program] of Object.entries(WORKERS)) workers.push({ name, ...(await bundle(program, "worker")) });

/** @type {Size[]} */
const pages = [
  { name: "client: json, cbor, bare", ...(await bundle(PAGE, "browser")) },
  { name: "the same without cbor and bare", ...(await bundle(PAGE, "browser", [withoutBinary])) },
];
if (existsSync(PUBLISHED)) {
  const page = PAGE.replace("perdure/client", PUBLISHED.replaceAll("\\", "/"));
  pages.push({ name: "rivetkit/client 2.3.19, for comparison", ...(await bundle(page, "browser")) });
}

if (process.argv.includes("--json")) {
  console.log(JSON.stringify({ workers, pages }, undefined, 2));
} else {
  console.log("Workers:");
  print(workers);
  const rooms = workers.map((size) => new Map(byRoom(size)));
  const names = [...new Set(rooms.toReversed().flatMap((each) => [...each.keys()]))];
  const width = Math.max(...names.map((name) => name.length));
  console.log(`\nBy room, minified: ${workers.map(({ name }) => name).join(" | ")}`);
  for (const name of names)
    console.log(name.padEnd(width), ...rooms.map((each) => String(each.get(name) ?? "").padStart(7)));
  console.log("\nPages:");
  print(pages);
  console.log("\nThe largest parts of the first, minified:");
  for (const [path, bytes] of pages[0]?.parts.slice(0, 12) ?? []) console.log(`${String(bytes).padStart(8)}  ${path}`);
}

/** @param {readonly Size[]} sizes */
function print(sizes) {
  const width = Math.max(...sizes.map(({ name }) => name.length));
  for (const { name, bytes, gzip } of sizes)
    console.log(`${name.padEnd(width)}  ${String(bytes).padStart(8)} bytes  ${String(gzip).padStart(8)} gzip`);
}

// The published client, unmodified, in pages of several origins in a real browser: whom the doors of an actor let in. The Worker
// and its doors are those of test/browser.
import { build } from "esbuild";
import { join } from "node:path";
import { launchChromium } from "../test/browser/chromium.ts";

/** @typedef {{ lookup: string, socket: string }} Outcome */

const here = import.meta.dirname;
export const PAGES_CONFIG = join(here, "..", "test", "browser", "fixtures", "wrangler.toml");
const CLIENT = join(here, "node_modules", "rivetkit", "dist", "browser", "client.js");
const LIMIT_MS = 20_000;
const LET_IN = { lookup: "found", socket: "0" };
/** It sends credentials with each request, whose refusal the browser keeps from a foreign page; that of a socket it reads. */
const REFUSED = { lookup: "unreadable", socket: "auth/origin_not_allowed" };

/** What a page of that origin comes to at a door, and whether its connection has made the actor. */
const CASES = [
  {
    name: "of the server's own origin connects, and looks its actor up",
    host: "localhost",
    door: "/closed",
    wanted: LET_IN,
  },
  { name: "of this machine connects to this machine", host: "127.0.0.1", door: "/closed", wanted: LET_IN },
  {
    name: "of another origin is refused, reads why, and has made nothing",
    host: "foreign.example",
    door: "/closed",
    wanted: REFUSED,
  },
  {
    name: "of a listed origin connects and looks it up, with credentials",
    host: "listed.example",
    door: "/listed",
    wanted: LET_IN,
  },
  { name: "of an origin that is not listed is refused", host: "foreign.example", door: "/listed", wanted: REFUSED },
  { name: 'of any origin connects and looks it up at "*"', host: "foreign.example", door: "/any", wanted: LET_IN },
];

/**
 * @param {string} url of the Worker
 * @returns {Promise<{ name: string, reason?: string }[]>}
 */
export async function runPages(url) {
  const { port } = new URL(url);
  const [browser, script] = await Promise.all([
    launchChromium(["--host-resolver-rules=MAP foreign.example 127.0.0.1, MAP listed.example 127.0.0.1"]),
    bundle(),
  ]);
  try {
    return await Promise.all(
      CASES.map(async ({ name, host, door, wanted }, number) => {
        const key = `page-${number}`;
        const context = await browser.newContext();
        try {
          const page = await context.newPage();
          page.setDefaultTimeout(LIMIT_MS);
          await page.goto(`http://${host}:${port}/page`);
          await page.addScriptTag({ content: script });
          const outcome = await page.evaluate(knock, { endpoint: `http://localhost:${port}${door}`, key });
          const isMade = await exists(url, key);
          const found = JSON.stringify({ ...outcome, isMade });
          const expected = JSON.stringify({ ...wanted, isMade: wanted === LET_IN });
          return found === expected ? { name } : { name, reason: `${found}, not ${expected}` };
        } catch (error) {
          return { name, reason: String(error) };
        } finally {
          await context.close();
        }
      }),
    );
  } finally {
    await browser.close();
  }
}

/** For a page: the browser's build of the package, and what a bundler brings for Node's own names. */
async function bundle() {
  const { outputFiles } = await build({
    entryPoints: [CLIENT],
    bundle: true,
    format: "iife",
    globalName: "rivetkit",
    platform: "browser",
    write: false,
    logLevel: "error",
  });
  return outputFiles[0]?.text ?? "";
}

/**
 * In the page. Its calls outside of a connection have bodies that are streams, which Chromium sends over HTTP/2 and later only:
 * `wrangler dev` has none, so that they are not among these. Its lookup before the first call asks a server that refuses it for ever.
 * @param {{ endpoint: string, key: string }} where
 * @returns {Promise<Outcome>}
 */
async function knock({ endpoint, key }) {
  const { rivetkit } = /** @type {{ rivetkit: { createClient(config: object): any } }} */ (
    /** @type {unknown} */ (globalThis)
  );
  const client = rivetkit.createClient({ endpoint, disableMetadataLookup: true });
  const told = (/** @type {{ group?: string, code?: string }} */ error) =>
    error.group === undefined
      ? String(error).replace(/^.*Failed to fetch$/, "unreadable")
      : `${error.group}/${error.code}`;
  const late = new Promise((resolve) => setTimeout(() => resolve("no answer"), 10_000));
  const connection = client.desk.getOrCreate([key]).connect();
  const refused = new Promise((resolve) => connection.onError((/** @type {any} */ error) => resolve(told(error))));
  const socket = await Promise.race([late, connection.calls().then(String, told), refused]);
  const lookup = await Promise.race([
    late,
    client.desk
      .get([key])
      .resolve()
      .then(() => "found", told),
  ]);
  connection.dispose().catch(() => {});
  return { lookup: String(lookup), socket: String(socket) };
}

/** @param {string} url @param {string} key */
async function exists(url, key) {
  const response = await fetch(`${url}/closed/actors?namespace=default&name=desk&key=${key}`);
  return /** @type {{ actors: unknown[] }} */ (await response.json()).actors.length === 1;
}

// `npm run conformance`: points the published client, unmodified, at our Worker, in every encoding, and prints what it
// found. Installs it if it is missing. Ends with "N passed, N failed", and with 1 if anything failed. The name of a file as
// its argument: the two numbers are written there, as JSON.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { DevServer, freePort } from "../scripts/demo-server.mjs";
import { runInspector } from "./inspector-cases.mjs";
import { PAGES_CONFIG, runPages } from "./pages.mjs";
import { prepareSeeds, runSeeds, whyNoSeeds } from "./seeds.mjs";

/** @typedef {import("./cases.mjs").Case} Case */
/** @typedef {import("./cases.mjs").Encoding} Encoding */
/** @typedef {{ status: "ok" | "ok ~" | "FAIL" | "later" | "early", reason?: string }} Outcome */

const INSTALL_LIMIT_MS = 5 * 60_000;
const CASE_LIMIT_MS = 20_000;
const AT_ONCE = 8;
const here = import.meta.dirname;
/** @type {readonly Encoding[]} */
const ENCODINGS = ["json", "cbor", "bare"];

process.env["RIVET_LOG_LEVEL"] ??= "silent";
install();
const { createClient } = await import("rivetkit/client");
// Some of them import what has just been installed.
const { CASES } = await import("./cases.mjs");
const { version } = JSON.parse(readFileSync(join(here, "node_modules", "rivetkit", "package.json"), "utf8"));

const scratch = mkdtempSync(join(tmpdir(), "perdure-conformance-"));
let server = new DevServer({
  config: join(here, "wrangler.toml"),
  port: await freePort(),
  persistTo: join(scratch, "data"),
});
for (const [signal, code] of /** @type {const} */ ([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
])) {
  process.on(signal, () => {
    server.killNow();
    rmSync(scratch, { recursive: true, force: true });
    process.exit(code);
  });
}
// The client leaves promises behind that nobody awaits: a case is judged by what it awaits.
/** @type {unknown[]} */
const unhandled = [];
process.on("unhandledRejection", (reason) => void unhandled.push(reason));

let exitCode = 1;
try {
  await server.start();
  const outcomes = await runAll();
  const inspected = await runInspector(server.url, createClient(server.url));
  await server.stop();
  exitCode = report(outcomes, inspected, await seeds(), await pages());
} catch (error) {
  console.error(error);
} finally {
  await server.stop();
  rmSync(scratch, { recursive: true, force: true });
}
// Sockets that the client keeps trying to open would hold the process.
process.exit(exitCode);

function install() {
  const stampFile = join(here, "node_modules", ".perdure-setup");
  const stamp = createHash("sha256")
    .update(readFileSync(join(here, "package-lock.json")))
    .digest("hex");
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return;
  const started = Date.now();
  console.log("Installing the published client (36 MB, once) …");
  const args = [
    "install",
    "--no-save",
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    "--omit=optional",
    "--omit=peer",
    "--loglevel=error",
  ];
  // A slow registry is waited for, and asked again.
  args.push("--prefer-offline", "--fetch-retries=5", "--fetch-timeout=60000");
  const { status, error } = spawnSync(process.platform === "win32" ? "npm.cmd" : "npm", args, {
    cwd: here,
    stdio: ["ignore", "inherit", "inherit"],
    timeout: INSTALL_LIMIT_MS,
  });
  if (status !== 0) {
    const what = status === null ? `was not done after ${INSTALL_LIMIT_MS / 60_000} minutes` : "failed";
    console.error(
      `npm install in conformance/ ${what}${error ? ` (${error.message})` : ""}: without the published client ` +
        "nothing was examined. Does the npm registry answer?",
    );
    process.exit(1);
  }
  writeFileSync(stampFile, stamp);
  console.log(`Installed the published client in ${((Date.now() - started) / 1000).toFixed(1)} s.`);
}

/** @returns {Promise<{ name: string, reason?: string }[] | string>} or why they were not run */
async function seeds() {
  const why = await whyNoSeeds();
  if (why !== undefined) return why;
  const folder = mkdtempSync(join(scratch, "seeds-"));
  server = prepareSeeds(folder);
  await server.start();
  return runSeeds(folder, createClient(server.url));
}

async function pages() {
  await server.stop();
  server = new DevServer({ config: PAGES_CONFIG, port: await freePort(), persistTo: join(scratch, "pages") });
  await server.start();
  return runPages(server.url);
}

/** @returns {Promise<Map<Case, Outcome[]>>} */
async function runAll() {
  const clients = ENCODINGS.map((encoding) => createClient({ endpoint: server.url, encoding }));
  /** @type {Map<Case, Outcome[]>} */
  const outcomes = new Map(CASES.map((each) => [each, []]));
  const jobs = CASES.flatMap((each, number) =>
    ENCODINGS.map((encoding, at) => ({ each, encoding, at, key: `${encoding}-${number}` })),
  );
  const work = async () => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
      const { each, encoding, at, key } = job;
      const outcome = await run(each, { client: clients[at], encoding, key });
      /** @type {Outcome[]} */ (outcomes.get(each))[at] = outcome;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return outcomes;
}

/**
 * @param {Case} each
 * @param {import("./cases.mjs").Subject} subject
 * @returns {Promise<Outcome>}
 */
async function run(each, subject) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${CASE_LIMIT_MS / 1000} s`)), CASE_LIMIT_MS);
  });
  try {
    await Promise.race([each.run(subject), late]);
    if (each.later === undefined) return { status: each.changedBy?.(subject.encoding) ? "ok ~" : "ok" };
    return { status: "early", reason: "passes already: take its reason away" };
  } catch (error) {
    const text = error instanceof Error ? `${error.message}${error.cause ? ` (${error.cause})` : ""}` : String(error);
    return each.later === undefined ? { status: "FAIL", reason: text } : { status: "later", reason: each.later };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * @param {Map<Case, Outcome[]>} outcomes
 * @param {{ name: string, reason?: string }[]} inspected
 * @param {{ name: string, reason?: string }[] | string} programs
 * @param {{ name: string, reason?: string }[]} inPages
 * @returns {number} the exit code
 */
function report(outcomes, inspected, programs, inPages) {
  const width = Math.max(...CASES.map(({ name }) => name.length));
  const row = (/** @type {string} */ name, /** @type {readonly string[]} */ cells) =>
    console.log(`${name.padEnd(width)}  ${cells.map((cell) => cell.padEnd(6)).join("")}`.trimEnd());
  console.log(`rivetkit/client ${version}, unmodified, against perdure\n`);
  row("case", ENCODINGS);
  for (const [{ name }, cells] of outcomes)
    row(
      name,
      cells.map(({ status }) => status),
    );
  const all = [...outcomes].flatMap(([{ name }, cells]) =>
    cells.map((outcome, at) => ({ name: `${name} [${ENCODINGS[at]}]`, ...outcome })),
  );
  console.log("\n~ as the published client speaks this encoding, the value becomes another one; that one is kept.");
  console.log("\nRivetKit's inspector, by its schemas of answers and its codec of frames:");
  for (const { name, reason } of inspected)
    console.log(`  ${name.padEnd(width)}${reason === undefined ? "ok" : "FAIL"}`);
  console.log("\nIn Chromium, a page:");
  for (const { name, reason } of inPages) console.log(`  ${name.padEnd(width)}${reason === undefined ? "ok" : "FAIL"}`);
  const programOutcomes = [...inspected, ...(typeof programs === "string" ? [] : programs), ...inPages];
  console.log("\nThe client programs of RivetKit's workflow documentation, unchanged:");
  if (typeof programs === "string") console.log(`  not run: ${programs}`);
  for (const { name, reason } of typeof programs === "string" ? [] : programs)
    console.log(`  ${name.padEnd(width)}${reason === undefined ? "ok" : "FAIL"}`);
  const failed = [
    ...all.filter(({ status }) => status === "FAIL" || status === "early"),
    ...programOutcomes.filter(({ reason }) => reason !== undefined),
  ];
  const later = new Map(
    [...outcomes]
      .filter(([, cells]) => cells.some(({ status }) => status === "later"))
      .map(([{ name, later }]) => [name, later]),
  );
  if (later.size > 0)
    console.log(`\nNot served yet:\n${[...later].map(([name, reason]) => `  ${name}: ${reason}`).join("\n")}`);
  if (failed.length > 0)
    console.log(
      `\n${failed.map(({ name, reason }) => `FAIL ${name}\n     ${reason?.replaceAll("\n", "\n     ")}`).join("\n")}`,
    );
  if (unhandled.length > 0)
    console.log(
      `\n${unhandled.length} rejections of the client's own that it left unhandled; the first: ${String(unhandled[0])}`,
    );
  const passed =
    all.filter(({ status }) => status.startsWith("ok")).length +
    programOutcomes.filter(({ reason }) => reason === undefined).length;
  console.log(`\n${passed} passed, ${failed.length} failed`);
  const [, , reportFile] = process.argv;
  if (reportFile !== undefined) writeFileSync(reportFile, JSON.stringify({ passed, failed: failed.length }));
  return failed.length === 0 ? 0 : 1;
}

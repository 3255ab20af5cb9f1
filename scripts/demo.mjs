// `npm run demo`: serves examples/ with `wrangler dev`, drives each with a real client, kills the server once in the
// middle, and says what came of it. Data stays in .wrangler/; every run uses keys of its own.
import { build } from "esbuild";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { DevServer, isPortTaken } from "./demo-server.mjs";
import { onStop } from "./stop-signals.mjs";

/** @typedef {import("../examples/tour.js").TourResult} TourResult */
/** @typedef {(tour: import("../examples/tour.js").Tour) => Promise<TourResult>} Run */

const PORT = 6420;
const NAME_WIDTH = 30;
const POLL_MS = 50;
const UNTIL_LIMIT_MS = 30_000;
/** How long the crash waits for a client that does not get as far as to ask for it. */
const CRASH_LIMIT_MS = 15_000;

const root = join(import.meta.dirname, "..");
const startedAt = Date.now();
const isTerminal = process.stdout.isTTY === true && process.env["NO_COLOR"] === undefined;
const runId = startedAt.toString(36).slice(-6);
// Tests have a place of their own.
const persistTo = process.env["PERDURE_DEMO_DATA"] ?? join(root, ".wrangler", "state");
const server = new DevServer({ config: join(root, "wrangler.toml"), port: PORT, persistTo, onLine: showTrouble });
let isStopping = false;

onStop((what, code) => {
  isStopping = true;
  server.killNow();
  console.log(`\n${what}; the server is down.`);
  process.exit(code);
});
// Whoever reads this through a pipe may go away.
process.stdout.on("error", () => {
  server.killNow();
  process.exit(1);
});

if (await isPortTaken(PORT)) {
  console.error(`Port ${PORT} is taken: stop whatever listens there (another demo?) and try again.`);
  process.exit(1);
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  isStopping = true;
  await server.stop();
}

async function main() {
  const tours = await loadTours();
  tell("server", `wrangler dev on ${server.url}, which has pages for a browser, too; data in .wrangler/`);
  await server.start();
  tell("server", "ready");

  /** @type {Map<string, TourResult | Error>} */
  const results = new Map();
  heading("Patterns, one after the other");
  for (const [name, run] of Object.entries(tours.calm)) results.set(name, await visit(name, run, async () => {}));

  heading("Seven at a time, and the server killed in the middle");
  const crash = crashOnce(Object.keys(tours.crashing).length);
  await Promise.all(
    Object.entries(tours.crashing).map(async ([name, run]) => {
      const result = await visit(name, run, crash.arrive);
      results.set(name, result);
      crash.leave(name);
    }),
  );

  heading("Summary");
  for (const name of [...Object.keys(tours.calm), ...Object.keys(tours.crashing)]) {
    const result = results.get(name);
    if (result === undefined) continue;
    if (result instanceof Error) console.log(`${name.padEnd(NAME_WIDTH)} ${paint("FAILED", 31)} ${result.message}`);
    else console.log(`${name.padEnd(NAME_WIDTH)} ${result.result}`);
  }
  const survivors = [...results].flatMap(([name, result]) =>
    result instanceof Error || !result.survived ? [] : [[name, result.survived]],
  );
  console.log(`\nSIGKILL and a restart did not take away:`);
  for (const [name, survived] of survivors) console.log(`  ${String(name).padEnd(NAME_WIDTH - 2)} ${survived}`);
  const failed = [...results.values()].filter((result) => result instanceof Error).length;
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(0);
  console.log(
    `\n${results.size - failed} of ${results.size} examples did what they are for, in ${seconds} s. Server ` +
      `stopped; \`npx wrangler dev\` serves them on, with their data and four pages, at ${server.url}/.`,
  );
  return failed === 0 ? 0 : 1;
}

/** @returns {Promise<{ calm: Record<string, Run>, crashing: Record<string, Run> }>} */
async function loadTours() {
  // One module of JavaScript: tsconfig/base.json says where the package's own names lead, so nothing needs to be built before.
  const { outputFiles } = await build({
    entryPoints: [join(root, "examples", "tours.ts")],
    bundle: true,
    format: "esm",
    platform: "node",
    write: false,
    logLevel: "silent",
  });
  const [bundle] = outputFiles;
  return import(`data:text/javascript;base64,${Buffer.from(bundle?.text ?? "").toString("base64")}`);
}

/**
 * @param {string} name
 * @param {Run} run
 * @param {(name: string) => Promise<void>} crash
 * @returns {Promise<TourResult | Error>}
 */
async function visit(name, run, crash) {
  try {
    const result = await run({
      endpoint: server.url,
      key: `demo-${runId}`,
      say: (text) => tell(name, text),
      until,
      crash: () => crash(name),
    });
    tell(name, paint(`→ ${result.result}`, 32));
    return result;
  } catch (error) {
    const failure = error instanceof Error ? error : new Error(String(error));
    tell(name, `${paint("FAILED", 31)} ${failure.message}`);
    return failure;
  }
}

/**
 * @template T
 * @param {() => Promise<T>} read
 * @param {(value: T) => boolean} isDone
 * @returns {Promise<T>}
 */
async function until(read, isDone) {
  const deadline = Date.now() + UNTIL_LIMIT_MS;
  /** @type {unknown} */
  let last;
  for (;;) {
    try {
      const value = await read();
      if (isDone(value)) return value;
      last = value;
    } catch (error) {
      // The server may be away for the moment.
      last = error;
    }
    if (Date.now() > deadline)
      throw new Error(
        `Waited ${UNTIL_LIMIT_MS / 1000} s in vain; last: ${last instanceof Error ? last.message : JSON.stringify(last)}`,
      );
    await delay(POLL_MS);
  }
}

/**
 * One crash for all that ask for it: when each has asked or ended, the server is killed and started again.
 *
 * @param {number} expected
 */
function crashOnce(expected) {
  const there = new Set();
  /** @type {(over: Promise<void>) => void} */
  let settle = () => {};
  const over = new Promise((resolve) => (settle = resolve));
  let isUnderway = false;
  const crash = () => {
    if (isUnderway) return;
    isUnderway = true;
    clearTimeout(limit);
    settle(killAndRestart());
  };
  const limit = setTimeout(crash, CRASH_LIMIT_MS);
  const come = (/** @type {string} */ name) => {
    there.add(name);
    if (there.size === expected) crash();
  };
  return {
    /** @param {string} name */
    arrive: (name) => {
      come(name);
      return over;
    },
    /** @param {string} name */
    leave: come,
  };
}

async function killAndRestart() {
  tell("server", paint("SIGKILL: wrangler and workerd are gone, in the middle of it all", 33));
  await server.kill();
  const diedAt = Date.now();
  await server.start();
  tell(
    "server",
    `${paint("started again", 33)} with the same data, after ${((Date.now() - diedAt) / 1000).toFixed(1)} s`,
  );
}

/** @param {string} text */
function heading(text) {
  console.log(`\n${paint(text, 1)}`);
}

/**
 * @param {string} who
 * @param {string} text
 */
function tell(who, text) {
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1).padStart(5);
  console.log(`${seconds} s  ${who.padEnd(NAME_WIDTH)} ${text}`);
}

/**
 * The server's own warnings and errors. A killed server says nothing.
 *
 * @param {string} line
 */
function showTrouble(line) {
  if (/^\[wrangler:error\]|^✘/.test(line) && !isStopping) tell("server", line);
}

/**
 * @param {string} text
 * @param {number} code
 */
function paint(text, code) {
  return isTerminal ? `\u001b[${code}m${text}\u001b[0m` : text;
}

// `npm run bench`: what an actor costs, next to a Durable Object written by hand, on the workerd of this repository and
// without a dev server in between. Both are measured in turns, in one run, so that what the machine does meanwhile
// happens to both. Figures are medians, with the middle half of the samples behind them; what counts is the ratio. Then the
// rows that operations write, and what a million of them cost (`npm run bench rows`: only these; `npm run bench sockets`: only
// broadcasts).
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { measureSockets } from "./sockets.mjs";

const root = join(import.meta.dirname, "..");
const STEPS = 200;
const SLEEPS = 30;
const SLEEP_MS = 25;
const ITERATIONS = 100;
const SOCKETS = 1_000;
/** Published tariff, dollars per million, beyond what is included. Each alarm that is set is a row as well. */
const ROW_PRICE = 1;
const REQUEST_PRICE = 0.15;
const PRICES = `$ per M: a million of the line's operations at $${ROW_PRICE.toFixed(2)} per million rows written (beyond 50 million a month)
and $${REQUEST_PRICE} per million requests to the object, calls and alarms (beyond 1 million).
Duration and the Worker's requests are not in it.`;
const only = process.argv[2];

const persistTo = mkdtempSync(join(tmpdir(), "perdure-bench-"));
const miniflare = await startWorker();
const url = (await miniflare.unsafeGetDirectURL("bench")).href.replace(/\/$/, "");
/** Never the same value twice: the platform writes a row that does not change without waiting for the disk. */
let counter = 0;
const fresh = () => (counter += 1);

try {
  await warmUp();
  if (only !== "rows") {
    print("median (middle half)", "by hand", "perdure", "ratio");
    if (only !== "sockets") await times();
    await sockets();
    console.log("");
  }
  if (only !== "sockets") {
    print("rows written, and alarms set", "by hand", "perdure", "$ per M");
    await rows();
    console.log(`\n${PRICES}`);
  }
} finally {
  await miniflare.dispose();
  rmSync(persistTo, { recursive: true, force: true });
}

async function times() {
  const nothing = await sample(200, [() => post("/nothing", [])]);
  line("a Worker that does nothing", nothing[0], undefined);
  pair(
    "write action",
    await sample(400, [() => bare("set", "one", fresh()), () => act("value", "one", "set", fresh())]),
  );
  pair("read action", await sample(400, [() => bare("get", "one"), () => act("value", "one", "get")]));
  pair(
    "new actor, and a write to it",
    await sample(80, [() => bare("set", `new-${fresh()}`, 1), () => act("value", `new-${fresh()}`, "set", 1)]),
  );

  const ours = () => sendAndWait("steps", "one", { count: STEPS, changesState: false });
  const perStep = await sample(12, [
    () => bare("steps", "steps", STEPS, false),
    () => bare("steps", "steps", STEPS, true),
    ours,
  ]);
  const [batched = [], synced = [], steps = []] = perStep.map((samples) => samples.map((ms) => ms / STEPS));
  line("step (a put)", batched, steps);
  line("step (a put, and the disk)", synced, steps);
  const withState = await sample(6, [() => sendAndWait("steps", "two", { count: STEPS, changesState: true })]);
  line(
    "step that changes state",
    undefined,
    withState[0]?.map((ms) => ms / STEPS),
  );

  await Promise.all([
    bare("sleep", "sleeps", SLEEPS, SLEEP_MS),
    send("sleeper", "one", { count: SLEEPS, durationMs: SLEEP_MS }),
  ]);
  const lateBare = await eventually(
    () => bare("lateMs", "sleeps"),
    (late) => late.length === SLEEPS,
  );
  const late = await eventually(
    () => act("sleeper", "one", "get"),
    (each) => each.length === SLEEPS,
  );
  line("wake after its time", lateBare, late);
}

async function sockets() {
  const { openMs, broadcastMs } = await measureSockets(url, SOCKETS, { bare, act }, 20);
  pair(
    `${SOCKETS} sockets, opened`,
    openMs.map((ms) => [ms]),
  );
  pair(`an event to ${SOCKETS} sockets`, broadcastMs);
}

async function rows() {
  const alarmRows = await bare("alarmRows", "alarms");
  const written = async (/** @type {string} */ actor, /** @type {string} */ key) => {
    const { rows, alarms } = await post(`/written/${actor}/${key}`, []);
    return { rows: rows - alarms * alarmRows, alarms };
  };
  const cost = async (
    /** @type {string} */ actor,
    /** @type {string} */ key,
    /** @type {() => Promise<unknown>} */ run,
  ) => {
    const before = await written(actor, key);
    await run();
    const after = await written(actor, key);
    return { rows: after.rows - before.rows, alarms: after.alarms - before.alarms };
  };
  const show = (
    /** @type {string} */ what,
    /** @type {string} */ hand,
    /** @type {{ rows: number, alarms: number }} */ { rows, alarms },
    calls = 1,
    times = 1,
  ) => {
    const dollars = ((rows + alarms) * ROW_PRICE) / times + (calls + alarms / times) * REQUEST_PRICE;
    print(
      what,
      hand,
      `${round(rows / times)}${["0", "-0"].includes(round(alarms / times)) ? "" : ` + ${round(alarms / times)}`}`,
      dollars.toFixed(2),
    );
  };

  await act("value", "rows", "set", fresh());
  show("write action", "1", await cost("value", "rows", () => act("value", "rows", "set", fresh())));
  show("read action", "0", await cost("value", "rows", () => act("value", "rows", "get")));
  show(
    "new actor, and a write to it",
    "1",
    await cost("value", "rows-new", () => act("value", "rows-new", "set", fresh())),
  );

  const burst = (/** @type {string} */ key, /** @type {number} */ count, changesState = false) =>
    cost("steps", key, () => sendAndWait("steps", key, { count, changesState }));
  const [none, steps, stateful] = [
    await burst("rows-0", 0),
    await burst("rows-1", STEPS),
    await burst("rows-2", STEPS, true),
  ];
  show("new actor, a message and its answer", "", none, 2);
  show("step", "1", less(steps, none), 0, STEPS);
  show("step that changes state", "2", less(stateful, none), 0, STEPS);

  const sleeps = (/** @type {string} */ key, /** @type {number} */ count) =>
    cost("sleeper", key, async () => {
      await send("sleeper", key, { count, durationMs: SLEEP_MS });
      await eventually(
        () => act("sleeper", key, "get"),
        (late) => late.length === count,
      );
    });
  const [few, many] = [await sleeps("rows-0", 2), await sleeps("rows-1", 12)];
  show("step, sleep, step with state", "3 + 1", less(many, few), 0, 10);

  const processed = (/** @type {number} */ count) =>
    eventually(
      () => act("counter", "rows", "get"),
      (each) => each === count,
    );
  await send("counter", "rows", {});
  await processed(1);
  const apart = await cost("counter", "rows", async () => {
    for (let sent = 1; sent <= ITERATIONS; sent += 1) {
      await send("counter", "rows", {});
      await processed(1 + sent);
    }
  });
  show("message, step, state; one by one", "2", apart, 1, ITERATIONS);
  const together = await cost("counter", "rows", async () => {
    await Promise.all(Array.from({ length: ITERATIONS }, () => send("counter", "rows", {})));
    await processed(1 + 2 * ITERATIONS);
  });
  show("message, step, state; 100 at once", "2", together, 1, ITERATIONS);
}

async function startWorker() {
  const { outputFiles } = await build({
    entryPoints: [join(root, "bench", "worker.ts")],
    bundle: true,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker"],
    external: ["cloudflare:*", "node:*"],
    write: false,
    logLevel: "error",
  });
  return new Miniflare(
    convertV4MiniflareOptions({
      cf: false,
      durableObjectsPersist: persistTo,
      workers: [
        {
          name: "bench",
          modules: true,
          script: outputFiles[0]?.text ?? "",
          compatibilityDate: "2026-11-09",
          durableObjects: {
            ACTORS: { className: "ActorObject", useSQLite: true },
            BARE: { className: "Bare", useSQLite: true },
          },
          unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
        },
      ],
    }),
  );
}

async function warmUp() {
  for (let i = 0; i < 30; i += 1) {
    await bare("set", "one", fresh());
    await act("value", "one", "set", fresh());
    await bare("steps", "steps", 5, false);
    await sendAndWait("steps", "one", { count: 5, changesState: false });
  }
}

/**
 * Runs each in turn, and gives the milliseconds of each.
 *
 * @param {number} times
 * @param {(() => Promise<unknown>)[]} runs
 */
async function sample(times, runs) {
  /** @type {number[][]} */
  const samples = runs.map(() => []);
  for (let round = 0; round < times; round += 1) {
    for (let index = 0; index < runs.length; index += 1) {
      // Whoever comes first in a round has no advantage over the whole.
      const turn = (index + round) % runs.length;
      const startedAt = performance.now();
      await runs[turn]?.();
      samples[turn]?.push(performance.now() - startedAt);
    }
  }
  return samples;
}

/**
 * @param {string} what
 * @param {number[][]} samples
 */
function pair(what, [hand, ours]) {
  line(what, hand, ours);
}

/**
 * @param {string} what
 * @param {number[] | undefined} hand
 * @param {number[] | undefined} ours
 */
function line(what, hand, ours) {
  const ratio = hand && ours ? `${(median(ours) / median(hand)).toFixed(2)} ×` : "";
  print(what, figure(hand), figure(ours), ratio);
}

/**
 * @param {string} what
 * @param {string} hand
 * @param {string} ours
 * @param {string} ratio
 */
function print(what, hand, ours, ratio) {
  console.log(`${what.padEnd(36)}${hand.padStart(25)}${ours.padStart(25)}${ratio.padStart(9)}`.trimEnd());
}

/**
 * @param {{ rows: number, alarms: number }} all
 * @param {{ rows: number, alarms: number }} part
 */
function less(all, part) {
  return { rows: all.rows - part.rows, alarms: all.alarms - part.alarms };
}

/** @param {number[] | undefined} samples */
function figure(samples) {
  if (!samples || samples.length === 0) return "";
  const digits = median(samples) < 0.1 ? 3 : 2;
  return `${median(samples).toFixed(digits)} ms (${quantile(samples, 0.25).toFixed(digits)}–${quantile(samples, 0.75).toFixed(digits)})`;
}

/** @param {number[]} samples */
function median(samples) {
  return quantile(samples, 0.5);
}

/**
 * @param {number[]} samples
 * @param {number} part
 */
function quantile(samples, part) {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}

/** @param {number} value */
function round(value) {
  return String(Math.round(value * 100) / 100);
}

/**
 * @param {() => Promise<any>} read
 * @param {(value: any) => boolean} isDone
 */
async function eventually(read, isDone) {
  for (const deadline = Date.now() + 30_000; ; await delay(20)) {
    const value = await read();
    if (isDone(value)) return value;
    if (Date.now() > deadline) throw new Error(`Not within 30 s; the last value: ${JSON.stringify(value)}`);
  }
}

/**
 * @param {string} method
 * @param {string} name
 * @param {unknown[]} args
 */
function bare(method, name, ...args) {
  return post(`/bare/${method}/${name}`, { args });
}

/**
 * @param {string} actor
 * @param {string} key
 * @param {string} action
 * @param {unknown[]} args
 */
function act(actor, key, action, ...args) {
  return post(`${gateway(actor, "action", action)}&rvt-key=${key}`, { args });
}

/**
 * @param {string} actor
 * @param {string} key
 * @param {unknown} body
 */
function send(actor, key, body) {
  return post(`${gateway(actor, "queue", "work")}&rvt-key=${key}`, { body });
}

/**
 * @param {string} actor
 * @param {string} key
 * @param {unknown} body
 */
function sendAndWait(actor, key, body) {
  return post(`${gateway(actor, "queue", "work")}&rvt-key=${key}`, { body, wait: true });
}

/**
 * @param {string} actor
 * @param {string} verb
 * @param {string} name
 */
function gateway(actor, verb, name) {
  return `/gateway/${actor}/${verb}/${name}?rvt-namespace=default&rvt-method=getOrCreate`;
}

/**
 * @param {string} path
 * @param {unknown} body
 * @returns {Promise<any>}
 */
async function post(path, body) {
  const response = await fetch(url + path, { method: "POST", body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
  return JSON.parse(text).output;
}

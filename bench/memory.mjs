// `node bench/memory.mjs`: the memory of workerd with as many connections as an actor may have, with calls that all wait, and with
// clients that never read what they are sent. Figures are the resident set of the process, MiB; each case has a workerd of its own.
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";

const root = join(import.meta.dirname, "..");
/** As bench/memory.ts allows; below 10,000, since workerd opens two files for each and a process here may open 20,000. */
const CONNECTIONS = 9_500;
const CALLS = 2_000;
const CALL_BYTES = 60_000;
const SILENT = 100;
const EVENT_BYTES = 60_000;
const EVENTS = 400;
const OPENING_AT_ONCE = 50;
const PATH = "/gateway/room/connect?rvt-namespace=default&rvt-method=getOrCreate&rvt-key=room";

await measured(`${CONNECTIONS.toLocaleString("en")} connections`, async (url, show) => {
  /** @type {WebSocket[]} */
  const sockets = [];
  while (sockets.length < CONNECTIONS) {
    const count = Math.min(OPENING_AT_ONCE, CONNECTIONS - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: count }, () => open(url)))));
  }
  show(`${await act(url, "count")} open`);
  const refused = new WebSocket(url.replace(/^http/, "ws") + PATH, ["rivet", "rivet_encoding.json"]);
  const answer = await new Promise((resolve) => refused.addEventListener("close", (event) => resolve(event.reason)));
  show(`one more: ${answer}`);
});

await measured(
  `${CALLS.toLocaleString("en")} calls of ${CALL_BYTES.toLocaleString("en")} bytes at once on one connection`,
  async (url, show) => {
    const socket = await open(url);
    const text = "x".repeat(CALL_BYTES);
    const answers = { ok: 0, refused: 0 };
    const all = new Promise((resolve) => {
      socket.addEventListener("message", ({ data }) => {
        const { tag } = JSON.parse(String(data)).body;
        if (tag === "ActionResponse") answers.ok += 1;
        if (tag === "Error") answers.refused += 1;
        if (answers.ok + answers.refused === CALLS) resolve(undefined);
      });
    });
    for (let id = 0; id < CALLS; id += 1)
      socket.send(JSON.stringify({ body: { tag: "ActionRequest", val: { id, name: "wait", args: [text] } } }));
    while (socket.bufferedAmount > 0) await delay(50);
    await delay(2_000);
    show("all sent, none answered");
    const most = await act(url, "release");
    await all;
    show(`${answers.ok} answered, ${answers.refused} refused; at most ${most} ran at a time`);
  },
);

await measured(
  `${SILENT} clients that never read, ${EVENTS} events of ${EVENT_BYTES.toLocaleString("en")} bytes`,
  async (url, show) => {
    const sockets = await Promise.all(Array.from({ length: SILENT }, () => openSilent(url)));
    const text = "x".repeat(EVENT_BYTES);
    for (let sent = 1; sent <= EVENTS; sent += 1) {
      await act(url, "tell", text);
      if (sent % (EVENTS / 4) === 0) show(`${sent} events, ${await act(url, "count")} connections`);
      // About 10 s without an answer to a ping end a connection.
      if (sent === EVENTS / 2) await delay(12_000);
    }
    for (const socket of sockets) socket.destroy();
  },
);

/**
 * @param {string} what
 * @param {(url: string, show: (at: string) => void) => Promise<void>} run
 */
async function measured(what, run) {
  const miniflare = await start();
  try {
    const url = (await miniflare.unsafeGetDirectURL("bench")).href.replace(/\/$/, "");
    await act(url, "count");
    const pid = workerdOf(process.pid);
    console.log(`\n${what}`);
    const show = (/** @type {string} */ at) => console.log(`${String(residentMiB(pid)).padStart(8)} MiB  ${at}`);
    show("before");
    await run(url, show);
  } finally {
    await miniflare.dispose();
  }
}

async function start() {
  const { outputFiles } = await build({
    entryPoints: [join(root, "bench", "memory.ts")],
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
      workers: [
        {
          name: "bench",
          modules: true,
          script: outputFiles[0]?.text ?? "",
          compatibilityDate: "2026-11-09",
          durableObjects: { ACTORS: { className: "ActorObject", useSQLite: true } },
          unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
        },
      ],
    }),
  );
}

/**
 * @param {string} url
 * @returns {Promise<WebSocket>}
 */
function open(url) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace(/^http/, "ws") + PATH, ["rivet", "rivet_encoding.json"]);
    socket.addEventListener("message", () => resolve(socket), { once: true });
    socket.addEventListener("error", () => reject(new Error("A connection could not be opened")));
  });
}

/**
 * A subscribed connection that says it pings, and then neither reads nor pings.
 *
 * @param {string} url
 * @returns {Promise<import("node:net").Socket>}
 */
function openSilent(url) {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on("error", reject);
    const lines = [
      `GET ${PATH} HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      "Upgrade: websocket",
      "Connection: Upgrade",
      `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`,
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Protocol: rivet, rivet_encoding.json, perdure_pings.1",
    ];
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    socket.once("data", () => {
      socket.write(
        textFrame(
          JSON.stringify({ body: { tag: "SubscriptionRequest", val: { eventName: "told", subscribe: true } } }),
        ),
      );
      socket.pause();
      socket.off("error", reject);
      socket.on("error", () => {});
      resolve(socket);
    });
  });
}

/** @param {string} text */
function textFrame(text) {
  const payload = Buffer.from(text);
  const mask = randomBytes(4);
  return Buffer.concat([
    Buffer.from([0x81, 0x80 | payload.length]),
    mask,
    payload.map((byte, at) => byte ^ /** @type {number} */ (mask[at % 4])),
  ]);
}

/**
 * @param {string} url
 * @param {string} action
 * @param {unknown[]} args
 */
async function act(url, action, ...args) {
  const response = await fetch(
    `${url}/gateway/room/action/${action}?rvt-namespace=default&rvt-method=getOrCreate&rvt-key=room`,
    {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ args }),
    },
  );
  const answer = /** @type {{ output: any }} */ (await response.json());
  if (!response.ok) throw new Error(JSON.stringify(answer));
  return answer.output;
}

/**
 * The workerd that a process has started, also through others.
 *
 * @param {number} ancestor
 * @returns {number}
 */
function workerdOf(ancestor) {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const found = pids.filter((pid) => isBelow(pid, ancestor) && read(pid, "comm").startsWith("workerd"));
  const newest = Math.max(0, ...found.map(Number));
  if (newest === 0) throw new Error("No workerd runs below this process");
  return newest;
}

/**
 * @param {string} pid
 * @param {number} ancestor
 */
function isBelow(pid, ancestor) {
  for (let at = Number(pid); at > 1; at = Number(/^PPid:\s*(\d+)/m.exec(read(String(at), "status"))?.[1] ?? 0)) {
    if (at === ancestor) return true;
  }
  return false;
}

/** @param {number} pid */
function residentMiB(pid) {
  return Math.round(Number(/^VmRSS:\s*(\d+)/m.exec(read(String(pid), "status"))?.[1] ?? 0) / 1024);
}

/**
 * @param {string} pid
 * @param {string} file
 */
function read(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

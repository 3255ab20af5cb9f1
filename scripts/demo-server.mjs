// `wrangler dev` as a child process that can be killed without warning, with all it started. Used by the demo and by the
// end-to-end tests. Whatever it starts stays in the caller's process group, so that Ctrl-C, or whoever runs the caller,
// reaches it too.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { dirname, join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";

const root = join(import.meta.dirname, "..");
const WRANGLER = join(root, "node_modules", "wrangler", "wrangler-dist", "cli.js");
const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 10_000;
const POLL_MS = 50;
const LOG_LINES = 40;

/**
 * @typedef {object} DevServerOptions
 * @property {string} config path of a wrangler.toml
 * @property {number} port
 * @property {string} persistTo where storage lives; absolute
 * @property {(line: string) => void} [onLine] gets each line that the server writes
 */

export class DevServer {
  /** @type {DevServerOptions} */
  #options;
  /** @type {import("node:child_process").ChildProcess | undefined} */
  #child;
  /** @type {string[]} */
  #lines = [];

  /** @param {DevServerOptions} options */
  constructor(options) {
    this.#options = options;
  }

  get url() {
    return `http://localhost:${this.#options.port}`;
  }

  /** The last lines that the server wrote. */
  get log() {
    return this.#lines.join("\n");
  }

  /** Wrangler and every process below it. */
  get pids() {
    return this.#child?.pid === undefined ? [] : treeOf(this.#child.pid);
  }

  /**
   * Resolves when the server answers. Rejects with what it wrote if it ends before, or takes too long. After a SIGKILL the
   * system may hold the old one's sockets a moment longer: a server that ends at once is launched again, twice at the most.
   */
  async start() {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#launch();
      } catch (error) {
        if (tries === 3 || !String(error).includes("wrangler dev ended")) throw error;
        await delay(1_000);
      }
    }
  }

  async #launch() {
    const { config, port, persistTo } = this.#options;
    const args = [
      "dev",
      "--config",
      config,
      "--port",
      String(port),
      "--persist-to",
      persistTo,
      "--show-interactive-dev-session=false",
    ];
    const env = {
      ...process.env,
      CLOUDFLARE_CF_FETCH_ENABLED: "false",
      WRANGLER_HIDE_BANNER: "true",
      WRANGLER_SEND_METRICS: "false",
      WRANGLER_WRITE_LOGS: "false",
      // A killed server leaves its entry behind: among its own data, not in the home directory.
      WRANGLER_REGISTRY_PATH: join(persistTo, "registry"),
      NO_COLOR: "1",
      FORCE_COLOR: undefined,
      // What a killed server leaves behind is found here, and removed.
      TMPDIR: this.#scratch,
    };
    mkdirSync(this.#scratch, { recursive: true });
    const child = spawn(process.execPath, ["--no-warnings", WRANGLER, ...args], {
      cwd: root,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) this.#read(stream);
    const deadline = Date.now() + START_LIMIT_MS;
    // A health check every 50 ms: nothing tells when the port answers.
    while (!(await isHealthy(this.url))) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`wrangler dev ended before it was ready:\n${this.log}`);
      if (Date.now() > deadline)
        throw new Error(`wrangler dev was not ready within ${START_LIMIT_MS / 1000} s:\n${this.log}`);
      await delay(POLL_MS);
    }
  }

  /** Lets wrangler end by itself, for some seconds. Resolves when all that it started is gone. */
  async stop() {
    const child = this.#child;
    if (child?.pid === undefined) return;
    this.#child = undefined;
    // Looked up while wrangler lives: what outlives it has no parent by which to find it.
    const pids = treeOf(child.pid);
    signal(child.pid, "SIGINT");
    await allGone(pids, STOP_LIMIT_MS);
    for (const pid of pids) signal(pid, "SIGKILL");
    await allGone(pids, STOP_LIMIT_MS);
    this.#removeScratch();
  }

  /** SIGKILL for wrangler and every process below it: none of them can write another byte. Resolves when all are gone. */
  async kill() {
    const child = this.#child;
    if (child?.pid === undefined) return;
    this.#child = undefined;
    const pids = killTree(child.pid);
    if (!(await allGone(pids, STOP_LIMIT_MS)))
      throw new Error(`These processes survived SIGKILL: ${pids.filter(isAlive).join(", ")}`);
  }

  /** The same for a caller that is about to exit: nothing else runs until all are gone. */
  killNow() {
    const pid = this.#child?.pid;
    this.#child = undefined;
    const pids = pid === undefined ? [] : killTree(pid);
    const deadline = Date.now() + STOP_LIMIT_MS;
    const cell = new Int32Array(new SharedArrayBuffer(4));
    while (pids.some(isAlive) && Date.now() < deadline) Atomics.wait(cell, 0, 0, POLL_MS);
    this.#removeScratch();
  }

  get #scratch() {
    return join(this.#options.persistTo, "tmp");
  }

  /** Its temporary files, and what wrangler built from the sources: a killed one leaves both behind. */
  #removeScratch() {
    for (const folder of [this.#scratch, join(dirname(this.#options.config), ".wrangler", "tmp")])
      rmSync(folder, { recursive: true, force: true });
  }

  /** @param {import("node:stream").Readable} stream */
  #read(stream) {
    let rest = "";
    stream.setEncoding("utf8");
    stream.on("data", (chunk) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        this.#lines.push(line);
        if (this.#lines.length > LOG_LINES) this.#lines.shift();
        this.#options.onLine?.(line);
      }
    });
  }
}

/**
 * Whether somebody listens on a port of this machine.
 *
 * @param {number} port
 * @returns {Promise<boolean>}
 */
export async function isPortTaken(port) {
  const answers = await Promise.all(["127.0.0.1", "::1"].map((host) => canConnect(host, port)));
  return answers.includes(true);
}

/**
 * A port on which nobody listens. Below the range from which systems give ports to outgoing connections: while the server
 * is down, a health check could take its port.
 *
 * @returns {Promise<number>}
 */
export async function freePort() {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const server = createServer();
    const isFree = await new Promise((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => resolve(true));
    });
    await new Promise((resolve) => server.close(resolve));
    if (isFree) return port;
  }
}

/**
 * @param {string} host
 * @param {number} port
 * @returns {Promise<boolean>}
 */
function canConnect(host, port) {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("close", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

/** @param {string} url */
async function isHealthy(url) {
  try {
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/**
 * Kills a process and all below it. It is stopped first, so that it starts nothing while its children are looked up.
 *
 * @param {number} pid
 * @returns {number[]} whom it killed
 */
function killTree(pid) {
  if (process.platform === "win32") {
    execFileSync("taskkill", ["/pid", String(pid), "/T", "/F"], { stdio: "ignore" });
    return [];
  }
  signal(pid, "SIGSTOP");
  const pids = treeOf(pid);
  for (const each of pids) signal(each, "SIGKILL");
  return pids;
}

/**
 * A process and all below it.
 *
 * @param {number} pid
 * @returns {number[]}
 */
function treeOf(pid) {
  if (process.platform === "win32") return [pid];
  const children = childrenByParent();
  const pids = [pid];
  for (const each of pids) pids.push(...(children.get(each) ?? []));
  return pids;
}

/**
 * Whether all are gone in time. Asked again and again: only a parent is told that a process ends.
 *
 * @param {number[]} pids
 * @param {number} limitMs
 */
async function allGone(pids, limitMs) {
  const deadline = Date.now() + limitMs;
  while (pids.some(isAlive)) {
    if (Date.now() > deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}

/**
 * @param {number} pid
 * @param {NodeJS.Signals} name
 */
function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone already.
  }
}

/** @returns {Map<number, number[]>} */
function childrenByParent() {
  /** @type {Map<number, number[]>} */
  const children = new Map();
  for (const [pid, parent] of processes()) children.set(parent, [...(children.get(parent) ?? []), pid]);
  return children;
}

/** @returns {[pid: number, parent: number][]} */
function processes() {
  if (process.platform === "linux") {
    return readdirSync("/proc").flatMap((name) => {
      const stat = /^\d+$/.test(name) ? readStat(Number(name)) : undefined;
      return stat ? [/** @type {[number, number]} */ ([Number(name), Number(stat[1])])] : [];
    });
  }
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
  return lines.map((line) => /** @type {[number, number]} */ (line.trim().split(/\s+/).map(Number)));
}

/**
 * State, parent and so on of a process: what follows its name, which may hold spaces and brackets.
 *
 * @param {number} pid
 * @returns {string[] | undefined}
 */
function readStat(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

/**
 * A zombie is dead: it only waits for somebody to ask how it ended.
 *
 * @param {number} pid
 */
function isAlive(pid) {
  if (process.platform === "linux") return (readStat(pid)?.[0] ?? "Z") !== "Z";
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

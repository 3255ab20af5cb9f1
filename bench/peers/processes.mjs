// The processes of one peer, with a folder of their own for what they store: `wrangler dev`, or RivetKit's engine and server.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { DevServer, freePort } from "../../scripts/demo-server.mjs";
import { bytesIn } from "../disk.mjs";
import { cpuMs, residentKiB } from "../process.mjs";

const COMPATIBILITY_DATE = "2026-11-09";
const START_LIMIT_MS = 60_000;

/** Those that are not ended, so that neither a process nor a folder outlives the bench. @type {Set<Processes>} */
const running = new Set();
process.on("exit", () => {
  for (const each of running) each.abandon();
});

/** What all kinds share: figures of the processes, and their end. */
export class Processes {
  port = 0;
  /** Killed, with work in its storage that would go on. */
  isSpent = false;
  /** @protected */
  scratch;

  /** @param {string} name */
  constructor(name) {
    this.scratch = mkdtempSync(join(tmpdir(), `perdure-peers-${name}-`));
    running.add(this);
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  /** @returns {number[]} */
  get pids() {
    return [];
  }

  get cpuMs() {
    return this.pids.map(cpuMs).reduce((sum, ms) => sum + ms, 0);
  }

  get residentKiB() {
    return this.pids.map(residentKiB).reduce((sum, kib) => sum + kib, 0);
  }

  /** What is on the disk of all that is stored. */
  get storedKiB() {
    return bytesIn(join(this.scratch, "data")) / 1_024;
  }

  /** Resolves when it answers; on what an earlier start has stored. */
  async start() {}

  /** SIGKILL, as the machine's power goes. */
  async kill() {}

  /** `kill`, for when there is no time to wait. */
  killNow() {}

  async end() {
    await this.kill();
    running.delete(this);
    rmSync(this.scratch, { recursive: true, force: true, maxRetries: 5 });
  }

  abandon() {
    this.killNow();
    try {
      rmSync(this.scratch, { recursive: true, force: true, maxRetries: 5 });
    } catch {
      // A process has not ended yet: the folder is one for temporary files.
    }
  }
}

/** A Worker under `wrangler dev` of this repository's version. */
export class Wrangler extends Processes {
  #worker;
  /** @type {DevServer | undefined} */
  #server;

  /**
   * @param {string} name
   * @param {{ main: string, objects?: Record<string, string>, workflows?: Record<string, string> }} worker bindings, with
   *   the classes they are of
   */
  constructor(name, worker) {
    super(name);
    this.#worker = worker;
  }

  /** @override */
  get pids() {
    return this.#server?.pids ?? [];
  }

  /** @override */
  async start() {
    this.port ||= await freePort();
    const config = join(this.scratch, "wrangler.json");
    writeFileSync(config, JSON.stringify(wranglerConfig(this.#worker)));
    this.#server = new DevServer({ config, port: this.port, persistTo: join(this.scratch, "data") });
    await this.#server.start();
  }

  /** @override */
  async kill() {
    await this.#server?.kill();
  }

  /** @override */
  killNow() {
    this.#server?.killNow();
  }
}

/** RivetKit in Node, beside its engine, as RivetKit itself starts it: with a file system for what it stores. */
export class Rivet extends Processes {
  /** @type {import("node:child_process").ChildProcess[]} */
  #children = [];
  #app;
  log = "";

  /** @param {string} app */
  constructor(app) {
    super("rivetkit");
    this.#app = app;
  }

  /** @override */
  get pids() {
    return this.#children.map(({ pid }) => pid ?? 0);
  }

  /** @override */
  async start() {
    this.port ||= await freePort();
    const deadline = Date.now() + START_LIMIT_MS;
    const engine = createRequire(this.#app)("@rivetkit/engine-cli").getEnginePath();
    this.#children = [this.#spawn(engine, ["start"], await this.#engineSettings())];
    await this.#until(deadline, `${this.url}/health`);
    this.#children.push(
      this.#spawn(process.execPath, [this.#app], {
        RIVET_ENDPOINT: this.url,
        RIVET_RUN_SERVICES: "0",
        RIVETKIT_STORAGE_PATH: this.scratch,
        NODE_ENV: "production",
      }),
    );
    await this.#until(deadline, `${this.url}/gateway/value/action/get${QUERY}started`, {
      method: "POST",
      body: '{"args":[]}',
    });
  }

  /** @override */
  async kill() {
    const children = this.#children;
    this.killNow();
    while (children.some(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) await delay(10);
  }

  /** @override */
  killNow() {
    for (const child of this.#children) child.kill("SIGKILL");
    this.#children = [];
  }

  /** As RivetKit sets them for an engine that it starts by itself. @returns {Promise<Record<string, string>>} */
  async #engineSettings() {
    return {
      RIVET__FILE_SYSTEM__PATH: join(this.scratch, "data"),
      RIVET__GUARD__HOST: "127.0.0.1",
      RIVET__GUARD__PORT: String(this.port),
      RIVET__API_PEER__HOST: "127.0.0.1",
      RIVET__API_PEER__PORT: String(await freePort()),
      RIVET__METRICS__HOST: "127.0.0.1",
      RIVET__METRICS__PORT: String(await freePort()),
      RIVET__PEGBOARD__RETRY_RESET_DURATION: "100",
      RIVET__PEGBOARD__BASE_RETRY_TIMEOUT: "100",
      RIVET__PEGBOARD__RESCHEDULE_BACKOFF_MAX_EXPONENT: "1",
      RIVET__PEGBOARD__RUNNER_ELIGIBLE_THRESHOLD: "5000",
      RIVET__PEGBOARD__RUNNER_LOST_THRESHOLD: "7000",
      RIVET__PEGBOARD__ENVOY_ELIGIBLE_THRESHOLD: "5000",
      RIVET__PEGBOARD__ENVOY_LOST_THRESHOLD: "7000",
      RIVET__PEGBOARD__MIN_METADATA_POLL_INTERVAL: "1000",
      RIVET__FEATURES__GUARD_GATEWAY_V3__MODE: "on",
      RIVET__FEATURES__GUARD_GATEWAY_V3__PERCENTAGE: "100",
    };
  }

  /**
   * @param {string} command
   * @param {string[]} args
   * @param {Record<string, string>} settings
   */
  #spawn(command, args, settings) {
    const child = spawn(command, args, {
      cwd: this.scratch,
      env: { ...process.env, ...settings },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => (this.log = (this.log + chunk).slice(-4_000)));
    return child;
  }

  /**
   * @param {number} deadline
   * @param {string} url
   * @param {RequestInit} [init]
   */
  async #until(deadline, url, init) {
    for (;;) {
      const response = await fetch(url, { ...init, signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
      await response?.arrayBuffer().catch(() => {});
      if (response?.ok) return;
      if (this.#children.some(({ exitCode }) => exitCode !== null))
        throw new Error(`RivetKit ended before it answered: ${this.log}`);
      if (Date.now() > deadline)
        throw new Error(`RivetKit did not answer within ${START_LIMIT_MS / 1_000} s: ${this.log}`);
      await delay(50);
    }
  }
}

/** How an actor is found by its key, at the gateway of both that have one. */
export const QUERY = "?rvt-namespace=default&rvt-method=getOrCreate&rvt-runner=default&rvt-key=";

/** @param {{ main: string, objects?: Record<string, string>, workflows?: Record<string, string> }} worker */
function wranglerConfig({ main, objects = {}, workflows = {} }) {
  return {
    name: "measured",
    main,
    compatibility_date: COMPATIBILITY_DATE,
    compatibility_flags: ["nodejs_compat"],
    send_metrics: false,
    durable_objects: { bindings: Object.entries(objects).map(([name, class_name]) => ({ name, class_name })) },
    migrations: [{ tag: "v1", new_sqlite_classes: Object.values(objects) }],
    workflows: Object.entries(workflows).map(([binding, class_name]) => ({
      binding,
      class_name,
      name: binding.toLowerCase(),
    })),
  };
}

// One side of a comparison: a workerd of its own, with one Worker and a directory for its objects' storage.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { FsyncCounter } from "./fsync-counter.mjs";
import { cpuMs, residentKiB } from "./process.mjs";

/** Its own path, as the package says. @type {string} */
const WORKERD = createRequire(import.meta.url)("workerd").default;
const COMPATIBILITY_DATE = "2026-11-09";

/** Those that are not ended, so that neither a process nor a directory outlives the bench. @type {Set<Side>} */
const sides = new Set();
process.on("exit", () => {
  for (const side of sides) side.abandon();
});

export class Side {
  #directory;
  #fsyncs;
  /** @type {import("node:child_process").ChildProcess | undefined} */
  #child;
  port = 0;

  /**
   * @param {"bare" | "perdure"} name
   * @param {string} script
   */
  constructor(name, script) {
    this.name = name;
    sides.add(this);
    this.#directory = mkdtempSync(join(tmpdir(), `perdure-bench-${name}-`));
    this.#fsyncs = new FsyncCounter(this.#directory);
    mkdirSync(join(this.#directory, "disk"));
    writeFileSync(join(this.#directory, "worker.js"), script);
    writeFileSync(join(this.#directory, "config.capnp"), config(join(this.#directory, "disk")));
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  get pid() {
    return this.#child?.pid ?? 0;
  }

  get cpuMs() {
    return cpuMs(this.pid);
  }

  get residentKiB() {
    return residentKiB(this.pid);
  }

  get fsyncs() {
    return this.#fsyncs.count;
  }

  /** Resolves once it listens; on the storage that an earlier process of this side left. */
  async start() {
    const child = spawn(WORKERD, ["serve", "--control-fd=3", join(this.#directory, "config.capnp")], {
      stdio: ["ignore", "ignore", "pipe", "pipe"],
      env: { ...process.env, ...this.#fsyncs.env },
    });
    this.#child = child;
    let said = "";
    child.stderr?.on("data", (chunk) => (said = (said + chunk).slice(-4_000)));
    const control = createInterface({ input: /** @type {import("node:stream").Readable} */ (child.stdio[3]) });
    for await (const line of control) {
      const message = JSON.parse(line);
      if (message.event !== "listen") continue;
      this.port = message.port;
      return this;
    }
    throw new Error(`workerd ended before it listened: ${said}`);
  }

  /** As the machine's power goes; the storage stays. */
  async kill() {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  }

  async end() {
    await this.kill();
    sides.delete(this);
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** `end`, for when there is no time to wait. */
  abandon() {
    this.#child?.kill("SIGKILL");
    try {
      rmSync(this.#directory, { recursive: true, force: true, maxRetries: 5 });
    } catch {
      // The process has not ended yet: its directory is one for temporary files.
    }
  }
}

/** @param {string} disk */
function config(disk) {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "disk", disk = (path = ${JSON.stringify(disk)}, writable = true)),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "${COMPATIBILITY_DATE}",
  durableObjectNamespaces = [(className = "ActorObject", uniqueKey = "actors", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [(name = "ACTORS", durableObjectNamespace = "ActorObject")],
);
`;
}

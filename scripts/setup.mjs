// Installs the dependencies if node_modules is missing, belongs to another lock file, or was left unfinished; does nothing,
// fast, if not. Runs before anything is installed, so: plain JavaScript, no dependencies, whatever Node there is.
//
// `npm install --no-save`, not `npm ci`: two optional packages that the lock's packages name are absent from some
// registries, and `npm ci` refuses a lock without them. Both install the locked versions and leave the lock as it is.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { onStop } from "./stop-signals.mjs";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 11)) {
  console.error(
    `Node ${process.versions.node} is too old to start this: take Node 20.11 or newer. The project then brings its own.`,
  );
  process.exit(1);
}

// Older than `import.meta.dirname`.
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const modules = join(root, "node_modules");
const stampFile = join(modules, ".perdure-setup");
const UNFINISHED = "unfinished";

const stamp = createHash("sha256")
  .update(readFileSync(join(root, "package-lock.json")))
  .update(`${process.platform} ${process.arch}`)
  .digest("hex");
const found = existsSync(stampFile) ? readFileSync(stampFile, "utf8") : "";

if (found !== stamp || !existsSync(join(modules, ".bin", "node"))) {
  console.log("Installing dependencies (once for each package-lock.json) …");
  // npm takes a package that was unpacked by half for a whole one.
  if (found === UNFINISHED) rmSync(modules, { recursive: true, force: true });
  mkdirSync(modules, { recursive: true });
  leaveStamp(UNFINISHED);
  const code = await install();
  if (code === 0) leaveStamp(stamp);
  else {
    // npm has put back what was there; if that was nothing, nothing stays.
    if (found === "" || found === UNFINISHED) removeStamp();
    else leaveStamp(found);
    console.error(
      "\nThe installation failed; npm says above why. Is there a network, and room on the disk? Then try again.",
    );
    process.exit(1);
  }
}

/**
 * A new file each time: the old one may be a hard link that another copy of the project shares.
 *
 * @param {string} text
 */
function leaveStamp(text) {
  rmSync(stampFile, { force: true });
  writeFileSync(stampFile, text);
}

function removeStamp() {
  rmSync(stampFile, { force: true });
  if (readdirSync(modules).length === 0) rmdirSync(modules);
}

/** @returns {Promise<number | null>} npm's exit code */
function install() {
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  // Development dependencies too, whatever NODE_ENV says; EBADENGINE warnings are about the Node that runs npm, and the
  // project brings its own. By default npm tries for ten minutes to find a registry where there is no network.
  const args = [
    "install",
    "--no-save",
    "--no-audit",
    "--no-fund",
    "--include=dev",
    "--loglevel=error",
    "--fetch-retries=2",
    "--fetch-retry-factor=2",
    "--fetch-retry-mintimeout=1000",
  ];
  /** @type {import("node:child_process").ChildProcess | undefined} */
  let child;
  // Before npm starts: a signal that came in between would end this, and leave npm.
  onStop((what, code) => {
    try {
      if (process.platform === "win32") child?.kill();
      else if (child?.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
    console.error(`\n${what}: the installation is not finished. The next run begins it anew.`);
    process.exit(code);
  });
  // A process group of its own, so that all of it can be ended, whoever gets the signal.
  const npmProcess = spawn(npm, args, {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    detached: process.platform !== "win32",
    shell: process.platform === "win32",
  });
  child = npmProcess;
  return new Promise((resolve) => {
    npmProcess.on("error", (error) => {
      console.error(`Could not start npm: ${error.message}`);
      resolve(null);
    });
    npmProcess.on("close", resolve);
  });
}

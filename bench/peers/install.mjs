// Installs the peers into this folder, once for each lock file; nothing of it is in any other.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const INSTALL_LIMIT_MS = 5 * 60_000;
const here = import.meta.dirname;

/** Throws where it cannot. */
export function installPeers() {
  const stampFile = join(here, "node_modules", ".perdure-setup");
  const stamp = createHash("sha256")
    .update(readFileSync(join(here, "package-lock.json")))
    .digest("hex");
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return;
  console.log("Installing the peers into bench/peers/ (240 MB, once) …");
  const options = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--omit=peer", "--legacy-peer-deps"];
  const { status, error } = spawnSync(
    process.platform === "win32" ? "npm.cmd" : "npm",
    // A slow registry is waited for, and asked again.
    ["install", ...options, "--loglevel=error", "--prefer-offline", "--fetch-retries=5", "--fetch-timeout=60000"],
    { cwd: here, stdio: ["ignore", "inherit", "inherit"], timeout: INSTALL_LIMIT_MS },
  );
  if (status !== 0) throw new Error(`npm install in bench/peers/ failed${error ? ` (${error.message})` : ""}`);
  writeFileSync(stampFile, stamp);
}

// Bytes of an installation of the library: packed as it is published, and installed into an empty folder.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { bytesIn } from "./disk.mjs";

const root = join(import.meta.dirname, "..");
const INSTALL_LIMIT_MS = 120_000;

/**
 * What is packed, and what it and its dependencies are once they are installed. With `isOffline` it is
 * built only where it is not, and the dependencies are counted as they are installed here.
 *
 * @param {{ isOffline: boolean }} options
 */
export function installSize({ isOffline }) {
  const scratch = mkdtempSync(join(tmpdir(), "perdure-install-size-"));
  try {
    const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    if (!isOffline || !existsSync(join(root, "dist")))
      execFileSync(process.execPath, [join(root, "scripts", "build.mjs")], { stdio: "ignore" });
    const [packed] = JSON.parse(npm(root, "pack", "--json", "--ignore-scripts", "--pack-destination", scratch));
    const { unpackedSize, size, filename } = packed;
    if (isOffline) {
      const besides = Object.keys(dependencies).map((name) => bytesIn(join(root, "node_modules", name)));
      return { packed: size, installed: unpackedSize + besides.reduce((sum, bytes) => sum + bytes, 0) };
    }
    const consumer = join(scratch, "consumer");
    mkdirSync(consumer);
    cpSync(join(scratch, filename), join(consumer, filename));
    writeFileSync(join(consumer, "package.json"), '{ "private": true }');
    npm(consumer, "install", `./${filename}`, "--omit=peer", "--prefer-offline", "--no-audit", "--no-fund");
    return { packed: size, installed: bytesIn(join(consumer, "node_modules")) };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** @param {string} cwd @param {string[]} args */
function npm(cwd, ...args) {
  return execFileSync(process.platform === "win32" ? "npm.cmd" : "npm", args, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    timeout: INSTALL_LIMIT_MS,
  });
}

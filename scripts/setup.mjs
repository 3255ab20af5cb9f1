// Installs the dependencies if node_modules is missing or belongs to another lock file; does nothing, fast, if not.
// Runs before anything is installed, so: plain JavaScript for Node 20, no dependencies.
//
// `npm install --no-save`, not `npm ci`: two optional packages that the lock's packages name are absent from some
// registries, and `npm ci` refuses a lock without them. Both install the locked versions and leave the lock as it is.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const root = join(import.meta.dirname, "..");
const stampFile = join(root, "node_modules", ".perdure-setup");

const stamp = createHash("sha256")
  .update(readFileSync(join(root, "package-lock.json")))
  .update(`${process.platform} ${process.arch}`)
  .digest("hex");

const isInstalled =
  existsSync(join(root, "node_modules", ".bin", "node")) &&
  existsSync(stampFile) &&
  readFileSync(stampFile, "utf8") === stamp;

if (!isInstalled) {
  console.log("Installing dependencies (once for each package-lock.json) …");
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  // Development dependencies too, whatever NODE_ENV says; EBADENGINE warnings are about the Node that runs npm, and
  // the project brings its own.
  const { status, error } = spawnSync(npm, ["install", "--no-save", "--no-audit", "--no-fund", "--include=dev", "--loglevel=error"], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (error) console.error(`Could not start npm: ${error.message}`);
  if (status !== 0) {
    console.error("npm install failed. Run `npm install` by hand to see why.");
    process.exit(1);
  }
  writeFileSync(stampFile, stamp);
}

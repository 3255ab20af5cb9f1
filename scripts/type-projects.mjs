// The parts of the project that are type-checked, each as the platform it runs on.
import { execFile } from "node:child_process";
import { join } from "node:path";
import process from "node:process";

const root = join(import.meta.dirname, "..");

/** Each is a `tsconfig.<name>.json`. */
export const TYPE_PROJECTS = ["pure", "worker", "client", "build", "test", "test-worker", "types", "examples", "pages"];

/**
 * Resolves with what the compiler said: the empty string if nothing is wrong.
 *
 * @param {string} name
 * @returns {Promise<string>}
 */
export function checkTypes(name) {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  return new Promise((resolve) => {
    execFile(process.execPath, [tsc, "-p", `tsconfig.${name}.json`, "--noEmit", "--pretty", "false"], { cwd: root, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      const output = (stdout + stderr).trim();
      resolve(error ? output || String(error) : "");
    });
  });
}

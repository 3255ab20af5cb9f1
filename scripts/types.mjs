// Type-checks every part of the project as the platform it runs on. `npm run types`, or `npm run types -- pure client`.
import { execFile } from "node:child_process";
import { join } from "node:path";
import process from "node:process";

const root = join(import.meta.dirname, "..");
const AT_ONCE = 2;

/** Each is a `tsconfig.<name>.json`. */
export const TYPE_PROJECTS = ["pure", "worker", "client", "build", "test", "test-worker", "types", "examples"];

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

if (import.meta.main) {
  const chosen = process.argv.slice(2);
  const waiting = chosen.length > 0 ? chosen : [...TYPE_PROJECTS];
  const checkNext = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const output = await checkTypes(name);
      console.log(output === "" ? `ok      tsconfig.${name}.json` : `FAILED  tsconfig.${name}.json\n${output}\n`);
      if (output !== "") process.exitCode = 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, checkNext));
}

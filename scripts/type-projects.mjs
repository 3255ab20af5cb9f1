// The parts of the project that are type-checked, each as the platform it runs on.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const root = join(import.meta.dirname, "..");

/** Each is a `tsconfig/<name>.json`, in the order in which an editor asks them. */
export const TYPE_PROJECTS = [
  ...readFileSync(join(root, "tsconfig.json"), "utf8").matchAll(/"path": "\.\/tsconfig\/([\w-]+)\.json"/g),
].map(([, name = ""]) => name);

/**
 * Resolves with what the compiler said: the empty string if nothing is wrong.
 *
 * @param {string} name
 * @returns {Promise<string>}
 */
export async function checkTypes(name) {
  const { error, output } = await compiler(name, ["--noEmit", "--pretty", "false"]);
  return error ? output || String(error) : "";
}

/**
 * The files that a project names, as sorted paths from the root, and its options, with those of its base.
 *
 * @param {string} name
 * @returns {Promise<{ files: string[], compilerOptions: { lib: string[], types: string[] } }>}
 */
export async function describeProject(name) {
  const { error, output } = await compiler(name, ["--showConfig"]);
  if (error) throw new Error(output, { cause: error });
  const { files, compilerOptions } = JSON.parse(output);
  return { files: files.map((/** @type {string} */ file) => file.replace(/^\.\.\//, "")).sort(), compilerOptions };
}

/**
 * @param {string} name
 * @param {string[]} args
 * @returns {Promise<{ error: Error | null, output: string }>}
 */
function compiler(name, args) {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const options = { cwd: root, maxBuffer: 2 ** 26 };
  return new Promise((resolve) => {
    execFile(process.execPath, [tsc, "-p", `tsconfig/${name}.json`, ...args], options, (error, stdout, stderr) => {
      resolve({ error, output: (stdout + stderr).trim() });
    });
  });
}

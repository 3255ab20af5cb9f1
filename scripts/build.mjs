// Writes dist/ anew, by tsc alone: declarations with their comments, which editors show, and JavaScript without: wrangler
// keeps comments of class members in what it uploads unless it minifies. What no entry reaches is left out.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";

const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");
rmSync(dist, { recursive: true, force: true });
for (const project of ["build", "kit"]) {
  compile(project, "--emitDeclarationOnly");
  compile(project, "--declaration", "false", "--removeComments");
}

/** @type {{ exports: Record<string, string | { types: string, default: string }> }} */
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const entries = Object.values(exports).filter((entry) => typeof entry !== "string");
const reached = new Set([
  ...reachedFrom(entries.map((entry) => entry.types)),
  ...reachedFrom(entries.map((entry) => entry.default)),
]);
for (const file of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  const path = join(file.parentPath, file.name);
  if (file.isFile() && !reached.has(path)) rmSync(path);
}

/**
 * @param {string} project
 * @param {string[]} options
 */
function compile(project, ...options) {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const { status } = spawnSync(process.execPath, [tsc, "-p", join("tsconfig", `${project}.json`), ...options], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) process.exit(status ?? 1);
}

/**
 * These files, and what they import, directly or not. Declarations import declarations.
 *
 * @param {string[]} files in the package
 */
function reachedFrom(files) {
  const found = new Set(files.map((file) => join(root, file)));
  for (const file of found) {
    const isDeclaration = file.endsWith(".d.ts");
    const text = readFileSync(file, "utf8");
    // Examples in comments import files of users; the JavaScript has no comments.
    const code = isDeclaration ? text.replace(/\/\*[\s\S]*?\*\//g, "") : text;
    for (const [, specifier = ""] of code.matchAll(/(?:from|import|import\()\s*"(\.[^"]+)"/g)) {
      const path = join(dirname(file), isDeclaration ? specifier.replace(/\.js$/, ".d.ts") : specifier);
      if (!existsSync(path)) throw new Error(`${file} imports ${specifier}, which is not there`);
      found.add(path);
    }
  }
  return found;
}

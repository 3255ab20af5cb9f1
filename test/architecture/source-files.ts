import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url).href);

/** Paths from the root, with slashes, sorted. */
export function filesIn(...patterns: string[]): string[] {
  return globSync(patterns, { cwd: ROOT })
    .map((path) => path.replaceAll("\\", "/"))
    .sort();
}

export function read(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

export function exists(path: string): boolean {
  return existsSync(join(ROOT, path));
}

/** What is left are the lines of code, with their strings. A `//` in a string must follow a colon, as in a URL. */
export function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|[^:"'`])\/\/.*$/gm, "$1");
}

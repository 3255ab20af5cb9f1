import { expect, test } from "vitest";
import { filesIn } from "./source-files.js";

// A file is named for the one concept in it. These names say "several", or nothing.
const BANNED = new Set([
  "utils",
  "util",
  "helpers",
  "helper",
  "common",
  "shared",
  "misc",
  "lib",
  "core",
  "manager",
  "base",
  "impl",
  "components",
]);
/** The public entry point keeps the name that users import. */
const PUBLIC = new Set(["src/entry/utils.ts"]);

test("files and folders are named for what they hold", () => {
  const code = ["src", "test", "examples", "scripts"].flatMap((folder) => filesIn(`${folder}/**/*.{ts,tsx,mjs}`));
  const files = code.filter((path) => !PUBLIC.has(path));
  const isBanned = (segment: string): boolean => BANNED.has(segment.split(".")[0]?.split("-").at(-1) ?? "");
  expect(files.filter((path) => path.split("/").some(isBanned))).toEqual([]);
});

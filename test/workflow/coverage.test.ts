import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const text = readFileSync(`${root}test/workflow/coverage.md`, "utf8");

interface Row {
  readonly number: string;
  readonly tests: { readonly file: string; readonly name: string }[];
  readonly note: string;
}

const rows = text
  .split("\n")
  .filter((line) => /^\| [CD]\d/.test(line))
  .map((line): Row => {
    const [, number = "", tests = "", note = ""] = line.split("|").map((cell) => cell.trim());
    return { number, note, tests: tests === "" ? [] : tests.split("<br>").map((test) => parse(test, number)) };
  });

function parse(test: string, number: string): Row["tests"][number] {
  const match = /^`(test\/[^`]+\.test\.ts)` › (.+)$/.exec(test);
  if (!match?.[1] || !match[2]) throw new Error(`coverage.md, ${number}: "${test}" is no test`);
  return { file: match[1], name: match[2] };
}

describe("coverage.md", () => {
  it("has one row for each number of the behaviours C and D", () => {
    const numbers = [...Array.from({ length: 32 }, (_, n) => `C${n + 1}`), ...Array.from({ length: 160 }, (_, n) => `D${n + 1}`)];
    expect(rows.map((row) => row.number)).toEqual(numbers);
  });

  it("gives a test or a reason for each", () => {
    expect(rows.filter((row) => row.tests.length === 0 && row.note === "").map((row) => row.number)).toEqual([]);
  });

  it("names tests that exist", () => {
    const sources = new Map<string, string>();
    const missing = rows.flatMap(({ number, tests }) =>
      tests
        .filter(({ file, name }) => {
          const path = `${root}${file}`;
          if (!sources.has(file)) sources.set(file, existsSync(path) ? readFileSync(path, "utf8") : "");
          return !sources.get(file)?.includes(name);
        })
        .map(({ file, name }) => `${number}: ${file} › ${name}`),
    );
    expect(missing).toEqual([]);
  });
});

import { describe, expect, it, test } from "vitest";
import { exists, filesIn, read } from "./source-files.js";

// The reasons for the code are in docs/internals, as promises with ids. Code, tests and pages cite those, and nothing that a
// reader of the repository cannot open.

const THIS = "test/architecture/citations.test.ts";
const FOLDERS = ["src", "test", "docs", "scripts", "examples", "bench", "conformance"];
const cited = FOLDERS.flatMap((folder) => filesIn(`${folder}/**/*.{ts,tsx,mjs,js,md,toml}`, `${folder}/**/*.d.ts`))
  .concat(filesIn("*.md"))
  .filter((path) => path !== THIS && !path.includes("node_modules/"));

/** Documents of the project's owner, which are not in the repository, and how their parts are numbered. */
const OUTSIDE = [
  /\bdecisions? \d+/i,
  /\bspec\/[\w-]+\.md/,
  /\b(?:design|decisions|behaviours|faults|field-reports|platform|style|api)\.md\b/,
  /\/work\/shared/,
  /\.\.\/shared\b/,
];
/** Numbers of its promises, in parentheses; in tests such numbers are those of coverage.md. */
const OUTSIDE_NUMBER = /\([CDW]\d{1,2}(?:, [CDW]\d{1,2})*\)/;

describe("a citation", () => {
  test("is never of a document outside the repository", () => {
    expect(cited.flatMap((path) => outsideCitations(path, read(path)))).toEqual([]);
  });

  test("is of a promise that docs/internals makes", () => {
    const ids = new Set(promises().map(({ id }) => id));
    const prefixes = new Set([...ids].map((id) => id.replace(/-\d+$/, "")));
    const id = new RegExp(`\\b(?:${[...prefixes].join("|")})-\\d+\\b`, "g");
    const unknown = cited.flatMap((path) =>
      [...read(path).matchAll(id)].filter(([found]) => !ids.has(found)).map(([found]) => `${path}: ${found}`),
    );
    expect(unknown).toEqual([]);
  });
});

describe("docs/internals", () => {
  test("defines each promise once, in headings `### PREFIX-n: title`", () => {
    expect(promises().length).toBeGreaterThan(100);
    expect(definedTwice(promises())).toEqual([]);
    const headings = pages().flatMap((path) =>
      [...read(path).matchAll(/^### (?!`)(.*)$/gm)].map(([, heading = ""]) => heading),
    );
    expect(headings.filter((heading) => !/^[A-Z]+-[1-9]\d*: \S/.test(heading))).toEqual([]);
  });

  test("has one prefix on a page, which its index names", () => {
    const index = read("docs/internals/README.md");
    const byPage = pages().map(
      (path) => [path, new Set(promises([path]).map(({ id }) => id.replace(/-\d+$/, "")))] as const,
    );
    const strange = byPage.filter(
      ([path, found]) =>
        found.size !== 1 || !index.includes(`(${path.replace("docs/internals/", "")}) | ${[...found][0]} |`),
    );
    expect(strange.map(([path]) => path)).toEqual([]);
  });

  test("names files that exist", () => {
    const named = pages().flatMap((path) =>
      [...read(path).matchAll(/`((?:src|test|scripts|bench|conformance|examples)\/[^`]*)`/g)].map(
        ([, file = ""]) => file,
      ),
    );
    expect([...new Set(named)].filter((file) => !exists(file))).toEqual([]);
  });

  test("has pages of at most 200 lines", () => {
    expect(pages().filter((path) => read(path).split("\n").length > 201)).toEqual([]);
  });
});

describe("the citation checker", () => {
  it("finds citations of outside documents, and says where they stand", () => {
    const text =
      "ok\n// as decision 12 has it\n * (`spec/api.md` A.3)\nsee design.md\nin /work/shared\nat ../shared/x\n// (C1, C5) and (W2)\n";
    expect(outsideCitations("src/a.ts", text).map((each) => each.split(": ")[0])).toEqual(
      [2, 3, 4, 5, 6, 7].map((line) => `src/a.ts:${line}`),
    );
  });

  it("lets behaviours of coverage.md be cited in tests, promises everywhere, and prose alone", () => {
    expect(outsideCitations("test/a.test.ts", 'it("runs once (D1)", …)')).toEqual([]);
    expect(
      outsideCitations(
        "src/a.ts",
        "// committed first (COMMIT-2, FLOW-9); a decision that 12 people made; docs/api/x.md",
      ),
    ).toEqual([]);
  });

  it("finds a promise that stands twice", () => {
    expect(
      definedTwice([
        { id: "A-1", path: "a" },
        { id: "A-2", path: "a" },
        { id: "A-1", path: "b" },
      ]),
    ).toEqual(["A-1 in a and b"]);
  });
});

function outsideCitations(path: string, text: string): string[] {
  const patterns = path.startsWith("test/") ? OUTSIDE : [...OUTSIDE, OUTSIDE_NUMBER];
  return text
    .split("\n")
    .flatMap((line, index) =>
      patterns.some((pattern) => pattern.test(line)) ? [`${path}:${index + 1}: ${line.trim().slice(0, 120)}`] : [],
    );
}

function pages(): string[] {
  return filesIn("docs/internals/*.md").filter((path) => path !== "docs/internals/README.md");
}

interface Defined {
  readonly id: string;
  readonly path: string;
}

function promises(paths: readonly string[] = pages()): Defined[] {
  return paths.flatMap((path) =>
    [...read(path).matchAll(/^### ([A-Z]+-\d+): /gm)].map(([, id = ""]) => ({ id, path })),
  );
}

function definedTwice(all: readonly Defined[]): string[] {
  return all.flatMap(({ id, path }, index) => {
    const first = all.findIndex((each) => each.id === id);
    return first < index ? [`${id} in ${all[first]?.path} and ${path}`] : [];
  });
}

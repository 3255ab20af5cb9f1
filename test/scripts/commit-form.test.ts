import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { problemsOf } from "../../scripts/commit-form.mjs";

const root = join(import.meta.dirname, "..", "..");
const SCRIPT = "scripts/commit-form.mjs";

describe("the form of a commit's message", () => {
  const folders = new Set(["actor", "durable-object", "docs"]);
  const why = "\n\nSomebody needs it.";

  test.each([
    "actor: a message",
    "actor, docs: a message",
    "durable-object, project: a message",
    `actor: ${"x".repeat(65)}`,
    "docs: why: and how",
  ])("takes %j with a body", (subject) => {
    expect(problemsOf(subject + why, folders)).toEqual([]);
  });

  test.each([
    ["A message", /not `area: what changed`/],
    ["actor:a message", /not `area: what changed`/],
    ["actor,docs: a message", /not `area: what changed`/],
    ["Actor: a message", /not `area: what changed`/],
    ["engine: a message", /^No folder is named engine; what is in none is "project"$/],
    ["actor, engine, runtime: a message", /^No folder is named engine, runtime;/],
    [`actor: ${"x".repeat(66)}`, /^The subject has 73 characters, not 72 at most$/],
  ])("refuses %j", (subject, problem) => {
    expect(problemsOf(subject + why, folders)).toEqual([expect.stringMatching(problem)]);
  });

  test("refuses a subject alone, also above trailers, and one without an empty line below it", () => {
    const noBody = ["There is no body that says why"];
    expect(problemsOf("actor: a message", folders)).toEqual(noBody);
    expect(problemsOf("actor: a message\n\n\n", folders)).toEqual(noBody);
    expect(problemsOf("actor: a message\n\nSigned-off-by: A <a@b.c>\n", folders)).toEqual(noBody);
    expect(problemsOf("actor: a message\nand more\n\nAnd why.", folders)).toEqual([
      "The line after the subject is not empty",
    ]);
  });
});

describe("the check of a repository's commits", () => {
  let project: string;
  beforeEach(() => {
    project = mkdtempSync(join(tmpdir(), "perdure-commits-"));
    writeFile("package.json", '{ "type": "module" }');
  });
  afterEach(() => rmSync(project, { recursive: true, force: true }));

  function git(...args: string[]): string {
    const identity = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"];
    const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
    return execFileSync("git", [...identity, ...args], {
      cwd: project,
      encoding: "utf8",
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
  }
  function writeFile(path: string, text: string): void {
    mkdirSync(join(project, dirname(path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
  function commit(message: string, ...paths: string[]): void {
    for (const path of paths) writeFile(path, message);
    git("add", "-A");
    git("commit", "--allow-empty", "-m", message);
  }
  function bringScript(): void {
    writeFile(SCRIPT, "");
    copyFileSync(join(root, SCRIPT), join(project, SCRIPT));
    commit("brings the check");
  }
  function run(...args: string[]): string[] {
    try {
      execFileSync(process.execPath, [SCRIPT, ...args], {
        cwd: project,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      });
      return [];
    } catch (error) {
      return (error as { stderr: string }).stderr
        .trim()
        .split("\n")
        .map((line) => line.replace(/^[0-9a-f]+ /, ""));
    }
  }

  test("begins with what came after the check, and names each commit that is wrong", () => {
    git("init", "-q");
    commit("Old ones are as they are");
    bringScript();
    expect(run()).toEqual([]);
    commit("parts: a folder\n\nIt is needed.", "src/parts/one.ts");
    commit("parts: one more", "src/parts/two.ts");
    commit("others: one more\n\nIt is needed.");
    expect(run()).toEqual([
      '"others: one more": No folder is named others; what is in none is "project"',
      '"parts: one more": There is no body that says why',
      expect.stringContaining("git rebase -i"),
    ]);
    expect(run("HEAD~1")).toHaveLength(2);
  });

  test("takes folders that are gone since, and one with a dot", () => {
    git("init", "-q");
    bringScript();
    commit("parts, ci: folders\n\nThey are needed.", "src/parts/one.ts", ".ci/run");
    rmSync(join(project, "src"), { recursive: true });
    commit("parts: a folder goes\n\nIt is not needed.");
    expect(run()).toEqual([]);
  });

  test("says nothing where there is no history", () => {
    writeFile(SCRIPT, "");
    copyFileSync(join(root, SCRIPT), join(project, SCRIPT));
    expect(run()).toEqual([]);
    git("init", "-q");
    expect(run()).toEqual([]);
  });
});

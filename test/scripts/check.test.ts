import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const scripts = join(import.meta.dirname, "..", "..", "scripts");
const SAYS_NOTHING = "";
/** Writes into the folder for temporary files, starts another process, and waits with it. */
const HANGS = `
  import { spawn } from "node:child_process";
  import { mkdtempSync } from "node:fs";
  import { tmpdir } from "node:os";
  mkdtempSync(tmpdir() + "/left-");
  spawn("sleep", ["600"], { stdio: "inherit" });
  console.log("begun");
`;
/** A test runner that reports two tests. */
const REPORTS = `
  import { writeFileSync } from "node:fs";
  const file = process.argv.find((each) => each.startsWith("--outputFile.json=")).slice("--outputFile.json=".length);
  writeFileSync(file, JSON.stringify({ numPassedTests: 2, numFailedTests: 0, testResults: [] }));
`;

describe("npm test", () => {
  let project: string;
  let temporary: string;
  let running: ChildProcess | undefined;

  /** A project in which every part of the check is a stand-in. */
  function write(parts: { lint?: string; vitest?: string } = {}): void {
    const files = {
      "node_modules/oxlint/bin/oxlint": parts.lint ?? SAYS_NOTHING,
      "node_modules/oxfmt/bin/oxfmt": SAYS_NOTHING,
      "node_modules/vitest/vitest.mjs": parts.vitest ?? REPORTS,
      "scripts/build.mjs": SAYS_NOTHING,
      "scripts/check-package.mjs": SAYS_NOTHING,
      "conformance/run.mjs": `import { writeFileSync } from "node:fs"; writeFileSync(process.argv[2], '{ "passed": 1, "failed": 0 }');`,
      "package.json": '{ "type": "module" }',
    };
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(project, path)), { recursive: true });
      writeFileSync(join(project, path), text);
    }
    for (const file of ["check.mjs", "stop-signals.mjs"])
      copyFileSync(join(scripts, file), join(project, "scripts", file));
  }

  beforeEach(() => {
    project = mkdtempSync(join(tmpdir(), "perdure-check-test-"));
    temporary = join(project, "tmp");
    mkdirSync(temporary);
  });
  afterEach(() => {
    running?.kill("SIGTERM");
    rmSync(project, { recursive: true, force: true });
  });

  /** Resolves when it has ended with all that it started: they share its output. */
  async function run(onText: (child: ChildProcess) => void = () => {}): Promise<{ code: number | null; text: string }> {
    const child = spawn(process.execPath, [join(project, "scripts", "check.mjs")], {
      cwd: project,
      env: { ...process.env, TMPDIR: temporary },
      stdio: ["ignore", "pipe", "pipe"],
    });
    running = child;
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        if (chunk.includes("begun")) onText(child);
      });
    }
    const [code] = (await once(child, "close")) as [number | null];
    return { code, text };
  }

  test("ends with the sum of what passed and failed", async () => {
    write();
    const { code, text } = await run();
    expect(text).toMatch(/\n7 passed, 0 failed\n$/);
    expect(code).toBe(0);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("counts a run without tests as failed", async () => {
    write({ vitest: SAYS_NOTHING });
    const { code, text } = await run();
    expect(text).toMatch(/No test report: .*\n\n5 passed, 1 failed\n$/);
    expect(code).toBe(1);
  });

  for (const [part, ended] of [
    ["lint", 0],
    ["vitest", 5],
  ] as const) {
    test(`stops at Ctrl-C during ${part} with all that it started, and leaves no temporary file`, async () => {
      write({ [part]: HANGS });
      const { code, text } = await run((child) => child.kill("SIGINT"));
      // No test has failed.
      expect(text).toMatch(
        new RegExp(
          `\\nStopped by SIGINT\\. What had not ended by then is not counted\\.\\n\\n${ended} passed, 0 failed\\n$`,
        ),
      );
      expect(code).toBe(130);
      expect(readdirSync(temporary)).toEqual([]);
    });
  }
});

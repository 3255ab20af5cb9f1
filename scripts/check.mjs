// `npm test`: lint, format, package, the published client against ours, then every test. Its last line is always `N passed, N
// failed`, and its exit code is 0 only if everything ran and nothing failed: a run that was stopped counts what had ended,
// and invents no failure. The types are tests too (test/types/types.test.ts), one for each project.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { onStop } from "./stop-signals.mjs";

const root = join(import.meta.dirname, "..");
const modules = join(root, "node_modules");
const LIMIT_MS = 14 * 60_000;

const scratch = mkdtempSync(join(tmpdir(), "perdure-check-"));
// The project's own Node, also for what the tests start, whoever started this; and one place for all temporary files, so
// that those of a process that is killed are removed too.
const env = { ...process.env, PATH: `${join(modules, ".bin")}${delimiter}${process.env.PATH}`, TMPDIR: scratch };
const report = join(scratch, "vitest.json");
const conformanceReport = join(scratch, "conformance.json");
let passed = 0;
let failed = 0;
/** @type {import("node:child_process").ChildProcess | undefined} */
let running;

const limit = setTimeout(() => finish(`Stopped: not done within ${LIMIT_MS / 60_000} minutes.`), LIMIT_MS);
onStop((what, code) => finish(`${what}.`, code));

for (const [name, ...args] of [
  ["lint", join(modules, "oxlint", "bin", "oxlint"), "--deny-warnings"],
  ["format", join(modules, "oxfmt", "bin", "oxfmt"), "--check"],
  ["build", join("scripts", "build.mjs")],
  ["package", join("scripts", "check-package.mjs")],
]) {
  console.log(`\n── ${name}`);
  if ((await run(args)) === 0) passed++;
  else {
    failed++;
    console.log(`${name} FAILED`);
  }
}

console.log("\n── conformance");
const conformanceExitCode = await run([join("conformance", "run.mjs"), conformanceReport]);
const cases = countCases();
passed += cases.passed;
failed += cases.failed === 0 && conformanceExitCode !== 0 ? 1 : cases.failed;

console.log("\n── tests");
const exitCode = await run([
  join(modules, "vitest", "vitest.mjs"),
  "run",
  "--reporter=default",
  "--reporter=json",
  `--outputFile.json=${report}`,
]);
const tests = countTests();
passed += tests.passed;
// A run that fails without failing a test (a file that does not load, an error outside a test), or has none, counts as one.
const failedOtherwise = exitCode !== 0 || tests.passed === 0;
failed += tests.failed === 0 && failedOtherwise ? 1 : tests.failed;
finish();

/**
 * Runs a script in a process group of its own and, when it ends, ends whatever it left behind in that group.
 *
 * @param {string[]} args
 * @returns {Promise<number>}
 */
function run(args) {
  return new Promise((resolve) => {
    const child = spawn("node", args, { cwd: root, env, stdio: ["ignore", "inherit", "inherit"], detached: true });
    running = child;
    child.on("exit", (code) => {
      stop(child);
      resolve(code ?? 1);
    });
  });
}

/** @param {import("node:child_process").ChildProcess} child */
function stop(child) {
  try {
    process.kill(-(/** @type {number} */ (child.pid)), "SIGKILL");
  } catch {
    // The group is gone already.
  }
}

function countTests() {
  try {
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, "utf8"));
    const unloaded = testResults.filter(
      (/** @type {any} */ file) => file.status === "failed" && file.assertionResults.length === 0,
    );
    return { passed: numPassedTests, failed: numFailedTests + unloaded.length };
  } catch (error) {
    console.log(`No test report: ${error}`);
    return { passed: 0, failed: 0 };
  }
}

function countCases() {
  try {
    /** @type {{ passed: number, failed: number }} */
    const counts = JSON.parse(readFileSync(conformanceReport, "utf8"));
    return counts;
  } catch (error) {
    console.log(`No conformance report: ${error}`);
    return { passed: 0, failed: 0 };
  }
}

/**
 * @param {string} [interruption] why not everything ran
 * @param {number} [code] its exit code
 */
function finish(interruption, code = 1) {
  clearTimeout(limit);
  if (interruption) {
    console.log(`\n${interruption} What had not ended by then is not counted.`);
    if (running) stop(running);
  }
  // Who was killed a moment ago may still write.
  rmSync(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exit(interruption ? code : failed === 0 ? 0 : 1);
}

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const scripts = join(import.meta.dirname, "..", "..", "scripts");
const INSTALLS = 'mkdir -p node_modules/.bin && touch node_modules/.bin/node && echo "$@" >> asked';
const FAILS = "echo 'npm error network' >&2; exit 1";
/** It has a child of its own, as npm has for the scripts of packages. */
const HANGS = "echo begun; sleep 600 & wait";

describe("npm run setup, which runs before npm test and npm run demo", () => {
  let project: string;
  let running: ChildProcess | undefined;

  beforeEach(() => {
    project = mkdtempSync(join(tmpdir(), "perdure-setup-"));
    for (const folder of ["scripts", "bin"]) mkdirSync(join(project, folder));
    for (const file of ["setup.mjs", "stop-signals.mjs"])
      copyFileSync(join(scripts, file), join(project, "scripts", file));
    writeFileSync(join(project, "package-lock.json"), "{}");
  });
  afterEach(() => {
    // It takes npm with it.
    running?.kill("SIGTERM");
    rmSync(project, { recursive: true, force: true });
  });

  /** What npm does when it is asked. */
  function npmDoes(what: string): void {
    writeFileSync(join(project, "bin", "npm"), `#!/bin/sh\n${what}\n`);
    chmodSync(join(project, "bin", "npm"), 0o755);
  }

  /** Resolves when it has ended with all that it started: they share its output. */
  async function run({
    command = [process.execPath],
    onText = () => {},
  }: { command?: readonly string[]; onText?: (child: ChildProcess) => void } = {}) {
    const env = {
      ...process.env,
      PATH: `${join(project, "bin")}${delimiter}${process.env["PATH"]}`,
      npm_lifecycle_event: "predemo",
    };
    const [program = "", ...args] = [...command, join(project, "scripts", "setup.mjs")];
    const child = spawn(program, args, { cwd: project, env, stdio: ["ignore", "pipe", "pipe"] });
    running = child;
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        if (chunk.includes("begun")) onText(child);
      });
    }
    const [code, signal] = (await once(child, "close")) as [number | null, string | null];
    return { code, signal, text };
  }

  test("installs once for each lock file", async () => {
    npmDoes(INSTALLS);
    expect(await run()).toMatchObject({ code: 0, text: expect.stringContaining("Installing dependencies") as string });
    expect(await run()).toEqual({ code: 0, signal: null, text: "" });
    writeFileSync(join(project, "package-lock.json"), '{ "other": true }');
    await run();
    const asked = readFileSync(join(project, "asked"), "utf8").trim().split("\n");
    expect(asked).toHaveLength(2);
    expect(asked[0]).toMatch(/^install --no-save .*--fetch-retries=2/);
  });

  test("says what to do when the installation fails, and leaves what was there before", async () => {
    npmDoes(INSTALLS);
    await run();
    writeFileSync(join(project, "package-lock.json"), '{ "other": true }');
    npmDoes(FAILS);
    const { code, text } = await run();
    expect(code).toBe(1);
    expect(text).toMatch(
      /npm error network\n[^]*\nThe installation failed; npm says above why\. Is there a network.*Then try again\.\n$/,
    );
    expect(existsSync(join(project, "node_modules", ".bin", "node"))).toBe(true);
    npmDoes(INSTALLS);
    expect(await run()).toMatchObject({ code: 0 });
  });

  test("leaves nothing when the first installation fails", async () => {
    npmDoes(FAILS);
    expect(await run()).toMatchObject({ code: 1 });
    expect(existsSync(join(project, "node_modules"))).toBe(false);
  });

  test("stops at Ctrl-C with all that npm has started, and begins anew the next time", async () => {
    npmDoes(HANGS);
    const { code, text } = await run({ onText: (child) => child.kill("SIGINT") });
    expect(code).toBe(130);
    expect(text).toMatch(/\nStopped by SIGINT: the installation is not finished\. The next run begins it anew\.\n$/);
    writeFileSync(join(project, "node_modules", "half-a-package"), "");
    npmDoes(INSTALLS);
    expect(await run()).toMatchObject({ code: 0 });
    expect(existsSync(join(project, "node_modules", "half-a-package"))).toBe(false);
  });

  test("stops when npm, which started it through a shell, is killed", async () => {
    npmDoes(HANGS);
    const shell = ["/bin/sh", "-c", '"$0" "$1"; exit', process.execPath];
    const { signal, text } = await run({ command: shell, onText: (child) => child.kill("SIGKILL") });
    expect(signal).toBe("SIGKILL");
    expect(text).toMatch(/\nStopped with npm: the installation is not finished\./);
  });

  test("refuses a Node that is too old in one line, and installs nothing", async () => {
    npmDoes(INSTALLS);
    const old =
      'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"18.20.8"}})';
    const { code, text } = await run({ command: [process.execPath, "--import", old] });
    expect(code).toBe(1);
    expect(text).toBe(
      "Node 18.20.8 is too old to start this: take Node 20.11 or newer. The project then brings its own.\n",
    );
    expect(existsSync(join(project, "node_modules"))).toBe(false);
  });
});

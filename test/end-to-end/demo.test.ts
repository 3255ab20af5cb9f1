import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { isPortTaken } from "../../scripts/demo-server.mjs";

const root = join(import.meta.dirname, "..", "..");
const node = join(root, "node_modules", ".bin", "node");
const PORT = 6420;

/** The demo's answer to a request for a host of that name. */
async function statusAs(host: string): Promise<number | undefined> {
  const [answer] = (await once(get({ port: PORT, path: "/metadata", headers: { host } }), "response")) as [
    IncomingMessage,
  ];
  answer.resume();
  return answer.statusCode;
}

describe("npm run demo", () => {
  let data: string;
  let demo: ChildProcess | undefined;

  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), "perdure-demo-"));
    if (await isPortTaken(PORT)) throw new Error(`Port ${PORT} is taken: stop what listens there.`);
  });
  afterEach(() => {
    // It takes its server with it.
    if (demo?.exitCode === null) demo.kill("SIGTERM");
  });
  afterAll(() => rmSync(data, { recursive: true, force: true }));

  /** Runs it in a pipe. `onText` gets all that it has written so far. */
  async function run(
    onText: (text: string, demo: ChildProcess) => void = () => {},
  ): Promise<{ code: number | null; text: string }> {
    const child = spawn(node, [join(root, "scripts", "demo.mjs")], {
      cwd: root,
      env: { ...process.env, PERDURE_DEMO_DATA: data },
      stdio: ["ignore", "pipe", "pipe"],
    });
    demo = child;
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        onText(text, child);
      });
    }
    const [code] = (await once(child, "close")) as [number | null];
    return { code, text };
  }

  test("drives all fifteen examples through a crash of the server, and ends", async () => {
    let byRebinding: Promise<number | undefined> | undefined;
    const { code, text } = await run((soFar) => {
      if (soFar.includes("quickstart-loops")) byRebinding ??= statusAs("rebound.example");
    });
    expect(await byRebinding, "a page whose own name leads here").toBe(403);
    expect(text).toContain("15 of 15 examples did what they are for");
    expect(code).toBe(0);
    expect(text).toMatch(/SIGKILL.*\n(.*\n)*.*started again/);
    // No colours and no cursor tricks in a pipe.
    expect(text).not.toContain("\u001b");
    expect(await isPortTaken(PORT)).toBe(false);
  });

  test("stops at Ctrl-C, with its server, and a second run over the same data is no different", async () => {
    const { code, text } = await run((soFar, child) => {
      if (soFar.includes("timeout-fallback-actor") && !child.killed) child.kill("SIGINT");
    });
    expect(text).toContain("it is complete as invoice-");
    expect(text).not.toContain("FAILED");
    expect(text.trimEnd()).toMatch(/Stopped by SIGINT; the server is down\.$/);
    expect(code).toBe(130);
    expect(await isPortTaken(PORT)).toBe(false);
  });

  test("says in one line that the port is taken", async () => {
    const other = createServer().listen(PORT, "127.0.0.1");
    await once(other, "listening");
    const { code, text } = await run();
    other.close();
    expect(text).toBe(`Port ${PORT} is taken: stop whatever listens there (another demo?) and try again.\n`);
    expect(code).toBe(1);
  });
});

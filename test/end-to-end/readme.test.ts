import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { World } from "../../src/testing/index.js";
import { afterEach, describe, expect, test, vi } from "vitest";
import { registry } from "../../examples/readme/trial.js";
import { encodeValue } from "../../src/protocol/index.js";

const root = join(import.meta.dirname, "..", "..");
const readme = readFileSync(join(root, "README.md"), "utf8");
const run = promisify(execFile);
const DAY_MS = 24 * 60 * 60 * 1_000;

describe("README.md", () => {
  afterEach(() => vi.restoreAllMocks());

  test("has at most 150 lines, and links that lead somewhere", () => {
    expect(readme.trimEnd().split("\n").length).toBeLessThanOrEqual(150);
    const links = [...readme.matchAll(/\]\(([^)#]+)\)/g)].map(([, link]) => link ?? "");
    expect(links.length).toBeGreaterThan(0);
    for (const link of links) expect(existsSync(join(root, link)), link).toBe(true);
  });

  test("shows files of examples/readme as they stand, and no other TypeScript", () => {
    const shown = [...readme.matchAll(/<!-- (\S+) -->\n```ts\n([\s\S]*?)```/g)];
    expect(shown).toHaveLength([...readme.matchAll(/```ts\n/g)].length);
    for (const [, file = "", text] of shown) expect(text, file).toBe(readFileSync(join(root, file), "utf8"));
  });

  test("names scripts that exist", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    for (const [, name = ""] of readme.replaceAll("\n", " ").matchAll(/npm run ([a-z:]+)/g))
      expect(Object.keys(scripts)).toContain(name);
  });

  test("deploys as it says", async () => {
    const folder = mkdtempSync(join(tmpdir(), "perdure-readme-"));
    try {
      const [, toml = ""] = /```toml\n([\s\S]*?)```/.exec(readme) ?? [];
      writeFileSync(
        join(folder, "wrangler.toml"),
        toml.replace("src/worker.ts", join(root, "examples", "readme", "worker.ts")),
      );
      const wrangler = join(root, "node_modules", "wrangler", "wrangler-dist", "cli.js");
      const env = { ...process.env, WRANGLER_SEND_METRICS: "false", WRANGLER_WRITE_LOGS: "false" };
      const { stdout } = await run(
        process.execPath,
        [wrangler, "deploy", "--dry-run", "--outdir", join(folder, "out"), "-c", join(folder, "wrangler.toml")],
        { env },
      );
      expect(stdout).toContain("env.ACTORS (ActorObject)");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("a trial ends after 14 days, through a crash", async () => {
    const { world, account, mails } = newTrial();
    await account.call("getState");
    await world.settle();
    account.crash();
    await world.pass(14 * DAY_MS - 1_000);
    expect(await account.call("getState")).toEqual({ status: "trial", mails: 1 });
    await world.pass(2_000);
    expect(await account.call("getState")).toEqual({ status: "expired", mails: 1 });
    expect(mails).toEqual([["Mail to ada: Welcome!"]]);
  });

  test("a trial ends with the first payment", async () => {
    const { world, account } = newTrial();
    await account.call("getState");
    await world.pass(3 * DAY_MS);
    await account.send({ mode: "get" }, { kind: "send", queue: "payments", body: encodeValue({ amount: 20 }) });
    await world.settle();
    expect(await account.call("getState")).toEqual({ status: "paid", mails: 1 });
  });

  function newTrial() {
    const mails = vi.spyOn(console, "log").mockImplementation(() => {}).mock.calls;
    const world = new World(registry, { nextTurn: (next) => void setImmediate(next) });
    return { world, account: world.actor("trial", ["ada"]), mails };
  }
});

import { build } from "esbuild";
import { join } from "node:path";
import type { createClient } from "perdure/client";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestHarness, type TestHarness } from "wrangler";
import { launchChromium } from "./chromium.js";
import type { registry } from "./fixtures/actors.js";

// Pages of several origins in a real browser, at an actor's doors: their names all lead to this machine.

const root = join(import.meta.dirname, "..", "..");
let server: TestHarness;
let browser: Browser;
let script: string;
let port: string;

beforeAll(async () => {
  process.env["CLOUDFLARE_CF_FETCH_ENABLED"] = "false";
  server = createTestHarness({ root, workers: [{ configPath: "test/browser/fixtures/wrangler.toml" }] });
  const [{ url }, launched, { outputFiles }] = await Promise.all([
    server.listen(),
    launchChromium(["--host-resolver-rules=MAP foreign.example 127.0.0.1, MAP listed.example 127.0.0.1"]),
    build({
      entryPoints: [join(root, "src/entry/client.ts")],
      bundle: true,
      format: "iife",
      globalName: "perdure",
      write: false,
    }),
  ]);
  [browser, port, script] = [launched, url.port, outputFiles[0]?.text ?? ""];
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

interface Outcome {
  readonly call: string;
  readonly socket: string;
  readonly simple: string;
}

/** What a page of this origin comes to at a door: a call, a connection, and a POST that needs no leave, with the user's cookies. */
async function knock(
  origin: string,
  door: string,
  key: string,
  prepare?: (page: Page, context: BrowserContext) => Promise<void>,
): Promise<Outcome> {
  const context = await browser.newContext();
  const page = await context.newPage();
  try {
    await page.goto(`http://${origin}:${port}/page`);
    await prepare?.(page, context);
    const frame = page.frames().at(-1) ?? page.mainFrame();
    await frame.addScriptTag({ content: script });
    return await frame.evaluate(
      async ({ endpoint, key: place }) => {
        const { perdure } = globalThis as unknown as { perdure: { createClient: typeof createClient } };
        const told = (error: unknown): string => (error as { code?: string }).code ?? String(error);
        const credentials: RequestCredentials = "include";
        const included = perdure.createClient<typeof registry>({
          endpoint,
          fetch: (url, init) => fetch(url, { ...init, credentials }),
        });
        const plain = perdure.createClient<typeof registry>({ endpoint });
        const refusal = await plain.desk
          .getOrCreate(place)
          .add()
          .then(() => undefined, told);
        const call = refusal ?? (await included.desk.getOrCreate(place).add().catch(told));
        const socket = await plain.desk
          .getOrCreate(place)
          .connect()
          .calls()
          .then(() => "open", told);
        const simple = await fetch(
          `${endpoint}/gateway/desk/request/x?rvt-namespace=default&rvt-method=getOrCreate&rvt-key=${place}-simple`,
          { method: "POST", body: "x", credentials, mode: "no-cors" },
        ).then(() => "sent", told);
        return { call, socket, simple };
      },
      { endpoint: `http://localhost:${port}${door}`, key },
    );
  } finally {
    await context.close();
  }
}

/** Whether there is an actor, as a server sees it. */
async function exists(key: string): Promise<boolean> {
  const response = await fetch(`http://localhost:${port}/closed/actors?namespace=default&name=desk&key=${key}`);
  return ((await response.json()) as { actors: unknown[] }).actors.length === 1;
}

const withCookie = async (_page: Page, context: BrowserContext): Promise<void> =>
  context.addCookies([
    { name: "session", value: "1", url: `https://localhost:${port}`, sameSite: "None", secure: true },
  ]);
/** A sandboxed frame has no origin of its own. */
const sandboxed = async (page: Page): Promise<void> => {
  await page.evaluate(() => {
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts");
    frame.srcdoc = "<!doctype html><title>sandboxed</title>";
    return new Promise((resolve) => {
      frame.onload = resolve;
      document.body.append(frame);
    });
  });
};

describe("a page", () => {
  const refused = { call: "origin_not_allowed", socket: "origin_not_allowed" };

  test("of another origin is refused, reads why, and has done nothing", async () => {
    expect(await knock("foreign.example", "/closed", "foreign")).toMatchObject(refused);
    expect([await exists("foreign"), await exists("foreign-simple")]).toEqual([false, false]);
    expect(await knock("foreign.example", "/listed", "foreign")).toMatchObject(refused);
    expect([await exists("foreign"), await exists("foreign-simple")]).toEqual([false, false]);
  });

  test("of a listed origin calls, with its cookies", async () => {
    expect(await knock("listed.example", "/listed", "listed", withCookie)).toEqual({
      call: "session=1",
      socket: "open",
      simple: "sent",
    });
    expect([await exists("listed"), await exists("listed-simple")]).toEqual([true, true]);
  });

  test('of any origin calls at "*", and its cookie is removed', async () => {
    expect(await knock("foreign.example", "/any", "any", withCookie)).toEqual({
      call: "no cookie",
      socket: "open",
      simple: "sent",
    });
    expect(await exists("any")).toBe(true);
  });

  test("of this machine calls this machine, under any of its names", async () => {
    expect(await knock("127.0.0.1", "/closed", "loopback")).toMatchObject({ call: "no cookie", socket: "open" });
    expect(await knock("app.localhost", "/closed", "loopback")).toMatchObject({ call: "no cookie", socket: "open" });
    expect(await knock("localhost", "/closed", "loopback", withCookie)).toMatchObject({
      call: "session=1",
      socket: "open",
    });
  });

  test("without an origin must be listed as null", async () => {
    expect(await knock("localhost", "/closed", "null", sandboxed)).toMatchObject(refused);
    expect(await exists("null")).toBe(false);
    expect(await knock("localhost", "/null", "null", sandboxed)).toMatchObject({ call: "no cookie", socket: "open" });
  });
});

import { build } from "esbuild";
import { join } from "node:path";
import { createClient } from "perdure/client";
import type { Page } from "playwright-core";
import { afterEach, expect, test } from "vitest";
import { FixtureServer } from "../end-to-end/fixture-server.js";
import type { registry } from "../end-to-end/fixtures/actors.js";
import { BrowserWorld, shows } from "./browser-world.js";
import { launchChromium } from "./chromium.js";

// A page in a real browser while its actor goes out of memory again and again, and when all of the server goes.

const root = join(import.meta.dirname, "..", "..");
const EVICTIONS = 5;

let world: BrowserWorld | undefined;
afterEach(async () => {
  await world?.stop();
  world = undefined;
});

/** What the page's own script keeps for the test. */
interface Recording {
  heard: unknown[][];
  statuses: string[];
}

/** Counts the sockets that a page opens, from now on. */
function countSockets(page: Page): { count: number } {
  const sockets = { count: 0 };
  page.on("websocket", () => (sockets.count += 1));
  return sockets;
}

test("a page hears each event once and in order, in each encoding on one socket, while the actor is evicted five times", async () => {
  world = await BrowserWorld.start("test/end-to-end/fixtures/wrangler.toml");
  const { outputFiles } = await build({
    entryPoints: [join(root, "src/entry/client.ts")],
    bundle: true,
    format: "iife",
    globalName: "perdure",
    write: false,
  });
  const page = await world.open("/health");
  const sockets = countSockets(page);
  await page.addScriptTag({ content: outputFiles[0]?.text ?? "" });
  await page.evaluate(async () => {
    const { perdure } = globalThis as unknown as { perdure: { createClient: typeof createClient } };
    const recordings = (["json", "cbor", "bare"] as const).map(async (encoding) => {
      const { board } = perdure.createClient<typeof registry>({ endpoint: location.origin, encoding });
      const recording: Recording = { heard: [], statuses: [] };
      const connection = board.getOrCreate("evicted").connect();
      connection.on("noted", (...args) => recording.heard.push(args));
      const value = new Map([[1n, new Set([new Date(5), undefined])]]);
      const echoed = await connection.echo(value);
      if (!(echoed instanceof Map) || !(echoed.get(1n) instanceof Set)) throw new Error(`${encoding} loses values`);
      const refusal = board.getOrCreate("evicted").connect({ name: "mallory" }).ready;
      await refusal.then(
        () => Promise.reject(new Error(`${encoding}: mallory was let in`)),
        ({ code }: { code: string }) =>
          code === "unwelcome" ? undefined : Promise.reject(new Error(`${encoding}: refused with ${code}`)),
      );
      connection.onStatusChange((status) => recording.statuses.push(status));
      return recording;
    });
    Object.assign(globalThis, { recordings: await Promise.all(recordings) });
  });
  expect(sockets.count, "of three connections and three refusals").toBe(6);

  const board = createClient<typeof registry>(world.url).board.getOrCreate("evicted");
  const bootIds = new Set([await board.getBootId()]);
  for (let number = 1; number <= EVICTIONS; number += 1) {
    await board.note(`before eviction ${number}`);
    await world.evict("board", "evicted");
    await board.note(`after eviction ${number}`);
    bootIds.add(await board.getBootId());
  }
  await page.waitForFunction(
    (count) =>
      (globalThis as unknown as { recordings: Recording[] }).recordings.every(({ heard }) => heard.length >= count),
    2 * EVICTIONS,
  );
  const recordings = await page.evaluate(() => (globalThis as unknown as { recordings: Recording[] }).recordings);
  const told = [1, 2, 3, 4, 5].flatMap((number) => [
    [2 * number - 1, `before eviction ${number}`],
    [2 * number, `after eviction ${number}`],
  ]);
  expect(recordings).toEqual(Array.from({ length: 3 }, () => ({ heard: told, statuses: [] })));
  expect(sockets.count).toBe(6);
  expect(bootIds.size).toBeGreaterThan(EVICTIONS);
});

test("a page shows each progress of a workflow once and in order, while its actor is evicted five times", async () => {
  world = await BrowserWorld.start("wrangler.toml");
  const page = await world.open("/live-progress/");
  const sockets = countSockets(page);
  await page.fill("#batches", "20");
  await page.getByRole("button", { name: "Import" }).click();
  await shows(page, "#text", /^running: [1-5] of 20/);
  // Each text that is set replaces the one before: a text that is set twice is seen twice.
  const first = await page.evaluate(() => {
    const shown: string[] = [];
    const text = document.getElementById("text")!;
    new MutationObserver((changes) =>
      shown.push(...changes.flatMap((change) => [...change.addedNodes].map((node) => node.textContent ?? ""))),
    ).observe(text, { childList: true });
    Object.assign(globalThis, { shown });
    return text.textContent ?? "";
  });
  const job = decodeURIComponent(new URL(page.url()).hash.slice(1));

  // The workflow sleeps between its steps: what follows on an eviction is an alarm. A page may show what was sent before it.
  let evictions = 0;
  for (let seen = batchOf(first); evictions < EVICTIONS;) {
    seen = await batchBeyond(page, seen);
    if (await world.evict("importJob", job)) evictions += 1;
  }
  await shows(page, "#text", "done: 20 of 20 batches, 2000 rows");

  const shown = await page.evaluate(() => (globalThis as unknown as { shown: string[] }).shown);
  const batches = Array.from({ length: 20 - batchOf(first) }, (_, index) => batchOf(first) + 1 + index);
  expect(shown).toEqual([
    ...batches.map((batch) => `running: ${batch} of 20 batches, ${batch * 100} rows`),
    "done: 20 of 20 batches, 2000 rows",
  ]);
  expect([await page.textContent("#status"), sockets.count]).toEqual(["connected", 1]);
});

test("a page comes back by itself when the server is killed and started again, and so does the workflow that it shows", async () => {
  const [server, browser] = await Promise.all([FixtureServer.start(join(root, "wrangler.toml")), launchChromium()]);
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    await page.goto(`${server.url}/live-progress/`);
    await page.fill("#batches", "8");
    await page.getByRole("button", { name: "Import" }).click();
    await shows(page, "#text", /^running: [2-6] of 8/);
    await server.dev.kill();
    await shows(page, "#status", "disconnected");
    await server.dev.start();
    await shows(page, "#text", "done: 8 of 8 batches, 800 rows");
    await shows(page, "#status", "connected");
  } finally {
    await browser.close();
    await server.stop();
  }
}, 180_000);

const batchOf = (text: string): number => Number(/: (\d+) of /.exec(text)?.[1]);

/** Resolves when the page shows a later batch. */
async function batchBeyond(page: Page, batch: number): Promise<number> {
  await page.waitForFunction(
    (last) => Number(/: (\d+) of /.exec(document.getElementById("text")?.textContent ?? "")?.[1]) > last,
    batch,
  );
  return batchOf((await page.textContent("#text")) ?? "");
}

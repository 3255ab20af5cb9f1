import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createClient } from "perdure/client";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BrowserWorld, shows } from "./browser-world.js";
import { MARKUP, type registry } from "./fixtures/inspected.js";

// The inspector's page in a real browser, over a Worker as `wrangler dev` serves it. Its policy is in force: what it would refuse
// is logged as an error, which fails the run.

/** What the browser itself logs of an answer that is a refusal. */
const REFUSALS =
  /Failed to load resource: the server responded with a status of (?:401|403|404|412)|WebSocket connection to/;

let world: BrowserWorld;
let client: ReturnType<typeof createClient<typeof registry>>;

beforeAll(async () => {
  world = await BrowserWorld.start("test/browser/fixtures/inspected.toml");
  client = createClient<typeof registry>(`${world.url}/open`);
});
afterAll(() => world?.stop(REFUSALS));

function pathTo(name: string, key: readonly string[], door = "/open"): string {
  return `${door}/inspector/#${String(new URLSearchParams({ actor: name, key: JSON.stringify(key) }))}`;
}

async function openActor(name: string, key: readonly string[], door?: string): Promise<Page> {
  const page = await world.open(pathTo(name, key, door));
  await page.waitForSelector(".headline");
  return page;
}

const button = (page: Page, name: string | RegExp) =>
  page.getByRole("button", { name, exact: typeof name === "string" });

/** Replaces text in the state's editor. */
async function editState(page: Page, from: string, to: string): Promise<void> {
  if ((await page.locator("#panel-state[open]").count()) === 0) await page.locator("#panel-state > summary").click();
  if ((await page.locator("#state-text").count()) === 0) await button(page, "Edit…").click();
  const text = await page.inputValue("#state-text");
  expect(text).toContain(from);
  await page.fill("#state-text", text.replace(from, to));
}

describe("why this one", () => {
  test("an order that failed says so, with its error and causes; mended, it is retried and followed to its end", async () => {
    await client.order.getOrCreate("o-1").touch();
    const page = await openActor("order", ["o-1"]);
    await shows(
      page,
      ".sentence",
      /^failed Failed .* in charge after 3 tries: payments answered 502\. Nothing happens until you retry\.$/,
    );
    await shows(page, ".errors", /payments answered 502.*caused by: .*socket hang up.*ECONNRESET/);
    expect(await page.locator(".row").allTextContents()).toEqual(
      expect.arrayContaining([expect.stringContaining("cool-off")]),
    );

    // Somebody else changes the state while it is edited.
    await editState(page, '"isDown": true', '"isDown": false');
    await client.order.getOrCreate("o-1").touch();
    await button(page, "Save").click();
    await shows(page, ".editor .failure", /The state has changed/);
    await shows(page, "[aria-label='What changed meanwhile']", /\+ .*touched/);
    expect(await page.inputValue("#state-text")).toContain('"isDown": false');
    await button(page, "Take the new state").click();
    await editState(page, '"isDown": true', '"isDown": false');
    await button(page, "Save over the new state").click();
    await page.waitForSelector("#state-text", { state: "detached" });
    await shows(page, "#panel-state pre", /isDown: false.*touched.*touched/s);

    await button(page, "Retry…").first().click();
    const drawer = page.getByRole("dialog");
    await drawer.getByRole("button", { name: "Retry now" }).click();
    await shows(page, ".done", /^Retry: done/);
    await shows(page, ".audit", /retry by localhost/);
    await page.keyboard.press("Escape");
    await shows(page, ".sentence", /^completed Completed/);
    expect(await client.order.getOrCreate("o-1").status()).toBe("completed");

    await button(page, "Mend…").click();
    const [download] = await Promise.all([page.waitForEvent("download"), button(page, "Download the history").click()]);
    const file = JSON.parse(readFileSync(await download.path(), "utf8")) as { format: string };
    expect(file.format).toBe("perdure-history/1");
  });

  test("a wait for a message says which, and the message that is sent there ends it while one watches", async () => {
    const key = ["eu/ü", "bob+1@example.com", '["#&=']; // A key may have anything in it.
    await client.mailbox.getOrCreate(key).touch();
    const page = await openActor("mailbox", key);
    await shows(page, ".live", "live");
    await shows(page, ".key", JSON.stringify(key));
    await button(page, /^Send a message/)
      .first()
      .click();
    await page.fill("#send-queue", "payments");
    await page.fill("#send-body", "{");
    expect(await button(page, "Send").isDisabled()).toBe(true);
    await page.fill("#send-body", '["$BigInt","12"]');
    await button(page, "Send").click();
    await shows(page, ".sentence", /^completed Completed/);

    // One that nobody takes is looked at and deleted.
    await page.fill("#send-queue", "other");
    await button(page, "Send").click();
    await shows(page, ".messages", /other.*message/);
    await page.locator(".messages").getByRole("button", { name: "Show" }).click();
    await shows(page, ".messages pre", "12n");
    await page.locator(".messages").getByRole("button", { name: "Delete…" }).click();
    await page.getByRole("button", { name: "Delete it" }).click();
    await shows(page, "#panel-queue .panel > p", "No message is stored.");
  });

  test("loops, races and joins are lanes; what holds the workflow is selected until one selects something else", async () => {
    await client.trip.getOrCreate("rome").touch();
    const page = await openActor("trip", ["rome"]);
    await shows(page, ".sentence", /book-train failed once: the railway answered 503\. .* One more branch is open\.$/);
    await shows(page, ".row[aria-selected=true] .label", "book-train");
    const labels = (): Promise<string[]> => page.locator(".row .label").allTextContents();
    const before = await labels();
    expect(before.slice(0, 8)).toEqual([
      "poll",
      "iteration 0",
      "iteration 1",
      "iteration 2",
      "iteration 3",
      "iteration 4",
      "ask",
      "pause",
    ]);
    await shows(page, ".row:nth-of-type(9) .note", "race, won by fast");
    expect(await page.locator('.row[data-status="lost"] .label').allTextContents()).toEqual(["slow"]);
    const train = page.locator(".row", { hasText: "book-train" });
    expect(await train.locator('.bar[data-kind="failed"]').count()).toBe(1);
    expect(await train.locator('.bar[data-kind="wait"]').count()).toBe(1);
    await page.locator(".row", { hasText: "iteration 2" }).locator(".twisty").click();
    expect(await labels()).toEqual([...before.slice(0, 4), "ask", "pause", ...before.slice(4)]);
  });

  test("a workflow is paused, and resumed to make its next attempt now", async () => {
    await client.trip.getOrCreate("held").touch();
    const page = await openActor("trip", ["held"]);
    await shows(page, ".sentence", /^retrying/);
    await button(page, "Mend…").click();
    await button(page, "Pause…").click();
    await button(page, "Pause now").click();
    await page.keyboard.press("Escape");
    await shows(page, ".sentence", /^paused Paused .*Nothing new begins until you resume\.$/);
    await button(page, "Resume…").first().click();
    await button(page, "Resume now").click();
    await page.keyboard.press("Escape");
    await shows(page, ".sentence", /^retrying/);
    await button(page, "Resume…").first().click();
    await button(page, "Resume now").click();
    await shows(page, ".sentence", /^retrying book-train failed (?:2|3) times/);
  });

  test("an actor whose start fails is looked at, and mended by its state", async () => {
    const fragile = client.fragile.getOrCreate("f");
    await fragile.break();
    await world.evict("fragile", "f");
    await expect(fragile.ask()).rejects.toThrow();
    const page = await openActor("fragile", ["f"]);
    await shows(page, ".sentence", /has no workflow/);
    await editState(page, '"isBroken": true', '"isBroken": false');
    await button(page, "Save").click();
    await page.waitForSelector("#state-text", { state: "detached" });
    expect(await fragile.ask()).toBe("fine");
  });

  test("an actor whose class is gone is shown with its history", async () => {
    await client.order.getOrCreate("old").touch();
    await openActor("order", ["old"]).then((page) => shows(page, ".sentence", /^failed/));
    await fetch(`${world.url}/deploy`);
    try {
      await world.evict("order", "old");
      const page = await openActor("order", ["old"]);
      await shows(page, ".tag.warn", "its class is gone from this Worker");
      await page.locator("#panel-state > summary").click();
      await shows(page, "#panel-state pre", /total: 12n/);
      expect(await page.locator(".row").count()).toBeGreaterThan(5);
    } finally {
      await fetch(`${world.url}/deploy`);
      await world.evict("order", "old");
    }
  });

  test("a workflow whose code does not fit its history says so, and goes on when the code fits again", async () => {
    const mailbox = client.mailbox.getOrCreate("changed");
    await mailbox.touch();
    const page = await openActor("mailbox", ["changed"]);
    await shows(page, ".sentence", /^waiting/);
    await fetch(`${world.url}/deploy`);
    try {
      await world.evict("mailbox", "changed");
      await mailbox.send("payments", 1);
      await shows(page, ".sentence", /^diverged The code does not match what was recorded: .* nothing is lost\.$/);
      expect(await page.locator(".row .label").allTextContents()).toEqual(["open"]);
    } finally {
      await fetch(`${world.url}/deploy`);
      await world.evict("mailbox", "changed");
    }
    await button(page, "Retry…").first().click();
    await button(page, "Retry now").click();
    await shows(page, ".sentence", /^completed/);
  });

  test("one that is destroyed while it is watched is told to be gone", async () => {
    const mailbox = client.mailbox.getOrCreate("short-lived");
    await mailbox.touch();
    const page = await openActor("mailbox", ["short-lived"]);
    await shows(page, ".live", "live");
    await mailbox.end();
    await shows(page, ".failure", /destroyed/);
    await shows(page, ".live", "not live");
  });

  test("one that is not there is told, and none is made by looking", async () => {
    const page = await world.open(pathTo("order", ["nobody"]));
    await shows(page, ".failure", /Check the name and the key; looking creates nothing/);
  });

  test("ten thousand entries have few rows in the document, and each can be reached", async () => {
    const long = client.long.getOrCreate("l");
    await expect.poll(() => long.status(), { timeout: 60_000 }).toBe("completed");
    const page = await openActor("long", ["l"]);
    await shows(page, ".count", /^10,100 entries in /);
    await page.waitForSelector(".row");
    const rows = page.locator(".row");
    expect(await rows.count()).toBeLessThan(70);
    await page.getByRole("tree").focus();
    await page.keyboard.press("Home");
    await shows(page, ".row[aria-selected=true] .label", "round-0");
    expect(await rows.count()).toBeLessThan(70);
    await page.keyboard.press("End");
    await shows(page, ".row[aria-selected=true] .label", "work");
    await shows(page, ".detail", /round-99 › b99 › work/);
  });
});

describe("what comes from an actor", () => {
  test("is text and never markup, whatever its kind, and two megabytes of it", async () => {
    await client.hostile.getOrCreate(MARKUP).touch();
    const page = await openActor("hostile", [MARKUP]);
    await shows(page, ".sentence", /^failed Failed .*<img src=x/);
    // Errors that cause each other are shown once each.
    expect(await page.locator(".error").count()).toBe(2);
    await page.locator(".row .label", { hasText: /^odd$/ }).click();
    await button(page, "Show the value").click();
    await shows(page, ".detail pre", `Map(1) { ${JSON.stringify(MARKUP)} => 12n }`);
    await page.locator(".row .label", { hasText: /^large$/ }).click();
    await button(page, "Show the value").click();
    await shows(page, ".detail pre", /^"x{9000,}…$/);
    await button(page, "Show more").click();
    await shows(page, ".detail pre", /^"x{1800000,}"$/);
    await page.locator("#panel-state > summary").click();
    await shows(page, "#panel-state pre", /big: 1180591620717411303424n.*Uint8Array\(3 bytes: 00 ff 7f\).*Date\(1970/s);
    await button(page, "Edit…").click();
    expect(await page.inputValue("#state-text")).toContain('["$BigInt", "1180591620717411303424"]');
    expect(await page.locator("img").count()).toBe(0);
    expect(await page.title()).toBe(`failed: hostile ${MARKUP}`);
  });
});

describe("who may", () => {
  test("the token is asked for, exchanged once, and the page opens until it is locked", async () => {
    await client.order.getOrCreate("o-2").touch();
    const page = await world.open(pathTo("order", ["o-2"], "/locked"));
    await page.fill("#token", "a guess");
    await button(page, "Open").click();
    await shows(page, "#token-problem", /Check that it is the whole token/);
    await page.fill("#token", "the token of the test");
    await button(page, "Open").click();
    await page.waitForSelector(".headline");
    await page.reload();
    await page.waitForSelector(".headline");
    expect(await page.evaluate(() => document.cookie + JSON.stringify(localStorage))).not.toContain("the token");
    await button(page, "Lock").click();
    await page.waitForSelector("#token");
  });

  test("a reader is offered nothing that they may not do", async () => {
    await client.order.getOrCreate("o-3").touch();
    const page = await openActor("order", ["o-3"], "/reading");
    await shows(page, ".sentence", /^failed/);
    await page.locator("#panel-state > summary").click();
    await page.waitForSelector("#panel-state pre");
    expect(await button(page, /Retry|Edit|Replay/).count()).toBe(0);
    await button(page, "Mend…").click();
    await shows(page, ".mend > .faint", "You may look, and change nothing.");
    for (const each of await page.locator(".verbs button").all()) expect(await each.isDisabled()).toBe(true);
  });
});

describe("the page", () => {
  test("is used by keyboard alone", async () => {
    await client.order.getOrCreate("keys").touch();
    const page = await world.open("/open/inspector/");
    await page.waitForSelector("#open-name");
    await page.keyboard.press("/");
    await page.keyboard.type("order");
    await page.keyboard.press("Tab");
    await page.keyboard.type("keys");
    await page.keyboard.press("Enter");
    await shows(page, ".sentence", /^failed/);
    for (let presses = 0; presses < 20; presses += 1) {
      if (await page.evaluate(() => document.activeElement?.getAttribute("role") === "tree")) break;
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Home");
    await shows(page, ".row[aria-selected=true] .label", "reserve");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    await shows(page, ".row[aria-selected=true] .label", "pack");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await shows(page, ".row[aria-selected=true] .label", "prepare");
    await page.keyboard.press("ArrowLeft");
    expect(await page.locator(".row", { hasText: "box" }).count()).toBe(0);
    // The address of what is selected can be given to somebody else.
    expect(await page.evaluate(() => location.hash)).toMatch(/entry=\d+$/);
    await page.keyboard.press("/");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("open-name");
    await page.keyboard.press("Escape");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("role"))).toBe("tree");
  });

  test("has no fault that axe finds, in light and in dark", async () => {
    const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
    await client.order.getOrCreate("axe").touch();
    await client.mailbox.getOrCreate("axe").touch();
    await client.mailbox.getOrCreate("axe").send("other", { a: 1 });
    for (const colorScheme of ["light", "dark"] as const) {
      const faults = async (page: Page): Promise<unknown[]> => {
        await page.emulateMedia({ colorScheme });
        await page.evaluate(source);
        return page.evaluate(async () => {
          const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: AxeViolation[] }> } };
          const { violations } = await axe.run();
          return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
        });
      };
      const locked = await world.open("/locked/inspector/");
      await locked.waitForSelector("#token");
      expect(await faults(locked)).toEqual([]);
      const page = await world.open("/open/inspector/");
      await page.waitForSelector(".welcome");
      expect(await faults(page)).toEqual([]);
      const missing = await world.open(pathTo("order", ["nobody"]));
      await missing.waitForSelector(".failure");
      expect(await faults(missing)).toEqual([]);
      for (const name of ["order", "mailbox"]) {
        const actor = await openActor(name, ["axe"]);
        await actor.waitForSelector(".list");
        for (const summary of await actor.locator("summary").all()) await summary.click();
        await actor.waitForSelector("#panel-state pre");
        await actor.waitForSelector("#panel-queue form");
        expect(await faults(actor)).toEqual([]);
        await button(actor, "Edit…").click();
        await actor.fill("#state-text", '{"other": 1}');
        await button(actor, "Mend…").click();
        await actor.waitForSelector("dialog[open] .verbs");
        expect(await faults(actor)).toEqual([]);
      }
    }
  });

  test("fits 360 pixels, where the selected entry lies over the list as a sheet", async () => {
    await client.order.getOrCreate("narrow").touch();
    const page = await world.open(pathTo("order", ["narrow"]));
    await page.setViewportSize({ width: 360, height: 740 });
    await shows(page, ".sentence", /^failed/);
    const overflow = (): Promise<number> =>
      page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(await overflow()).toBe(0);
    expect(await page.locator(".detail").isVisible()).toBe(false);
    await page.locator(".row", { hasText: "charge" }).click();
    expect(await page.locator(".detail").isVisible()).toBe(true);
    await page.keyboard.press("Escape");
    expect(await page.locator(".detail").isVisible()).toBe(false);
    await button(page, "Mend…").click();
    await page.waitForSelector("dialog[open]");
    expect(await overflow()).toBe(0);
  });
});

interface AxeViolation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

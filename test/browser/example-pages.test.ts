import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BrowserWorld, lists, shows } from "./browser-world.js";

// The pages of the examples, as somebody uses them.

let world: BrowserWorld;
beforeAll(async () => {
  world = await BrowserWorld.start("wrangler.toml");
});
afterAll(() => world?.stop());

const press = (page: Page, name: string): Promise<void> => page.getByRole("button", { name, exact: true }).click();

test.concurrent("the first page leads to each example", async () => {
  const page = await world.open("/");
  const names = await page.locator("li a").allTextContents();
  expect(names).toEqual(["Chat room", "Live progress", "Cron report", "Tenant notes"]);
  for (const name of names) {
    await page.getByRole("link", { name }).click();
    await page.getByRole("link", { name: "Examples" }).click();
  }
});

describe("chat-room", () => {
  async function enter(room: string, name: string): Promise<Page> {
    const page = await world.open(`/chat-room/#${room}`);
    await page.fill("#name", name);
    await press(page, "Come in");
    return page;
  }
  async function say(page: Page, text: string): Promise<void> {
    await page.fill("#text", text);
    await press(page, "Say");
  }

  test.concurrent("two people hear each other and see who is there, until one has gone; who comes later sees what was said", async () => {
    const ada = await enter("talk", "ada");
    await lists(ada, "#present", ["ada"]);
    const bob = await enter("talk", "bob");
    for (const page of [ada, bob]) await lists(page, "#present", ["ada", "bob"]);
    await say(ada, "hello");
    for (const page of [ada, bob]) await lists(page, "#lines", ["ada: hello"]);
    await say(bob, "<b>hi</b>");
    for (const page of [ada, bob]) await lists(page, "#lines", ["ada: hello", "bob: <b>hi</b>"]);
    await bob.context().close();
    await lists(ada, "#present", ["ada"]);
    const eve = await enter("talk", "eve");
    await lists(eve, "#lines", ["ada: hello", "bob: <b>hi</b>"]);
    for (const page of [ada, eve]) await lists(page, "#present", ["ada", "eve"]);
  });

  test.concurrent("knows who is there after an eviction, and notices who goes then", async () => {
    const [ada, bob] = await Promise.all([enter("evicted", "ada"), enter("evicted", "bob")]);
    for (const page of [ada, bob]) await lists(page, "#present", ["ada", "bob"]);
    expect(await world.evict("chatRoom", "evicted")).toBe(true);
    await bob.context().close();
    await lists(ada, "#present", ["ada"]);
    await say(ada, "alone");
    await lists(ada, "#lines", ["ada: alone"]);
    await shows(ada, "#status", "connected");
  });

  test.concurrent("refuses who does not say who it is, and says why", async () => {
    const nobody = await enter("door", "   ");
    await shows(nobody, "#error", "Say who you are, in 1 to 40 characters");
    await shows(nobody, "#status", "idle");
  });
});

test.concurrent("live-progress shows a workflow to its end, and after a reload in the middle of it", async () => {
  const page = await world.open("/live-progress/");
  await page.fill("#batches", "15");
  await press(page, "Import");
  await shows(page, "#text", /^running: [1-6] of 15 batches/);
  await page.reload();
  await shows(page, "#text", /^running: ([1-9]|1[0-4]) of 15 batches/);
  await shows(page, "#text", "done: 15 of 15 batches, 1500 rows");
  await page.reload();
  await shows(page, "#text", "done: 15 of 15 batches, 1500 rows");
});

test.concurrent("cron-report writes its report by itself, of what was sold since the last one", async () => {
  const page = await world.open("/cron-report/#bakery");
  await shows(page, "#plan", /^0 18 \* \* 1-5 in Europe\/Berlin, next at \d/);
  for (const [product, amount] of [
    ["tea", "5"],
    ["bread", "4"],
    ["tea", "6"],
  ] as const) {
    await page.fill("#product", product);
    await page.fill("#amount", amount);
    await press(page, "Sell");
  }
  await lists(page, "#sales", ["tea: 5", "bread: 4", "tea: 6"]);
  await press(page, "So often");
  await shows(page, "#plan", /^every 5 s, next at \d/);
  await shows(page, "#reports li:first-child", /^\d{4}-\d\d-\d\d: 3 sales, 15 in all$/);
  await lists(page, "#sales", []);
  await shows(page, "#runs li:last-child", /: ok$/);
  await page.fill("#timezone", "Nowhere");
  await press(page, "At these times");
  await shows(page, "#error", /Nowhere/);
  await shows(page, "#plan", /^every 5 s/);
});

test.concurrent("tenant-notes keeps notes apart by tenant, finds them by words, and shows them in every window", async () => {
  const open = (tenant: string): Promise<Page> => world.open(`/tenant-notes/#${tenant}`);
  const keep = async (page: Page, text: string): Promise<void> => {
    await page.fill("#text", text);
    await press(page, "Keep");
  };
  const [acme, colleague, other] = [await open("acme"), await open("acme"), await open("other")];
  await keep(acme, "Buy milk and bread");
  for (const page of [acme, colleague]) await lists(page, "#notes", ["Buy milk and bread"]);
  await keep(colleague, "Call the baker");
  await keep(other, "Bread is for others, too");
  for (const page of [acme, colleague]) await lists(page, "#notes", ["Call the baker", "Buy milk and bread"]);
  await lists(other, "#notes", ["Bread is for others, too"]);
  await acme.fill("#words", 'brea "OR');
  await lists(acme, "#notes", []);
  await acme.fill("#words", "bread bu");
  await lists(acme, "#notes", ["Buy milk and bread"]);
  await colleague.evaluate(() => void (location.hash = "other"));
  await lists(colleague, "#notes", ["Bread is for others, too"]);
  await press(other, "Import");
  for (const page of [other, colleague])
    await lists(page, "#notes", ["from notebook 1: second", "from notebook 1: first", "Bread is for others, too"]);
});

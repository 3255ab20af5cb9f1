import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { createHandler } from "../../src/entry/cloudflare.js";
import { db } from "../../src/entry/db.js";
import { actor, queue, setup } from "../../src/entry/index.js";
import { inspector } from "../../src/entry/inspector.js";
import { workflow } from "../../src/entry/workflow.js";
import { objectName } from "../../src/protocol/index.js";
import { serve } from "../support/worker.js";

// The inspector on the platform's own objects: one that cannot start is shown, and nothing of it runs.

const ran: string[] = [];
let fails = false;
const order = actor({
  state: { total: 12n },
  queues: { payments: queue<unknown>() },
  db: db({
    onMigrate: async (c) => {
      await c.execute("CREATE TABLE IF NOT EXISTS lines (name TEXT, picture BLOB)");
    },
  }),
  onWake: () => {
    ran.push("onWake");
    if (fails) throw new Error("no wake");
  },
  run: workflow(async (ctx) => {
    await ctx.step("charge", () => 7n);
    await ctx.sleep("cool-off", 3_600_000);
  }),
  actions: {
    fill: async (c) => {
      await c.queue.send("payments", { cents: 100n });
      await c.kv.put("colour", "red");
      await c.db.execute("INSERT INTO lines VALUES (?, ?)", "tea", new Uint8Array([1, 2]));
    },
  },
});
const registry = setup({ use: { order } });
const part = inspector({ token: "hush" });
serve(registry, { inspector: part });
const { ACTORS } = env as unknown as { ACTORS: DurableObjectNamespace };
const handler = createHandler(registry, { logLevel: "silent", inspector: part });
const client = handler.client(env);

async function ask(path: string, key: string, token = "hush"): Promise<[status: number, answer: unknown]> {
  const query = new URLSearchParams({ actor: "order", key: JSON.stringify([key]) });
  const request = new Request(`http://worker.test/inspector/api${path}${path.includes("?") ? "&" : "?"}${query}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const response = await handler.fetch(request, env, {} as ExecutionContext);
  return [response.status, await response.json()];
}

/** What the platform stores of the actor. */
function stored(key: string): Promise<unknown> {
  const stub = ACTORS.get(ACTORS.idFromName(objectName("order", [key])));
  return runInDurableObject(stub, async (_object, { storage }) => [
    [...storage.kv.list()].map(([name]) => name),
    await storage.getAlarm(),
  ]);
}

it("shows everything of an actor whose start fails, and changes nothing (INSPECT-1)", async () => {
  await client.order.getOrCreate("failing").fill();
  const before = await stored("failing");
  fails = true;
  await evictDurableObject(ACTORS.get(ACTORS.idFromName(objectName("order", ["failing"]))));
  await expect(client.order.getOrCreate("failing").fill()).rejects.toThrow();
  ran.splice(0);

  expect(await ask("/summary", "failing")).toMatchObject([
    200,
    { name: "order", key: ["failing"], queueSize: 1, tables: 1, workflow: { status: "running" } },
  ]);
  expect(await ask("/state", "failing")).toMatchObject([200, { state: { total: ["$BigInt", "12"] } }]);
  expect(await ask("/history", "failing")).toMatchObject([200, { items: [{ kind: "step" }, { kind: "sleep" }] }]);
  expect(await ask("/queue", "failing")).toMatchObject([200, { items: [{ queue: "payments" }] }]);
  expect(await ask("/kv", "failing")).toMatchObject([200, { items: [{ key: "colour", value: "red" }] }]);
  expect(await ask("/tables", "failing")).toMatchObject([200, { items: [{ name: "lines" }] }]);
  expect(await ask("/rows?table=lines", "failing")).toMatchObject([200, { rows: [["tea", ["$ArrayBuffer", "AQI="]]] }]);
  expect(await ask("/histories", "failing")).toMatchObject([200, { histories: [{ actor: "order" }] }]);
  expect(ran).toEqual([]);
  fails = false;
  expect(await stored("failing")).toEqual(before);
});

it("creates nothing where no actor is, and tells strangers nothing", async () => {
  expect(await ask("/summary", "nobody")).toMatchObject([404, { group: "actor", code: "not_found" }]);
  expect(await stored("nobody")).toEqual([[], null]);
  expect(await ask("/summary", "nobody", "guess")).toMatchObject([401, { group: "inspector", code: "unauthorized" }]);
});

it("leaves the activation in memory alone", async () => {
  await client.order.getOrCreate("alive").fill();
  ran.splice(0);
  for (let looks = 0; looks < 3; looks += 1) expect((await ask("/state", "alive"))[0]).toBe(200);
  await client.order.getOrCreate("alive").fill();
  expect(ran).toEqual([]);
  expect(await ask("/queue", "alive")).toMatchObject([200, { size: 2 }]);
});

it("tells those who watch what changes, through an eviction, and is not started by them (INSPECT-7)", async () => {
  await client.order.getOrCreate("watched").fill();
  const stub = ACTORS.get(ACTORS.idFromName(objectName("order", ["watched"])));
  const query = new URLSearchParams({ actor: "order", key: '["watched"]' });
  const request = new Request(`http://worker.test/inspector/api/watch?${query}`, {
    headers: { authorization: "Bearer hush", upgrade: "websocket" },
  });
  const { webSocket, status } = await handler.fetch(request, env, {} as ExecutionContext);
  expect(status).toBe(101);
  const frames: unknown[] = [];
  let came = (): void => {};
  webSocket?.addEventListener("message", ({ data }) => {
    frames.push(JSON.parse(String(data)));
    came();
  });
  webSocket?.accept();
  await evictDurableObject(stub);
  ran.splice(0);
  webSocket?.send("hello?");
  expect(await ask("/connections", "watched")).toEqual([200, { items: [] }]);
  expect(ran).toEqual([]);
  const next = new Promise<void>((resolve) => (came = resolve));
  await client.order.getOrCreate("watched").fill();
  await next;
  expect(frames[0]).toEqual({ changed: expect.arrayContaining(["queue"]) as unknown });
  webSocket?.close(1000, "");
});

it("is refused by createHandler if it is not the inspector", () => {
  for (const given of [true, {}, () => {}])
    expect(() => createHandler(registry, { inspector: given as never })).toThrow(TypeError);
});

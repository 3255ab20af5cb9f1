import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { createHandler } from "../../src/entry/cloudflare.js";
import { actor, queue, setup } from "../../src/entry/index.js";
import { abort, evict, runDue } from "../../src/entry/testing/workers.js";
import { workflow } from "../../src/entry/workflow.js";
import { objectName } from "../../src/protocol/index.js";
import { serve } from "../support/worker.js";

const DAY = 24 * 3_600_000;

const order = actor({
  state: { seen: [] as string[], charges: 0 },
  queues: { approvals: queue<string>() },
  vars: { calls: 0 },
  run: workflow(async (ctx) => {
    await ctx.step({
      name: "charge",
      maxRetries: 2,
      run: (step) => {
        step.state.charges += 1;
        if (step.state.charges < 3) throw new Error("502");
      },
    });
    await ctx.sleep("three days", 3 * DAY);
    await ctx.step("slept", (step) => void step.state.seen.push("slept"));
    const [approval] = await ctx.queue.nextBatch("approval", { names: ["approvals"], timeout: 7 * DAY });
    await ctx.step(
      "asked",
      (step) => void step.state.seen.push(approval ? `approved by ${approval.body}` : "timed out"),
    );
    await ctx.queue.next("forever", { names: ["approvals"] });
  }),
  actions: {
    seen: (c) => c.state.seen,
    charges: (c) => c.state.charges,
    calls: (c) => (c.vars.calls += 1),
    plan: (c) => c.schedule.after(DAY, "note"),
    note: (c) => void c.state.seen.push("noted"),
    hang: () => new Promise(() => {}),
  },
});
let bookings = 0;
const books = actor({
  state: { booked: 0 },
  run: workflow(async (ctx) => {
    await ctx.sleep("first", 30 * DAY);
    await ctx.step("book", async (step) => {
      bookings += 1;
      if (bookings === 1) await new Promise(() => {});
      step.state.booked = bookings;
    });
    await ctx.sleep("second", 30 * DAY);
    await ctx.step("close", (step) => void (step.state.booked += 10));
    await ctx.sleep("third", 30 * DAY);
  }),
  actions: { booked: (c) => c.state.booked },
});
const plain = actor({ state: {}, actions: { get: () => "there" } });
const registry = setup({ use: { order, books, plain } });
serve(registry);
const client = createHandler(registry, { logLevel: "silent" }).client(env);
const { ACTORS } = env as unknown as { ACTORS: DurableObjectNamespace };

it("goes from one thing that is due to the next, and says when nothing is to come", async () => {
  const handle = client.order.getOrCreate("steps");
  expect(await handle.charges()).toBe(1);
  expect(await runDue(handle)).toBe(true);
  expect(await runDue(handle)).toBe(true);
  expect(await handle.charges()).toBe(3);
  expect(await handle.seen()).toEqual([]);
  expect(await runDue(handle)).toBe(true);
  expect(await handle.seen()).toEqual(["slept"]);
  await handle.send("approvals", "ada");
  await expect.poll(() => handle.seen()).toEqual(["slept", "approved by ada"]);
  expect(await runDue(handle), "it waits for a message alone").toBe(false);
  expect(await runDue(client.plain.getOrCreate("idle")), "there is no workflow").toBe(false);
});

it("moves no stored time: a message that came before its deadline wins, though it is read after", async () => {
  const handle = client.order.getOrCreate("stored");
  await handle.seen();
  for (let due = 0; due < 3; due += 1) await runDue(handle);
  await handle.send("approvals", "ada");
  await expect.poll(() => handle.seen()).toEqual(["slept", "approved by ada"]);
  const timedOut = client.order.getOrCreate("late");
  await timedOut.seen();
  for (let due = 0; due < 4; due += 1) await runDue(timedOut);
  expect(await timedOut.seen()).toEqual(["slept", "timed out"]);
});

it("moves the clock of one actor, and delivers schedules", async () => {
  const [moved, other] = [client.order.getOrCreate("moved"), client.order.getOrCreate("other")];
  await moved.plan();
  await other.plan();
  for (let due = 0; due < 3; due += 1) await runDue(moved);
  expect(await moved.seen()).toEqual(["noted"]);
  expect(await other.seen()).toEqual([]);
});

it("keeps its clock over evictions and deaths, which take what is in memory and nothing else", async () => {
  const handle = client.order.getOrCreate("ends");
  expect(await handle.calls()).toBe(1);
  expect(await handle.calls()).toBe(2);
  for (let due = 0; due < 2; due += 1) await runDue(handle);
  await evict(handle);
  await evict(handle);
  expect(await handle.calls()).toBe(1);
  expect(await runDue(handle)).toBe(true);
  expect(await handle.seen()).toEqual(["slept"]);
  const hanging = handle.hang().catch((error: { code: string }) => error.code);
  await abort(handle);
  expect(await hanging).toBe("restarting");
  expect(await handle.calls()).toBe(1);
  expect(await runDue(handle)).toBe(true);
  expect(await handle.seen()).toEqual(["slept", "timed out"]);
});

it("takes up work that a death cut off, though its clock is days ahead of the platform's", async () => {
  const handle = client.books.getOrCreate("cut off");
  expect(await handle.booked()).toBe(0);
  const cutOff = expect(runDue(handle)).rejects.toThrow(/aborted/);
  await expect.poll(() => bookings).toBe(1);
  await abort(handle);
  await cutOff;
  expect(await runDue(handle), "the work, and the second sleep").toBe(true);
  expect(await handle.booked()).toBe(12);
  expect(bookings).toBe(2);
});

it("takes a handle by key or by id, of any client, or the object's stub, and nothing else", async () => {
  const handle = client.order.getOrCreate("named");
  const byId = client.order.getForId(await handle.resolve());
  const stub = ACTORS.get(ACTORS.idFromName(objectName("order", ["named"])));
  expect(await runDue(byId)).toBe(true);
  expect(await runDue(stub)).toBe(true);
  expect(await runDue(handle)).toBe(true);
  expect(await handle.seen()).toEqual(["slept"]);
  for (const wrong of [undefined, null, 7, {}, "order", client, client.order])
    await expect((async () => runDue(wrong as never))()).rejects.toThrow(/a handle of an actor/);
  await runInDurableObject(stub, (_, { storage }) => expect(storage.kv.get("a")).toBeDefined());
});

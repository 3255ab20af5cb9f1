import { env } from "cloudflare:workers";
import { afterEach, expect, it } from "vitest";
import { createHandler } from "../../src/entry/cloudflare.js";
import { actor, setup } from "../../src/entry/index.js";
import { abort, endSteps, evict, history, runDue, step } from "../../src/entry/testing/workers.js";
import { workflow } from "../../src/entry/workflow.js";
import { serve } from "../support/worker.js";

const ran: string[] = [];
const order = actor({
  state: {},
  run: workflow(async (ctx) => {
    const charge = await ctx.step("charge", () => void ran.push("charge") as unknown);
    await ctx.sleep("pause", 60_000);
    await ctx.step({ name: "ship", timeout: 5_000, run: () => void ran.push("ship") });
    return charge;
  }),
  actions: { get: () => "there" },
});
const registry = setup({ use: { order } });
serve(registry);
const client = createHandler(registry, { logLevel: "silent" }).client(env);

afterEach(() => {
  ran.length = 0;
  // What a test that failed has declared is not the next one's.
  try {
    endSteps();
  } catch {}
});

it("answers in place of callbacks, one answer an attempt, and shows what ran", async () => {
  step("order", "charge").fails(new Error("502")).gives({ id: "ch_1" });
  step("order", "ship").hangs();
  const handle = client.order.getOrCreate("sequence");
  await handle.get();
  await expect.poll(() => step("order", "charge").calls()).toMatchObject([{ outcome: "rejected" }]);
  expect(await runDue(handle)).toBe(true);
  expect((await history(handle)).steps("charge")).toMatchObject([{ attempts: 2, result: { id: "ch_1" } }]);
  await evict(handle);
  await runDue(handle);
  expect(step("order", "ship").calls()).toMatchObject([{ key: ["sequence"], outcome: "pending" }]);
  // The object's own renewals of its lease come before the timeout.
  for (let due = 0; due < 10 && (await history(handle)).status === "running"; due += 1)
    expect(await runDue(handle)).toBe(true);
  expect(await history(handle)).toMatchObject({
    status: "failed",
    error: { message: expect.stringContaining("5000ms") },
  });
  expect(ran).toEqual([]);
  endSteps();
});

it("gives the same answer to an attempt that a death of the object cut off", async () => {
  let release = (): void => {};
  const blocked = new Promise<void>((resolve) => (release = resolve));
  let runs = 0;
  step("order", "charge")
    .runs(async () => {
      runs += 1;
      if (runs === 1) await blocked;
      return "first";
    })
    .gives("second");
  const handle = client.order.getOrCreate("cut off");
  await handle.get();
  await expect.poll(() => runs).toBe(1);
  await abort(handle);
  await handle.get();
  await expect.poll(async () => (await history(handle)).steps("charge")).toMatchObject([{ result: "first" }]);
  expect(step("order", "charge").calls()).toMatchObject([{ outcome: "lost" }, { outcome: "fulfilled" }]);
  release();
  endSteps();
});

it("knows the registry's actors, and which doubles were never used", async () => {
  expect(() => step("ordr", "charge")).toThrow(
    new TypeError('The registry has no actor "ordr"; its actors are "order"'),
  );
  step("order", "chrage").gives(1);
  await client.order.getOrCreate("unused").get();
  await expect.poll(() => step("order", "charge").calls()).toMatchObject([{ outcome: "fulfilled" }]);
  expect(() => endSteps()).toThrow(
    'The double of step "chrage" of actor "order" was never used: those that ran are "charge"',
  );
  endSteps();
  expect(step("order", "charge").calls()).toEqual([]);
});

it("has no history of an actor that does not exist", async () => {
  await expect(history(client.order.getOrCreate("nobody"))).rejects.toMatchObject({
    group: "actor",
    code: "not_found",
  });
});

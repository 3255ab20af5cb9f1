import { describe, expect, test } from "vitest";
import { testWorld } from "../../../src/entry/testing.js";
import { shop } from "./shop.js";

const HOUR = 3_600_000;

// oxlint-disable-next-line typescript/explicit-function-return-type -- inferred, as users' are
async function shopWorld() {
  const world = await testWorld(shop, { startAt: 1_000_000 });
  const order = world.client.order.getOrCreate(["o-1"]);
  await order.status();
  await world.idle();
  return { world, order };
}

describe("queue", () => {
  test("has the messages that wait, and not those that the workflow holds", async () => {
    const { world, order } = await shopWorld();
    await order.send("notes", "first");
    await order.send("approvals", { by: "ada" });
    await order.send("approvals", { by: "bob" });
    await world.idle();
    expect(world.queue(order)).toEqual([
      { id: 1, name: "notes", body: "first", createdAt: 1_000_000 },
      { id: 3, name: "approvals", body: { by: "bob" }, createdAt: 1_000_000 },
    ]);
    await world.advance(HOUR);
    expect(world.queue(order).map(({ id }) => id)).toEqual([1, 3]);
    await world.end();
  });
});

describe("schedules", () => {
  test("has what comes next, recurring jobs by their names", async () => {
    const { world, order } = await shopWorld();
    await order.digest();
    const id = await order.remindIn(60_000, "ada");
    expect(world.schedules(order)).toEqual([
      { kind: "at", id, dueAt: 1_060_000, action: "remind", args: ["ada"] },
      { kind: "every", name: "digest", dueAt: 1_600_000, action: "remind", args: ["all"] },
    ]);
    await world.advance("5m");
    expect(world.schedules(order)).toMatchObject([{ name: "digest" }]);
    await world.end();
  });
});

describe("history", () => {
  test("shows how a workflow stands, and each operation", async () => {
    const { world, order } = await shopWorld();
    expect(world.history(order)).toMatchObject({ status: "running", entries: [] });
    await order.send("approvals", { by: "ada" });
    await world.idle();
    expect(world.history(order)).toMatchObject({ status: "running", wakeAt: 1_000_000 + HOUR });
    expect(world.history(order).entries).toMatchObject([
      { name: "approval", kind: "message", status: "completed", result: [{ name: "approvals", body: { by: "ada" } }] },
      { name: "cool-off", kind: "sleep", status: "pending", dueAt: 1_000_000 + HOUR },
    ]);
    await world.advance(HOUR);
    const done = world.history(order);
    expect(done).toMatchObject({ status: "completed", output: { by: "ada" } });
    expect(done.steps("pay")).toMatchObject([{ location: ["pay"], attempts: 1, result: { by: "ada" } }]);
    expect(done.steps()).toEqual(done.steps(["*"]));
    expect(done.steps("cool-off")).toEqual([]);
    expect(() => done.steps([] as never)).toThrow(TypeError);
    await world.end();
  });

  test("does not start the actor", async () => {
    const { world, order } = await shopWorld();
    world.crash(order);
    world.rows(order);
    const lines = world.logs().length;
    world.history(order);
    world.queue(order);
    world.schedules(order);
    expect(world.state(order)).toEqual({ status: "open" });
    await world.idle();
    expect(world.rows(order)).toBe(0);
    expect(world.logs()).toHaveLength(lines);
    await world.end();
  });
});

test("an actor that does not exist has nothing to show, and is not created by it", async () => {
  const { world, order } = await shopWorld();
  const nobody = world.client.order.getOrCreate(["o-2"]);
  for (const look of [world.queue, world.schedules, world.history, world.state])
    expect(() => look(nobody)).toThrow(expect.objectContaining({ group: "actor", code: "not_found" }));
  expect(world.rows(nobody)).toBe(0);
  await order.end();
  await world.idle();
  expect(() => world.history(order)).toThrow(expect.objectContaining({ code: "not_found" }));
  expect(() => world.history({ name: "oder" })).toThrow(TypeError);
  await world.end();
});

test("rows are those written since the last time, changes of the alarm included", async () => {
  const { world, order } = await shopWorld();
  expect(world.rows(order)).toBeGreaterThan(0);
  await order.status();
  expect(world.rows(order)).toBe(0);
  await order.set("other");
  expect(world.rows(order)).toBe(1);
  await order.remindIn(60_000, "ada");
  expect(world.rows(order)).toBe(2);
  await world.end();
});

describe("logs", () => {
  test("has the lines of all actors, by actor and by level", async () => {
    const { world, order } = await shopWorld();
    const other = world.client.order.getOrCreate(["o-2"]);
    await order.remind("ada");
    await other.remind("bob");
    await order.send("approvals", { by: "ada" });
    await world.advance(HOUR);
    expect(world.logs({ level: "warn" }).map(({ msg }) => msg)).toEqual(["reminding ada", "reminding bob"]);
    expect(world.logs({ actor: other, level: "warn" })).toMatchObject([
      { level: "warn", msg: "reminding bob", actor: "order", key: ["o-2"], action: "remind" },
    ]);
    expect(world.logs({ actor: order, level: "info" }).map(({ msg }) => msg)).toEqual(["reminding ada", "paid"]);
    expect(() => world.logs({ level: "silent" as never })).toThrow(TypeError);
    expect(() => world.logs({ levels: "info" } as never)).toThrow(TypeError);
    await world.end();
  });

  test("keeps the latest 10,000 lines", async () => {
    const { world, order } = await shopWorld();
    for (let n = 0; n < 10_001; n += 1) await order.remind(String(n));
    const lines = world.logs({ level: "warn" });
    expect(lines).toHaveLength(10_000);
    expect(lines.at(-1)).toMatchObject({ msg: "reminding 10000" });
    await world.end();
  });
});

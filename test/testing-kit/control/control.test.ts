import { describe, expect, test } from "vitest";
import { actor, queue, setup } from "../../../src/entry/index.js";
import { testWorld, type TestWorld } from "../../../src/entry/testing.js";
import { changedShop, shop } from "./shop.js";

const HOUR = 3_600_000;
const START = 10_000_000;

type Order = ReturnType<Awaited<ReturnType<typeof shopWorld>>["world"]["client"]["order"]["getOrCreate"]>;

// oxlint-disable-next-line typescript/explicit-function-return-type -- inferred, as users' are
async function shopWorld() {
  const world = await testWorld(shop, { startAt: START });
  const order = world.client.order.getOrCreate(["o-1"]);
  await order.status();
  await world.idle();
  return { world, order };
}

async function approved(world: TestWorld<typeof shop.config.use>, order: Order): Promise<void> {
  await order.send("approvals", { by: "ada" });
  await world.idle();
}

describe("crash", () => {
  test("ends the process: what is in memory is gone, what was stored goes on", async () => {
    const { world, order } = await shopWorld();
    await approved(world, order);
    expect([await order.visits(), await order.visits()]).toEqual([1, 2]);
    world.crash(order);
    expect(await order.visits()).toBe(1);
    world.crash(order);
    await world.advance(HOUR);
    expect(await order.status()).toBe("paid");
    await world.end();
  });

  test("takes a name and a key as well, and nothing else", async () => {
    const { world, order } = await shopWorld();
    await approved(world, order);
    world.crash({ name: "order", key: ["o-1"] });
    world.crash({ name: "order", key: "o-1" });
    world.crash(world.client.order.getForId(await order.resolve()));
    for (const target of [{ name: "oder" }, { name: 1 }, {}, undefined, "order", { name: "order", key: [1] }])
      expect(() => world.crash(target as never), JSON.stringify(target)).toThrow();
    await world.end();
    expect(() => world.crash(order)).toThrow(TypeError);
  });

  test("refuses the handle of an actor that this world does not have", async () => {
    const { world } = await shopWorld();
    const other = await testWorld(setup({ use: { far: actor({ actions: { get: () => 1 } }) } }));
    const far = other.client.far.getOrCreate("f");
    const refused = 'The registry has no actor "far"; its actors are order';
    for (const use of [() => world.crash(far), () => world.rows(far), () => world.history(far)])
      expect(use).toThrow(refused);
    await expect(world.record(far)).rejects.toThrow(refused);
    await Promise.all([world.end(), other.end()]);
  });

  test("redeploy refuses what is no registry, and changes nothing", async () => {
    const { world, order } = await shopWorld();
    await order.visits();
    for (const given of [undefined, null, {}, { ...shop }])
      expect(() => world.redeploy(given as never)).toThrow(
        "world.redeploy(): the registry must be one that setup() made",
      );
    expect(await order.visits()).toBe(2);
    await world.end();
  });
});

test("evict takes an actor out of memory, and what was written is stored", async () => {
  const { world, order } = await shopWorld();
  await approved(world, order);
  expect(await order.visits()).toBe(1);
  const changed = order.set("changed");
  await Promise.all([changed, world.evict(order)]);
  expect(await order.visits()).toBe(1);
  expect(await order.status()).toBe("changed");
  await world.advance(HOUR);
  expect(world.history(order)).toMatchObject({ status: "completed" });
  await world.end();
});

describe.each(["crash", "evict"] as const)("%s", (how) => {
  const slow = actor({
    state: {},
    queues: { jobs: queue<string>() },
    options: { actionTimeout: HOUR },
    actions: {
      get: () => "there",
      wait: (c) => c.queue.next({ names: ["jobs"], timeout: HOUR }),
    },
    onRequest: () =>
      new Response(
        new ReadableStream<Uint8Array>({ start: (stream) => stream.enqueue(new TextEncoder().encode("first")) }),
      ),
  });

  test("breaks what is in flight: its caller gets no answer, and the body of an answer no end", async () => {
    const world = await testWorld(setup({ use: { slow } }), { skipTime: false });
    const subject = world.client.slow.getOrCreate("s");
    const { body } = await subject.fetch("/");
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    expect((await reader.read()).value).toHaveLength("first".length);
    const connection = subject.connect();
    await connection.ready;
    const called = expect(subject.wait()).rejects.toMatchObject({ group: "actor", code: "restarting" });
    const overIt = expect(connection.wait()).rejects.toMatchObject({ group: "client", code: "connection_closed" });
    await world.idle();
    await world[how](subject);
    await Promise.all([called, overIt]);
    await expect(reader.read()).rejects.toThrow("Network connection lost.");
    expect(await subject.get()).toBe("there");
    await world.end();
  });
});

describe("crashOn", () => {
  test("before a commit loses it, and tells nobody", async () => {
    const { world, order } = await shopWorld();
    const crash = world.crashOn(order, { before: true });
    expect(crash.fired).toBe(false);
    await expect(order.set("changed")).rejects.toThrow();
    expect(crash.fired).toBe(true);
    expect(await order.status()).toBe("open");
    await order.set("changed");
    expect(await order.status()).toBe("changed");
    await world.end();
  });

  test("after a commit keeps it, and tells nobody", async () => {
    const { world, order } = await shopWorld();
    world.crashOn(order, { after: true });
    await expect(order.set("changed")).rejects.toThrow();
    expect(await order.status()).toBe("changed");
    await world.end();
  });

  test("counts from the next commit, each plan by itself, and can be cancelled", async () => {
    const { world, order } = await shopWorld();
    const second = world.crashOn(order, { commit: 2, before: true });
    const third = world.crashOn(order, { commit: 3, before: true });
    third.cancel();
    await order.set("first");
    await expect(order.set("second")).rejects.toThrow();
    await order.set("third");
    expect([second.fired, third.fired]).toEqual([true, false]);
    expect(await order.status()).toBe("third");
    await world.end();
  });

  test.each([
    [{}],
    [{ commit: 0, before: true }],
    [{ commit: 1.5, after: true }],
    [{ before: true, after: true }],
    [undefined],
  ])("refuses %j", async (at) => {
    const { world, order } = await shopWorld();
    expect(() => world.crashOn(order, at as never)).toThrow(TypeError);
    await world.end();
  });
});

describe("alarms", () => {
  test("that the platform loses come back with the next event", async () => {
    const { world, order } = await shopWorld();
    await approved(world, order);
    world.crash(order);
    expect(world.loseAlarm(order)).toBe(START + HOUR);
    expect(world.loseAlarm(order)).toBeUndefined();
    await world.advance(2 * HOUR);
    expect(world.state(order)).toEqual({ status: "open" });
    await order.status();
    await world.idle();
    expect(world.state(order)).toEqual({ status: "paid" });
    await world.end();
  });

  test("come late by as much as they are delayed", async () => {
    const { world, order } = await shopWorld();
    await approved(world, order);
    world.delayAlarms(order, "5 minutes");
    await world.advance(HOUR + 299_999);
    expect(world.state(order)).toEqual({ status: "open" });
    await world.advance(1);
    expect(world.state(order)).toEqual({ status: "paid" });
    expect(() => world.delayAlarms(order, -1)).toThrow(TypeError);
    await world.end();
  });
});

describe("jumpClock", () => {
  test("forward: what is due then comes at once", async () => {
    const { world, order } = await shopWorld();
    await approved(world, order);
    world.jumpClock("1 hour");
    expect(world.now()).toBe(START + HOUR);
    expect(world.state(order)).toEqual({ status: "open" });
    await world.idle();
    expect(world.state(order)).toEqual({ status: "paid" });
    await world.end();
  });

  test("back: stored times come later", async () => {
    const { world, order } = await shopWorld();
    await approved(world, order);
    world.jumpClock("-10 minutes");
    expect(world.now()).toBe(START - 600_000);
    await world.advance(HOUR + 599_999);
    expect(world.state(order)).toEqual({ status: "open" });
    await world.advance(1);
    expect(world.state(order)).toEqual({ status: "paid" });
    await world.end();
  });

  test.each([
    ["1 hour", 0],
    ["-1 hour", HOUR + 29_000],
  ])("by %s moves the deadline of a step that runs, which is a time of the clock", async (jump, passesMs) => {
    const { world, order } = await shopWorld();
    world.step("order", "pay").hangs();
    await approved(world, order);
    await world.advance(HOUR + 1_000);
    const outcomes = (): string[] =>
      world
        .step("order", "pay")
        .calls()
        .map(({ outcome }) => outcome);
    world.jumpClock(jump);
    await world.advance(Math.max(0, passesMs - 1));
    expect(outcomes()).toEqual([jump === "1 hour" ? "aborted" : "pending"]);
    await world.advance(1);
    expect(outcomes()).toEqual(["aborted"]);
    await world.end();
  });

  test.each([
    ["2 hours", 3],
    ["-2 hours", -1],
  ])("by %s while time passes lets as much of it pass as was asked for", async (jump, hours) => {
    const { world, order } = await shopWorld();
    world.step("order", "pay").runs(() => world.jumpClock(jump));
    await approved(world, order);
    await world.advance(2 * HOUR);
    expect(world.history(order).status).toBe("completed");
    expect((world.now() - START) / HOUR).toBe(hours + 1);
    await world.end();
  });

  test.each([[-START - 1], ["-1 day"], [8.64e15], [Number.NaN], ["soon"], ["--1h"], [undefined]])(
    "refuses %j",
    async (duration) => {
      const { world } = await shopWorld();
      expect(() => world.jumpClock(duration as never)).toThrow(TypeError);
      expect(world.now()).toBe(START);
      await world.end();
    },
  );
});

test("redeploy goes on under other code, over the same storage", async () => {
  const { world, order } = await shopWorld();
  await approved(world, order);
  const next = world.redeploy(changedShop);
  expect(next).toBe(world);
  const again = next.client.order.getOrCreate(["o-1"]);
  expect(await again.version()).toBe(2);
  await next.advance(HOUR);
  expect(next.history(again)).toMatchObject({
    status: "diverged",
    error: { name: "HistoryDivergedError", message: expect.stringContaining("cool-off") },
  });
  const back = next.redeploy(shop);
  await back.advance(2 * HOUR);
  expect(back.history(order)).toMatchObject({ status: "completed", output: { by: "ada" } });
  await world.end();
});

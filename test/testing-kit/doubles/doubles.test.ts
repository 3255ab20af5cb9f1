import { describe, expect, test } from "vitest";
import { actor, setup } from "../../../src/entry/index.js";
import { testWorld } from "../../../src/entry/testing.js";
import { orders, Real } from "./orders.js";

type Worlds = Awaited<ReturnType<typeof ordersWorld>>;

// oxlint-disable-next-line typescript/explicit-function-return-type -- inferred, as users' are
async function ordersWorld() {
  const real = new Real();
  const world = await testWorld(orders(real), { startAt: 0 });
  return { real, world };
}

async function started(world: Worlds["world"]): Promise<ReturnType<Worlds["world"]["client"]["order"]["getOrCreate"]>> {
  const order = world.client.order.getOrCreate(["o-1"]);
  await order.state();
  await world.idle();
  return order;
}

describe("a double", () => {
  test("fails and gives in sequence, one answer an attempt, and its callback does not run", async () => {
    const { real, world } = await ordersWorld();
    world.step("order", "charge").fails(new Error("502")).fails(new Error("502")).gives({ id: "ch_1" });
    const order = await started(world);
    await world.advance("3 days");
    expect(world.history(order)).toMatchObject({ status: "completed", output: { id: "ch_1" } });
    expect(world.history(order).steps("charge")).toMatchObject([{ attempts: 3, result: { id: "ch_1" } }]);
    expect(world.step("order", "charge").calls()).toMatchObject([
      { key: ["o-1"], location: ["charge"], attempt: 1, outcome: "rejected", error: new Error("502") },
      { attempt: 2, outcome: "rejected" },
      { attempt: 3, outcome: "fulfilled", result: { id: "ch_1" } },
    ]);
    expect(real.ran).toEqual(["ship"]);
    await world.end();
  });

  test("repeats its last answer, for every actor", async () => {
    const { world } = await ordersWorld();
    world.step("order", "charge").gives("first").gives("later");
    const outputs: unknown[] = [];
    for (const key of ["a", "b", "c"]) {
      const order = world.client.order.getOrCreate(key);
      await order.state();
      await world.advance("1s");
      outputs.push(world.history(order).output);
    }
    expect(outputs).toEqual(["first", "later", "later"]);
    await world.end();
  });

  test("gives a copy of its value to each attempt", async () => {
    const { world } = await ordersWorld();
    const value = { items: ["tea"] };
    world.step("order", "charge").gives(value);
    value.items.push("changed later");
    const order = await started(world);
    expect(world.history(order).steps("charge")).toMatchObject([{ result: { items: ["tea"] } }]);
    await world.end();
  });

  test("refuses where it is declared what a step could not return", async () => {
    const { world } = await ordersWorld();
    const double = world.step("order", "charge");
    expect(() => double.gives(() => 1)).toThrow(expect.objectContaining({ group: "value", code: "not_serializable" }));
    expect(() => double.gives("x".repeat(2_000_001))).toThrow(expect.objectContaining({ code: "too_large" }));
    expect(() => double.runs("charge" as never)).toThrow(new TypeError("runs() takes a function"));
    const order = await started(world);
    expect(world.history(order).output).toBe("real charge");
    await world.end();
  });

  test("that hangs lets time pass to the step's timeout", async () => {
    const { real, world } = await ordersWorld();
    world.step("order", "ship").hangs().callsThrough();
    const order = await started(world);
    expect(world.step("order", "ship").calls()).toMatchObject([{ outcome: "pending" }]);
    await world.advance(4_999);
    expect(world.history(order).status).toBe("running");
    await world.advance(1);
    expect(world.step("order", "ship").calls()).toMatchObject([{ outcome: "aborted" }]);
    await world.advance("1s");
    expect(world.history(order)).toMatchObject({ status: "completed" });
    expect(real.ran).toEqual(["charge", "ship"]);
    await world.end();
  });

  test("runs a function with the step's context, whose writes are stored with the step", async () => {
    const { world } = await ordersWorld();
    world.step("order", "ship").runs(async (step) => {
      step.state.shipped = true;
      return step.attempt;
    });
    const order = await started(world);
    expect(world.state(order)).toEqual({ shipped: true, refunds: 0 });
    expect(world.history(order).steps("ship")).toMatchObject([{ result: 1 }]);
    await world.end();
  });

  test("calls through to the callback, and shows what it gave", async () => {
    const { real, world } = await ordersWorld();
    world.step("order", "charge").fails(new Error("502")).callsThrough();
    await started(world);
    await world.advance("1s");
    expect(world.step("order", "charge").calls()).toMatchObject([
      { outcome: "rejected" },
      { outcome: "fulfilled", result: "real charge" },
    ]);
    expect(real.ran).toEqual(["charge", "ship"]);
    await world.end();
  });

  test("without an answer only shows what ran", async () => {
    const { world } = await ordersWorld();
    await started(world);
    expect(world.step("order", "ship").calls()).toMatchObject([{ outcome: "fulfilled", result: "real ship" }]);
    expect(world.step("order", "refund").calls()).toEqual([]);
    await world.end();
  });

  test("continues where it was when it is declared further", async () => {
    const { world } = await ordersWorld();
    world.step("poller", "check").gives("pending");
    const poller = world.client.poller.getOrCreate("p");
    await poller.resolve();
    await world.advance("3m");
    world.step("poller", "check").gives("done");
    await world.advance("1m");
    expect(world.history(poller).output).toMatchObject(["done", {}]);
    await world.end();
  });
});

describe("a path", () => {
  test("means one place, and * any one segment of it", async () => {
    const { real, world } = await ordersWorld();
    world.step("poller", ["poll", "*", "check"]).gives("pending");
    world.step("poller", ["poll", 2, "check"]).gives("found");
    world.step("poller", ["both", "left", "tell"]).gives("told");
    const poller = world.client.poller.getOrCreate("p");
    await poller.resolve();
    await world.advance("10m");
    expect(world.history(poller).output).toEqual(["found", { left: "told", right: "real right" }]);
    expect(real.ran).toEqual(["right"]);
    expect(world.step("poller", "check").calls()).toHaveLength(3);
    expect(world.step("poller", ["*", "check"]).calls()).toEqual([]);
    expect(world.step("poller", ["both", "*", "tell"]).calls()).toHaveLength(2);
    await world.end();
  });

  test.each([[[]], [undefined], [["a", {}]], [7]])("%j is none", async (path) => {
    const { world } = await ordersWorld();
    expect(() => world.step("order", path as never)).toThrow(TypeError);
    await world.end();
  });
});

test("an actor that the registry lacks is an error at once, which names those it has", async () => {
  const { world } = await ordersWorld();
  const problem = 'The registry has no actor "ordr"; its actors are "order", "poller", "saga"';
  expect(() => world.step("ordr" as never, "charge")).toThrow(new TypeError(problem));
  expect(() => world.step("toString" as never, "charge")).toThrow(TypeError);
  await world.end();
});

test("doubles that were never used fail the end of the world, and name the steps that ran", async () => {
  const { world } = await ordersWorld();
  world.step("order", "chrage").gives(1);
  world.step("poller", ["poll", "check"]).gives(1);
  world.step("order", "ship").rollback().fails(new Error("no"));
  await started(world);
  await expect(world.end()).rejects.toThrow(
    'The double of step "chrage" of actor "order" was never used: those that ran are "charge", "ship"\n' +
      'The double of step ["poll","check"] of actor "poller" was never used: none ran\n' +
      'The double of rollback of step "ship" of actor "order" was never used: none ran. ' +
      "One that a test need not use is declared with .optional()",
  );
});

test("a double that a later one hid is said to be hidden, and an optional one may stay unused", async () => {
  const { world } = await ordersWorld();
  world.step("order", "charge").gives("by name");
  world.step("order", "ship").gives("by name").optional();
  world.step("order", ["charge"]).gives("by path");
  world.step("order", ["ship"]).gives("by path");
  world.step("saga", "pay").optional().gives("unasked");
  const order = await started(world);
  expect(world.history(order).steps("charge")).toMatchObject([{ result: "by path" }]);
  await expect(world.end()).rejects.toThrow(
    new Error(
      'The double of step "charge" of actor "order" was never used: that of ["charge"], declared later, took its attempts. ' +
        "One that a test need not use is declared with .optional()",
    ),
  );
});

test("a world that has ended tells once what was never used", async () => {
  await using world = await testWorld(orders(new Real()), { startAt: 0 });
  world.step("order", "charge").gives(1);
  await expect(world.end()).rejects.toThrow("never used");
  await world.end();
  expect(() => world.step("order", "charge")).toThrow(TypeError);
});

test("time skips over a step that hangs while a call of the test waits", async () => {
  const { world } = await ordersWorld();
  world.step("order", "ship").hangs().gives("shipped");
  const order = await started(world);
  const shipped = order.send("approvals", { by: "ada" }, { wait: true, timeout: 60_000 });
  expect(await shipped).toMatchObject({ status: "timedOut" });
  expect(world.history(order).steps("ship")).toMatchObject([{ attempts: 2, result: "shipped" }]);
  await world.end();
});

test("after a redeploy, actors of the new registry have doubles", async () => {
  const { world } = await ordersWorld();
  const next = world.redeploy(setup({ use: { other: actor({ state: {}, actions: {} }) } }));
  expect(next.step("other", "any").calls()).toEqual([]);
  expect(() => world.step("order", "charge")).toThrow(
    new TypeError('The registry has no actor "order"; its actors are "other"'),
  );
  await world.end();
});

test("a rollback handler has a double of its own", async () => {
  const { real, world } = await ordersWorld();
  world.step("saga", "pay").fails(new Error("declined"));
  world.step("saga", "book").rollback().fails(new Error("closed")).callsThrough();
  const saga = world.client.saga.getOrCreate("s");
  await saga.resolve();
  await world.advance("1m");
  expect(world.history(saga)).toMatchObject({
    status: "failed",
    error: { message: expect.stringContaining("declined") },
  });
  expect(real.ran).toEqual(["book", "cancel"]);
  expect(world.step("saga", "book").rollback().calls()).toMatchObject([
    { location: ["book"], attempt: 1, outcome: "rejected" },
    { location: ["book"], attempt: 2, outcome: "fulfilled" },
  ]);
  expect(world.step("saga", "book").calls()).toHaveLength(1);
  await world.end();
});

describe("when the process dies", () => {
  test.each(["before", "after"] as const)("%s any commit, the same attempts meet the same answers", async (side) => {
    const run = async (commit?: number): Promise<{ fired: boolean; entries: unknown }> => {
      const { world } = await ordersWorld();
      world.step("poller", "check").gives("pending").fails(new Error("503")).gives("pending").gives("done");
      world.step("poller", ["both", "*", "tell"]).gives("one").gives("two");
      const poller = world.client.poller.getOrCreate("p");
      const crash =
        commit === undefined
          ? undefined
          : world.crashOn(poller, side === "before" ? { commit, before: true } : { commit, after: true });
      await Promise.all([poller.resolve().catch(() => poller.resolve()), world.advance("1h")]);
      const { status, output, entries } = world.history(poller);
      await world.end();
      const steps = entries.map(({ kind, location, attempts, result }) => ({ kind, location, attempts, result }));
      return { fired: crash?.fired ?? false, entries: { status, output, steps } };
    };
    const { entries } = await run();
    expect(entries).toMatchObject({ status: "completed", output: ["done", { left: "one", right: "two" }] });
    let commit = 1;
    for (; ; commit += 1) {
      const disturbed = await run(commit);
      if (!disturbed.fired) break;
      expect(disturbed.entries, `commit ${commit}`).toEqual(entries);
    }
    expect(commit).toBeGreaterThan(8);
  });

  test("a run that hangs is lost, and the next answer is taken", async () => {
    const { world } = await ordersWorld();
    world.step("order", "charge").hangs().gives(1);
    const order = await started(world);
    world.crash(order);
    await world.advance("1m");
    expect(world.history(order)).toMatchObject({ status: "completed", output: 1 });
    expect(world.step("order", "charge").calls()).toMatchObject([
      { attempt: 1, outcome: "lost" },
      { attempt: 1, outcome: "fulfilled" },
    ]);
    await world.end();
  });

  test("what recover starts over takes the next answer", async () => {
    const { world } = await ordersWorld();
    world.step("saga", "pay").fails(new Error("declined")).gives("paid");
    const saga = world.client.saga.getOrCreate("s");
    await saga.resolve();
    await world.idle();
    expect(world.history(saga).status).toBe("failed");
    world.crash(saga);
    await saga.recover();
    await world.advance("1m");
    expect(world.history(saga).status).toBe("completed");
    expect(
      world
        .step("saga", "pay")
        .calls()
        .map(({ outcome }) => outcome),
    ).toEqual(["rejected", "fulfilled"]);
    await world.end();
  });
});

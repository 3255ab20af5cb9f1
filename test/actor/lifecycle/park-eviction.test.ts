import { describe, expect, it } from "vitest";
import { actor, workflow } from "../../../src/actor/index.js";
import { encodeValue, ENVELOPE_VERSION } from "../../../src/protocol/index.js";
import { single, type Single } from "../subject.js";

// oxlint-disable-next-line typescript/no-explicit-any -- contexts of all kinds share one signature here
type Any = any;

const MINUTE = 60_000;

/** An actor that notes its starts, and what its workflow keeps in a variable that a step writes. */
function subject(evictAtPark: boolean, also: Record<string, unknown> = {}): Single & { starts(): number; seen: Any[] } {
  let starts = 0;
  const seen: Any[] = [];
  const made: Single = single(
    actor({
      state: { seen: 0 },
      events: {},
      createConnState: () => ({ said: 0 }),
      onWake: () => void (starts += 1),
      run: workflow(async (ctx: Any) => {
        let sum = 0;
        await ctx.step("add", () => {
          sum += 33;
        });
        await ctx.sleep("a minute", MINUTE);
        await ctx.step("note", (step: Any) => {
          seen.push(sum);
          step.state.seen += 1;
          step.broadcast("noted", sum);
        });
        const message = await ctx.queue.next("go", { names: ["go"], completable: true });
        await message.complete("gone");
        return "done";
      }),
      actions: {
        get: (c: Any) => c.state.seen,
        hang: () => made.world.clock.delay(2 * MINUTE),
        keep: (c: Any) => void c.keepAwake(made.world.clock.delay(2 * MINUTE).then(() => c.state.seen)),
        wait: (c: Any) => c.waitUntil(made.world.clock.delay(2 * MINUTE)),
        say: (c: Any) => (c.conn.state.said += 1),
        later: (c: Any) =>
          void made.world.clock
            .delay(1_000)
            .then(() => (c.state.seen = 9))
            .catch((error: Any) => seen.push(`${error.group}/${error.code}`)),
      },
      queues: { go: {} },
      options: { actionTimeout: 3 * MINUTE },
      ...also,
    } as never),
    { evictAtPark },
  );
  return { ...made, starts: () => starts, seen };
}

describe("evictAtPark", () => {
  it("starts the actor anew for each event while its workflow is parked: what a step left in a variable is gone", async () => {
    for (const evictAtPark of [false, true]) {
      const { world, subject: object, starts, seen, log } = subject(evictAtPark);
      await object.call("get");
      await world.settle();
      expect(starts()).toBe(1);
      expect(await object.call("get")).toBe(0);
      expect(starts()).toBe(evictAtPark ? 2 : 1);
      await world.settle();
      await world.pass(MINUTE);
      expect(seen, "the alarm of the sleep finds it in memory, or replays it").toEqual([evictAtPark ? 0 : 33]);
      expect(starts()).toBe(evictAtPark ? 3 : 1);
      expect(object.timersHeld).toBe(0);
      expect(log.filter(({ level }) => level === "error")).toEqual([]);
    }
  });

  it("holds no lease and no dirty row: a start afterwards finds nothing cut off", async () => {
    const { world, subject: object } = subject(true);
    await object.call("get");
    await world.settle();
    expect(object.holdsLease).toBe(false);
    const { rows } = object.store;
    await object.call("get");
    await world.settle();
    expect(object.store.rows).toEqual(rows);
  });

  it("keeps connections: their state, their subscriptions, and what is sent to them", async () => {
    const { world, subject: object, starts } = subject(true);
    const socket = await object.connect();
    await socket.subscribe("noted");
    await socket.call(1, "say");
    await world.settle();
    await socket.call(2, "say");
    await world.settle();
    expect(starts()).toBe(2);
    await world.pass(MINUTE);
    expect(socket.isOpen).toBe(true);
    expect(socket.events).toEqual([["noted", 0]]);
    expect(socket.received.flatMap((each) => (each.tag === "ActionResponse" ? [each.val.output] : []))).toEqual([1, 2]);
  });

  it("keeps a sender that waits through a socket, and answers it from a later activation", async () => {
    const { world, subject: object, starts } = subject(true);
    const token = "a".repeat(32);
    const body = encodeValue("now");
    const sent = await object.send(
      { mode: "getOrCreate" },
      { kind: "send", queue: "go", body, wait: true, timeoutMs: 3 * MINUTE, token },
    );
    expect(sent.ok).toBe(true);
    await world.settle();
    const envelope = {
      v: ENVELOPE_VERSION,
      address: { name: "subject", key: ["k"] },
      creation: { mode: "get" },
      operation: { kind: "wait", id: 1, createdAt: world.clock.now(), timeoutMs: 3 * MINUTE, token },
    } as never;
    const before = starts();
    const { ok, socket } = await object.awaitReply(envelope);
    expect([ok, starts()]).toEqual([true, before + 1]);
    await world.pass(MINUTE);
    expect(socket?.frames).toHaveLength(1);
  });

  it.each([
    ["an action", "hang"],
    ["keepAwake", "keep"],
    ["waitUntil", "wait"],
  ])("waits for %s in progress, as the platform does", async (_, action) => {
    const { world, subject: object, starts, seen } = subject(true);
    const called = object.call(action);
    // The alarm of a lease may stand just before the deadline.
    await world.pass(MINUTE + 1_000);
    expect(seen).toEqual([33]);
    expect(starts()).toBe(1);
    await world.pass(MINUTE);
    await called;
    await world.settle();
    await object.call("get");
    expect(starts()).toBe(2);
  });

  it("refuses what code of the activation that left changes afterwards", async () => {
    const { world, subject: object, seen } = subject(true);
    await object.call("later");
    await world.pass(1_000);
    expect(seen).toEqual(["actor/ended"]);
    expect(await object.call("get")).toBe(0);
  });

  it("tells a change of the state to onStateChange before it leaves", async () => {
    const told: number[] = [];
    const { world, subject: object } = subject(true, { onStateChange: (_: Any, state: Any) => told.push(state.seen) });
    await object.call("get");
    await world.pass(MINUTE);
    expect(told).toEqual([1]);
  });

  it("leaves a workflow that has ended, and an actor without one, in memory", async () => {
    for (const run of [workflow(async () => {}), undefined]) {
      const { world, subject: object, starts } = subject(true, { run });
      await object.call("get");
      await world.settle();
      await object.call("get");
      await world.settle();
      expect(starts()).toBe(1);
    }
  });
});

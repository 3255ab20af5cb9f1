import { describe, expect, it } from "vitest";
import { actor } from "../../../src/actor/index.js";
import { single } from "../subject.js";

describe("a plain run handler", () => {
  it("is called once a start, after the hooks, and the actor serves meanwhile", async () => {
    const seen: string[] = [];
    const { world, subject } = single(
      actor({
        state: { n: 0 },
        onWake: () => void seen.push("onWake"),
        run: async (c) => {
          seen.push("run begins");
          await world.clock.delay(1_000);
          c.state.n += 1;
          seen.push("run ends");
        },
        actions: { get: (c) => c.state.n },
      }),
    );
    expect(await subject.call("get")).toBe(0);
    expect(seen).toEqual(["onWake", "run begins"]);
    await world.pass(1_000);
    expect(await subject.call("get")).toBe(1);
    await world.passUntilQuiet();
    expect(seen).toEqual(["onWake", "run begins", "run ends"]);
    subject.crash();
    await subject.call("get");
    expect(seen.slice(3)).toEqual(["onWake", "run begins"]);
  });

  it("holds the lease while it works, and an alarm with it, and none when it has ended", async () => {
    const { world, subject } = single(actor({ run: () => world.clock.delay(60_000), actions: { touch: () => {} } }));
    await subject.call("touch");
    await world.settle();
    expect(subject.holdsLease).toBe(true);
    for (let i = 0; i < 5; i += 1) {
      expect(subject.store.alarmAt, "at least every 10 s").toBeLessThanOrEqual(world.clock.now() + 10_000);
      await world.pass(10_000);
    }
    await world.pass(10_000);
    expect(subject.store.keys).toEqual(["a"]);
    expect(subject.store.alarmAt).toBe(null);
  });

  it("comes back by itself when the object dies while it works", async () => {
    let starts = 0;
    const { world, subject } = single(
      actor({
        run: async () => {
          starts += 1;
          if (starts === 1) await new Promise(() => {});
        },
        actions: { touch: () => {} },
      }),
    );
    await subject.call("touch");
    await world.settle();
    subject.crash();
    await world.passUntilQuiet();
    expect(starts).toBe(2);
    expect(subject.store.keys).toEqual(["a"]);
    expect(subject.store.alarmAt).toBe(null);
  });

  it("that kills its object each time is started soon, then after 10 s, and after twice as long each time, up to 5 min", async () => {
    const starts: number[] = [];
    const { world, subject } = single(
      actor({
        run: async () => {
          starts.push(world.clock.now());
          await world.clock.delay(1_000);
          subject.store.crashWithTurn();
          await new Promise(() => {});
        },
        actions: { touch: () => {} },
      }),
    );
    await subject.call("touch");
    await world.pass(3_600_000);
    expect(starts.slice(1, 9).map((at, index) => (at - (starts[index] ?? 0)) / 1_000)).toEqual([
      3, 10, 20, 40, 80, 160, 300, 300,
    ]);
    expect(starts.length).toBeLessThan(20);
  });

  it("costs nothing while it waits for a message: no lease, no alarm, no timer, no row", async () => {
    const { world, subject } = single(
      actor({
        state: [] as unknown[],
        run: async (c) => {
          for await (const message of c.queue.iter()) c.state.push(message.body);
        },
        actions: { send: (c, body: number) => c.queue.send("in", body).then(() => undefined), get: (c) => c.state },
      }),
    );
    await subject.call("get");
    await world.settle();
    const { rows } = subject.store;
    expect(subject.store.keys).toEqual(["a", "s"]);
    expect(subject.store.alarmAt).toBe(null);
    expect(subject.timersHeld).toBe(0);
    await world.pass(3_600_000);
    expect(subject.store.rows).toBe(rows);
    for (const body of [1, 2, 3]) await subject.call("send", body);
    await world.settle();
    expect(await subject.call("get")).toEqual([1, 2, 3]);
    subject.crash();
    await subject.call("send", 4);
    await world.settle();
    expect(await subject.call("get"), "a message wakes it, and it starts anew").toEqual([1, 2, 3, 4]);
    expect(subject.store.keys).toEqual(["a", "s"]);
  });

  it("that throws is logged, and the actor goes on; the next start calls it again (A48)", async () => {
    let starts = 0;
    const { world, subject, log } = single(
      actor({
        state: { n: 0 },
        run: async (c) => {
          starts += 1;
          c.state.n += 1;
          throw new Error("the run handler throws");
        },
        actions: { get: (c) => c.state.n },
      }),
    );
    await subject.call("get");
    await world.settle();
    expect(await subject.call("get"), "what it changed stays").toBe(1);
    expect(
      log.filter(({ level, entry }) => level === "error" && String(entry["stack"]).includes("the run handler throws")),
    ).toHaveLength(1);
    expect(subject.store.keys).toEqual(["a", "s"]);
    subject.crash();
    await subject.call("get");
    await world.settle();
    expect(starts).toBe(2);
  });

  it("does not wait for its own queue's answer, which nobody would give", async () => {
    const codes: string[] = [];
    const { world, subject } = single(
      actor({
        run: async (c) => {
          await c.queue.enqueueAndWait("in", 1).catch((error: { code: string }) => codes.push(error.code));
        },
        actions: { touch: () => {} },
      }),
    );
    await subject.call("touch");
    await world.settle();
    expect(codes).toEqual(["self_wait"]);
  });

  it("sees its wait end when the actor is destroyed", async () => {
    const ends: string[] = [];
    const { world, subject } = single(
      actor({
        run: async (c) => {
          for await (const _ of c.queue.iter()) ends.push("a message");
          ends.push(`over, aborted: ${c.aborted}`);
        },
        actions: { destroy: (c) => c.destroy() },
      }),
    );
    await subject.call("destroy");
    await world.settle();
    expect(ends).toEqual(["over, aborted: true"]);
  });
});

describe("work that nobody waits for", () => {
  it("kept awake holds the lease to its end, and its rejection is logged (B31, B32)", async () => {
    const { world, subject, log } = single(
      actor({
        actions: {
          keep: (c) => {
            const promise = world.clock.delay(60_000);
            return c.keepAwake(promise) === promise;
          },
          keepBad: (c) => void c.keepAwake(Promise.reject(new Error("kept, and rejected"))).catch(() => {}),
          waitBad: (c) => c.waitUntil(Promise.reject(new Error("waited for, and rejected"))),
        },
      }),
    );
    expect(await subject.call("keep"), "it gives the same promise back").toBe(true);
    expect(subject.holdsLease).toBe(true);
    await world.pass(59_999);
    expect(subject.holdsLease).toBe(true);
    await world.pass(1);
    expect(subject.store.keys).toEqual(["a"]);
    await subject.call("keepBad");
    await subject.call("waitBad");
    await world.settle();
    expect(subject.store.keys).toEqual(["a"]);
    const errors = log.filter(({ level }) => level === "error").map(({ entry }) => String(entry["stack"]));
    expect(errors).toEqual([
      expect.stringContaining("kept, and rejected"),
      expect.stringContaining("waited for, and rejected"),
    ]);
  });
});

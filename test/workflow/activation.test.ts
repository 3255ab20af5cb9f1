import { describe, expect, it } from "vitest";
import { Loop } from "../../src/entry/workflow.js";
import { Runs, Subject, subject, type Ctx } from "./subject.js";

const HOUR = 3_600_000;

describe("fairness (FLOW-12)", () => {
  it("lets every other event have its turn after 25 operations, and after more only while they are cheap", async () => {
    const s = await subject(async (ctx) => {
      await ctx.sleep("begin", 1);
      for (let n = 0; n < 100; n += 1) await ctx.step(`s${n}`, () => n);
      for (let n = 100; n < 120; n += 1) await ctx.step(`s${n}`, () => s.clock.moveTo(s.clock.now() + 20));
      await ctx.sleep("stay", HOUR);
    });
    const commitsInTurn: number[] = [];
    const { store } = s.actor;
    const write = store.write.bind(store);
    let inTurn = 0;
    store.write = (generation, batch) => {
      inTurn += 1;
      write(generation, batch);
    };
    s.clock.moveTo(s.clock.now() + 1);
    const alarm = s.actor.fireAlarm();
    let alarmDone = false;
    void alarm.then(() => (alarmDone = true));
    for (let turn = 0; turn < 60; turn += 1) {
      commitsInTurn.push(inTurn);
      inTurn = 0;
      await s.world.turn();
    }
    expect(alarmDone).toBe(true);
    expect(Math.max(...commitsInTurn.slice(0, 2))).toBeLessThanOrEqual(27);
    expect(Math.max(...commitsInTurn)).toBeLessThanOrEqual(52);
    expect(Math.max(...commitsInTurn.slice(-40))).toBeLessThanOrEqual(8);
    expect(s.stored()).toHaveLength(122);
  });

  it("answers an action in the middle of a long replay", async () => {
    const s = await subject(async (ctx) => {
      for (let n = 0; n < 300; n += 1) await ctx.step(`s${n}`, () => n);
      await ctx.sleep("stay", HOUR);
      await ctx.step("end", () => 1);
    });
    for (let turn = 0; turn < 10; turn += 1) await s.world.settle();
    s.actor.crash();
    s.clock.moveTo(s.clock.now() + HOUR);
    void s.actor.fireAlarm();
    await s.world.turn();
    expect(await s.call("get")).toBeDefined();
    for (let turn = 0; turn < 10; turn += 1) await s.world.settle();
    expect((await s.status()).status).toBe("completed");
  });
});

describe("parked (FLOW-10)", () => {
  it.each<[string, (ctx: Ctx) => Promise<unknown>]>([
    ["a sleep", (ctx) => ctx.sleep("x", HOUR)],
    ["a receive", (ctx) => ctx.queue.next("x", { names: ["m"] })],
    ["a receive with a timeout", (ctx) => ctx.queue.next("x", { names: ["m"], timeout: HOUR })],
    [
      "a step's backoff",
      (ctx) =>
        ctx.step({
          name: "x",
          retryBackoffBase: HOUR,
          retryBackoffMax: HOUR,
          run: () => Promise.reject(new Error("no")),
        }),
    ],
    [
      "a join of waits",
      (ctx) =>
        ctx.join("x", {
          a: { run: (b) => b.sleep("s", HOUR) },
          b: { run: (b) => b.queue.next("m", { names: ["m"] }) },
        }),
    ],
    [
      "a race of waits",
      (ctx) =>
        ctx.race<unknown>("x", [
          { name: "a", run: (b) => b.sleep("s", HOUR) },
          { name: "b", run: (b) => b.queue.next("m", { names: ["m"] }) },
        ]),
    ],
    [
      "a try block in a loop that waits",
      (ctx) => ctx.loop("x", async (round) => Loop.break(await round.try("t", (b) => b.sleep("s", HOUR)))),
    ],
  ])("is a run in %s: it holds no lease, no timer and no listener, and wakes by itself", async (_, run) => {
    const s = await subject(run);
    expect(s.actor.holdsLease).toBe(false);
    expect(s.actor.timersHeld).toBe(0);
    const { rows, commits } = s.actor.store;
    await s.world.pass(HOUR - 1);
    expect(s.actor.store.rows).toBe(rows);
    expect(s.actor.store.commits).toBe(commits);
  });

  it.each<[string, (ctx: Ctx) => Promise<unknown>]>([
    ["a step", (ctx) => ctx.step({ name: "x", timeout: 0, run: () => new Promise(() => {}) })],
    ["something that is not the engine's", () => new Promise(() => {})],
    [
      "a join with one working branch",
      (ctx) => ctx.join("x", { a: { run: (b) => b.sleep("s", HOUR) }, b: { run: () => new Promise(() => {}) } }),
    ],
  ])("is not a run in %s: the lease is held, and an alarm comes at least every 10 s", async (_, run) => {
    const s = await subject(run);
    expect(s.actor.holdsLease).toBe(true);
    for (let n = 0; n < 5; n += 1) {
      const wake = s.actor.store.alarmAt as number;
      expect(wake - s.clock.now()).toBeLessThanOrEqual(10_000);
      await s.world.pass(wake - s.clock.now());
    }
    expect(s.actor.holdsLease).toBe(true);
  });

  it("is left for something that is not the engine's with the lease held, so that a crash there is noticed", async () => {
    const runs = new Runs();
    let hang = true;
    const s = await subject(async (ctx) => {
      await ctx.sleep("nap", HOUR);
      runs.note("awake");
      if (hang) await new Promise(() => {});
      return "end";
    });
    await s.world.pass(HOUR);
    expect(s.actor.holdsLease).toBe(true);
    hang = false;
    s.actor.crash();
    await s.world.pass(60_000);
    expect(runs.list).toEqual(["awake", "awake"]);
    expect((await s.status()).output).toBe("end");
  });
});

describe("a wait for something that is not the engine's (FLOW-10)", () => {
  it("is named in the debug log after 10 s, once, with its place", async () => {
    const s = await subject(async (ctx, { clock }) =>
      ctx.join("j", {
        quick: { run: (b) => b.step({ name: "s", timeout: 0, run: () => clock.delay(60_000) }) },
        foreign: { run: (b) => b.loop("l", async () => Loop.break(await clock.delay(60_000))) },
      }),
    );
    const named = () =>
      s.logs.filter((line) => line.level === "debug" && line.msg.includes("not an operation of its context"));
    await s.world.pass(9_999);
    expect(named()).toEqual([]);
    await s.world.pass(40_000);
    expect(named()).toMatchObject([{ location: "j/foreign/l/~0" }]);
    await s.world.pass(20_000);
    expect((await s.status()).status).toBe("completed");
  });
});

describe("what is due (ALARM-6)", () => {
  it("is settled by stored times, one at a time, however late the wake", async () => {
    const order: string[] = [];
    const branch = (name: string, ms: number) => ({
      run: async (b: Ctx) => {
        await b.sleep("t", ms);
        await b.step("s", () => void order.push(name));
      },
    });
    const s = await subject(async (ctx) =>
      ctx.join("j", { c: branch("c", 300), a: branch("a", 100), b: branch("b", 200), b2: branch("b2", 200) }),
    );
    s.clock.moveTo(s.clock.now() + HOUR);
    await s.world.settle();
    expect(order).toEqual(["a", "b", "b2", "c"]);
    order.length = 0;
    const cold = await subject(async (ctx) =>
      ctx.join("j", { c: branch("c", 300), a: branch("a", 100), b: branch("b", 200), b2: branch("b2", 200) }),
    );
    cold.actor.crash();
    cold.clock.moveTo(cold.clock.now() + HOUR);
    await cold.world.settle();
    expect(order).toEqual(["a", "b", "b2", "c"]);
  });

  it("gives a message to the first wait that wants it, in the order of the code, before actions (MSG-2)", async () => {
    const s = await subject(async (ctx) =>
      ctx.join("j", {
        first: { run: (b) => b.queue.next("m", { names: ["a", "b"] }).then((m) => m.body) },
        second: { run: (b) => b.queue.next("m", { names: ["b"] }).then((m) => m.body) },
      }),
    );
    const waiting = s.call("next", { names: ["b"], timeout: 1_000 });
    await s.world.turn();
    await s.send("b", 1);
    await s.send("b", 2);
    await s.send("b", 3);
    await s.world.settle();
    expect((await s.status()).output).toEqual({ first: 1, second: 2 });
    expect(await waiting).toMatchObject({ body: 3 });
  });

  it("beyond a hundred at once is settled all the same, in order (ALARM-8)", async () => {
    const order: number[] = [];
    const s = await subject(async (ctx) =>
      ctx.join(
        "j",
        Object.fromEntries(
          Array.from({ length: 250 }, (_, n) => [
            `b${n}`,
            {
              run: async (b: Ctx) => {
                await b.sleep("t", 1_000 - n);
                order.push(n);
              },
            },
          ]),
        ),
      ),
    );
    // 25 start per turn.
    while (s.stored().length < 251) await s.world.turn();
    s.clock.moveTo(s.clock.now() + HOUR);
    for (let tries = 0; tries < 10; tries += 1) await s.world.settle();
    expect(order).toEqual(Array.from({ length: 250 }, (_, n) => 249 - n));
    expect((await s.status()).status).toBe("completed");
  });
});

describe("an event that cannot move the workflow (FLOW-13)", () => {
  it("does not replay it: actions and spurious alarms of an evicted sleeper", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) => {
      runs.note("run");
      await ctx.sleep("nap", HOUR);
    });
    const { rows } = s.actor.store;
    for (let n = 0; n < 3; n += 1) {
      s.actor.crash();
      await s.state();
      await s.status();
      await s.actor.fireAlarm();
    }
    expect(runs.count("run")).toBe(1);
    expect(s.actor.store.rows).toBe(rows);
    await s.world.pass(HOUR);
    expect((await s.status()).status).toBe("completed");
  });

  it("does not disturb what it records: actions between steps, then a replay (P58)", async () => {
    const s = await subject(
      async (ctx) => {
        for (let n = 0; n < 5; n += 1) {
          await ctx.step(`s${n}`, (step) => void step.state.log.push(n));
          await ctx.sleep(`p${n}`, 10);
        }
      },
      { actions: { touch: (c) => void c.state.log.push("x") } },
    );
    for (let n = 0; n < 5; n += 1) {
      await s.call("touch");
      s.actor.crash();
      await s.call("get");
      await s.world.pass(10);
    }
    expect((await s.status()).status).toBe("completed");
    expect((await s.state()).log.filter((each: unknown) => each !== "x")).toEqual([0, 1, 2, 3, 4]);
  });
});

describe("a lost activation (COMMIT-9)", () => {
  it.each(["crash-before", "refuse"] as const)(
    "calls no code of the workflow any more, whatever commit it was lost at (%s)",
    async (kind) => {
      for (let at = 2; at <= 5; at += 1) {
        const runs = new Runs();
        let lostAt: number | undefined;
        const s = new Subject(
          async (ctx) => {
            runs.note("run");
            await ctx.sleep("begin", 0);
            await ctx.join("j", {
              a: { run: (b) => b.step("s", runs.of("a")) },
              b: { run: (b) => b.sleep("nap", HOUR) },
            });
          },
          {
            fault: (commit) => {
              if (commit !== at) return undefined;
              lostAt = runs.list.length;
              return kind;
            },
          },
        );
        await s.call("get").catch(() => undefined);
        for (let turn = 0; turn < 10; turn += 1) await s.world.turn();
        if (lostAt !== undefined) expect(runs.list.slice(lostAt), `commit ${at}`).toEqual([]);
      }
    },
  );
});

import { describe, expect, it } from "vitest";
import { Loop } from "../../../src/entry/workflow.js";
import { Runs, finished, subject } from "../subject.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe("sleep", () => {
  it("waits with its deadline stored and the alarm set, and holds nothing in memory (D53)", async () => {
    const s = await subject(async (ctx) => ctx.sleep("nap", HOUR));
    expect(s.stored()).toMatchObject([
      { kind: "sleep", location: ["nap"], status: "pending", dueAt: s.clock.now() + HOUR },
    ]);
    expect(s.actor.store.alarmAt).toBe(s.clock.now() + HOUR);
    expect(s.actor.timersHeld).toBe(0);
    expect(s.actor.holdsLease).toBe(false);
    expect(await s.status()).toEqual({ status: "running", wakeAt: s.clock.now() + HOUR });
  });

  it("goes on after its deadline, also in an object that was evicted; then there is no alarm (D55, D136)", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) => {
      await ctx.step("before", runs.of("before"));
      await ctx.sleep("nap", HOUR);
      await ctx.step("after", runs.of("after"));
    });
    s.actor.crash();
    await s.world.pass(HOUR - 1);
    expect(runs.list).toEqual(["before"]);
    await s.world.pass(1);
    expect(runs.list).toEqual(["before", "after"]);
    expect(s.record()).toMatchObject({ status: "completed" });
    expect(s.actor.store.alarmAt).toBeNull();
  });

  it("completes at once when its time is past, and is recorded (D56)", async () => {
    const s = await finished(async (ctx, { clock }) => {
      const before = clock.now();
      await ctx.sleepUntil("past", before - 1);
      await ctx.sleepUntil("date", new Date(before - 1));
      await ctx.sleep("zero", 0);
      await ctx.sleep("negative", -5);
      return clock.now() - before;
    });
    expect((await s.status()).output).toBe(0);
    expect(s.lines()).toEqual([
      "sleep past completed",
      "sleep date completed",
      "sleep zero completed",
      "sleep negative completed",
    ]);
  });

  it("sleeps on when something wakes the actor early (D57)", async () => {
    const done: number[] = [];
    const s = await subject(async (ctx, { clock }) => {
      await ctx.sleep("nap", HOUR);
      done.push(clock.now());
    });
    const due = s.clock.now() + HOUR;
    await s.world.pass(HOUR / 2);
    await s.actor.fireAlarm();
    await s.replay();
    await s.state();
    expect(s.actor.store.alarmAt).toBe(due);
    await s.world.pass(HOUR);
    expect(done).toEqual([due]);
  });

  it("keeps its recorded deadline when the code changes the duration (D59)", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) => ctx.sleep("nap", HOUR));
    const next = s.deploy(async (ctx) => {
      await ctx.sleep("nap", DAY);
      runs.note("awake");
    });
    await next.world.pass(HOUR);
    expect(runs.list).toEqual(["awake"]);
  });

  it("does not run a finished iteration again when it is resumed in a loop (D58)", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) =>
      ctx.loop({
        name: "rounds",
        state: 0,
        run: async (round, n: number) => {
          await round.step("work", runs.of(`work ${n}`));
          await round.sleep("pause", HOUR);
          return n === 2 ? Loop.break(undefined) : Loop.continue(n + 1);
        },
      }),
    );
    for (let n = 0; n < 3; n += 1) {
      s.actor.crash();
      await s.world.pass(HOUR);
    }
    expect(runs.list).toEqual(["work 0", "work 1", "work 2"]);
    expect(s.record()).toMatchObject({ status: "completed" });
  });

  it("is as short as the user likes, and is stored all the same (D54)", async () => {
    const s = await subject(async (ctx) => ctx.sleep("blink", 1));
    expect(s.actor.store.alarmAt).toBe(s.clock.now() + 1);
    await s.world.pass(1);
    expect(s.record()).toMatchObject({ status: "completed" });
  });

  it("is as long as the user likes: 40 days, and three years behind an alarm that is clamped", async () => {
    for (const days of [40, 3 * 366]) {
      const s = await subject(async (ctx) => ctx.sleep("long", days * DAY));
      expect(s.actor.store.alarmAt).toBe(s.clock.now() + Math.min(days, 365) * DAY);
      await s.world.pass(days * DAY - 1);
      expect(s.record()).toMatchObject({ status: "running" });
      await s.world.pass(1);
      expect(s.record()).toMatchObject({ status: "completed" });
    }
  });

  it.each([
    ["NaN", Number.NaN],
    ["Infinity", Number.POSITIVE_INFINITY],
    ["a text", "soon"],
    ["nothing", undefined],
  ])("rejects %s as a duration with workflow/invalid_time, and records nothing", async (_, duration) => {
    const s = await finished(async (ctx) => {
      const codes = [];
      for (const name of ["a", "b"]) {
        const pending = name === "a" ? ctx.sleep(name, duration as never) : ctx.sleepUntil(name, duration as never);
        codes.push(await pending.catch((error: { code: string }) => error.code));
      }
      codes.push(await ctx.sleepUntil("c", new Date(Number.NaN)).catch((error: { code: string }) => error.code));
      return codes;
    });
    expect((await s.status()).output).toEqual(["invalid_time", "invalid_time", "invalid_time"]);
    expect(s.stored()).toEqual([]);
  });

  it("costs two rows with its alarm, and nothing when it ends with something recorded after it", async () => {
    const s = await subject(async (ctx) => {
      await ctx.sleep("one", HOUR);
      await ctx.sleep("two", HOUR);
    });
    await s.world.pass(HOUR - 1);
    const { rows, alarmWrites } = s.actor.store;
    await s.world.pass(1);
    // The lease is the alarm alone; the entry of `one` is not written again.
    expect(s.lines()).toEqual(["sleep one pending", "sleep two pending"]);
    expect(s.actor.store.rows - rows).toBe(1);
    expect(s.actor.store.alarmWrites - alarmWrites).toBeLessThanOrEqual(2);
  });

  it("cannot be un-finished by a clock that jumps back", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) => {
      await ctx.sleep("nap", HOUR);
      runs.note("awake");
      await ctx.queue.next("forever", { names: ["never"] });
    });
    await s.world.pass(HOUR);
    expect(s.lines()).toEqual(["sleep nap completed"]);
    s.clock.moveTo(s.clock.now() - 2 * HOUR);
    await s.replay();
    expect(runs.list).toEqual(["awake", "awake"]);
  });

  it("is not shortened by a late or spurious alarm, and a late alarm settles it", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) => {
      await ctx.sleep("nap", HOUR);
      runs.note("awake");
    });
    await s.actor.fireAlarm();
    await s.actor.fireAlarm();
    expect(runs.list).toEqual([]);
    expect(s.actor.store.alarmAt).toBe(s.clock.now() + HOUR);
    s.clock.moveTo(s.clock.now() + 3 * HOUR);
    await s.world.settle();
    expect(runs.list).toEqual(["awake"]);
  });

  it("lets catch and finally around it run once: its suspension is not an exception (D142, D143)", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) => {
      try {
        await ctx.sleep("nap", HOUR);
        runs.note("slept");
      } catch {
        runs.note("caught");
      } finally {
        runs.note("finally");
      }
      return "end";
    });
    expect(runs.list).toEqual([]);
    await s.replay();
    expect(runs.list).toEqual([]);
    await s.world.pass(HOUR);
    expect(runs.list).toEqual(["slept", "finally"]);
    expect((await s.status()).output).toBe("end");
  });
});

import { describe, expect, it } from "vitest";
import { actor, workflow, type ScheduledFireInfo } from "../../../src/actor/index.js";
import type { World } from "../../../src/testing/index.js";
import { single, type Single } from "../subject.js";

const HOUR_MS = 3_600_000;

/** An actor that schedules what it is told to, and records what ran. */
function planner(
  options: { maxSchedules?: number; fault?: (commit: number) => "crash-before" | "crash-after" | undefined } = {},
): Single {
  let world: World | undefined;
  const made = single(
    actor({
      state: { ran: [] as unknown[], count: 0 },
      actions: {
        after: (c, delayMs: number, action: string, ...args: unknown[]) => c.schedule.after(delayMs, action, ...args),
        at: (c, time: number, action: string, ...args: unknown[]) => c.schedule.at(time, action, ...args),
        get: (c, id: string) => c.schedule.get(id),
        list: (c) => c.schedule.list(),
        cancel: (c, id: string) => c.schedule.cancel(id),
        note: (c, ...args: unknown[]) => {
          c.state.ran.push(args.slice(0, -1));
        },
        info: (c, ...args: unknown[]) => {
          c.state.ran.push(args);
        },
        slow: async (c, name: string) => {
          c.state.ran.push(`${name} begins`);
          await world?.clock.delay(30_000);
          c.state.ran.push(`${name} ends`);
        },
        fail: (c) => {
          c.state.ran.push("fails");
          throw new Error("a scheduled action fails");
        },
        destroy: (c) => c.destroy(),
        ran: (c) => c.state.ran,
      },
      ...(options.maxSchedules ? { options: { maxSchedules: options.maxSchedules } } : {}),
    }),
    options.fault ? { fault: (_actor, commit) => options.fault?.(commit) } : {},
  );
  world = made.world;
  return made;
}

describe("schedule", () => {
  it("runs an action at its time, with its arguments and what fired it (B16)", async () => {
    const { world, subject } = planner();
    const at = world.clock.now() + 5_000;
    const id = await subject.call("after", 5_000, "info", "a", { n: 1 });
    expect(subject.store.alarmAt).toBe(at);
    await world.pass(4_999);
    expect(await subject.call("ran")).toEqual([]);
    await world.pass(1);
    const info: ScheduledFireInfo = { kind: "at", id: id as string, scheduledAt: at, firedAt: at };
    expect(await subject.call("ran")).toEqual([["a", { n: 1 }, info]]);
    expect(await subject.call("list")).toEqual([]);
    expect(subject.store.keys).toEqual(["a", "s"]);
    expect(subject.store.alarmAt).toBe(null);
    await world.passUntilQuiet();
    expect(await subject.call("ran")).toHaveLength(1);
  });

  it("has neither a connection nor a request in an action that nobody called (B16)", async () => {
    const seen: unknown[] = [];
    const { subject, world } = single(
      actor({
        onConnect: () => {},
        actions: {
          plan: async (c) => {
            await c.schedule.after(1_000, "look", "scheduled");
            await c.cron.every({ name: "job", interval: 5_000, action: "look", args: ["recurring"] });
          },
          look: (c, what: string) => void seen.push([what, c.conn?.id === undefined, c.request]),
        },
      }),
    );
    await subject.call("look", "called");
    await subject.call("plan");
    await world.pass(5_000);
    expect(seen).toEqual([
      ["called", false, undefined],
      ["scheduled", true, undefined],
      ["recurring", true, undefined],
    ]);
  });

  it("tells when it was due and when it fired if the object slept past the time", async () => {
    const { world, subject } = planner();
    const at = world.clock.now() + 5_000;
    await subject.call("at", at, "info");
    subject.crash();
    world.clock.moveTo(at + HOUR_MS);
    await world.settle();
    expect(await subject.call("ran")).toMatchObject([[{ scheduledAt: at, firedAt: at + HOUR_MS }]]);
  });

  it("runs a time that has passed at once, without another call (B17)", async () => {
    const { world, subject } = planner();
    await subject.call("at", 1, "note", "past");
    await world.settle();
    expect(await subject.call("ran")).toEqual([["past"]]);
  });

  it("runs a time that has passed at once also while something else works (B17)", async () => {
    const { subject, world } = single(
      actor({
        state: [] as number[],
        run: workflow(async (ctx) => {
          await ctx.step({
            name: "plans and works on",
            timeout: 0,
            run: async (step) => {
              await step.schedule.at(1, "note");
              await step.schedule.after(0, "note");
              await world.clock.delay(HOUR_MS);
            },
          });
        }),
        actions: { note: (c, info: ScheduledFireInfo) => void c.state.push(info.scheduledAt), get: (c) => c.state },
      }),
    );
    const start = world.clock.now();
    await subject.call("get");
    await world.pass(100);
    expect(await subject.call("get")).toEqual([1, start]);
  });

  it("runs what is due together in the order of its times", async () => {
    const { world, subject } = planner();
    for (const delayMs of [3_000, 1_000, 2_000]) await subject.call("after", delayMs, "note", delayMs);
    subject.crash();
    world.clock.moveTo(world.clock.now() + HOUR_MS);
    await world.settle();
    expect(await subject.call("ran")).toEqual([[1_000], [2_000], [3_000]]);
  });

  it("lists what is planned in the order of its times, and gives one by its id", async () => {
    const { world, subject } = planner();
    const now = world.clock.now();
    const late = await subject.call("after", 2_000, "note", "late");
    const soon = await subject.call("after", 1_000, "note", "soon");
    subject.crash();
    expect(await subject.call("list")).toEqual([
      { id: soon, action: "note", args: ["soon"], runAt: now + 1_000 },
      { id: late, action: "note", args: ["late"], runAt: now + 2_000 },
    ]);
    expect(await subject.call("get", late)).toEqual({ id: late, action: "note", args: ["late"], runAt: now + 2_000 });
    expect(await subject.call("get", "unknown")).toBe(undefined);
  });

  it("cancels what has not begun, once, and moves the alarm (B19)", async () => {
    const { world, subject } = planner();
    const now = world.clock.now();
    const soon = await subject.call("after", 1_000, "note", "soon");
    await subject.call("after", 2_000, "note", "late");
    expect(await subject.call("cancel", soon)).toBe(true);
    expect(subject.store.alarmAt).toBe(now + 2_000);
    expect(await subject.call("cancel", soon)).toBe(false);
    expect(await subject.call("cancel", "unknown")).toBe(false);
    subject.crash();
    await world.passUntilQuiet();
    expect(await subject.call("ran")).toEqual([["late"]]);
  });

  it("does not cancel what is running", async () => {
    const { world, subject } = planner();
    const id = await subject.call("after", 1_000, "slow", "it");
    await world.pass(1_000);
    expect(await subject.call("ran")).toEqual(["it begins"]);
    expect(await subject.call("cancel", id)).toBe(false);
    await world.pass(30_000);
    expect(await subject.call("ran")).toEqual(["it begins", "it ends"]);
    expect(await subject.call("list")).toEqual([]);
  });

  it("refuses times that are none, unknown actions, unstorable arguments and one schedule too many (B20); nothing is stored", async () => {
    const { subject } = planner({ maxSchedules: 2 });
    await subject.call("list");
    const { rows, alarmWrites } = subject.store;
    for (const time of [Number.NaN, Number.POSITIVE_INFINITY, "soon", undefined, null]) {
      await expect(subject.call("at", time, "note"), String(time)).rejects.toMatchObject({
        group: "schedule",
        code: "invalid_time",
        statusCode: 400,
      });
      await expect(subject.call("after", time, "note"), String(time)).rejects.toMatchObject({
        group: "schedule",
        code: "invalid_time",
        statusCode: 400,
      });
    }
    for (const action of ["unknown", "constructor", "__proto__"]) {
      await expect(subject.call("after", 1_000, action)).rejects.toMatchObject({
        group: "actor",
        code: "action_not_found",
        statusCode: 404,
      });
    }
    await expect(subject.call("after", 1_000, "note", "x".repeat(2_000_001))).rejects.toMatchObject({
      group: "value",
      code: "too_large",
      statusCode: 413,
    });
    expect([subject.store.rows, subject.store.alarmWrites]).toEqual([rows, alarmWrites]);
    await subject.call("after", 1_000, "note");
    await subject.call("after", 1_000, "note");
    await expect(subject.call("after", 1_000, "note")).rejects.toMatchObject({
      group: "schedule",
      code: "max_schedules_exceeded",
      statusCode: 429,
      metadata: { limit: 2 },
    });
  });

  it("logs an action that throws, keeps what it changed, and is done with it (B18)", async () => {
    const { world, subject, log } = planner();
    await subject.call("after", 1_000, "fail");
    await subject.call("after", 2_000, "note", "after it");
    await world.passUntilQuiet();
    expect(await subject.call("ran")).toEqual(["fails", ["after it"]]);
    expect(
      log.filter(
        ({ level, entry }) => level === "error" && String(entry["stack"]).includes("a scheduled action fails"),
      ),
    ).toHaveLength(1);
    expect(subject.store.keys).toEqual(["a", "s"]);
  });

  it("holds the lease while an action runs, and lets go of it after", async () => {
    const { world, subject } = planner();
    await subject.call("after", 1_000, "slow", "it");
    expect(subject.holdsLease).toBe(false);
    await world.pass(1_000);
    expect(subject.holdsLease).toBe(true);
    await world.pass(30_000);
    expect(subject.store.keys).toEqual(["a", "s"]);
    expect(subject.store.alarmAt).toBe(null);
  });

  it("runs an action again that was cut off, with no call from outside; what it committed last happens once", async () => {
    const { world, subject } = planner();
    await subject.call("after", 1_000, "slow", "it");
    await world.pass(2_000);
    subject.crash();
    await world.passUntilQuiet();
    // Commits of the lease stored the first change before the crash; the last change happened once.
    const ran = (await subject.call("ran")) as string[];
    expect(ran.filter((each) => each === "it ends")).toHaveLength(1);
    expect(ran.at(-1)).toBe("it ends");
    expect(await subject.call("list")).toEqual([]);
    expect(subject.store.keys).toEqual(["a", "s"]);
  });

  it("has an action's effects exactly once wherever the object dies around it", async () => {
    const undisturbed = planner();
    await undisturbed.subject.call("after", 1_000, "note", "once");
    await undisturbed.world.passUntilQuiet();
    const { commits } = undisturbed.subject.store;
    expect(commits).toBeGreaterThan(3);
    // The creation and the schedule are the caller's commits: from the third on nobody calls again.
    for (let at = 3; at <= commits; at += 1) {
      for (const kind of ["crash-before", "crash-after"] as const) {
        const { world, subject } = planner({ fault: (commit) => (commit === at ? kind : undefined) });
        await subject.call("after", 1_000, "note", "once");
        await world.passUntilQuiet();
        expect(subject.crashes, `${kind} ${at}`).toBe(1);
        expect(await subject.call("ran"), `${kind} ${at}`).toEqual([["once"]]);
        expect(subject.store.keys, `${kind} ${at}`).toEqual(["a", "s"]);
        expect(subject.store.alarmAt, `${kind} ${at}`).toBe(null);
      }
    }
  });

  it("runs all of three hundred that are due at one time, and not twice", async () => {
    const { world, subject } = planner();
    const at = world.clock.now() + 1_000;
    for (let i = 0; i < 300; i += 1) await subject.call("at", at, "note", i);
    subject.crash();
    await world.pass(1_000);
    await world.passUntilQuiet();
    const ran = ((await subject.call("ran")) as number[][]).map(([i]) => i);
    expect(ran).toHaveLength(300);
    expect(new Set(ran).size).toBe(300);
    expect(subject.store.keys).toEqual(["a", "s"]);
  });

  it("does not let an action that hangs stand in the way of the others", async () => {
    const { world, subject } = planner();
    await subject.call("after", 1_000, "slow", "long");
    await subject.call("after", 2_000, "note", "meanwhile");
    await world.pass(2_000);
    expect(await subject.call("ran")).toEqual(["long begins", ["meanwhile"]]);
  });

  it("is forgotten with the actor", async () => {
    const { world, subject } = planner();
    await subject.call("after", 1_000, "note", "never");
    await subject.call("destroy");
    await world.passUntilQuiet();
    expect(subject.store.keys).toEqual([]);
    expect(subject.store.alarmAt).toBe(null);
  });

  it("writes the alarm only when the earliest time moves", async () => {
    const { subject } = planner();
    await subject.call("after", 1_000, "note");
    const { alarmWrites } = subject.store;
    for (let i = 0; i < 20; i += 1) await subject.call("after", 2_000 + i, "note");
    expect(subject.store.alarmWrites - alarmWrites).toBe(0);
    await subject.call("after", 500, "note");
    expect(subject.store.alarmWrites - alarmWrites).toBe(1);
  });

  it("does not let an action that hangs stand in the way of more than a pass takes: the next one follows at once", async () => {
    const { world, subject } = planner();
    const at = world.clock.now() + 1_000;
    await subject.call("at", at, "slow", "long");
    for (let i = 0; i < 350; i += 1) await subject.call("at", at, "note", i);
    world.clock.moveTo(at);
    await world.settle();
    await world.settle();
    expect(world.clock.now()).toBe(at);
    expect(await subject.call("ran")).toHaveLength(351);
    await world.passUntilQuiet();
    expect(await subject.call("ran")).toHaveLength(352);
    expect(subject.store.keys).toEqual(["a", "s"]);
    expect(subject.store.alarmAt).toBe(null);
  });

  it("got from a step is dead once the step has ended", async () => {
    let kept: { after(delayMs: number, action: string): Promise<string> } | undefined;
    let inTime: string | undefined;
    const { subject } = single(
      actor({
        state: 1,
        run: workflow((ctx) =>
          ctx.step("keeps it", async (step) => {
            kept = step.schedule;
            inTime = await step.schedule.after(HOUR_MS, "touch");
          }),
        ),
        actions: { touch: () => {}, list: (c) => c.schedule.list() },
      }),
    );
    await subject.call("touch");
    expect(await subject.call("list")).toMatchObject([{ id: inTime }]);
    await expect(kept?.after(HOUR_MS, "touch")).rejects.toMatchObject({ group: "workflow", code: "step_ended" });
    expect(await subject.call("list")).toHaveLength(1);
  });
});

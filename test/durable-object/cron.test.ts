import { describe, expect, it } from "vitest";
import {
  actor,
  setup,
  type ActorCron,
  type CronHistoryEntry,
  type CronJobInfo,
  type ScheduledFireInfo,
} from "../../src/entry/index.js";
import { serve } from "../support/worker.js";
import { clock, objectOf, TestObject } from "./test-object.js";

// Recurring jobs on the real runtime: its alarms, its time zones, its keys.

const MINUTE_MS = 60_000;
const kills = new Set<string>();
/** Objects whose `kill` still does. */
const deadly = new Set<string>();

function register(cron: ActorCron): Promise<void> {
  return cron.set({ name: "daily", expression: "30 7 * * *", timezone: "Europe/Berlin", action: "tick" });
}

serve(
  setup({
    use: {
      jobs: actor({
        state: { ticks: [] as { at: number; firedAt: number }[] },
        actions: {
          set: (c, expression: string, timezone: string) =>
            c.cron.set({ name: "j", expression, timezone, action: "tick" }),
          every: (c, name: string, action = "tick") => c.cron.every({ name, interval: MINUTE_MS, action }),
          get: (c, name: string) => c.cron.get(name),
          history: (c, name: string) => c.cron.history(name),
          delete: (c, name: string) => c.cron.delete(name),
          tick: (c, info: ScheduledFireInfo) => {
            c.state.ticks.push({ at: info.scheduledAt, firedAt: info.firedAt });
          },
          killer: async (c) => {
            c.state.ticks.push({ at: 0, firedAt: 0 });
            await scheduler.wait(0);
            if (kills.delete(c.key.join("/"))) objectOf(c.name, c.key).die();
          },
          plan: async (c, delayMs: number, actions: ("pause" | "kill")[]) => {
            for (const [index, action] of actions.entries()) await c.schedule.after(delayMs, action, index);
          },
          planned: async (c) => (await c.schedule.list()).map(({ action }) => action),
          pause: async (c, index: number) => {
            for (let turns = 0; turns < 3; turns += 1) await scheduler.wait(0);
            c.state.ticks.push({ at: index, firedAt: 0 });
          },
          kill: async (c) => {
            await scheduler.wait(0);
            if (deadly.has(c.key.join("/"))) objectOf(c.name, c.key).die();
          },
          ticks: (c) => c.state.ticks,
        },
      }),
      registers: actor({
        onCreate: (c) => register(c.cron),
        onMigrate: (c) => register(c.cron),
        onWake: (c) => register(c.cron),
        actions: { tick: () => {}, get: (c) => c.cron.get("daily") },
      }),
    },
  }),
);

/** The next alarm, at its time. */
async function nextAlarm(object: TestObject): Promise<number> {
  const at = (await object.alarmAt()) ?? 0;
  clock.moveTo(at);
  await object.alarm();
  await object.settle();
  return at;
}

describe("recurring jobs on the platform", () => {
  it("wake an evicted object at each of their times", async () => {
    const object = new TestObject("jobs", "evicted");
    await object.call("every", "j");
    const { nextRunAt } = (await object.call("get", "j")) as CronJobInfo;
    expect(await object.alarmAt()).toBe(nextRunAt);
    for (let n = 0; n < 3; n += 1) {
      await object.evict();
      await nextAlarm(object);
    }
    const ticks = (await object.call("ticks")) as { at: number; firedAt: number }[];
    expect(ticks.map(({ at }) => at)).toEqual([0, 1, 2].map((n) => nextRunAt + n * MINUTE_MS));
    expect(await object.call("history", "j")).toMatchObject(Array(3).fill({ result: "ok" }));
    expect(await object.keys()).toEqual(["a", "d/cron/j", "h/0/j", "s"]);
  });

  it("know time zones and their changes", async () => {
    const object = new TestObject("jobs", "zones");
    for (const [timezone, hour] of [
      ["Asia/Kolkata", "03:30"],
      ["America/Phoenix", "16:00"],
      ["UTC", "09:00"],
    ] as const) {
      await object.call("set", "0 9 * * *", timezone);
      const { nextRunAt } = (await object.call("get", "j")) as CronJobInfo;
      expect(new Date(nextRunAt).toISOString().slice(11, 16), timezone).toBe(hour);
    }
    // 02:30 on the last Sunday of March does not exist in Berlin.
    await expect(object.call("set", "30 2 * 3 SUN#L", "Europe/Berlin")).rejects.toMatchObject({
      code: "invalid_cron_expression",
    });
    await expect(object.call("set", "0 9 * * *", "Europe/Atlantis")).rejects.toMatchObject({
      code: "invalid_timezone",
    });
  });

  it("of any name have their rows, and their end", async () => {
    const object = new TestObject("jobs", "names");
    const names = ["a/1", "é\0😀", "\n", "%", "__proto__", "ü".repeat(64)];
    for (const name of names) await object.call("every", name);
    // By now all of them are due, not only the first one registered.
    clock.moveTo(clock.now() + MINUTE_MS);
    await nextAlarm(object);
    await object.evict();
    for (const name of names) {
      expect(await object.call("history", name), JSON.stringify(name)).toMatchObject([{ result: "ok" }]);
      expect(await object.call("delete", name), JSON.stringify(name)).toBe(true);
    }
    expect(await object.keys()).toEqual(["a", "s"]);
    expect(await object.alarmAt()).toBe(null);
  });

  it("are not repeated when the object dies in the middle of one: that one is an error, the next one comes", async () => {
    const killed = new TestObject("jobs", "killed");
    await killed.call("every", "j", "killer");
    kills.add("killed");
    await nextAlarm(killed);
    const object = new TestObject("jobs", "killed");
    // The lease's alarm, with nobody else asking.
    await nextAlarm(object);
    const [cut] = (await object.call("history", "j")) as CronHistoryEntry[];
    expect(cut).toMatchObject({ result: "error", error: { group: "schedule", code: "interrupted" } });
    await nextAlarm(object);
    expect((await object.call("history", "j")) as CronHistoryEntry[]).toMatchObject([
      { result: "ok" },
      { result: "error" },
    ]);
    expect(await object.holdsLease()).toBe(false);
  });

  it("and scheduled actions that are due with one that kills the object are not dropped with it", async () => {
    const object = new TestObject("jobs", "deadly");
    deadly.add("deadly");
    await object.call("plan", MINUTE_MS, ["pause", "pause", "kill", "pause"]);
    clock.moveTo(clock.now() + MINUTE_MS);
    expect(await object.runAlarms()).toBeGreaterThan(10);
    expect(await object.call("planned")).toEqual([]);
    const ticks = (await object.call("ticks")) as { at: number }[];
    expect(ticks.map(({ at }) => at).sort()).toEqual([0, 1, 3]);
  });

  it("that every start registers again write nothing", async () => {
    const object = new TestObject("registers", "often");
    const before = await object.call("get");
    for (let n = 0; n < 3; n += 1) {
      await object.evict();
      expect(await object.call("get")).toEqual(before);
      expect(await object.writes()).toEqual({ rows: 0, alarms: 0 });
    }
    expect(await object.keys()).toEqual(["a", "d/cron/daily"]);
  });
});

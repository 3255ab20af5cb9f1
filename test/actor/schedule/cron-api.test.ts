import { describe, expect, it } from "vitest";
import { actor, workflow, type ActorCron, type CronJobInfo } from "../../../src/actor/index.js";
import { encodeValue } from "../../../src/protocol/index.js";
import { CronSubject, HOUR_MS, MINUTE_MS, SECOND_MS } from "./cron-subject.js";
import { single } from "../subject.js";

const minutely = { name: "j", expression: "* * * * *", action: "tick" };
const everyMinute = { name: "j", interval: MINUTE_MS, action: "tick" };

describe("cron.set and cron.every", () => {
  it("show the job, and arm the alarm for its first time", async () => {
    const subject = new CronSubject();
    const { now } = subject;
    await subject.call("set", {
      name: "daily",
      expression: "0 9 * * *",
      timezone: "America/Los_Angeles",
      action: "note",
      args: ["a", { n: 1n }],
      maxHistory: 7,
    });
    // 2023-11-14T22:13:20Z is 14:13 in Los Angeles.
    const nextRunAt = Date.parse("2023-11-15T17:00Z");
    expect(await subject.job("daily")).toEqual({
      name: "daily",
      kind: "cron",
      expression: "0 9 * * *",
      timezone: "America/Los_Angeles",
      action: "note",
      args: ["a", { n: 1n }],
      nextRunAt,
      maxHistory: 7,
    });
    expect(subject.single.subject.store.alarmAt).toBe(nextRunAt);
    await subject.call("every", { name: "often", interval: 5 * SECOND_MS, action: "nested.deep" });
    expect(await subject.job("often")).toEqual({
      name: "often",
      kind: "every",
      interval: 5_000,
      action: "nested.deep",
      args: [],
      nextRunAt: now + 5_000,
      maxHistory: 100,
    });
    expect(subject.single.subject.store.alarmAt).toBe(now + 5_000);
    expect(((await subject.call("list")) as { name: string }[]).map(({ name }) => name)).toEqual(["often", "daily"]);
    expect(subject.single.subject.timersHeld).toBe(0);
    subject.single.subject.crash();
    expect(((await subject.call("list")) as { name: string }[]).map(({ name }) => name)).toEqual(["often", "daily"]);
  });

  it("read expressions in UTC unless told otherwise, and know nothing of jobs that are not there", async () => {
    const subject = new CronSubject();
    await subject.call("set", { ...minutely, expression: "0 0 * * *" });
    expect(await subject.job("j")).toMatchObject({ timezone: "UTC", nextRunAt: Date.parse("2023-11-15T00:00Z") });
    expect(await subject.job("unknown")).toBe(undefined);
    expect(await subject.history("unknown")).toEqual([]);
    expect(await subject.call("delete", "unknown")).toBe(false);
  });

  it("cost one row and the alarm", async () => {
    const subject = new CronSubject();
    await subject.call("list");
    const before = subject.written;
    await subject.call("set", minutely);
    expect(subject.written).toEqual({ rows: before.rows + 1, alarms: before.alarms + 1 });
  });

  it("keep the next time under the same cadence, and take the new action, arguments and bound (B21)", async () => {
    const subject = new CronSubject();
    for (const [method, options] of [
      ["set", { ...minutely, expression: "*/7 * * * *" }],
      ["every", { ...everyMinute, name: "e", interval: 7 * MINUTE_MS }],
    ] as const) {
      await subject.call(method, options);
      const { nextRunAt } = (await subject.job(options.name)) ?? {};
      await subject.world.pass(30 * SECOND_MS);
      await subject.call(method, { ...options, action: "note", args: ["x"], maxHistory: 3 });
      expect(await subject.job(options.name)).toMatchObject({ nextRunAt, action: "note", args: ["x"], maxHistory: 3 });
    }
  });

  it("count anew from now under another cadence, keeping the history", async () => {
    const subject = new CronSubject();
    await subject.call("every", everyMinute);
    await subject.world.pass(90 * SECOND_MS);
    await subject.call("every", { ...everyMinute, interval: 2 * MINUTE_MS });
    expect(await subject.job("j")).toMatchObject({ interval: 2 * MINUTE_MS, nextRunAt: subject.now + 2 * MINUTE_MS });
    await subject.call("set", { ...minutely, expression: "0 0 * * *" });
    expect(await subject.job("j")).toMatchObject({ kind: "cron", nextRunAt: Date.parse("2023-11-15T00:00Z") });
    await subject.call("set", { ...minutely, expression: "0 0 * * *", timezone: "Europe/Berlin" });
    expect(await subject.job("j")).toMatchObject({ nextRunAt: Date.parse("2023-11-14T23:00Z") });
    await subject.call("every", everyMinute);
    expect(await subject.job("j")).toMatchObject({ kind: "every", nextRunAt: subject.now + MINUTE_MS });
    expect(await subject.history("j")).toHaveLength(1);
    expect(subject.keys.filter((key) => key.startsWith("d/"))).toHaveLength(1);
  });

  it("write nothing when nothing changes, at any start, from any hook", async () => {
    const calls: string[] = [];
    const register = async (cron: ActorCron, hook: string): Promise<void> => {
      calls.push(hook);
      await cron.set({
        name: "daily",
        expression: "0 9 * * *",
        timezone: "Europe/Berlin",
        action: "note",
        args: [{ hook: "any" }],
      });
      await cron.every({ name: "often", interval: HOUR_MS, action: "tick" });
    };
    const subject = new CronSubject({ register });
    await subject.call("list");
    const { commits } = subject.single.subject.store;
    // One commit: the creation.
    expect([commits, calls]).toEqual([1, ["onMigrate", "onCreate", "onWake"]]);
    const before = { ...subject.written, listed: await subject.call("list") };
    for (let start = 0; start < 5; start += 1) {
      subject.single.subject.crash();
      await subject.world.pass(MINUTE_MS);
      expect(await subject.call("list")).toEqual(before.listed);
    }
    expect({ ...subject.written, listed: before.listed }).toEqual(before);
    expect(subject.single.subject.store.commits).toBe(commits);
    expect(calls.filter((hook) => hook === "onMigrate")).toHaveLength(6);
  });

  it("keep jobs of any name apart", async () => {
    const subject = new CronSubject();
    const names = [
      "a",
      "a/1",
      "1/a",
      "",
      "é\n",
      "é\0😀",
      "__proto__",
      "cron/a",
      "x".repeat(128),
      "ü".repeat(64),
    ].filter((name) => name !== "");
    for (const name of names) await subject.call("every", { name, interval: MINUTE_MS, action: "note", args: [name] });
    await subject.world.pass(MINUTE_MS);
    expect(((await subject.ran()) as unknown[][]).map(([name]) => name).sort()).toEqual([...names].sort());
    subject.single.subject.crash();
    for (const name of names) expect(await subject.history(name), name).toMatchObject([{ result: "ok" }]);
    for (const name of names.slice(1)) expect(await subject.call("delete", name), name).toBe(true);
    expect(subject.keys.sort()).toEqual(["d/cron/a", "h/0/a"]);
  });

  it("refuse what is wrong, with the code that says it, and store nothing", async () => {
    const subject = new CronSubject();
    await subject.call("list");
    const before = subject.written;
    const bad: [method: string, options: unknown, code: string, status?: number][] = [
      ...[
        undefined,
        null,
        {},
        { ...minutely, name: "" },
        { ...minutely, name: 5 },
        { ...minutely, name: "x".repeat(129) },
        { ...minutely, name: "ü".repeat(65) },
        { ...minutely, name: "\ud800" },
      ].flatMap((options): typeof bad => [
        ["set", options, "schedule/invalid_name"],
        ["every", options && { ...options, expression: undefined }, "schedule/invalid_name"],
      ]),
      ...["set", "every"].flatMap((method): typeof bad => [
        [method, "x", "schedule/invalid_option"],
        [method, { ...(method === "set" ? minutely : everyMinute), overlap: "queue" }, "schedule/invalid_option"],
      ]),
      ["history", { last: 5 }, "schedule/invalid_option"],
      // Six fields (B23).
      ["set", { ...minutely, expression: "0 * * * * *" }, "schedule/invalid_cron_expression"],
      ["set", { ...minutely, expression: undefined }, "schedule/invalid_cron_expression"],
      ["set", { ...minutely, expression: "0 0 31 2 *" }, "schedule/invalid_cron_expression"],
      ["set", { ...minutely, timezone: "Mars/Olympus" }, "schedule/invalid_timezone"],
      ["set", { ...minutely, timezone: null }, "schedule/invalid_timezone"],
      // An interval of a second (B22).
      ...[
        1_000,
        4_999,
        5_000.5,
        0,
        -5_000,
        Number.NaN,
        Number.POSITIVE_INFINITY,
        2 ** 53,
        3_155_760_000_001,
        "5000",
        undefined,
        5_000n,
      ].map((interval): (typeof bad)[number] => ["every", { ...everyMinute, interval }, "schedule/invalid_interval"]),
      ...[-1, 1_001, 1.5, Number.NaN, "5", null].map((maxHistory): (typeof bad)[number] => [
        "set",
        { ...minutely, maxHistory },
        "schedule/invalid_max_history",
      ]),
      ...[{}, "x", null, 5].map((args): (typeof bad)[number] => [
        "set",
        { ...minutely, args },
        "schedule/invalid_args",
      ]),
      ...["unknown", "constructor", "__proto__", "", undefined, "nested"].map((action): (typeof bad)[number] => [
        "set",
        { ...minutely, action },
        "actor/action_not_found",
        404,
      ]),
      ["set", { ...minutely, args: ["x".repeat(2_000_001)] }, "value/too_large", 413],
      ...[0, -1, 1_001, 1.5, Number.NaN, "20", null].map((limit): (typeof bad)[number] => [
        "history",
        { limit },
        "schedule/invalid_limit",
      ]),
    ];
    for (const [method, options, expected, status = 400] of bad) {
      const call = method === "history" ? subject.call("history", "j", options) : subject.call(method, options);
      const [group, code] = expected.split("/");
      await expect(
        call,
        `${method} ${JSON.stringify(options, (_, value) => (typeof value === "bigint" ? `${value}n` : value))?.slice(0, 100)}`,
      ).rejects.toMatchObject({ group, code, statusCode: status });
    }
    expect(subject.written).toEqual(before);
    expect(await subject.call("list")).toEqual([]);
  });

  it("change nothing of a job that exists when they refuse", async () => {
    const subject = new CronSubject();
    await subject.call("set", minutely);
    const before = await subject.job("j");
    await expect(subject.call("set", { ...minutely, expression: "x" })).rejects.toMatchObject({
      code: "invalid_cron_expression",
    });
    await expect(subject.call("every", { ...everyMinute, interval: 1 })).rejects.toMatchObject({
      code: "invalid_interval",
    });
    expect(await subject.job("j")).toEqual(before);
  });

  it("count with one-shots against maxSchedules, a job that exists not twice (B20)", async () => {
    const subject = new CronSubject({ maxSchedules: 3 });
    await subject.call("after", HOUR_MS, "ran");
    await subject.call("set", minutely);
    await subject.call("every", { ...everyMinute, name: "e" });
    await subject.call("every", { ...everyMinute, name: "e", interval: HOUR_MS });
    const expected = { group: "schedule", code: "max_schedules_exceeded", statusCode: 429, metadata: { limit: 3 } };
    await expect(subject.call("set", { ...minutely, name: "one more" })).rejects.toMatchObject(expected);
    await expect(subject.call("after", HOUR_MS, "ran")).rejects.toMatchObject(expected);
    await subject.call("delete", "e");
    await subject.call("set", { ...minutely, name: "one more" });
  });

  it("are dead in a step's context once the step has ended", async () => {
    let kept: ActorCron | undefined;
    const { subject } = single(
      actor({
        state: 1,
        run: workflow((ctx) =>
          ctx.step("keeps it", async (step) => {
            kept = step.cron;
            await step.cron.every({ name: "in time", interval: HOUR_MS, action: "touch" });
          }),
        ),
        actions: { touch: () => {}, list: (c) => c.cron.list() },
      }),
    );
    await subject.call("touch");
    expect(await subject.call("list")).toMatchObject([{ name: "in time" }]);
    await expect(kept?.every({ name: "too late", interval: HOUR_MS, action: "touch" })).rejects.toMatchObject({
      group: "workflow",
      code: "step_ended",
    });
    await expect(kept?.delete("in time")).rejects.toMatchObject({ group: "workflow", code: "step_ended" });
    expect(await subject.call("list")).toHaveLength(1);
  });

  it("belong to the commit of a creation, and go with one that fails", async () => {
    const fails = { now: true };
    const subject = new CronSubject({
      register: async (cron, hook) => {
        if (hook !== "onCreate") return;
        await cron.every({ name: "j", interval: MINUTE_MS, action: "tick" });
        if (fails.now) throw new Error("not yet");
      },
    });
    await expect(subject.call("list")).rejects.toBeDefined();
    expect(subject.single.subject.store.keys).toEqual([]);
    expect(subject.single.subject.store.alarmAt).toBe(null);
    fails.now = false;
    expect(await subject.call("list")).toHaveLength(1);
  });
});

describe("cron.delete", () => {
  it("ends a job with its history, and lets go of the alarm", async () => {
    const subject = new CronSubject();
    await subject.call("every", everyMinute);
    await subject.world.pass(50 * MINUTE_MS);
    expect(subject.keys.filter((key) => key.startsWith("h/")).length).toBeGreaterThan(2);
    expect(await subject.call("delete", "j")).toBe(true);
    expect(await subject.call("delete", "j")).toBe(false);
    expect(subject.keys).toEqual([]);
    expect(subject.single.subject.store.alarmAt).toBe(null);
    await subject.world.passUntilQuiet();
    expect(await subject.ran()).toHaveLength(50);
    expect(await subject.history("j")).toEqual([]);
  });

  it("lets what runs run on, without a trace of it in a job of the same name", async () => {
    const subject = new CronSubject();
    await subject.call("every", { ...everyMinute, action: "slow", args: [10 * SECOND_MS] });
    await subject.world.pass(MINUTE_MS);
    expect(await subject.history("j")).toMatchObject([{ result: "running" }]);
    expect(await subject.call("delete", "j")).toBe(true);
    await subject.call("every", { ...everyMinute, interval: HOUR_MS });
    expect(await subject.history("j")).toEqual([]);
    await subject.world.pass(20 * SECOND_MS);
    expect(await subject.ran()).toHaveLength(2);
    expect(await subject.history("j")).toEqual([]);
    expect(subject.keys).toEqual(["d/cron/j"]);
  });

  it("is done for all jobs when the actor is destroyed", async () => {
    const subject = new CronSubject();
    await subject.call("every", everyMinute);
    await subject.world.pass(MINUTE_MS);
    await subject.call("destroy");
    await subject.world.passUntilQuiet();
    expect(subject.single.subject.store.keys).toEqual([]);
    expect(subject.single.subject.store.alarmAt).toBe(null);
  });
});

describe("a job whose row cannot be used", () => {
  /** The stored actor under other code, as after a deploy. */
  function deployed(
    subject: CronSubject,
    change: (rows: Map<string, Uint8Array<ArrayBuffer>>) => void,
  ): { then: CronSubject; logged: () => string } {
    const { store } = subject.single.subject;
    const rows = store.dump();
    change(rows);
    const then = new CronSubject({ clock: subject.world.clock });
    then.single.subject.store.restore(rows, store.alarmAt);
    subject.single.subject.crash();
    store.setAlarm(null);
    return { then, logged: () => JSON.stringify(then.single.log) };
  }

  it("is looked at again later, while the others run on", async () => {
    const subject = new CronSubject();
    await subject.call("every", { ...everyMinute, name: "good" });
    await subject.call("every", { ...everyMinute, name: "bad" });
    const { then, logged } = deployed(subject, (rows) => {
      const at = subject.now + MINUTE_MS;
      rows.set(
        "d/cron/bad",
        encodeValue({
          at,
          cadence: { kind: "cron", expression: "no", timezone: "UTC" },
          action: "tick",
          args: encodeValue([]),
          maxHistory: 5,
          occurrences: 0,
        }),
      );
      rows.set("d/cron/worse", encodeValue({ at, action: "tick" }));
      rows.set(
        "d/cron/garbled",
        encodeValue({
          at,
          cadence: { kind: "every", interval: MINUTE_MS, anchor: at },
          action: "tick",
          args: new Uint8Array([255]),
          maxHistory: 5,
          occurrences: 0,
        }),
      );
      rows.set("d/at/garbled", encodeValue({ at: at + HOUR_MS, action: "tick", args: "none" }));
    });
    // An unreadable job does not hide the others.
    expect(((await then.call("list")) as CronJobInfo[]).map(({ name }) => name).sort()).toEqual(["bad", "good"]);
    expect(await then.call("planned")).toEqual([]);
    await expect(then.call("get", "garbled")).rejects.toMatchObject({
      group: "schedule",
      code: "invalid_schedule_row",
    });
    expect(await then.call("delete", "garbled")).toBe(true);
    await then.world.pass(10 * MINUTE_MS);
    expect(await then.ran()).toHaveLength(10);
    expect(logged()).toContain("schedule/invalid_schedule_row");
    await expect(then.call("get", "worse")).rejects.toMatchObject({ group: "schedule", code: "invalid_schedule_row" });
    await then.call("set", { ...minutely, name: "worse" });
    await then.call("every", { ...everyMinute, name: "bad" });
    expect(await then.call("list")).toHaveLength(3);
    await then.world.pass(2 * MINUTE_MS);
    expect(await then.ran()).toHaveLength(16);
  });

  it("is deleted with its history when its action is gone, at its time (B27)", async () => {
    const old = actor({
      state: 1,
      actions: { tick: () => {}, every: (c) => c.cron.every(everyMinute), list: (c) => c.cron.list() },
    });
    const next = actor({ state: 1, actions: { list: (c) => c.cron.list() } });
    const first = single(old);
    await first.subject.call("every");
    await first.world.pass(2 * MINUTE_MS);
    const second = single(next, { clock: first.world.clock });
    second.subject.store.restore(first.subject.store.dump(), first.subject.store.alarmAt);
    expect(second.subject.store.keys).toEqual(["a", "d/cron/j", "h/0/j", "s"]);
    expect(await second.subject.call("list")).toHaveLength(1);
    await second.world.passUntilQuiet();
    expect(second.subject.store.keys).toEqual(["a", "s"]);
    expect(second.subject.store.alarmAt).toBe(null);
    expect(JSON.stringify(second.log)).toContain("actor/action_not_found");
  });
});

import { describe, expect, it } from "vitest";
import { actor, event, workflow, type ScheduledFireInfo } from "../../../src/actor/index.js";
import { UserError } from "../../../src/protocol/index.js";
import type { CommitFault } from "../../../src/testing/index.js";
import { CronSubject, HOUR_MS, MINUTE_MS, SECOND_MS, type CronSubjectOptions } from "./cron-subject.js";
import { single } from "../subject.js";

const everyMinute = { name: "j", interval: MINUTE_MS, action: "tick" };

/** A subject with one job, which is due every minute by default. */
async function ticking(job: object = {}, options: CronSubjectOptions = {}): Promise<CronSubject> {
  const subject = new CronSubject(options);
  await subject.call("every", { ...everyMinute, ...job });
  return subject;
}

const results = async (subject: CronSubject): Promise<string[]> =>
  (await subject.history("j", 1_000)).map(({ result }) => result);

describe("a recurring job", () => {
  it("runs its action at each time, with its arguments and what fired it", async () => {
    const subject = new CronSubject();
    const start = subject.now;
    await subject.call("every", { ...everyMinute, action: "note", args: ["a", 1n] });
    await subject.world.pass(2 * MINUTE_MS);
    const fired = (at: number): object => ({ kind: "every", id: "cron:j", name: "j", scheduledAt: at, firedAt: at });
    expect(await subject.ran()).toEqual([
      ["a", 1n, fired(start + MINUTE_MS)],
      ["a", 1n, fired(start + 2 * MINUTE_MS)],
    ]);
    expect(await subject.job("j")).toMatchObject({
      lastRunAt: start + 2 * MINUTE_MS,
      nextRunAt: start + 3 * MINUTE_MS,
    });
    await subject.call("set", { name: "j", expression: "0 23 * * *", action: "note" });
    await subject.world.pass(HOUR_MS);
    const at = Date.parse("2023-11-14T23:00Z");
    expect((await subject.ran()).at(-1)).toEqual([
      { kind: "cron", id: "cron:j", name: "j", scheduledAt: at, firedAt: at },
    ]);
  });

  it("wakes an object that is gone, again and again, and leaves nothing in memory in between", async () => {
    const subject = await ticking();
    for (let minute = 1; minute <= 5; minute += 1) {
      subject.single.subject.crash();
      await subject.world.pass(MINUTE_MS);
      expect(subject.single.subject.timersHeld).toBe(0);
      expect(subject.keys).toEqual(["d/cron/j", "h/0/j"]);
    }
    expect(await subject.ran()).toHaveLength(5);
  });

  it("runs once for all times that it missed, and goes on on its grid (B24)", async () => {
    const subject = await ticking();
    const start = subject.now;
    await subject.world.pass(MINUTE_MS);
    subject.single.subject.crash();
    subject.world.clock.moveTo(start + 4.5 * MINUTE_MS);
    await subject.world.settle();
    expect(await subject.ran()).toEqual([start + MINUTE_MS, start + 2 * MINUTE_MS]);
    expect(await subject.history("j")).toMatchObject([
      { scheduledAt: start + 2 * MINUTE_MS, firedAt: start + 4.5 * MINUTE_MS, result: "ok" },
      {},
    ]);
    expect(await subject.job("j")).toMatchObject({ nextRunAt: start + 5 * MINUTE_MS });
  });

  it("runs once for all times of an expression that it missed, however many", async () => {
    const subject = new CronSubject();
    await subject.call("set", { name: "j", expression: "*/5 * * * *", action: "tick" });
    subject.single.subject.crash();
    subject.world.clock.moveTo(Date.parse("2025-01-01T00:02:00Z"));
    await subject.world.settle();
    expect(await subject.ran()).toEqual([Date.parse("2023-11-14T22:15Z")]);
    expect(await subject.job("j")).toMatchObject({ nextRunAt: Date.parse("2025-01-01T00:05Z") });
  });

  it("does not drift when every alarm is late", async () => {
    const subject = await ticking();
    const start = subject.now;
    subject.single.subject.alarmDelayMs = 7 * SECOND_MS;
    await subject.world.pass(10.5 * MINUTE_MS);
    expect(await subject.ran()).toEqual(Array.from({ length: 10 }, (_, index) => start + (index + 1) * MINUTE_MS));
    expect((await subject.history("j")).map(({ scheduledAt, firedAt }) => firedAt - scheduledAt)).toEqual(
      Array(10).fill(7 * SECOND_MS),
    );
  });

  it("does nothing at an alarm that comes for nothing, and twice nothing more than once", async () => {
    const subject = await ticking();
    await subject.single.subject.fireAlarm();
    expect(await subject.ran()).toEqual([]);
    subject.world.clock.moveTo(subject.now + MINUTE_MS);
    await subject.single.subject.fireAlarm();
    await subject.single.subject.fireAlarm();
    await subject.world.settle();
    expect(await subject.ran()).toHaveLength(1);
    expect(subject.single.subject.store.alarmAt).toBe((await subject.job("j"))?.nextRunAt);
  });

  it("goes on after the platform has lost its alarm, once anybody touches the actor", async () => {
    const subject = await ticking();
    subject.single.subject.store.setAlarm(null);
    await subject.world.pass(5 * MINUTE_MS);
    subject.single.subject.crash();
    await subject.call("list");
    await subject.world.settle();
    expect(await subject.ran()).toHaveLength(1);
    await subject.world.pass(MINUTE_MS);
    expect(await subject.ran()).toHaveLength(2);
  });

  it("runs no time twice when the clock goes back", async () => {
    const subject = await ticking();
    const start = subject.now;
    await subject.world.pass(MINUTE_MS);
    subject.world.clock.moveTo(subject.now - 45 * SECOND_MS);
    subject.single.subject.crash();
    await subject.world.pass(2 * MINUTE_MS);
    expect(await subject.ran()).toEqual([start + MINUTE_MS, start + 2 * MINUTE_MS]);
  });

  it("is skipped while the time before it still runs (B25)", async () => {
    const subject = await ticking({ interval: 5 * SECOND_MS, action: "slow", args: [12 * SECOND_MS] });
    const start = subject.now;
    await subject.world.pass(11 * SECOND_MS);
    expect(await subject.history("j")).toEqual([
      { action: "slow", scheduledAt: start + 10_000, firedAt: start + 10_001, result: "skipped" },
      { action: "slow", scheduledAt: start + 5_000, firedAt: start + 5_000, result: "running" },
    ]);
    await subject.world.pass(10 * SECOND_MS);
    expect(await subject.history("j")).toEqual([
      { action: "slow", scheduledAt: start + 20_000, firedAt: start + 20_000, result: "running" },
      { action: "slow", scheduledAt: start + 15_000, firedAt: start + 15_001, result: "skipped" },
      { action: "slow", scheduledAt: start + 10_000, firedAt: start + 10_001, result: "skipped" },
      { action: "slow", scheduledAt: start + 5_000, firedAt: start + 5_000, finishedAt: start + 17_000, result: "ok" },
    ]);
    expect(await subject.ran()).toEqual([
      `begins ${start + 5_000}`,
      `ends ${start + 5_000}`,
      `begins ${start + 20_000}`,
    ]);
  });

  it("notes what its action threw, keeps what it changed, and comes again", async () => {
    const subject = await ticking({ action: "fail" });
    const start = subject.now;
    await subject.world.pass(2 * MINUTE_MS);
    expect(await subject.call("count")).toBe(2);
    expect(await subject.history("j", 1)).toEqual([
      {
        action: "fail",
        scheduledAt: start + 2 * MINUTE_MS,
        firedAt: start + 2 * MINUTE_MS,
        finishedAt: start + 2 * MINUTE_MS,
        result: "error",
        error: { group: "rivetkit", code: "internal_error", message: "a recurring action fails" },
      },
    ]);
    expect(
      subject.single.log.filter(
        ({ level, entry }) => level === "error" && String(entry["stack"]).includes("a recurring action fails"),
      ),
    ).toHaveLength(2);
    expect(subject.keys).toEqual(["d/cron/j", "h/0/j"]);
  });

  it("notes errors with group, code and metadata, of a size that a row holds", async () => {
    const thrown: unknown[] = [
      new UserError("no credit", { code: "no_credit", metadata: { owed: 5 } }),
      new UserError("x".repeat(100_000), { code: "c".repeat(1_000), metadata: "y".repeat(100_000) }),
      new UserError("odd", { metadata: { f: () => {} } }),
      Object.create(null),
      undefined,
    ];
    const { subject, world } = single(
      actor({
        actions: {
          every: (c) => c.cron.every({ name: "j", interval: MINUTE_MS, action: "throws" }),
          throws: () => {
            throw thrown.shift();
          },
          history: (c) => c.cron.history("j"),
        },
      }),
    );
    await subject.call("every");
    await world.pass(5 * MINUTE_MS);
    const history = (await subject.call("history")) as { error: { message: string } }[];
    expect(history.map(({ error }) => error).reverse()).toEqual([
      { group: "user", code: "no_credit", message: "no credit", metadata: { owed: 5 } },
      { group: "user", code: "c".repeat(100), message: "x".repeat(500) },
      { group: "user", code: "user_error", message: "odd" },
      { group: "rivetkit", code: "internal_error", message: expect.any(String) as string },
      { group: "rivetkit", code: "internal_error", message: "undefined" },
    ]);
  });

  it("ends as an error after the action timeout", async () => {
    const subject = await ticking({ action: "slow", args: [HOUR_MS] });
    await subject.world.pass(3 * MINUTE_MS);
    expect(await subject.history("j")).toMatchObject([
      { result: "running" },
      { result: "error", error: { group: "actor", code: "action_timed_out" } },
      expect.objectContaining({ result: expect.stringMatching(/error|skipped/) as string }) as object,
    ]);
  });

  it("leaves no state behind that cannot be stored: that is its error", async () => {
    const { subject, world } = single(
      actor({
        state: { list: [] as string[], n: 0 },
        actions: {
          every: (c) => c.cron.every({ name: "j", interval: MINUTE_MS, action: "grow" }),
          grow: (c) => {
            c.state.list.push("x".repeat(1_500_000));
            c.state.n += 1;
          },
          n: (c) => c.state.n,
          history: (c) => c.cron.history("j"),
        },
      }),
    );
    await subject.call("every");
    await world.pass(3 * MINUTE_MS);
    expect(await subject.call("n")).toBe(1);
    expect(await subject.call("history")).toMatchObject([
      { error: { group: "value", code: "too_large" } },
      { error: { code: "too_large" } },
      { result: "ok" },
    ]);
  });

  it("runs while a workflow works, and while one sleeps", async () => {
    const { subject, world } = single(
      actor({
        state: { ticks: 0 },
        run: workflow(async (ctx) => {
          await ctx.step({ name: "long", timeout: 0, run: () => world.clock.delay(3.5 * MINUTE_MS) });
          await ctx.sleep("rest", 3 * MINUTE_MS);
        }),
        onCreate: (c) => c.cron.every({ name: "j", interval: MINUTE_MS, action: "tick" }),
        actions: {
          tick: (c) => void (c.state.ticks += 1),
          ticks: (c) => c.state.ticks,
          status: (c) => c.workflow.status().status,
        },
      }),
    );
    await subject.call("ticks");
    // While an actor works, its deadlines come 1 ms late.
    await world.pass(3 * MINUTE_MS + 1);
    expect([await subject.call("ticks"), await subject.call("status")]).toEqual([3, "running"]);
    await world.pass(3 * MINUTE_MS);
    expect([await subject.call("ticks"), await subject.call("status")]).toEqual([6, "running"]);
    await world.pass(MINUTE_MS);
    expect([await subject.call("ticks"), await subject.call("status")]).toEqual([7, "completed"]);
  });

  it("comes while connections are idle and the object is gone, and its events reach them", async () => {
    const { subject, world } = single(
      actor({
        events: { tick: event<number>() },
        onCreate: (c) => c.cron.every({ name: "j", interval: MINUTE_MS, action: "tick" }),
        actions: { tick: (c, info: ScheduledFireInfo) => c.broadcast("tick", info.scheduledAt) },
      }),
    );
    const socket = await subject.connect();
    await socket.subscribe("tick");
    const start = world.clock.now();
    for (let minute = 0; minute < 3; minute += 1) {
      await subject.evict();
      expect(subject.timersHeld).toBe(0);
      await world.pass(MINUTE_MS);
    }
    expect(socket.events).toEqual([1, 2, 3].map((minute) => ["tick", start + minute * MINUTE_MS]));
    expect(socket.isOpen).toBe(true);
  });

  it("takes its turn with three hundred others that are due at one time, and none runs twice", async () => {
    const subject = new CronSubject();
    for (let n = 0; n < 300; n += 1)
      await subject.call("every", { name: `j${n}`, interval: HOUR_MS, action: "note", args: [n] });
    await subject.call("every", { name: "hangs", interval: HOUR_MS, action: "slow", args: [30 * SECOND_MS] });
    subject.single.subject.crash();
    subject.world.clock.moveTo(subject.now + HOUR_MS);
    const at = subject.now;
    for (let n = 0; n < 3; n += 1) await subject.world.settle();
    expect(subject.now).toBe(at);
    const ran = (await subject.ran()).filter(Array.isArray).map(([n]: unknown[]) => n);
    expect([ran.length, new Set(ran).size]).toEqual([300, 300]);
    await subject.world.pass(MINUTE_MS);
    expect(await subject.ran()).toHaveLength(302);
    expect(subject.single.subject.holdsLease).toBe(false);
  });

  it("ends its actor if it asks for that", async () => {
    const subject = await ticking({ action: "destroy" });
    await subject.world.pass(MINUTE_MS);
    await subject.world.passUntilQuiet();
    expect(subject.single.subject.store.keys).toEqual([]);
    expect(subject.single.subject.store.alarmAt).toBe(null);
  });

  it.each(["delete", "destroy"])(
    "that is due does not begin if a %s comes before its mark is on disk",
    async (action) => {
      let runs = 0;
      const { subject, world } = single(
        actor({
          actions: {
            every: (c) => c.cron.every({ name: "j", interval: MINUTE_MS, action: "run" }),
            run: () => void (runs += 1),
            delete: (c) => c.cron.delete("j"),
            destroy: (c) => c.destroy(),
          },
        }),
      );
      await subject.call("every");
      world.clock.moveTo(world.clock.now() + MINUTE_MS);
      await Promise.all([subject.fireAlarm(), subject.call(action)]);
      await world.passUntilQuiet();
      expect(runs).toBe(0);
      expect(subject.store.keys).toEqual(action === "destroy" ? [] : ["a"]);
    },
  );

  it("costs two rows a run, and two alarms", async () => {
    const subject = await ticking({ action: "ran" });
    await subject.world.pass(MINUTE_MS);
    const before = subject.written;
    await subject.world.pass(10 * MINUTE_MS);
    // The job's row when it begins, its history when it ends; an alarm for the lease and one for the next time.
    expect({ rows: subject.written.rows - before.rows, alarms: subject.written.alarms - before.alarms }).toEqual({
      rows: 20,
      alarms: 20,
    });
  });
});

describe("a crash", () => {
  it("while a job runs makes an error of the run, which is not repeated; the next one comes", async () => {
    const subject = await ticking({ action: "slow", args: [30 * SECOND_MS] });
    const start = subject.now;
    await subject.world.pass(MINUTE_MS + 5 * SECOND_MS);
    subject.single.subject.crash();
    await subject.world.pass(30 * SECOND_MS);
    expect(await subject.ran()).toEqual([`begins ${start + MINUTE_MS}`]);
    expect(await subject.history("j")).toMatchObject([
      { scheduledAt: start + MINUTE_MS, result: "error", error: { group: "schedule", code: "interrupted" } },
    ]);
    expect(subject.keys).toEqual(["d/cron/j", "h/0/j"]);
    await subject.world.pass(HOUR_MS / 2);
    const history = await subject.history("j", 1_000);
    expect(history.map(({ result }) => result)).toEqual([...Array<string>(30).fill("ok"), "error"]);
  });

  it("at any commit around a run leaves each time run at most once, said so in the history, and the next one to come", async () => {
    const program = async (fault?: CommitFault): Promise<CronSubject> => {
      const subject = new CronSubject(fault ? { fault: (_, commit) => fault(commit) } : {});
      for (let tries = 0; tries < 5; tries += 1) {
        await subject.call("every", everyMinute).catch(() => undefined);
        await subject
          .call("every", { ...everyMinute, name: "s", action: "slow", args: [SECOND_MS] })
          .catch(() => undefined);
      }
      await subject.world.pass(3.5 * MINUTE_MS);
      return subject;
    };
    const { commits } = (await program()).single.subject.store;
    expect(commits).toBeGreaterThan(15);
    let interrupted = 0;
    for (let at = 1; at <= commits; at += 1) {
      for (const kind of ["crash-before", "crash-after"] as const) {
        const subject = await program((commit) => (commit === at ? kind : undefined));
        expect(subject.single.subject.crashes, `${kind} ${at}`).toBe(1);
        const ran = await subject.ran();
        expect(new Set(ran).size, `${kind} ${at}`).toBe(ran.length);
        for (const name of ["j", "s"]) {
          const history = await subject.history(name, 1_000);
          const ok = history.filter(({ result }) => result === "ok");
          const lost = history.filter(({ error }) => error?.code === "interrupted");
          expect(ok.length + lost.length, `${kind} ${at}: ${JSON.stringify(history)}`).toBe(history.length);
          expect(history.length, `${kind} ${at}`).toBeGreaterThanOrEqual(2);
          expect(lost.length, `${kind} ${at}`).toBeLessThanOrEqual(1);
          interrupted += lost.length;
          // Every run in the history did run: its change of state is there.
          for (const { scheduledAt } of ok)
            expect(ran, `${kind} ${at}`).toContain(name === "j" ? scheduledAt : `ends ${scheduledAt}`);
          for (const { scheduledAt } of lost)
            expect(ran, `${kind} ${at}`).not.toContain(name === "j" ? scheduledAt : `ends ${scheduledAt}`);
          expect((await subject.job(name))?.nextRunAt, `${kind} ${at}`).toBeGreaterThan(subject.now);
        }
        expect(subject.keys, `${kind} ${at}`).toEqual(["d/cron/j", "d/cron/s", "h/0/j", "h/0/s"]);
        expect(subject.single.subject.store.alarmAt, `${kind} ${at}`).toBe((await subject.job("j"))?.nextRunAt);
      }
    }
    expect(interrupted).toBeGreaterThan(5);
  }, 120_000);

  it("that the action itself makes in its first turn cuts off that run only, each time", async () => {
    let kills = 0;
    const { subject, world } = single(
      actor({
        state: 0,
        actions: {
          every: (c) => c.cron.every({ name: "j", interval: MINUTE_MS, action: "kill" }),
          kill: () => {
            kills += 1;
            subject.store.crashWithTurn();
          },
          history: (c) => c.cron.history("j"),
        },
      }),
    );
    await subject.call("every");
    await world.pass(4.5 * MINUTE_MS);
    expect(kills).toBe(4);
    expect(await subject.call("history")).toMatchObject(
      Array(4).fill({ result: "error", error: { code: "interrupted" } }),
    );
  });

  it("loop that a job makes does not end a workflow: after five in a row the job is skipped until the object rests", async () => {
    let kills = 0;
    const { subject, world } = single(
      actor({
        state: 0,
        run: workflow(async (ctx) => {
          await ctx.queue.next("go");
          // Outside any step: a cut-off here counts against the workflow.
          await world.clock.delay(20 * MINUTE_MS);
          return "done";
        }),
        actions: {
          every: (c) => c.cron.every({ name: "j", interval: 5 * SECOND_MS, action: "kill" }),
          go: (c) => c.queue.send("go", null),
          kill: () => {
            kills += 1;
            subject.store.crashWithTurn();
          },
          status: (c) => c.workflow.status().status,
          history: (c) => c.cron.history("j", { limit: 1_000 }),
        },
      }),
    );
    await subject.call("every");
    await subject.call("go");
    await world.pass(10 * MINUTE_MS);
    expect(kills).toBe(5);
    expect(((await subject.call("history")) as { result: string }[]).some(({ result }) => result === "skipped")).toBe(
      true,
    );
    await world.pass(HOUR_MS);
    expect(await subject.call("status")).toBe("completed");
  });

  it("loop that a workflow makes does end it, though a job always runs beside it", async () => {
    const { subject, world } = single(
      actor({
        state: 0,
        run: workflow(async (ctx) => {
          await ctx.queue.next("go");
          await world.clock.delay(SECOND_MS);
          subject.store.crashWithTurn();
          await world.clock.delay(SECOND_MS);
        }),
        actions: {
          every: (c) => c.cron.every({ name: "j", interval: 5 * SECOND_MS, action: "linger" }),
          go: (c) => c.queue.send("go", null),
          linger: () => world.clock.delay(4 * SECOND_MS),
          status: (c) => c.workflow.status(),
        },
      }),
    );
    await subject.call("every");
    await subject.call("go");
    await world.pass(2 * HOUR_MS);
    expect(await subject.call("status")).toMatchObject({ status: "failed" });
  });

  it("in a start that fails loses no time: it is begun once the hooks have run", async () => {
    const fails = { now: false };
    const subject = await ticking(
      {},
      { register: (_, hook) => (hook === "onWake" && fails.now ? Promise.reject(new Error("not yet")) : undefined) },
    );
    fails.now = true;
    subject.single.subject.crash();
    await subject.world.pass(MINUTE_MS + SECOND_MS);
    expect(subject.single.log.filter(({ level }) => level === "error").length).toBeGreaterThan(0);
    fails.now = false;
    await subject.world.pass(30 * SECOND_MS);
    expect(await results(subject)).toEqual(["ok"]);
  });
});

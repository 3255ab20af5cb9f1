import { describe, expect, it } from "vitest";
import { Runs, subject, type Ctx, type Subject } from "./subject.js";

const HOUR = 3_600_000;

/** A promise that the test fulfils. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

async function evicted(s: Subject, isEvicted: boolean): Promise<void> {
  if (!isEvicted) return;
  s.actor.crash();
  await s.call("get");
  await s.world.settle();
}

describe("pause", () => {
  it("lets the running step end and records it; the next one begins after resume, in memory or not", async () => {
    for (const isEvicted of [false, true]) {
      const runs = new Runs();
      const first = gate();
      const s = await subject(async (ctx) => {
        await ctx.step("a", async () => {
          runs.note("a");
          await first.opened;
          return 1;
        });
        return ctx.step("b", runs.of("b", 2));
      });
      await s.call("pause");
      expect(s.actor.holdsLease).toBe(true);
      first.open();
      await s.world.settle();
      expect(s.lines()).toEqual(["step a completed"]);
      expect(s.actor.holdsLease).toBe(false);
      expect(s.actor.store.alarmAt).toBeNull();
      await evicted(s, isEvicted);
      await s.world.passUntilQuiet();
      expect(runs.list).toEqual(["a"]);
      expect((await s.status()).status).toBe("paused");
      await s.call("resume");
      await s.world.settle();
      expect(await s.status()).toEqual({ status: "completed", output: 2 });
      expect(runs.list).toEqual(["a", "b"]);
    }
  });

  it("starts no branch, no loop iteration and no retry, and fires the signals of code that waits outside the engine", async () => {
    const runs = new Runs();
    const reasons: unknown[] = [];
    const s = await subject(async (ctx, self) => {
      ctx.abortSignal.addEventListener("abort", () => reasons.push(String(ctx.abortSignal.reason)));
      await ctx.join("j", {
        steps: {
          run: async (b: Ctx) => {
            await b.step("s1", () => self.clock.delay(100));
            await b.step("s2", runs.of("s2"));
          },
        },
        rounds: {
          run: (b: Ctx) =>
            b.loop("l", async (round: Ctx) => {
              await round.step("r", () => {
                runs.note("r");
                return self.clock.delay(100);
              });
            }),
        },
        retried: {
          run: (b: Ctx) =>
            b.step({
              name: "t",
              retryBackoffBase: 50,
              run: async () => {
                runs.note("t");
                await self.clock.delay(100);
                throw new Error("down");
              },
            }),
        },
        outside: { run: () => new Promise(() => {}) },
      } as never);
    });
    await s.call("pause");
    expect(reasons).toEqual([]);
    await s.world.pass(HOUR);
    expect(runs.list).toEqual(["r", "t"]);
    expect(reasons).toEqual(["EvictedError: The workflow was paused"]);
    expect(s.lines().filter((line) => line.startsWith("step"))).toEqual([
      "step j/steps/s1 completed",
      "step j/rounds/l/0/r completed",
      "step j/retried/t pending",
    ]);
    await s.call("resume");
    await s.world.settle();
    expect(runs.list.slice(2).sort()).toEqual(["r", "s2", "t"]);
  });

  it("counts a running step's timeout", async () => {
    const s = await subject(async (ctx) =>
      ctx.step({ name: "slow", timeout: 1_000, run: () => new Promise<void>(() => {}) }),
    );
    await s.call("pause");
    await s.world.pass(1_000);
    expect(s.lines()).toEqual(["step slow failed"]);
    expect(s.actor.holdsLease).toBe(false);
    expect((await s.status()).status).toBe("paused");
    await s.call("resume");
    await s.world.settle();
    expect((await s.status()).status).toBe("failed");
  });

  it("needs no alarm for its deadlines, and keeps them: after resume one that passed is due at once", async () => {
    for (const isEvicted of [false, true]) {
      const ended: number[] = [];
      const s = await subject(async (ctx, self) => {
        await ctx.sleep("nap", HOUR);
        ended.push(self.clock.now());
      });
      await s.call("pause");
      await evicted(s, isEvicted);
      expect(s.actor.store.alarmAt).toBeNull();
      expect((await s.history())[0]).toMatchObject({ status: "pending", dueAt: s.clock.now() + HOUR });
      await s.world.pass(3 * HOUR);
      expect(ended).toEqual([]);
      const now = s.clock.now();
      await s.call("resume");
      await s.world.settle();
      expect(ended).toEqual([now]);
    }
  });

  it("a message that came in time beats the deadline that passed meanwhile; one that came late does not", async () => {
    for (const [waitMs, won] of [
      [HOUR / 2, "paid"],
      [2 * HOUR, "timed out"],
    ] as const) {
      const s = await subject(
        async (ctx) =>
          ctx.queue.next("pay", { names: ["payments"], timeout: HOUR }).then(
            ({ body }) => body,
            () => "timed out",
          ),
        { queues: { payments: {} } as never },
      );
      await s.call("pause");
      await s.world.pass(waitMs);
      await s.send("payments", "paid");
      await s.world.pass(3 * HOUR);
      expect(s.queued).toBe(1);
      await s.call("resume");
      await s.world.settle();
      expect(await s.status()).toEqual({ status: "completed", output: won });
    }
  });

  it("actions, schedules and messages go on", async () => {
    const s = await subject(async (ctx) => ctx.queue.next("m", { names: ["q"] }), {
      queues: { q: {} } as never,
      actions: {
        later: (c) => c.schedule.after(HOUR, "tick"),
        tick: (c) => c.state.log.push("tick"),
      },
    });
    await s.call("later");
    await s.call("pause");
    await s.send("q", "x");
    const { alarmAt } = s.actor.store;
    expect(alarmAt).toBe(s.clock.now() + HOUR);
    await s.world.passUntilQuiet();
    expect(await s.state()).toEqual({ log: ["tick"] });
    expect(s.queued).toBe(1);
    expect(s.actor.store.alarmAt).toBeNull();
    await s.call("resume");
    await s.world.settle();
    expect((await s.status()).output).toMatchObject({ name: "q", body: "x" });
  });

  it("says since when and why, and what still runs", async () => {
    const step = gate();
    const s = await subject(async (ctx) => {
      await ctx.step("charge", () => step.opened);
      await ctx.sleep("nap", HOUR);
    });
    const since = s.clock.now();
    const at = new Date(since).toISOString();
    await s.call("pause", "the bank is down");
    expect(await s.position()).toMatchObject({
      status: "paused",
      paused: { since, reason: "the bank is down" },
      parkedOn: { sentence: `paused since ${at}: the bank is down, still running charge since ${at}` },
    });
    expect(await s.status()).not.toHaveProperty("wakeAt");
    step.open();
    await s.world.settle();
    expect((await s.position()).parkedOn).toEqual({
      sentence: `paused since ${at}: the bank is down`,
      activities: [],
      count: 0,
    });
  });

  it("changes nothing a second time, or when the run has ended or never began", async () => {
    const s = await subject(async (ctx) => ctx.sleep("nap", HOUR));
    await s.call("pause", "first");
    const rows = s.actor.store.dump();
    await s.world.pass(1_000);
    await s.call("pause", "second");
    expect(s.actor.store.dump()).toEqual(rows);
    const done = await subject(async () => 1);
    await done.call("pause");
    await done.call("resume");
    expect(await done.status()).toEqual({ status: "completed", output: 1 });
  });

  it("refuses a reason that is not a short string, and a run that is being undone", async () => {
    const undo = gate();
    const s = await subject(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.step({ name: "a", run: () => 1, rollback: () => undo.opened });
      throw new Error("no");
    });
    const rows = s.actor.store.dump();
    await expect(s.call("pause", 5)).rejects.toThrow();
    await expect(s.call("pause", "x".repeat(1_001))).rejects.toThrow();
    await expect(s.call("pause")).rejects.toMatchObject({ group: "workflow", code: "rolling_back" });
    expect(s.actor.store.dump()).toEqual(rows);
    undo.open();
    await s.world.settle();
    expect((await s.status()).status).toBe("failed");
  });

  it("cancel ends a paused run, also while its last step runs", async () => {
    for (const isRunning of [false, true]) {
      const runs = new Runs();
      const s = await subject(async (ctx) => {
        if (isRunning) await ctx.step("s", () => new Promise(() => {}));
        await ctx.sleep("nap", HOUR);
        runs.note("awake");
      });
      await s.call("pause");
      await s.call("cancel");
      await s.world.passUntilQuiet();
      expect(await s.status()).toEqual({ status: "cancelled" });
      expect(s.actor.holdsLease).toBe(false);
      expect(runs.list).toEqual([]);
    }
  });

  it("a start below it runs nothing; the cut-off step runs again after resume", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx, self) => {
      await ctx.step("a", async () => {
        runs.note("a");
        await self.clock.delay(100);
      });
    });
    await s.call("pause");
    s.actor.crash();
    await s.world.pass(HOUR);
    expect(runs.count("a")).toBe(1);
    expect(s.actor.holdsLease).toBe(false);
    expect(s.actor.store.alarmAt).toBeNull();
    await s.call("resume");
    await s.world.passUntilQuiet();
    expect(runs.count("a")).toBe(2);
    expect((await s.status()).status).toBe("completed");
  });

  it("a diverged run that is paused is not looked at again until resume", async () => {
    const s = await subject(async (ctx) => {
      await ctx.step("a", () => 1);
      await ctx.sleep("nap", HOUR);
    });
    const wrong = s.deploy(async (ctx) => ctx.step("b", () => 1));
    await wrong.send("m");
    await wrong.world.settle();
    await wrong.call("pause");
    expect((await wrong.status()).status).toBe("paused");
    expect(wrong.actor.store.alarmAt).toBeNull();
    await wrong.call("resume");
    await wrong.world.settle();
    expect((await wrong.status()).status).toBe("diverged");
  });
});

describe("resume", () => {
  it("on a run in backoff tries now, in memory or not, and a crash does not bring the old time back", async () => {
    for (const kind of ["in memory", "evicted", "crashed after"]) {
      let broken = true;
      const s = await subject(async (ctx) =>
        ctx.step({
          name: "s",
          retryBackoffBase: HOUR,
          retryBackoffMax: HOUR,
          run: () => (broken ? Promise.reject(new Error("down")) : "up"),
        }),
      );
      broken = false;
      if (kind === "evicted") s.actor.crash();
      await s.call("resume");
      if (kind === "crashed after") s.actor.crash();
      await s.world.pass(60_000);
      expect((await s.status()).output, kind).toBe("up");
    }
  });

  it("tries each of several now, the others' deadlines stay, and nothing is left of the old time", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) => {
      const branch = (name: string, backoffMs: number): object => ({
        run: (b: Ctx) =>
          b.step({
            name: "s",
            retryBackoffBase: backoffMs,
            retryBackoffMax: backoffMs,
            run: (step) => {
              runs.note(name);
              if (step.attempt === 1) throw new Error("down");
            },
          }),
      });
      await ctx.join("j", {
        nap: { run: (b: Ctx) => b.sleep("nap", HOUR / 4) },
        early: branch("early", HOUR / 2),
        late: branch("late", HOUR),
      } as never);
    });
    await s.call("resume");
    await s.world.settle();
    expect(runs.list.slice(2).sort()).toEqual(["early", "late"]);
    expect(s.actor.store.alarmAt).toBe(s.clock.now() + HOUR / 4);
    await s.world.passUntilQuiet();
    expect((await s.status()).status).toBe("completed");
    expect(runs.list).toHaveLength(4);
  });

  it("before the last step of the paused run has ended goes on after it; nothing runs twice", async () => {
    for (const isCrashed of [false, true]) {
      const runs = new Runs();
      const s = await subject(async (ctx, self) => {
        await ctx.step("a", async () => {
          runs.note("a");
          await self.clock.delay(100);
        });
        await ctx.step("b", runs.of("b"));
      });
      await s.call("pause");
      await s.call("resume");
      expect(runs.list).toEqual(["a"]);
      if (isCrashed) s.actor.crash();
      await s.world.passUntilQuiet();
      expect(runs.list).toEqual(isCrashed ? ["a", "a", "b"] : ["a", "b"]);
      expect((await s.status()).status).toBe("completed");
      expect(s.actor.holdsLease).toBe(false);
    }
  });

  it("changes nothing on a run that neither is paused nor waits for an attempt", async () => {
    const s = await subject(async (ctx) => ctx.sleep("nap", HOUR));
    const rows = s.actor.store.dump();
    await s.call("resume");
    expect(s.actor.store.dump()).toEqual(rows);
  });

  it("in a hook of the start takes effect with that start", async () => {
    let wakes = 0;
    const s = await subject(async (ctx) => ctx.step("s", () => "done"), {
      config: {
        onWake: (c: { workflow: { pause(): void; resume(): void } }) =>
          wakes++ === 0 ? c.workflow.pause() : c.workflow.resume(),
      },
    });
    await s.world.passUntilQuiet();
    expect((await s.status()).status).toBe("paused");
    expect(s.actor.holdsLease).toBe(false);
    await s.restart();
    expect(await s.status()).toEqual({ status: "completed", output: "done" });
  });
});

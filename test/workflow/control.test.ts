import { describe, expect, it } from "vitest";
import { CancelledError, CriticalError, Loop } from "../../src/entry/workflow.js";
import { Runs, Subject, finished, subject, type Ctx } from "./subject.js";

const HOUR = 3_600_000;

async function idOf(s: Subject, ...location: (string | number)[]): Promise<string> {
  const found = (await s.history()).find((entry) => JSON.stringify(entry.location) === JSON.stringify(location));
  if (!found) throw new Error(`no entry at ${location.join("/")}`);
  return found.id;
}

describe("status", () => {
  it("tells what the workflow does and when it wakes", async () => {
    const s = await subject(async (ctx) => ctx.sleep("nap", HOUR));
    expect(await s.status()).toEqual({ status: "running", wakeAt: s.clock.now() + HOUR });
    await s.world.pass(HOUR);
    expect(await s.status()).toEqual({ status: "completed", output: undefined });
  });

  it("is none for an actor without a workflow", async () => {
    const s = new Subject(undefined, {});
    expect(await s.status()).toEqual({ status: "none" });
    await expect(s.call("cancel")).resolves.toBeUndefined();
    await expect(s.call("recover")).resolves.toBeUndefined();
  });

  it("gives output and failure after a restart as before", async () => {
    const done = await finished(async () => new Map([["a", 1n]]));
    await done.restart();
    expect(await done.status()).toEqual({ status: "completed", output: new Map([["a", 1n]]) });
    const failed = await finished(async () => {
      throw Object.assign(new RangeError("no"), { metadata: { n: 1 } });
    });
    await failed.restart();
    expect(await failed.status()).toEqual({
      status: "failed",
      error: { name: "RangeError", message: "no", metadata: { n: 1 } },
    });
  });
});

describe("history", () => {
  it("lists all entries in the order in which they were met, with values and errors (D138)", async () => {
    const s = await subject(async (ctx) => {
      await ctx.step("a", () => new Date(1));
      await ctx.tryStep({ name: "b", maxRetries: 0, run: () => Promise.reject(new TypeError("no")) });
      await ctx.join("j", { x: { run: (b) => b.step("s", () => 1) } });
      await ctx.sleep("nap", HOUR);
    });
    const now = s.clock.now();
    const times = { startedAt: now, endedAt: now };
    expect((await s.history()).map((entry) => ({ ...entry, id: typeof entry.id }))).toEqual([
      {
        id: "string",
        interrupted: 0,
        location: ["a"],
        kind: "step",
        ...times,
        attemptStartedAt: now,
        status: "completed",
        attempts: 1,
        value: new Date(1),
      },
      {
        id: "string",
        interrupted: 0,
        location: ["b"],
        kind: "step",
        ...times,
        attemptStartedAt: now,
        status: "failed",
        attempts: 1,
        error: { kind: "exhausted", name: "TypeError", message: "no" },
        failedAttempts: [{ attempt: 1, startedAt: now, ms: 0, name: "TypeError", message: "no" }],
      },
      {
        id: "string",
        interrupted: 0,
        location: ["j"],
        kind: "join",
        ...times,
        branches: [{ name: "x", status: "completed" }],
        branchCount: 1,
        status: "completed",
        attempts: 0,
        value: { x: 1 },
      },
      {
        id: "string",
        interrupted: 0,
        location: ["j", "x", "s"],
        kind: "step",
        ...times,
        attemptStartedAt: now,
        status: "completed",
        attempts: 1,
        value: 1,
      },
      {
        id: "string",
        interrupted: 0,
        location: ["nap"],
        kind: "sleep",
        startedAt: now,
        status: "pending",
        attempts: 0,
        dueAt: s.clock.now() + HOUR,
      },
    ]);
  });
});

describe("cancel", () => {
  it("ends a sleeping workflow, in memory or not, and clears the alarm; it never runs again (D124)", async () => {
    for (const evicted of [false, true]) {
      const runs = new Runs();
      const s = await subject(async (ctx) => {
        runs.note("run");
        await ctx.sleep("nap", HOUR);
        runs.note("awake");
      });
      if (evicted) s.actor.crash();
      await s.call("cancel");
      expect(await s.status()).toEqual({ status: "cancelled" });
      expect(s.actor.store.alarmAt).toBeNull();
      const before = runs.list.length;
      await s.restart();
      await s.send("m");
      await s.world.passUntilQuiet();
      expect(runs.list).toHaveLength(before);
      expect(runs.list).not.toContain("awake");
    }
  });

  it("rejects what is open with CancelledError, fires the signals, and undoes nothing", async () => {
    const seen: unknown[] = [];
    let signal: AbortSignal | undefined;
    let stepSignal: AbortSignal | undefined;
    let late: (() => void) | undefined;
    const s = await subject(async (ctx) => {
      signal = ctx.abortSignal;
      try {
        await ctx.step("long", (step) => {
          stepSignal = step.abortSignal;
          return new Promise<void>((resolve) => (late = resolve));
        });
      } catch (error) {
        seen.push(error);
        await ctx.step("more", () => seen.push("must not run")).catch((again: unknown) => seen.push(again));
      } finally {
        seen.push("finally");
      }
    });
    await s.call("cancel");
    await s.world.settle();
    expect(seen).toEqual([expect.any(CancelledError), expect.any(CancelledError), "finally"]);
    expect(signal?.aborted).toBe(true);
    expect(stepSignal?.reason).toBeInstanceOf(CancelledError);
    late?.();
    await s.world.passUntilQuiet();
    expect(s.stored()).toEqual([]);
    expect(s.actor.store.keys).toEqual(["a", "s"]);
  });

  it("is heard by the open operation however many came before it", async () => {
    for (let before = 0; before < 26; before += 1) {
      const runs = new Runs();
      const s = await subject(async (ctx) => {
        for (let n = 0; n < before; n += 1) await ctx.step(`s${n}`, () => n);
        await ctx.sleep("nap", HOUR).catch((error: Error) => runs.note(error.name));
      });
      await s.call("cancel");
      await s.world.settle();
      expect(runs.list, `after ${before} operations`).toEqual(["CancelledError"]);
    }
  });

  it("does nothing when the workflow has ended", async () => {
    const s = await finished(async () => 1);
    const rows = s.actor.store.dump();
    await s.call("cancel");
    expect(s.actor.store.dump()).toEqual(rows);
  });

  it("ends one that had diverged", async () => {
    const s = await subject(async (ctx) => {
      await ctx.step("a", () => 1);
      await ctx.sleep("nap", HOUR);
    });
    const wrong = s.deploy(async (ctx) => ctx.step("b", () => 1));
    await wrong.send("m");
    await wrong.world.settle();
    expect((await wrong.status()).status).toBe("diverged");
    await wrong.call("cancel");
    await wrong.world.passUntilQuiet();
    expect(await wrong.status()).toEqual({ status: "cancelled" });
    expect(wrong.actor.store.alarmAt).toBeNull();
  });
});

describe("recover", () => {
  it("runs an exhausted step again with new attempts; what was completed stays (D37)", async () => {
    const runs = new Runs();
    const attempts: number[] = [];
    let broken = true;
    const s = await finished(async (ctx) => {
      await ctx.step("a", runs.of("a"));
      return ctx.step({
        name: "b",
        maxRetries: 1,
        run: (step) => {
          attempts.push(step.attempt);
          if (broken) throw new Error("down");
          return "up";
        },
      });
    });
    expect((await s.status()).status).toBe("failed");
    broken = false;
    await s.call("recover");
    await s.world.settle();
    expect((await s.status()).output).toBe("up");
    expect(attempts).toEqual([1, 2, 1]);
    expect(runs.count("a")).toBe(1);
  });

  it("changes nothing unless the workflow has failed (D38)", async () => {
    const s = await subject(async (ctx) => ctx.sleep("nap", HOUR));
    const rows = s.actor.store.dump();
    await s.call("recover");
    expect(s.actor.store.dump()).toEqual(rows);
    expect((await s.status()).status).toBe("running");
  });

  it("survives a crash right after it", async () => {
    let broken = true;
    const s = await finished(async (ctx) =>
      ctx.step({ name: "b", maxRetries: 0, run: () => (broken ? Promise.reject(new Error("down")) : "up") }),
    );
    broken = false;
    await s.call("recover");
    s.actor.crash();
    await s.world.passUntilQuiet();
    expect((await s.status()).output).toBe("up");
  });

  it("leaves failures alone that the code has handled", async () => {
    const runs = new Runs();
    let broken = true;
    const s = await finished(async (ctx) => {
      const first = await ctx.tryStep({
        name: "handled",
        maxRetries: 0,
        run: () => Promise.reject(runs.note("handled") ?? new Error("no")),
      });
      await ctx.queue.next("poll", { timeout: 0 }).catch(() => undefined);
      await ctx.step("after", runs.of("after"));
      await ctx.step({ name: "bad", maxRetries: 0, run: () => (broken ? Promise.reject(new Error("down")) : "up") });
      return first.ok;
    });
    broken = false;
    await s.call("recover");
    await s.world.settle();
    expect(await s.status()).toEqual({ status: "completed", output: false });
    expect(runs.list).toEqual(["handled", "after"]);
  });

  it("opens a failed join again: the branches that failed start over, completed steps answer", async () => {
    const runs = new Runs();
    let broken = true;
    const s = await finished(async (ctx) =>
      ctx.join("j", {
        good: { run: (b) => b.step("s", runs.of("good", 1)) },
        bad: {
          run: async (b) => {
            await b.step("first", runs.of("first"));
            return b.step("s", () => (broken ? Promise.reject(new CriticalError("down")) : 2));
          },
        },
        plain: {
          run: async (b) => {
            await b.step("s", runs.of("plain"));
            if (broken) throw new Error("plain");
            return 3;
          },
        },
      }),
    );
    expect((await s.status()).error?.name).toBe("JoinError");
    broken = false;
    await s.call("recover");
    await s.world.settle();
    expect((await s.status()).output).toEqual({ good: 1, bad: 2, plain: 3 });
    expect(runs.list).toEqual(["good", "first", "plain"]);
  });

  it("opens a failed race again", async () => {
    let broken = true;
    const s = await finished(async (ctx) =>
      ctx.race("r", [
        { name: "a", run: (b) => b.step("s", () => (broken ? Promise.reject(new CriticalError("down")) : 1)) },
      ]),
    );
    broken = false;
    await s.call("recover");
    await s.world.settle();
    expect((await s.status()).output).toEqual({ winner: "a", value: 1 });
  });

  it("goes on in the iteration that failed", async () => {
    const runs = new Runs();
    let broken = true;
    const s = await finished(async (ctx) =>
      ctx.loop({
        name: "l",
        state: 0,
        run: async (round, n: number) => {
          await round.step("a", runs.of(`a${n}`));
          if (n === 2) await round.step("b", () => (broken ? Promise.reject(new CriticalError("down")) : 1));
          return n === 3 ? Loop.break(n) : Loop.continue(n + 1);
        },
      }),
    );
    broken = false;
    await s.call("recover");
    await s.world.settle();
    expect((await s.status()).output).toBe(3);
    expect(runs.list).toEqual(["a0", "a1", "a2", "a3"]);
  });

  it("runs what was undone again, so that a new failure undoes it again, once", async () => {
    const runs = new Runs();
    const s = await finished(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.step({ name: "a", run: runs.of("a"), rollback: runs.of("undo a") });
      await ctx.step("bad", () => Promise.reject(new CriticalError("no")));
    });
    await s.call("recover");
    await s.world.passUntilQuiet();
    expect(runs.list).toEqual(["a", "undo a", "a", "undo a"]);
  });

  it("holds again what its history holds, if it is still there", async () => {
    for (const restarted of [false, true]) {
      let broken = true;
      const s = await subject(async (ctx) => {
        const message = await ctx.queue.next("m", { names: ["m"], completable: true });
        await ctx.step({ name: "work", maxRetries: 0, run: () => (broken ? Promise.reject(new Error("down")) : 1) });
        await ctx.sleep("nap", HOUR);
        await message.complete("done");
      });
      await s.send("m", 1);
      await s.world.settle();
      expect((await s.status()).status).toBe("failed");
      expect(await s.call("peek")).toMatchObject({ body: 1 });
      if (restarted) await s.restart();
      broken = false;
      await s.call("recover");
      await s.world.settle();
      expect(await s.call("peek"), `restarted ${restarted}`).toBeUndefined();
      await s.world.pass(HOUR);
      expect((await s.status()).status).toBe("completed");
      expect(s.queued).toBe(0);
    }
  });
});

describe("replayFrom", () => {
  it("replays the steps before the target and runs it and later ones (D125)", async () => {
    const runs = new Runs();
    const s = await finished(async (ctx) => {
      for (const name of ["a", "b", "c"]) await ctx.step(name, runs.of(name));
      return runs.list.length;
    });
    await s.call("replayFrom", await idOf(s, "b"));
    await s.world.settle();
    expect(runs.list).toEqual(["a", "b", "c", "b", "c"]);
    expect(await s.status()).toEqual({ status: "completed", output: 5 });
  });

  it("runs everything again without a target (D126)", async () => {
    const runs = new Runs();
    const s = await finished(async (ctx) => {
      await ctx.step("a", runs.of("a"));
      await ctx.sleep("nap", HOUR);
      await ctx.step("b", runs.of("b"));
    });
    await s.call("replayFrom");
    await s.world.settle();
    expect(runs.list).toEqual(["a", "b", "a"]);
    expect((await s.status()).wakeAt).toBe(s.clock.now() + HOUR);
    await s.world.pass(HOUR);
    expect(runs.list).toEqual(["a", "b", "a", "b"]);
  });

  it("starts a loop over that the target lies in, and runs what comes after it (D127)", async () => {
    const runs = new Runs();
    const s = await finished(async (ctx) => {
      await ctx.step("before", runs.of("before"));
      await ctx.loop({
        name: "l",
        state: 0,
        run: async (round, n: number) => (
          await round.step("s", runs.of(`l${n}`)),
          n === 1 ? Loop.break(undefined) : Loop.continue(n + 1)
        ),
      });
      await ctx.step("after", runs.of("after"));
    });
    await s.call("replayFrom", await idOf(s, "l", 1, "s"));
    await s.world.settle();
    expect(runs.list).toEqual(["before", "l0", "l1", "after", "l0", "l1", "after"]);
  });

  it("is allowed in a sleeping loop (D128)", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) =>
      ctx.loop({
        name: "l",
        state: 0,
        run: async (round, n: number) => {
          await round.step("s", runs.of(`l${n}`));
          await round.sleep("nap", HOUR);
          return Loop.continue(n + 1);
        },
      }),
    );
    await s.world.pass(HOUR);
    await s.call("replayFrom", await idOf(s, "l", 1, "s"));
    await s.world.settle();
    expect(runs.list).toEqual(["l0", "l1", "l0"]);
    expect(s.lines()).toEqual(["loop l pending", "step l/0/s completed", "sleep l/0/nap pending"]);
  });

  it("opens the join that the target lies in; the other branches answer", async () => {
    const runs = new Runs();
    const s = await finished(async (ctx) => {
      const result = await ctx.join("j", {
        a: { run: async (b) => (await b.step("a1", runs.of("a1")), await b.step("a2", runs.of("a2", "x"))) },
        b: { run: (b) => b.step("b1", runs.of("b1", "y")) },
      });
      await ctx.step("after", runs.of("after"));
      return result;
    });
    await s.call("replayFrom", await idOf(s, "j", "a", "a2"));
    await s.world.settle();
    expect(runs.list.slice(4)).toEqual(["a2", "after"]);
    expect((await s.status()).output).toEqual({ a: "x", b: "y" });
  });

  it("opens the race that the target lies in: it is decided anew", async () => {
    const runs = new Runs();
    let slow = false;
    const s = await subject(async (ctx, { clock }) =>
      ctx.race("r", [
        {
          name: "work",
          run: (b) => b.step("s", async () => (runs.note("s"), slow && (await clock.delay(1_000)), "done")),
        },
        { name: "timer", run: (b) => b.sleep("t", 500).then(() => "late") },
      ]),
    );
    expect((await s.status()).output).toMatchObject({ winner: "work" });
    slow = true;
    await s.call("replayFrom", await idOf(s, "r", "work", "s"));
    await s.world.pass(500);
    expect((await s.status()).output).toEqual({ winner: "timer", value: "late" });
    expect(runs.count("s")).toBe(2);
  });

  it("leaves nothing of a try block that it went over: a second one, before an eviction, finds the order as it is", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) => {
      await ctx.step("s0", runs.of("s0"));
      await ctx.try("y", (block) => block.step("v", runs.of("v")));
      await ctx.step("s1", runs.of("s1"));
      await ctx.sleep("nap", HOUR);
    });
    await s.call("replayFrom", await idOf(s, "s0"));
    await s.world.settle();
    await s.call("replayFrom", await idOf(s, "s1"));
    await s.world.settle();
    expect((await s.status()).status).toBe("running");
    expect(runs.list).toEqual(["s0", "v", "s1", "s0", "v", "s1", "s1"]);
    await s.world.pass(HOUR);
    expect((await s.status()).status).toBe("completed");
  });

  it("refuses what is no step, and what does not exist, and changes nothing (D129)", async () => {
    const s = await subject(async (ctx) => ctx.sleep("nap", HOUR));
    const rows = s.actor.store.dump();
    await expect(s.call("replayFrom", await idOf(s, "nap"))).rejects.toMatchObject({
      group: "workflow",
      code: "not_a_step",
      message: "Workflow replay target must be a step",
    });
    await expect(s.call("replayFrom", "99")).rejects.toMatchObject({
      code: "step_not_found",
      message: "Workflow step not found: 99",
    });
    expect(s.actor.store.dump()).toEqual(rows);
    await s.world.pass(HOUR);
    expect((await s.status()).status).toBe("completed");
  });

  it("is refused while a step runs (D130)", async () => {
    let finish: (() => void) | undefined;
    const s = await subject(async (ctx) => {
      await ctx.step("a", () => 1);
      await ctx.step("long", () => new Promise<void>((resolve) => (finish = resolve)));
    });
    await expect(s.call("replayFrom", await idOf(s, "a"))).rejects.toMatchObject({
      group: "actor",
      code: "workflow_in_flight",
      statusCode: 409,
    });
    finish?.();
    await s.world.settle();
    expect((await s.status()).status).toBe("completed");
  });

  it("of a parked workflow ends what it waited for in memory: no timer or message of it counts any more", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) => {
      await ctx.step("a", runs.of("a"));
      const { body } = await ctx.queue.next("m", { names: ["m"], timeout: HOUR });
      await ctx.step("b", runs.of(`b ${body}`));
    });
    await s.world.pass(HOUR / 2);
    await s.call("replayFrom", await idOf(s, "a"));
    await s.world.settle();
    expect((await s.status()).wakeAt).toBe(s.clock.now() + HOUR);
    await s.send("m", 1);
    await s.world.settle();
    expect(runs.list).toEqual(["a", "a", "b 1"]);
    expect((await s.status()).status).toBe("completed");
    expect(s.queued).toBe(0);
  });

  it("forgets a sleep that has just ended, and does not bring it back", async () => {
    const s = await subject(async (ctx) => {
      await ctx.step("a", () => 1);
      await ctx.sleep("nap", HOUR);
      await ctx.queue.next("m", { names: ["m"] });
    });
    await s.world.pass(HOUR);
    await s.call("replayFrom", await idOf(s, "a"));
    await s.world.settle();
    expect(s.lines()).toEqual(["step a completed", "sleep nap pending"]);
    expect((await s.status()).wakeAt).toBe(s.clock.now() + HOUR);
  });

  it("lets go of the messages that deleted entries hold", async () => {
    let received = 0;
    const s = await subject(async (ctx) => {
      await ctx.step("a", () => 1);
      await ctx.queue.next("m", { names: ["m"], completable: true });
      received += 1;
      await ctx.sleep("nap", HOUR);
    });
    await s.send("m", 1);
    await s.world.settle();
    await s.call("replayFrom", await idOf(s, "a"));
    await s.world.settle();
    expect(received).toBe(2);
    expect(s.queued).toBe(1);
  });

  it("puts back what was taken behind the target, under its old id and however full the queue is", async () => {
    for (const evicted of [false, true]) {
      const taken: unknown[] = [];
      const s = await subject(
        async (ctx) => {
          await ctx.step("pay", () => 1);
          const first = await ctx.queue.next("payment", { names: ["pay"] });
          const batch = await ctx.queue.nextBatch("batch", { names: ["pay"], count: 2 });
          taken.push([first, ...batch].map(({ id, body }) => [Number(id), body]));
          await ctx.sleep("nap", HOUR);
        },
        { options: { maxQueueSize: 2 } },
      );
      for (const body of ["a", "b"]) await s.send("pay", body);
      await s.world.settle();
      for (const body of ["x", "y"]) await s.send("other", body);
      if (evicted) s.actor.crash();
      await s.call("replayFrom", await idOf(s, "pay"));
      await s.world.pass(60_000);
      expect(taken.slice(-1), `evicted ${evicted}`).toEqual([
        [
          [1, "a"],
          [2, "b"],
        ],
      ]);
      expect(taken.length).toBeGreaterThan(1);
      expect(s.queued).toBe(2);
      await expect(s.send("pay", "full")).rejects.toMatchObject({ code: "full" });
    }
  });

  it("gives a message again that was replied to; its second reply goes nowhere", async () => {
    let times = 0;
    const s = await subject(async (ctx) => {
      await ctx.step("a", () => 1);
      const message = await ctx.queue.next("ask", { names: ["ask"], completable: true });
      times += 1;
      await message.complete(`reply ${times}`);
      await ctx.sleep("nap", HOUR);
    });
    const asked = s.sendAndWait("ask", 1, 10_000);
    await s.world.settle();
    expect(await asked).toEqual({ status: "completed", response: "reply 1" });
    await s.call("replayFrom", await idOf(s, "a"));
    await s.world.settle();
    expect([times, (await s.status()).status, s.queued]).toEqual([2, "running", 0]);
    expect(s.actor.store.keys.filter((key) => key.startsWith("d/"))).toEqual([]);
  });

  it("starts over what was undone before the target, in a workflow that failed, was cancelled, or is being undone", async () => {
    for (const state of ["failed", "cancelled", "being undone"]) {
      const runs = new Runs();
      let broken = true;
      const s = await subject(async (ctx) => {
        await ctx.rollbackCheckpoint("cp");
        const late = { retryBackoffBase: HOUR, retryBackoffMax: HOUR };
        await ctx.step({
          name: "a",
          ...late,
          run: runs.of("a"),
          rollback: () => (state === "failed" ? runs.note("undo a") : Promise.reject(new Error("later"))),
        });
        await ctx.step({ name: "b", run: runs.of("b"), rollback: runs.of("undo b") });
        await ctx.step({
          name: "c",
          maxRetries: 0,
          run: () => (broken ? Promise.reject(new Error("no")) : runs.note("c")),
        });
      });
      if (state === "cancelled") await s.call("cancel");
      expect((await s.status()).status).toBe(state === "being undone" ? "rolling_back" : state);
      broken = false;
      await s.call("replayFrom", await idOf(s, "c"));
      await s.world.passUntilQuiet();
      expect(await s.status(), state).toMatchObject({ status: "completed" });
      expect(runs.list, state).toEqual(
        state === "failed" ? ["a", "b", "undo b", "undo a", "a", "b", "c"] : ["a", "b", "undo b", "b", "c"],
      );
    }
  });

  it("leaves other branches alone, also what they did later than the target", async () => {
    const runs = new Runs();
    const s = await finished(async (ctx) =>
      ctx.join("j", {
        a: {
          run: async (b) => (
            await b.step("a1", runs.of("a1")),
            await b.sleep("nap", 10),
            b.step("a2", runs.of("a2", "x"))
          ),
        },
        b: {
          run: async (b) => (
            await b.sleep("nap", 20),
            (await b.join("inner", { c: { run: (c) => c.step("b1", runs.of("b1", "y")) } })).c
          ),
        },
      }),
    );
    await s.call("replayFrom", await idOf(s, "j", "a", "a1"));
    await s.world.passUntilQuiet();
    expect(runs.list).toEqual(["a1", "a2", "b1", "a1", "a2"]);
    expect((await s.status()).output).toEqual({ a: "x", b: "y" });
  });

  it("works in an actor that was evicted, and after a crash right after it", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx: Ctx) => {
      await ctx.step("a", runs.of("a"));
      await ctx.step("b", runs.of("b"));
      await ctx.sleep("nap", HOUR);
    });
    s.actor.crash();
    await s.call("replayFrom", await idOf(s, "b"));
    s.actor.crash();
    await s.world.passUntilQuiet();
    expect((await s.status()).status).toBe("completed");
    expect(runs.count("a")).toBe(1);
    expect(runs.count("b")).toBeGreaterThanOrEqual(2);
  });
});

describe("control in hooks of a start", () => {
  const program = (runs: Runs) => async (ctx: Ctx) => {
    await ctx.step("charge", (step) => {
      runs.note("charge");
      step.state.log.push("charged");
    });
    return "done";
  };

  it.each(["createState", "onMigrate", "onCreate", "createVars", "onWake", "onBeforeConnect"])(
    "begins nothing before %s, and all that comes after it, has ended",
    async (name) => {
      for (const operation of ["replayFrom", "cancel"]) {
        const runs = new Runs();
        let refuses = true;
        let cameFirst: unknown;
        const hook = async (c: { workflow: Record<string, () => void> }): Promise<object> => {
          if (runs.count("charge") > 0) return { log: [] };
          if (operation === "cancel") c.workflow.cancel?.();
          c.workflow.replayFrom?.();
          await undefined;
          cameFirst = runs.list.slice();
          if (refuses) throw new Error("no such actor");
          return { log: [] };
        };
        const s = new Subject(program(runs), {
          config: { [name]: hook, ...(name === "createState" ? { state: undefined } : {}) },
        });
        await expect(s.call("get")).rejects.toThrow();
        await s.world.passUntilQuiet();
        expect(cameFirst).toEqual([]);
        expect(runs.list).toEqual([]);
        expect(s.actor.store.keys).toEqual([]);
        refuses = false;
        await s.call("get");
        await s.world.passUntilQuiet();
        expect(cameFirst).toEqual([]);
        expect(runs.list).toEqual(["charge"]);
        expect(await s.status()).toEqual({ status: "completed", output: "done" });
        expect(await s.state()).toEqual({ log: ["charged"] });
      }
    },
  );

  it("lets a failed workflow try again with each start, once that has succeeded; one that fails begins nothing", async () => {
    const runs = new Runs();
    let isBroken = true;
    let failsToWake = false;
    const onWake = async (c: { workflow: { recover(): void } }): Promise<void> => {
      c.workflow.recover();
      await undefined;
      if (failsToWake) throw new Error("not now");
    };
    const s = await finished(
      async (ctx) =>
        ctx.step({
          name: "ship",
          maxRetries: 0,
          run: () => {
            runs.note("ship");
            if (isBroken) throw new Error("broken");
            return "shipped";
          },
        }),
      { config: { onWake } },
    );
    expect((await s.status()).status).toBe("failed");
    failsToWake = true;
    s.actor.crash();
    await expect(s.call("get")).rejects.toThrow();
    await s.world.settle();
    expect(runs.list).toEqual(["ship"]);
    failsToWake = false;
    isBroken = false;
    s.actor.crash();
    await s.call("get");
    await s.world.passUntilQuiet();
    expect(runs.list).toEqual(["ship", "ship"]);
    expect(await s.status()).toEqual({ status: "completed", output: "shipped" });
  });

  it("does nothing where there is no workflow", async () => {
    const s = new Subject(undefined, {});
    for (const operation of ["recover", "cancel", "replayFrom"]) await s.call(operation);
    await expect(s.call("replayFrom", "1")).rejects.toMatchObject({ code: "step_not_found" });
    expect(await s.status()).toEqual({ status: "none" });
    expect(s.actor.store.keys).toEqual(["a", "s"]);
    expect(s.actor.store.alarmAt).toBeNull();
  });
});

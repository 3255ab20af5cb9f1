import { describe, expect, it } from "vitest";
import { CriticalError, Loop, RollbackError } from "../../src/entry/workflow.js";
import { decodeValue, encodeValue } from "../../src/protocol/index.js";
import { Runs, finished, subject, type Ctx, type Subject } from "./subject.js";

const HOUR = 3_600_000;

/** The names of the steps that fail until they are repaired. */
class Switch {
  readonly broken = new Set<string>();
  readonly runs = new Runs();

  constructor(...broken: string[]) {
    for (const each of broken) this.broken.add(each);
  }

  /** A step; with `undo`, it has a rollback. */
  step(ctx: Ctx, name: string, undo = false): Promise<string> {
    return ctx.step({
      name,
      maxRetries: 0,
      run: () => {
        if (this.broken.has(name)) throw new Error(`${name} is broken`);
        this.runs.note(name);
        return name;
      },
      ...(undo && {
        rollback: () => {
          if (this.broken.has(`undo ${name}`)) throw new CriticalError(`undo ${name} is broken`);
          this.runs.note(`undo ${name}`);
        },
      }),
    });
  }
}

async function recovered(s: Subject): Promise<Subject> {
  await s.call("recover");
  await s.world.passUntilQuiet();
  return s;
}

describe("recover after a rollback", () => {
  it("runs undone steps and the failed one again; nothing is undone twice", async () => {
    for (const evicted of [false, true]) {
      const x = new Switch("ship");
      const s = await finished(async (ctx) => {
        await ctx.rollbackCheckpoint("cp");
        await x.step(ctx, "charge", true);
        await x.step(ctx, "mail");
        await ctx.sleep("nap", HOUR);
        return x.step(ctx, "ship");
      });
      for (let times = 0; times < 3; times += 1) {
        if (evicted) await s.restart();
        await recovered(s);
      }
      expect(x.runs.list).toEqual([
        "charge",
        "mail",
        "undo charge",
        ...Array(3).fill(["charge", "undo charge"]).flat(),
      ]);
      x.broken.clear();
      if (evicted) s.actor.crash();
      await recovered(s);
      expect(await s.status()).toEqual({ status: "completed", output: "ship" });
      expect(x.runs.list.slice(-2)).toEqual(["charge", "ship"]);
      expect(x.runs.count("mail")).toBe(1);
      await s.restart();
      expect((await s.status()).status).toBe("completed");
    }
  });

  it("from onError: each failure undoes once what it had done", async () => {
    const x = new Switch("ship");
    let recovers = 0;
    const s = await finished(
      async (ctx) => {
        await ctx.rollbackCheckpoint("cp");
        await x.step(ctx, "charge", true);
        return x.step(ctx, "ship");
      },
      {
        onError: (c: { workflow: { recover(): void } }, event: object) =>
          void ("workflow" in event && (recovers += 1) <= 4 && c.workflow.recover()),
      },
    );
    expect(recovers).toBe(5);
    expect(x.runs.list).toEqual(Array(5).fill(["charge", "undo charge"]).flat());
    expect(x.runs.count("charge")).toBe(x.runs.count("undo charge"));
    x.broken.clear();
    await recovered(s);
    expect((await s.status()).status).toBe("completed");
    expect(x.runs.count("charge")).toBe(x.runs.count("undo charge") + 1);
  });

  it("leaves a step done whose handler has failed", async () => {
    const x = new Switch("ship", "undo b");
    const s = await finished(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await x.step(ctx, "a", true);
      await x.step(ctx, "b", true);
      await x.step(ctx, "c", true);
      return x.step(ctx, "ship");
    });
    expect(x.runs.list).toEqual(["a", "b", "c", "undo c", "undo a"]);
    x.broken.delete("undo b");
    await recovered(s);
    expect(x.runs.list.slice(5)).toEqual(["a", "c", "undo c", "undo a", "undo b"]);
    x.broken.clear();
    await recovered(s);
    expect(x.runs.list.slice(10)).toEqual(["a", "b", "c", "ship"]);
  });

  it("when a step fails again that had succeeded, followed by others, is a failure like any other", async () => {
    for (const handled of [false, true]) {
      const x = new Switch("ship");
      const s = await finished(async (ctx) => {
        await ctx.rollbackCheckpoint("cp");
        try {
          await x.step(ctx, "charge", true);
          await x.step(ctx, "mail");
          await ctx.join("j", { a: { run: (b) => x.step(b, "log") } });
          return await x.step(ctx, "ship");
        } catch (error) {
          if (handled) await x.step(ctx, "note");
          throw error;
        }
      });
      x.broken.add("charge");
      await recovered(s);
      expect(await s.status(), `handled ${handled}`).toMatchObject({
        status: "failed",
        error: { message: expect.stringContaining("charge is broken") },
      });
      await recovered(s);
      expect((await s.status()).status).toBe("failed");
      x.broken.clear();
      await recovered(s);
      expect(await s.status(), `handled ${handled}`).toEqual({ status: "completed", output: "ship" });
      // Where the code took another path, the entries of the old path were deleted.
      expect(x.runs.count("mail")).toBe(handled ? 2 : 1);
      expect(x.runs.count("charge")).toBe(x.runs.count("undo charge") + 1);
    }
  });

  it("wakes for the backoff of a step that starts over, though others are recorded behind it", async () => {
    const x = new Switch("ship");
    let attempts = 0;
    const s = await finished(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.step({
        name: "charge",
        retryBackoffBase: HOUR,
        retryBackoffMax: HOUR,
        run: () => ((attempts += 1) % 2 === 1 ? Promise.reject(new Error("later")) : 1),
        rollback: () => undefined,
      });
      await x.step(ctx, "mail");
      return x.step(ctx, "ship");
    });
    x.broken.clear();
    await s.call("recover");
    await s.world.settle();
    expect(await s.status()).toEqual({ status: "running", wakeAt: s.clock.now() + HOUR });
    await s.world.pass(HOUR);
    expect((await s.status()).output).toBe("ship");
  });

  it("finds its way when what was recorded in a catch stands behind a join that failed twice and then succeeds", async () => {
    const x = new Switch("bad", "note");
    const s = await finished(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      const joined = ctx.join("j", { a: { run: (b) => x.step(b, "a", true) }, b: { run: (b) => x.step(b, "bad") } });
      await joined.catch(async (error: unknown) => (await x.step(ctx, "note"), Promise.reject(error)));
      return x.step(ctx, "end");
    });
    // The run failed by `note`: the join runs again because a step in it was rolled back, and fails as before.
    x.broken.delete("note");
    await recovered(s);
    expect((await s.status()).error?.name).toBe("JoinError");
    x.broken.clear();
    await recovered(s);
    expect(await s.status()).toEqual({ status: "completed", output: "end" });
    expect(x.runs.count("a")).toBe(x.runs.count("undo a") + 1);
  });

  it("opens the joins and the try blocks around; a decided race stays decided, and only its winner runs again", async () => {
    const x = new Switch("ship");
    const s = await finished(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      const joined = await ctx.join("j", {
        a: { run: async (b) => (await x.step(b, "ja1"), b.try("y", (y) => x.step(y, "ja2", true))) },
        b: { run: async (b) => (await b.sleep("nap", HOUR), x.step(b, "jb")) },
        c: { run: async (b) => (await b.queue.nextBatch("none", { timeout: 10 })).length },
      });
      const raced = await ctx.race("r", [
        { name: "slow", run: async (b) => (await b.sleep("long", HOUR), x.step(b, "slow", true)) },
        { name: "quick", run: async (b) => (await b.sleep("short", 10), x.step(b, "quick", true)) },
        { name: "never", run: (b) => b.queue.next("m", { names: ["m"] }) },
      ]);
      await x.step(ctx, "ship");
      return [joined, raced.winner];
    });
    expect(x.runs.list).toEqual(["ja1", "ja2", "jb", "quick", "undo quick", "undo ja2"]);
    await s.send("m", 1);
    await recovered(s);
    expect(x.runs.list.slice(6)).toEqual(["ja2", "quick", "undo quick", "undo ja2"]);
    x.broken.clear();
    await s.restart();
    await recovered(s);
    expect((await s.status()).output).toEqual([{ a: { ok: true, value: "ja2" }, b: "jb", c: 0 }, "quick"]);
    expect(x.runs.list.slice(10)).toEqual(["ja2", "quick", "ship"]);
    expect(s.queued).toBe(1);
  });

  it("keeps a decided race so that a release before this one would run only its winner, and losers may be gone from the code", async () => {
    const x = new Switch("ship");
    const program = (losers: string[]) => async (ctx: Ctx) => {
      await ctx.rollbackCheckpoint("cp");
      const { winner } = await ctx.race("r", [
        { name: "quick", run: (b) => x.step(b, "quick", true) },
        ...losers.map((name) => ({ name, run: (b: Ctx) => b.sleep("long", HOUR).then(() => "") })),
      ]);
      await x.step(ctx, "ship");
      return winner;
    };
    const s = await finished(program(["one", "two"]));
    const next = s.deploy(program(["three"]));
    x.broken.clear();
    x.broken.add("quick");
    await recovered(next);
    expect((await next.status()).status).toBe("failed");
    expect(next.stored().find((entry) => entry.kind === "race")?.data).toMatchObject({
      branches: ["quick", "one", "two"],
    });
    x.broken.clear();
    await recovered(next);
    expect(await next.status()).toEqual({ status: "completed", output: "quick" });
  });

  it("after an undoing that was cut off and went on", async () => {
    for (let at = 6; at < 14; at += 1) {
      const x = new Switch("ship");
      const s = await finished(
        async (ctx) => {
          await ctx.rollbackCheckpoint("cp");
          for (const name of ["a", "b"]) await x.step(ctx, name, true);
          return x.step(ctx, "ship");
        },
        { fault: (commit) => (commit === at ? "crash-before" : undefined) },
      ).catch(() => undefined);
      if (!s) continue;
      await s.world.passUntilQuiet();
      x.broken.clear();
      await recovered(s).catch(() => recovered(s));
      expect((await s.status()).status, `crash at ${at}`).toBe("completed");
      expect(x.runs.list.slice(-3), `crash at ${at}`).toEqual(["a", "b", "ship"]);
    }
  });
});

let broken = true;

describe("recover restarts the operation whose error ended the run", () => {
  it.each<[string, (ctx: Ctx, x: Switch) => Promise<unknown>]>([
    ["a step", (ctx, x) => x.step(ctx, "bad")],
    [
      "a step, wrapped",
      (ctx, x) =>
        x
          .step(ctx, "bad")
          .catch((cause: unknown) => Promise.reject(new Error("wrapped", { cause: new Error("twice", { cause }) }))),
    ],
    [
      "a step whose cause is thrown",
      (ctx, x) => x.step(ctx, "bad").catch((error: Error) => Promise.reject(error.cause)),
    ],
    [
      "a step, with a durable operation in catch",
      (ctx, x) =>
        x
          .step(ctx, "bad")
          .catch(
            async (error: unknown) => (await x.step(ctx, "note"), await ctx.sleep("nap", 10), Promise.reject(error)),
          ),
    ],
    [
      "a step, with a durable operation in finally",
      async (ctx, x) => {
        try {
          return await x.step(ctx, "bad");
        } finally {
          await x.step(ctx, "cleanup");
        }
      },
    ],
    [
      "a step in a try block that does not catch it, with a finally around",
      (ctx, x) =>
        ctx
          .try({ name: "y", catch: [], run: (y) => x.step(y, "bad") })
          .then((result) => (result as { value: unknown }).value)
          .finally(() => x.step(ctx, "cleanup")),
    ],
    [
      "a step in an iteration, with a catch around the loop",
      (ctx, x) =>
        ctx
          .loop("l", async (round) => (await x.step(round, "bad"), Loop.break("bad")))
          .catch(async (error: unknown) => (await x.step(ctx, "note"), Promise.reject(error))),
    ],
    [
      "a join, with a catch in a branch and one around",
      (ctx, x) =>
        ctx
          .join("j", {
            a: {
              run: (b) =>
                x.step(b, "bad").catch(async (error: unknown) => (await x.step(b, "note"), Promise.reject(error))),
            },
            b: { run: (b) => x.step(b, "other") },
          })
          .then(({ a }) => a)
          .catch(async (error: unknown) => (await x.step(ctx, "outside"), Promise.reject(error))),
    ],
    [
      "a race, with a finally in a branch",
      (ctx, x) =>
        ctx
          .race("r", [{ name: "a", run: (b) => x.step(b, "bad").finally(() => x.step(b, "note")) }])
          .then(({ value }) => value),
    ],
    [
      "a join's branch error",
      (ctx, x) =>
        ctx
          .join("j", { a: { run: (b) => x.step(b, "bad") } })
          .then(({ a }) => a)
          .catch((error: { errors: { a: Error } }) => Promise.reject(error.errors.a)),
    ],
    [
      "a tryStep whose failure is thrown as a plain error",
      (ctx) =>
        ctx
          .tryStep({ name: "bad", maxRetries: 0, run: () => (broken ? Promise.reject(new Error("no")) : "bad") })
          .then((result: { ok: boolean }) => (result.ok ? "bad" : Promise.reject(new Error("plain")))),
    ],
  ])("%s", async (_, part) => {
    for (const undo of [false, true]) {
      const x = new Switch("bad");
      broken = true;
      const s = await finished(async (ctx) => {
        if (undo) await ctx.rollbackCheckpoint("cp");
        await x.step(ctx, "before", undo);
        return part(ctx, x);
      });
      expect((await s.status()).status).toBe("failed");
      await recovered(s);
      expect((await s.status()).status).toBe("failed");
      await s.restart();
      x.broken.clear();
      broken = false;
      await recovered(s);
      expect(await s.status(), `undo ${undo}`).toEqual({ status: "completed", output: "bad" });
      expect(x.runs.count("before")).toBe(1 + x.runs.count("undo before"));
      expect(x.runs.count("other")).toBeLessThanOrEqual(1);
    }
  });

  it("a receive that timed out: it waits anew, and messages that were taken behind it come back", async () => {
    for (const timeout of [0, HOUR]) {
      const s = await finished(async (ctx) => {
        const first = await ctx.queue.nextBatch("m", { names: ["m"], timeout: 10 });
        try {
          return [first.length, (await ctx.queue.next("m", { names: ["m"], timeout })).body];
        } catch (error) {
          const other = await ctx.queue.nextBatch("other", { names: ["other"], timeout: 0 });
          if (other.length === 0) throw error;
          throw new Error("failed with a message", { cause: error });
        }
      });
      expect(await s.status()).toMatchObject({
        status: "failed",
        error: { message: expect.stringContaining("timed out") },
      });
      await s.send("other", "o");
      await recovered(s);
      expect((await s.status()).error?.message, `timeout ${timeout}`).toBe("failed with a message");
      expect(s.queued).toBe(0);
      await s.send("m", "late");
      await recovered(s);
      expect((await s.status()).output, `timeout ${timeout}`).toEqual([0, "late"]);
      expect(s.queued).toBe(1);
    }
  });

  it("of histories that do not say which: those whose failure the code has not handled", async () => {
    const x = new Switch("bad");
    const s = await finished(async (ctx) => {
      await ctx.tryStep({
        name: "handled",
        maxRetries: 0,
        run: () => Promise.reject(x.runs.note("handled") ?? new Error("no")),
      });
      return x.step(ctx, "bad");
    });
    const rows = s.actor.store.dump();
    const record = s.record();
    expect(record.failure.seq).toBeTypeOf("number");
    const { seq: _, ...failure } = record.failure;
    rows.set(
      "a",
      encodeValue({ ...(decodeValue(rows.get("a") as Uint8Array) as object), workflow: { ...record, failure } }),
    );
    s.actor.crash();
    s.actor.store.restore(rows, null);
    x.broken.clear();
    await recovered(s);
    expect(await s.status()).toEqual({ status: "completed", output: "bad" });
    expect(x.runs.list).toEqual(["handled", "bad"]);
  });
});

describe("recover of a workflow", () => {
  it("that diverged looks again at once, and begins the waits between looks anew", async () => {
    const x = new Switch();
    const s = await subject(async (ctx) => (await x.step(ctx, "a"), ctx.sleep("nap", HOUR)));
    const wrong = s.deploy(async (ctx) => x.step(ctx, "b"));
    await wrong.replay();
    await wrong.world.pass(10 * 60_000);
    await wrong.call("recover");
    await wrong.world.settle();
    expect((await wrong.status()).status).toBe("diverged");
    expect(wrong.actor.store.alarmAt).toBe(wrong.clock.now() + 60_000);
    const right = wrong.deploy(async (ctx) => (await x.step(ctx, "a"), ctx.sleep("nap", HOUR)));
    expect((await right.status()).status).toBe("diverged");
    await right.call("recover");
    await right.world.settle();
    expect((await right.status()).status).toBe("running");
    expect(x.runs.list).toEqual(["a"]);
  });

  it.each<[string, (ctx: Ctx) => Promise<unknown>]>([
    ["running", (ctx) => ctx.sleep("nap", HOUR)],
    ["completed", async () => 1],
    [
      "rolling back",
      async (ctx) => (
        await ctx.rollbackCheckpoint("cp"),
        await ctx.step({
          name: "a",
          run: () => 1,
          rollback: () => Promise.reject(new Error("later")),
          retryBackoffBase: HOUR,
          retryBackoffMax: HOUR,
        }),
        Promise.reject(new RollbackError("no"))
      ),
    ],
  ])("that is %s changes nothing", async (kind, program) => {
    const s = await subject(program);
    const rows = s.actor.store.dump();
    const refused = await s.call("recover").catch((error: { code: string }) => error.code);
    expect(refused).toBe(kind === "rolling back" ? "rolling_back" : undefined);
    await s.world.settle();
    expect(s.actor.store.dump()).toEqual(rows);
  });

  it("that was cancelled changes nothing", async () => {
    const s = await subject(async (ctx) => ctx.sleep("nap", HOUR));
    await s.call("cancel");
    const rows = s.actor.store.dump();
    await s.call("recover");
    expect(s.actor.store.dump()).toEqual(rows);
  });
});

describe("gates that were answered behind what starts over", () => {
  it("are asked anew after recover: the code that it leads to is new to the run", async () => {
    const x = new Switch("ship");
    const s = await finished(async (ctx) => {
      await x.step(ctx, "charge");
      try {
        await x.step(ctx, "ship");
      } catch (error) {
        x.runs.note(`in the catch ${await ctx.getVersion("in the catch", 2)}`);
        throw error;
      }
      return ctx.getVersion("behind", 2);
    });
    x.broken.clear();
    await recovered(s);
    expect(await s.status()).toEqual({ status: "completed", output: 2 });
    expect(x.runs.list).toEqual(["charge", "in the catch 2", "ship"]);
    expect(s.lines()).toEqual(["step charge completed", "step ship completed", "version_check behind completed"]);
  });

  it("are asked anew after replayFrom, so that what was deployed behind them runs; those before kept entries are not", async () => {
    const runs = new Runs();
    const old = await subject(async (ctx) => {
      await ctx.step("a", runs.of("a"));
      await ctx.step("b", runs.of("b"));
      await ctx.sleep("nap", HOUR);
    });
    const s = old.deploy(async (ctx) => {
      const front = await ctx.getVersion("front", 2);
      await ctx.step("a", runs.of("a"));
      const between = await ctx.getVersion("between", 2);
      await ctx.step(between === 1 ? "b" : "b2", runs.of(`b${between}`));
      await ctx.try("block", (block) => block.getVersion("inside", 2));
      await ctx.sleep("nap", HOUR);
      return [front, between, await ctx.getVersion("behind", 2)];
    });
    await s.send("nobody reads this");
    await s.world.settle();
    expect(s.lines()).toContain("version_check between completed");
    const id = (await s.history()).find(({ location }) => location[0] === "b")?.id;
    await s.call("replayFrom", id);
    await s.world.passUntilQuiet();
    expect(await s.status()).toEqual({ status: "completed", output: [1, 2, 2] });
    expect(runs.list).toEqual(["a", "b", "b2"]);
  });
});

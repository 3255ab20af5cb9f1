import { describe, expect, it } from "vitest";
import { CriticalError, Loop } from "../../src/entry/workflow.js";
import { encodeEntry, type Entry } from "../../src/workflow/internal.js";
import { Runs, finished, subject, type Ctx } from "./subject.js";

const HOUR = 3_600_000;

describe("the end of a workflow (FLOW-3)", () => {
  it.each([
    ["completed", async () => 5],
    ["failed", async () => Promise.reject(new Error("no"))],
  ])(
    "is final: %s, the function is not called again on any wake or deploy, and messages stay (D131, D132, D150, D151)",
    async (status, end) => {
      const runs = new Runs();
      const s = await finished(async (ctx) => {
        runs.note("run");
        await ctx.step("a", runs.of("a"));
        return end();
      });
      expect((await s.status()).status).toBe(status);
      const before = runs.list.length;
      await s.restart();
      await s.send("m", 1);
      await s.actor.fireAlarm();
      const next = s.deploy(async (ctx) => {
        runs.note("other");
        await ctx.step("other", runs.of("other"));
      });
      await next.send("m", 2);
      await next.world.passUntilQuiet();
      expect(runs.list).toHaveLength(before);
      expect((await next.status()).status).toBe(status);
      expect(next.queued).toBe(2);
      expect(next.actor.store.alarmAt).toBeNull();
    },
  );

  it("stores output and end in one commit with what is dirty, and gives up the lease and the alarm", async () => {
    const s = await finished(async (ctx) => {
      await ctx.step({ name: "e", ephemeral: true, run: () => 1 });
      return { big: new Set([1n]) };
    });
    expect(s.actor.store.keys).toEqual(
      ["a", "e/1", "s"].map((key) =>
        key.startsWith("e/") ? (s.actor.store.keys.find((each) => each.startsWith("e/")) as string) : key,
      ),
    );
    expect((await s.status()).output).toEqual({ big: new Set([1n]) });
  });

  it.each([
    ["a function", () => () => 1, "value/not_serializable"],
    ["too much", () => "x".repeat(2_000_001), "value/too_large"],
  ])("with %s for an output is a failure, told once, and the actor opens", async (_, make, code) => {
    const s = await finished(async () => make());
    expect((await s.status()).status).toBe("failed");
    const { group, code: stored } = s.record().failure.error;
    expect(`${group}/${stored}`).toBe(code);
    await s.restart();
    expect(s.actor.crashes).toBe(1);
    expect(s.errors).toHaveLength(1);
  });

  it("takes a function that is not async, and one that throws at once", async () => {
    expect((await (await finished((() => 5) as never)).status()).output).toBe(5);
    const s = await finished((() => {
      throw new RangeError("at once");
    }) as never);
    expect(await s.status()).toMatchObject({ status: "failed", error: { name: "RangeError", message: "at once" } });
  });

  it("fails with workflow/interrupted after ten cut-offs outside of any step (ALARM-14)", async () => {
    let calls = 0;
    const s = await subject(async () => {
      calls += 1;
      await new Promise(() => {});
    });
    for (let boot = 0; boot < 20 && s.record().status === "running"; boot += 1) await s.restart();
    expect(s.record()).toMatchObject({
      status: "failed",
      failure: { error: { group: "workflow", code: "interrupted" } },
    });
    expect(calls).toBe(10);
    expect(s.actor.store.keys).toEqual(["a", "s"]);
  });

  it("counts a cut-off as the first again when something was stored since", async () => {
    let calls = 0;
    const s = await subject(async (ctx) => {
      calls += 1;
      for (let n = 0; n < calls; n += 1) await ctx.step(`s${n}`, () => n);
      if (calls < 25) await new Promise(() => {});
      return "end";
    });
    for (let boot = 0; boot < 30 && s.record().status === "running"; boot += 1) await s.restart();
    expect((await s.status()).output).toBe("end");
    expect(calls).toBe(25);
  });
});

describe("careful activations (ALARM-14)", () => {
  it("run join branches' steps one at a time after a crash, until the run parks", async () => {
    let running = 0;
    let most = 0;
    let hang = true;
    const branch = (name: string, self: { clock: { delay(ms: number): Promise<void> } }) => ({
      run: (b: Ctx) =>
        b.step(name, async () => {
          running += 1;
          most = Math.max(most, running);
          if (hang) await new Promise(() => {});
          await self.clock.delay(10);
          running -= 1;
          return name;
        }),
    });
    const s = await subject(async (ctx, self) => {
      await ctx.join("j", { a: branch("a", self), b: branch("b", self), c: branch("c", self) });
      await ctx.sleep("nap", HOUR);
      await ctx.join("k", { a: branch("a", self), b: branch("b", self) });
    });
    expect(most).toBe(3);
    hang = false;
    running = 0;
    most = 0;
    await s.restart();
    expect(s.stored().filter((entry) => entry.status === "running")).toHaveLength(1);
    await s.world.pass(30);
    expect(most).toBe(1);
    expect(
      s
        .stored()
        .filter((entry) => entry.kind === "step")
        .every((entry) => entry.status === "completed" && entry.interrupted === 0),
    ).toBe(true);
    await s.world.pass(HOUR + 20);
    expect(most).toBe(2);
    expect((await s.status()).status).toBe("completed");
  });

  it("give up the guilty step only: the others of its join complete", async () => {
    let crash: (() => void) | undefined;
    const s = await subject(async (ctx) =>
      ctx.join("j", {
        good: { run: (b) => b.step("s", () => 1) },
        deadly: {
          run: async (b) => {
            const result = await b.tryStep("s", () => {
              crash?.();
              return new Promise<never>(() => {});
            });
            return result.ok ? "ok" : result.failure.error.metadata?.["code"];
          },
        },
        also: { run: (b) => b.step("s", () => 3) },
      }),
    );
    crash = () => s.actor.crash();
    s.actor.crash();
    await s.world.pass(3 * HOUR);
    expect((await s.status()).output).toEqual({ good: 1, deadly: "step_interrupted", also: 3 });
    expect(s.actor.crashes).toBeGreaterThanOrEqual(10);
  });

  it.each([
    ["in a step", true],
    ["outside of any step", false],
  ])(
    "end code that kills the object at once, %s, after an alarm: the wake survives the kill, with a growing delay",
    async (_, inStep) => {
      const at: number[] = [];
      let deadly = true;
      const s = await subject(async (ctx, self) => {
        await ctx.sleep("nap", HOUR);
        const kill = (): void => {
          at.push(self.clock.now());
          if (deadly) self.actor.crash();
        };
        if (inStep) await ctx.step("deadly", kill);
        else kill();
      });
      for (let hour = 0; hour < 3; hour += 1) await s.world.pass(HOUR);
      deadly = false;
      expect((await s.status()).error).toMatchObject({ message: expect.stringContaining("cut off 10 times") });
      expect(at.length).toBeLessThanOrEqual(13);
      const gaps = at.slice(1).map((time, index) => time - (at[index] as number));
      // The platform's own retry, whose lease is confirmed; that lease; boots that found it.
      expect(gaps.slice(0, 2)).toEqual([2_000, 1_000]);
      expect(Math.min(...gaps.slice(2))).toBeGreaterThanOrEqual(10_000);
      expect(Math.max(...gaps)).toBeLessThanOrEqual(300_000);
    },
  );

  it("do not wait for an attempt whose branch lost its race before it began", async () => {
    const s = await subject(async (ctx) => {
      await ctx.race<unknown>("r", [
        { name: "timer", run: (b) => b.sleep("t", 1_000) },
        { name: "work", run: (b) => b.step("endless", () => new Promise(() => {})) },
      ]);
      return ctx.step("after", () => "after");
    });
    s.actor.crash();
    s.clock.moveTo(s.clock.now() + 20_000);
    await s.world.settle();
    expect((await s.status()).output).toBe("after");
    expect(s.lines()).not.toContain("step r/work/endless running");
  });

  it("cost no retries: attempts that a crash cut off are not counted (FLOW-15)", async () => {
    const attempts: number[] = [];
    let hang = true;
    const s = await subject(async (ctx) =>
      ctx.step({
        name: "s",
        maxRetries: 1,
        run: (step) => {
          attempts.push(step.attempt);
          if (hang) return new Promise(() => {});
          if (step.attempt === 1) throw new Error("once");
          return "done";
        },
      }),
    );
    for (let n = 0; n < 4; n += 1) await s.restart();
    hang = false;
    await s.restart();
    await s.world.pass(1_000);
    expect(attempts).toEqual([1, 1, 1, 1, 1, 1, 2]);
    expect((await s.status()).output).toBe("done");
  });
});

describe("user code around the engine", () => {
  it("runs finally blocks once, however often it is replayed (D142, D143)", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) => {
      try {
        await ctx.queue.next("m", { names: ["m"], timeout: HOUR });
      } catch {
        runs.note("caught");
      } finally {
        runs.note("finally");
      }
      try {
        await ctx.step("s", () => Promise.reject(new CriticalError("no")));
      } catch {
        runs.note("step caught");
      }
      return "end";
    });
    for (let n = 0; n < 3; n += 1) await s.replay();
    expect(runs.list).toEqual([]);
    await s.world.pass(HOUR);
    expect(runs.list).toEqual(["caught", "finally", "step caught"]);
  });

  it("may branch, loop and return as in any async function, with replays at every wait", async () => {
    const s = await subject(async (ctx) => {
      const got: unknown[] = [];
      for (let n = 0; n < 3; n += 1) {
        for (;;) {
          const { body } = await ctx.queue.next("m", { names: ["m"] });
          if (body === "skip") continue;
          got.push(body);
          break;
        }
        await ctx.sleep(`nap ${n}`, 1_000);
      }
      return got;
    });
    for (const body of ["a", "skip", "b", "skip", "skip", "c"]) {
      s.actor.crash();
      await s.send("m", body);
      await s.world.pass(1_000);
    }
    expect((await s.status()).output).toEqual(["a", "b", "c"]);
  });

  it("sees the same values live as on replay: they go through the codec before it gets them (FLOW-4)", async () => {
    const seen: unknown[] = [];
    class Point {
      x = 1;
    }
    const shared = { list: [1] };
    const s = await subject(async (ctx) => {
      const value = await ctx.step("s", () => shared);
      value.list.push(2);
      seen.push(value, shared.list.length);
      const state = await ctx.loop({
        name: "l",
        state: shared,
        run: async (_, own) => (own.list.push(3), Loop.break(own.list.length)),
      });
      seen.push(state, await ctx.tryStep("p", () => new Point() as unknown));
      await ctx.sleep("stay", HOUR);
    });
    await s.replay();
    expect(seen.slice(0, 3)).toEqual([{ list: [1, 2] }, 1, 2]);
    expect(seen.slice(4, 7)).toEqual(seen.slice(0, 3));
    expect(seen[3]).toMatchObject({ ok: false, failure: { kind: "critical" } });
    expect(seen[7]).toEqual(seen[3]);
  });

  it("calls another actor from a step, and that one's workflow starts (D137)", async () => {
    const { actor, workflow } = await import("../../src/actor/index.js");
    const child = actor({
      state: { started: 0 },
      run: workflow(async (ctx: Ctx) => {
        await ctx.step("begin", (step) => void (step.state.started += 1));
      }) as never,
      actions: { get: (c: { state: { started: number } }) => c.state.started },
    });
    const s = await subject(async (ctx) => ctx.step("call", (step) => step.client().child.getOrCreate(["c"]).get()), {
      use: { child },
    });
    await s.world.settle();
    expect((await s.status()).status).toBe("completed");
    expect(await s.world.actor("child", ["c"]).call("get")).toBe(1);
  });
});

describe("an actor with 140,000 operations in one scope", () => {
  it("starts, tells of itself, and is destroyed", async () => {
    const s = await subject(async (ctx) => ctx.sleep("nap", HOUR), {
      actions: { destroy: (c) => c.destroy(), entries: (c) => c.workflow.history().length },
    });
    const rows = s.actor.store.dump();
    const [nap] = s.stored();
    if (!nap) throw new Error("no entry");
    const many = Array.from({ length: 140_000 }, (_, index): Entry => ({
      ...nap,
      seq: nap.seq + 1 + index,
      location: [`s${index}`],
      kind: "step",
      status: "completed",
      attempts: 1,
    }));
    for (const entry of many) rows.set(`e/${entry.seq}`, encodeEntry(entry));
    s.actor.crash();
    s.actor.store.restore(rows, s.clock.now() + 1_000 * HOUR);
    expect(await s.status()).toEqual({ status: "running" });
    expect(await s.call("entries")).toBe(140_001);
    await s.call("destroy");
    await s.world.passUntilQuiet();
    expect(s.actor.store.keys).toEqual([]);
  });
});

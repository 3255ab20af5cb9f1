import { describe, expect, it } from "vitest";
import { CriticalError, JoinError, StepExhaustedError } from "../../../src/entry/workflow.js";
import { Runs, finished, subject, type Ctx } from "../subject.js";

const HOUR = 3_600_000;

describe("join", () => {
  it("runs its branches at the same time, and gives every result by key, in the order of the code (D76)", async () => {
    const order: string[] = [];
    const s = await subject(async (ctx, { clock }) => {
      const branch = (name: string, ms: number) => ({
        run: (b: Ctx) =>
          b.step("work", async () => {
            order.push(`${name} begins`);
            await clock.delay(ms);
            order.push(`${name} ends`);
            return name.toUpperCase();
          }),
      });
      return ctx.join("j", { a: branch("a", 30), b: branch("b", 10), c: branch("c", 20) });
    });
    await s.world.pass(30);
    expect(order).toEqual(["a begins", "b begins", "c begins", "b ends", "c ends", "a ends"]);
    const { output } = await s.status();
    expect(output).toEqual({ a: "A", b: "B", c: "C" });
    expect(Object.keys(output as object)).toEqual(["a", "b", "c"]);
  });

  it("lets the others finish when one fails, then rejects with its error (D77)", async () => {
    const runs = new Runs();
    let caught: unknown;
    const s = await subject(async (ctx, { clock }) => {
      await ctx
        .join("j", {
          bad: { run: (b) => b.step("s", () => Promise.reject(new CriticalError("no"))) },
          good: {
            run: async (b) => {
              await b.step("s", () => clock.delay(50));
              runs.note("good");
            },
          },
        })
        .catch((error: unknown) => (caught = error));
    });
    expect(caught).toBeUndefined();
    await s.world.pass(50);
    expect(runs.list).toEqual(["good"]);
    expect(caught).toBeInstanceOf(JoinError);
    expect((caught as JoinError).errors["bad"]).toBeInstanceOf(CriticalError);
    expect(Object.keys((caught as JoinError).errors)).toEqual(["bad"]);
  });

  it("names all that failed, and rejects the same on replay (D78)", async () => {
    const caught: JoinError[] = [];
    const s = await subject(async (ctx) => {
      await ctx
        .join("j", {
          a: { run: (b) => b.step({ name: "s", maxRetries: 0, run: () => Promise.reject(new TypeError("first")) }) },
          ok: { run: async () => 1 },
          b: {
            run: async () => {
              throw Object.assign(new RangeError("second"), { code: "E", metadata: { n: 1 } });
            },
          },
        })
        .catch((error: JoinError) => caught.push(error));
      await ctx.sleep("stay", HOUR);
    });
    await s.replay();
    expect(caught).toHaveLength(2);
    for (const error of caught) {
      expect(error).toBeInstanceOf(JoinError);
      expect(error.message).toBe("Join failed: a, b");
      expect(error.errors["a"]).toBeInstanceOf(StepExhaustedError);
      expect(error.errors["a"]).toMatchObject({ stepName: "s", lastError: { name: "TypeError", message: "first" } });
      expect(error.errors["b"]).toMatchObject({ name: "RangeError", message: "second", code: "E", metadata: { n: 1 } });
    }
  });

  it("gives the recorded result on replay, and runs no branch (D79)", async () => {
    const runs = new Runs();
    const seen: unknown[] = [];
    const s = await subject(async (ctx) => {
      seen.push(
        await ctx.join("j", {
          a: { run: async () => (runs.note("a"), new Date(5)) },
          b: { run: async () => (runs.note("b"), undefined) },
        }),
      );
      await ctx.sleep("stay", HOUR);
    });
    await s.replay();
    expect(runs.list).toEqual(["a", "b"]);
    expect(seen).toEqual([
      { a: new Date(5), b: undefined },
      { a: new Date(5), b: undefined },
    ]);
  });

  it("may stand in a branch of another, and hold races (D80)", async () => {
    const runs = new Runs();
    const program = async (ctx: Ctx): Promise<unknown> => {
      const result = await ctx.join("outer", {
        left: {
          run: (b) =>
            b.join("inner", {
              x: { run: (c) => c.step("s", runs.of("x", 1)) },
              y: { run: (c) => c.step("s", runs.of("y", 2)) },
            }),
        },
        right: {
          run: (b) =>
            b.race("inner", [
              { name: "one", run: (c) => c.step("s", runs.of("one", 3)) },
              { name: "two", run: (c) => c.sleep("long", HOUR) as Promise<never> },
            ]),
        },
      });
      await ctx.sleep("stay", HOUR);
      return result;
    };
    const s = await subject(program);
    await s.replay();
    await s.world.pass(HOUR);
    expect((await s.status()).output).toEqual({ left: { x: 1, y: 2 }, right: { winner: "one", value: 3 } });
    expect(runs.list).toEqual(["x", "y", "one"]);
  });

  it("sleeps for a branch's retry, and succeeds later (D81)", async () => {
    const s = await subject(async (ctx) =>
      ctx.join("j", {
        flaky: {
          run: (b) =>
            b.step("s", (step) => {
              if (step.attempt < 3) throw new Error("not yet");
              return step.attempt;
            }),
        },
        quick: { run: (b) => b.step("s", () => "q") },
      }),
    );
    expect(s.actor.timersHeld).toBe(0);
    expect(s.actor.holdsLease).toBe(false);
    await s.world.pass(600);
    expect((await s.status()).output).toEqual({ flaky: 3, quick: "q" });
  });

  it.each([
    ["an empty object", {}],
    ["nothing", undefined],
  ])("gives {} for %s, without losing its hold on the work around it (D82)", async (_, branches) => {
    const s = await subject(async (ctx, { world, actor }) => {
      const result = await ctx.join("j", branches as never);
      await world.turn();
      return [result, actor.holdsLease];
    });
    await s.world.settle();
    expect((await s.status()).output).toEqual([{}, true]);
    expect(s.lines()).toEqual(["join j completed"]);
  });

  it("does not run a finished branch again when another waits (D83)", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) =>
      ctx.join("j", {
        done: {
          run: async (b) => {
            runs.note("done");
            return b.step("s", runs.of("step", 1));
          },
        },
        waits: { run: (b) => b.sleep("nap", HOUR) },
      }),
    );
    await s.replay();
    await s.world.pass(HOUR);
    expect(runs.list).toEqual(["done", "step"]);
    expect((await s.status()).output).toEqual({ done: 1, waits: undefined });
  });

  it("does not run a branch again that failed while another waits", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) =>
      ctx.join("j", {
        bad: {
          run: async () => {
            runs.note("bad");
            throw new Error("no");
          },
        },
        waits: { run: (b) => b.sleep("nap", HOUR) },
      }),
    );
    await s.replay();
    await s.world.pass(HOUR);
    expect(runs.list).toEqual(["bad"]);
    expect(await s.status()).toMatchObject({
      status: "failed",
      error: { name: "JoinError", message: "Join failed: bad" },
    });
  });

  it("writes its entry before anything of its branches, and waits with the earliest deadline", async () => {
    const s = await subject(async (ctx) =>
      ctx.join("j", {
        a: { run: (b) => b.sleep("two", 2 * HOUR) },
        b: { run: (b) => b.sleep("one", HOUR) },
        c: { run: (b) => b.queue.next("m", { names: ["m"] }) },
      }),
    );
    expect(s.stored()[0]).toMatchObject({ kind: "join", status: "pending", location: ["j"] });
    expect(s.actor.store.alarmAt).toBe(s.clock.now() + HOUR);
    expect(s.actor.timersHeld).toBe(0);
    await s.send("m", 1);
    await s.world.pass(2 * HOUR);
    expect((await s.status()).status).toBe("completed");
  });

  it("runs a timer beside a running step", async () => {
    const order: string[] = [];
    const s = await subject(async (ctx, { clock }) =>
      ctx.join("j", {
        long: { run: (b) => b.step("s", () => clock.delay(100).then(() => order.push("step"))) },
        timer: { run: (b) => b.sleep("t", 40).then(() => order.push("timer")) },
      }),
    );
    await s.world.pass(40);
    expect(order).toEqual(["timer"]);
    await s.world.pass(60);
    expect((await s.status()).status).toBe("completed");
  });

  it("makes a branch fail whose result cannot be stored; the actor still opens", async () => {
    const s = await finished(async (ctx) =>
      ctx
        .join("j", { bad: { run: async () => () => 1 }, good: { run: async () => 1 } })
        .catch((error: JoinError) => [error.message, error.errors["bad"]?.message]),
    );
    expect((await s.status()).output).toEqual(["Join failed: bad", expect.stringContaining("not serializable")]);
  });

  it("makes the branch fail with which its results become too large to store; the actor still opens", async () => {
    const s = await finished(async (ctx) => {
      const names = Array.from({ length: 18 }, (_, n) => `b${n}`);
      return ctx
        .join("j", Object.fromEntries(names.map((name) => [name, { run: async () => "x".repeat(1_900_000) }])))
        .catch((error: JoinError) => [error.message, (error.errors["b17"] as { code?: string }).code]);
    });
    expect((await s.status()).output).toEqual(["Join failed: b17", "too_large"]);
    expect(s.actor.crashes).toBe(0);
    await s.restart();
    expect((await s.status()).status).toBe("completed");
  });

  it.each([200, 1_000])("keeps the errors of %s branches within what can be stored", async (count) => {
    const s = await finished(async (ctx) => {
      const bad = {
        run: async () => {
          throw Object.assign(new Error("x".repeat(16_000)), { cause: new Error("y".repeat(16_000)) });
        },
      };
      return ctx.join("j", Object.fromEntries(Array.from({ length: count }, (_, n) => [`${"n".repeat(20)}${n}`, bad])));
    });
    for (let tries = 0; tries < 10; tries += 1) await s.world.settle();
    expect(s.actor.crashes).toBe(0);
    expect((await s.status()).error).toMatchObject({ name: "JoinError" });
    await s.restart();
    expect((await s.status()).error).toMatchObject({ name: "JoinError" });
  });

  it.each(["__proto__", "constructor", "", "a/b", "~1", "toString"])(
    "has a branch named %j like any other",
    async (name) => {
      const s = await subject(async (ctx) => {
        const branches = Object.fromEntries([
          [name, { run: (b: Ctx) => b.step("s", () => 1) }],
          ["other", { run: (b: Ctx) => b.step("s", () => 2) }],
        ]);
        const result = (await ctx.join("j", branches)) as Record<string, unknown>;
        await ctx.sleep("stay", HOUR);
        return Object.entries(result);
      });
      await s.replay();
      await s.world.pass(HOUR);
      expect((await s.status()).output).toEqual([
        [name, 1],
        ["other", 2],
      ]);
    },
  );

  it.each([
    ["no function", { a: {} }],
    ["nothing", { a: undefined }],
    ["a function alone", { a: async () => 1 }],
  ])("refuses a branch that is %s, and records nothing", async (_, branches) => {
    const s = await finished(async (ctx) =>
      Promise.resolve()
        .then(() => ctx.join("j", branches as never))
        .catch((error: { code: string }) => error.code),
    );
    expect((await s.status()).output).toBe("invalid_join");
    expect(s.stored()).toEqual([]);
  });

  it.each([
    ["10,001 branches", Array.from({ length: 10_001 }, (_, n) => String(n))],
    ["names of more than 1,000,000 bytes", Array.from({ length: 1_000 }, (_, n) => `${n}`.padEnd(600, "é"))],
    ["a name of 1 KiB and one byte", ["x".repeat(1_025)]],
  ])("refuses %s, and records nothing", async (_, names) => {
    const s = await finished(async (ctx) =>
      ctx
        .join("j", Object.fromEntries(names.map((name) => [name, { run: async () => 1 }])))
        .catch((error: { code: string }) => error.code),
    );
    expect((await s.status()).output).toBe("invalid_join");
    expect(s.stored()).toEqual([]);
  });

  it("takes branches that are not async", async () => {
    const s = await finished(async (ctx) =>
      ctx
        .join("j", {
          a: { run: () => 1 },
          b: {
            run: (): number => {
              throw new Error("sync");
            },
          },
        })
        .catch((error: JoinError) => error.errors["b"]?.message),
    );
    expect((await s.status()).output).toBe("sync");
  });

  it("writes each result once, those between two commits as one row, and none into its own entry", async () => {
    const s = await subject(async (ctx, self) => {
      const branch = (n: number) => ({
        run: (b: Ctx) => b.step("s", () => (n < 30 ? `result ${n}` : self.clock.delay(n).then(() => `result ${n}`))),
      });
      const result = (await ctx.join(
        "j",
        Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`b${n}`, branch(n)])),
      )) as object;
      return Object.entries(result).map(([name, value]) => `${name} ${value}`);
    });
    await s.world.passUntilQuiet();
    expect((await s.status()).output).toEqual(Array.from({ length: 40 }, (_, n) => `b${n} result ${n}`));
    const stored = s.stored();
    const rows = stored.filter((entry) => entry.kind === "branch_results");
    const places = rows.flatMap((row) => (row.data as [number, unknown][]).map(([place]) => place));
    expect([...places].sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, n) => n));
    expect(rows.length).toBeLessThan(25);
    expect(stored.find((entry) => entry.kind === "join")).toMatchObject({ status: "completed", data: { results: {} } });
    expect(stored.find((entry) => entry.kind === "join")?.value).toBeUndefined();
    s.actor.crash();
    expect((await s.history()).find((entry) => entry.kind === "join")?.value).toMatchObject({
      b0: "result 0",
      b39: "result 39",
    });
    expect((await s.history()).filter((entry) => entry.kind === "branch_results")).toEqual([]);
  });

  it("costs each of 3,000 branches the same in rows and bytes as each of 300, and lets others in", async () => {
    const run = async (count: number): Promise<{ rows: number; bytes: number; answered: number }> => {
      let answered = 0;
      let ended = 0;
      const s = await subject(async (ctx) => {
        await ctx.queue.next("go");
        await ctx.join(
          "j",
          Object.fromEntries(
            Array.from({ length: count }, (_, n) => [
              `${n}`.padStart(5),
              { run: (b: Ctx) => b.step("s", () => void (ended += 1)) },
            ]),
          ),
        );
      });
      const before = s.actor.store.rows;
      await s.send("q");
      // A caller that keeps asking while the join runs.
      while (ended < count) {
        await s.world.turn();
        await s.call("get");
        answered += 1;
      }
      await s.world.settle();
      const bytes = [...s.actor.store.dump()].reduce((sum, [, row]) => sum + row.byteLength, 0);
      expect((await s.status()).status).toBe("completed");
      return { rows: s.actor.store.rows - before, bytes, answered };
    };
    const few = await run(300);
    const many = await run(3_000);
    expect(many.rows / 3_000).toBeLessThan((few.rows / 300) * 1.05);
    expect(many.bytes / 3_000).toBeLessThan((few.bytes / 300) * 1.05);
    expect(many.answered).toBeGreaterThan(50);
  });

  it("takes 10,000 branches with names of 100 bytes, and results of 4 MB together", async () => {
    const s = await finished(async (ctx) => {
      const branches = Object.fromEntries(
        Array.from({ length: 10_000 }, (_, n) => [`${n}`.padEnd(100, "n"), { run: () => "x".repeat(400) }]),
      );
      return Object.keys((await ctx.join("j", branches)) as object).length;
    });
    expect((await s.status()).output).toBe(10_000);
    await s.restart();
    expect(s.actor.crashes).toBe(1);
  });

  it("keeps to the results it has when code before the end of the join runs again after a crash", async () => {
    const runs: string[] = [];
    const s = await subject(async (ctx) => {
      const result = await ctx.join("j", {
        first: { run: (b: Ctx) => b.step("s", () => (runs.push("first"), 1)) },
        second: { run: async (b: Ctx) => (await b.sleep("z", 1_000), b.step("s", () => (runs.push("second"), 2))) },
      });
      return result;
    });
    for (let times = 0; times < 3; times += 1) await s.replay();
    await s.world.pass(1_000);
    expect(await s.status()).toMatchObject({ status: "completed", output: { first: 1, second: 2 } });
    expect(runs).toEqual(["first", "second"]);
  });

  it("keeps the results of a join that had completed when something beside it is replayed", async () => {
    const s = await subject(async (ctx) => {
      const outer = (await ctx.join("outer", {
        a: {
          run: async (b: Ctx) => (
            await b.sleep("z", 10),
            b.join("inner", { x: { run: (i: Ctx) => i.step("s", () => "x") } })
          ),
        },
        b: {
          run: async (b: Ctx) => (await b.step("early", () => 1), await b.sleep("z", 5), b.step("target", () => 2)),
        },
      })) as Record<string, unknown>;
      await ctx.sleep("stay", HOUR);
      return outer;
    });
    await s.world.pass(20);
    const target = (await s.history()).find((entry) => entry.location.at(-1) === "target");
    await s.call("replayFrom", target?.id);
    await s.world.passUntilQuiet();
    expect(await s.status()).toMatchObject({ status: "completed", output: { a: { x: "x" }, b: 2 } });
  });
});

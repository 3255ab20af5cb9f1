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
      seen.push(await ctx.join("j", { a: { run: async () => (runs.note("a"), new Date(5)) }, b: { run: async () => (runs.note("b"), undefined) } }));
      await ctx.sleep("stay", HOUR);
    });
    await s.replay();
    expect(runs.list).toEqual(["a", "b"]);
    expect(seen).toEqual([{ a: new Date(5), b: undefined }, { a: new Date(5), b: undefined }]);
  });

  it("may stand in a branch of another, and hold races (D80)", async () => {
    const runs = new Runs();
    const program = async (ctx: Ctx): Promise<unknown> => {
      const result = await ctx.join("outer", {
        left: { run: (b) => b.join("inner", { x: { run: (c) => c.step("s", runs.of("x", 1)) }, y: { run: (c) => c.step("s", runs.of("y", 2)) } }) },
        right: { run: (b) => b.race("inner", [{ name: "one", run: (c) => c.step("s", runs.of("one", 3)) }, { name: "two", run: (c) => c.sleep("long", HOUR) as Promise<never> }]) },
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

  it.each([["an empty object", {}], ["nothing", undefined]])("gives {} for %s, without losing its hold on the work around it (D82)", async (_, branches) => {
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
    expect(await s.status()).toMatchObject({ status: "failed", error: { name: "JoinError", message: "Join failed: bad" } });
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
      ctx.join("j", { bad: { run: async () => () => 1 }, good: { run: async () => 1 } }).catch((error: JoinError) => [error.message, error.errors["bad"]?.message]),
    );
    expect((await s.status()).output).toEqual(["Join failed: bad", expect.stringContaining("not serializable")]);
  });

  it("makes the branch fail with which its results become too large to store; the actor still opens", async () => {
    const s = await finished(async (ctx) => {
      const big = { run: async () => "x".repeat(900_000) };
      return ctx.join("j", { a: big, b: big, c: big }).catch((error: JoinError) => [error.message, (error.errors["c"] as { code?: string }).code]);
    });
    expect((await s.status()).output).toEqual(["Join failed: c", "too_large"]);
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

  it.each(["__proto__", "constructor", "", "a/b", "~1", "toString"])("has a branch named %j like any other", async (name) => {
    const s = await subject(async (ctx) => {
      const branches = Object.fromEntries([[name, { run: (b: Ctx) => b.step("s", () => 1) }], ["other", { run: (b: Ctx) => b.step("s", () => 2) }]]);
      const result = (await ctx.join("j", branches)) as Record<string, unknown>;
      await ctx.sleep("stay", HOUR);
      return Object.entries(result);
    });
    await s.replay();
    await s.world.pass(HOUR);
    expect((await s.status()).output).toEqual([[name, 1], ["other", 2]]);
  });

  it.each([
    ["no function", { a: {} }],
    ["nothing", { a: undefined }],
    ["a function alone", { a: async () => 1 }],
  ])("refuses a branch that is %s, and records nothing", async (_, branches) => {
    const s = await finished(async (ctx) => Promise.resolve().then(() => ctx.join("j", branches as never)).catch((error: { code: string }) => error.code));
    expect((await s.status()).output).toBe("invalid_join");
    expect(s.stored()).toEqual([]);
  });

  it.each([
    ["10,001 branches", Array.from({ length: 10_001 }, (_, n) => String(n))],
    ["names of more than 100,000 characters", Array.from({ length: 200 }, (_, n) => `${n}`.padEnd(600))],
    ["a name of 1 KiB and one byte", ["x".repeat(1_025)]],
  ])("refuses %s, and records nothing", async (_, names) => {
    const s = await finished(async (ctx) =>
      ctx.join("j", Object.fromEntries(names.map((name) => [name, { run: async () => 1 }]))).catch((error: { code: string }) => error.code),
    );
    expect((await s.status()).output).toBe("invalid_join");
    expect(s.stored()).toEqual([]);
  });

  it("takes branches that are not async", async () => {
    const s = await finished(async (ctx) =>
      ctx.join("j", {
        a: { run: () => 1 },
        b: {
          run: (): number => {
            throw new Error("sync");
          },
        },
      }).catch((error: JoinError) => error.errors["b"]?.message),
    );
    expect((await s.status()).output).toBe("sync");
  });
});

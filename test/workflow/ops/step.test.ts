import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, it } from "vitest";
import { Loop } from "../../../src/workflow/index.js";
import { CriticalError, RollbackError, StepExhaustedError } from "../../../src/entry/workflow.js";
import { Runs, finished, subject, type Ctx, type Step } from "../subject.js";

describe("step", () => {
  it("runs once and gives its value (D1)", async () => {
    const runs = new Runs();
    const done = await finished(async (ctx) => ctx.step("a", runs.of("a", 7)));
    expect(await done.status()).toEqual({ status: "completed", output: 7 });
    expect(runs.list).toEqual(["a"]);
    expect(done.lines()).toEqual(["step a completed"]);
    expect(done.actor.store.alarmAt).toBeNull();
  });

  it("answers from history after a restart, without running again (D2)", async () => {
    const runs = new Runs();
    const values: unknown[] = [];
    const s = await subject(async (ctx) => {
      values.push(await ctx.step("a", runs.of("a", { n: 1 })));
      await ctx.sleep("pause", 1_000);
      values.push(await ctx.step("b", runs.of("b", 2)));
    });
    await s.replay();
    await s.world.pass(1_000);
    expect(values).toEqual([{ n: 1 }, { n: 1 }, 2]);
    expect(runs.list).toEqual(["a", "b"]);
  });

  it.each([
    ["undefined", undefined],
    ["null", null],
    ["false", false],
    ["0", 0],
    ["the empty string", ""],
  ])("runs once when it gives %s (D3)", async (_, value) => {
    const runs = new Runs();
    const seen: unknown[] = [];
    const s = await subject(async (ctx) => {
      seen.push(await ctx.step("a", runs.of("a", value)));
      await ctx.sleep("pause", 1_000);
    });
    await s.replay();
    expect(runs.count("a")).toBe(1);
    expect(seen).toEqual([value, value]);
  });

  it("runs three in a row, in their order, and stores the output (D4)", async () => {
    const runs = new Runs();
    const done = await finished(async (ctx) => {
      const one = await ctx.step("1", runs.of("1", 1));
      const two = await ctx.step("2", runs.of("2", 2));
      const three = await ctx.step("3", runs.of("3", 3));
      return one + two + three;
    });
    expect(runs.list).toEqual(["1", "2", "3"]);
    expect(await done.status()).toEqual({ status: "completed", output: 6 });
  });

  it("tries again until it succeeds (D5)", async () => {
    const runs = new Runs();
    const done = await finished(async (ctx) =>
      ctx.step("flaky", (step) => {
        runs.note("flaky");
        if (runs.count("flaky") < 3) throw new Error("not yet");
        return step.attempt;
      }),
    );
    expect(runs.count("flaky")).toBe(3);
    expect(done.stored()[0]?.failure).toBeUndefined();
    expect(await done.status()).toEqual({ status: "completed", output: 3 });
  });

  it("waits 200, 400 and 800 ms before its retries by default (D6)", async () => {
    const at: number[] = [];
    const s = await subject(async (ctx, self) => {
      await ctx.step("never", () => {
        at.push(self.clock.now());
        throw new Error("no");
      });
    });
    await s.world.passUntilQuiet();
    expect(at.length).toBe(4);
    expect(at.slice(1).map((time, index) => time - (at[index] as number))).toEqual([200, 400, 800]);
  });

  it("is asleep between attempts, with an alarm and no timer, and not failed (D7)", async () => {
    const s = await subject(async (ctx) => ctx.step("a", () => Promise.reject(new Error("no"))));
    expect((await s.status()).status).toBe("running");
    expect((await s.status()).wakeAt).toBe(s.clock.now() + 200);
    expect(s.actor.store.alarmAt).toBe(s.clock.now() + 200);
    expect(s.actor.timersHeld).toBe(0);
  });

  it("runs maxRetries + 1 times, then rejects with StepExhaustedError (D8)", async () => {
    const runs = new Runs();
    let caught: unknown;
    await finished(async (ctx) => {
      try {
        await ctx.step({ name: "x", maxRetries: 2, run: () => Promise.reject(runs.note("x") ?? new TypeError("bad")) });
      } catch (error) {
        caught = error;
      }
    });
    expect(runs.count("x")).toBe(3);
    expect(caught).toBeInstanceOf(StepExhaustedError);
    expect(caught).toMatchObject({
      message: 'Step "x" exhausted retries: TypeError: bad',
      stepName: "x",
      lastError: { name: "TypeError", message: "bad" },
    });
  });

  it("rejects the same after a restart, without running again (D9)", async () => {
    const runs = new Runs();
    const caught: unknown[] = [];
    const s = await subject(async (ctx) => {
      try {
        await ctx.step({
          name: "x",
          maxRetries: 0,
          run: () =>
            Promise.reject(runs.note("x") ?? Object.assign(new Error("bad"), { code: "E1", metadata: { n: 1 } })),
        });
      } catch (error) {
        caught.push(error);
      }
      await ctx.sleep("pause", 1_000);
    });
    await s.replay();
    expect(runs.count("x")).toBe(1);
    expect(caught).toHaveLength(2);
    expect(caught[1]).toBeInstanceOf(StepExhaustedError);
    const [live, replayed] = caught.map((error) => describeError(error));
    expect(replayed).toEqual(live);
    expect(s.logs.filter((line) => line.msg.includes("failed"))).toHaveLength(1);
  });

  it.each([
    ["a CriticalError", () => new CriticalError("stop"), "stop"],
    ["a CriticalError without a message", () => new CriticalError(), ""],
    [
      "an error of that name from another copy of the library",
      () => Object.assign(new Error("stop"), { name: "CriticalError" }),
      "stop",
    ],
  ])("does not retry after %s (D10)", async (_, make, message) => {
    const runs = new Runs();
    const done = await finished(async (ctx) => ctx.step("a", () => Promise.reject(runs.note("a") ?? make())));
    expect(runs.count("a")).toBe(1);
    expect(await done.status()).toMatchObject({ status: "failed", error: { name: "CriticalError", message } });
    expect(done.actor.store.alarmAt).toBeNull();
  });

  it("does not retry after a RollbackError, and what can be undone is (D11)", async () => {
    const runs = new Runs();
    const done = await finished(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.step({ name: "a", run: runs.of("a"), rollback: runs.of("undo a") });
      await ctx.step("b", () => Promise.reject(runs.note("b") ?? new RollbackError("back")));
    });
    expect(runs.list).toEqual(["a", "b", "undo a"]);
    expect(await done.status()).toMatchObject({ status: "failed", error: { name: "RollbackError", message: "back" } });
  });

  it("fails critically when its time is over, without a retry (D12)", async () => {
    const runs = new Runs();
    let caught: unknown;
    let signal: AbortSignal | undefined;
    const s = await subject(async (ctx) => {
      try {
        await ctx.step({
          name: "slow",
          timeout: 100,
          run: (step) => {
            runs.note("slow");
            signal = step.abortSignal;
            return new Promise(() => {});
          },
        });
      } catch (error) {
        caught = error;
        throw error;
      }
    });
    await s.world.pass(99);
    expect(caught).toBeUndefined();
    expect(signal?.aborted).toBe(false);
    await s.world.pass(1);
    expect(caught).toBeInstanceOf(CriticalError);
    expect((caught as Error).message).toBe('Step "slow" timed out after 100ms');
    expect(signal?.aborted).toBe(true);
    expect(runs.count("slow")).toBe(1);
    expect(await s.status()).toMatchObject({ status: "failed" });
  });

  it("retries a timeout if it says so, and keeps the kind `timeout` (D13)", async () => {
    const runs = new Runs();
    const caught: unknown[] = [];
    const s = await subject(async (ctx) => {
      await ctx
        .step({
          name: "slow",
          timeout: 100,
          retryOnTimeout: true,
          maxRetries: 1,
          run: () => new Promise(() => runs.note("slow")),
        })
        .catch((error: unknown) => caught.push(error));
      await ctx.sleep("pause", 3_600_000);
    });
    await s.world.pass(1_000);
    expect(runs.count("slow")).toBe(2);
    expect(caught[0]).toBeInstanceOf(StepExhaustedError);
    expect(s.stored()[0]?.failure).toMatchObject({ kind: "timeout", exhausted: true });
    await s.replay();
    expect(describeError(caught[1])).toEqual(describeError(caught[0]));
  });

  it.each([0, Number.POSITIVE_INFINITY])("has no time limit with timeout %s (D14)", async (timeout) => {
    const s = await subject(async (ctx, self) =>
      ctx.step({ name: "long", timeout, run: () => self.clock.delay(24 * 3_600_000) }),
    );
    await s.world.pass(24 * 3_600_000);
    expect((await s.status()).status).toBe("completed");
  });

  it("drops the late result of a timed-out attempt, and its context throws (D15)", async () => {
    let late: (() => unknown) | undefined;
    let finish: ((value: string) => void) | undefined;
    let view: { n: number } | undefined;
    const s = await subject(
      async (ctx) => {
        const result = await ctx.tryStep({
          name: "slow",
          timeout: 100,
          run: (step) => {
            late = () => step.state;
            view = step.state;
            return new Promise<string>((resolve) => (finish = resolve));
          },
        });
        await ctx.sleep("pause", 3_600_000);
        return result;
      },
      { state: { n: 1 } },
    );
    await s.world.pass(100);
    const stored = s.stored();
    finish?.("late");
    await s.world.settle();
    expect(s.stored()).toEqual(stored);
    expect(late).toThrowError(expect.objectContaining({ group: "workflow", code: "step_ended" }));
    expect(() => view?.n).toThrowError(/`state` is only available inside workflow steps/);
    expect(() => {
      (view as { n: number }).n = 2;
    }).toThrowError(expect.objectContaining({ code: "step_ended" }));
    expect(await s.state()).toEqual({ n: 1 });
    await s.world.pass(3_600_000);
    expect((await s.status()).output).toMatchObject({ ok: false, failure: { kind: "timeout", attempts: 1 } });
  });

  it("has documented defaults: 3 retries, base 100, max 30,000, timeout 30,000, no retry on timeout (D16)", async () => {
    const at: number[] = [];
    const s = await subject(async (ctx) => ctx.step("slow", () => new Promise(() => at.push(at.length))));
    await s.world.pass(29_999);
    expect((await s.status()).status).toBe("running");
    await s.world.pass(1);
    expect((await s.status()).status).toBe("failed");
    expect(at).toHaveLength(1);

    let seen: number | undefined;
    const retried = await finished(async (ctx) =>
      ctx.step({
        name: "r",
        maxRetries: 12,
        run: (step) => Promise.reject((seen = step.maxRetries) && new Error("no")),
      }),
    );
    expect(seen).toBe(12);
    // 200 … 25,600 doubling, then capped: the last gaps are 30 s.
    expect(retried.stored()[0]?.attempts).toBe(13);
  });

  it("takes a callback that is not async (D17)", async () => {
    const done = await finished(async (ctx) => ctx.step("plain", () => 5));
    expect((await done.status()).output).toBe(5);
  });

  it("treats a synchronous throw as a rejection (D18)", async () => {
    const done = await finished(async (ctx) =>
      ctx.step({
        name: "throws",
        maxRetries: 1,
        run: () => {
          throw new Error("sync");
        },
      }),
    );
    expect(await done.status()).toMatchObject({
      status: "failed",
      error: { message: 'Step "throws" exhausted retries: Error: sync' },
    });
  });

  it.each([
    ["a string", "plain text", "plain text"],
    ["undefined", undefined, "undefined"],
    ["null", null, "null"],
  ])("keeps %s that was thrown in its message (D19)", async (_, thrown, text) => {
    const done = await finished(async (ctx) =>
      ctx.step({ name: "throws", maxRetries: 0, run: () => Promise.reject(thrown) }),
    );
    expect((await done.status()).error?.message).toBe(
      `Step "throws" exhausted retries: ${text === "plain text" ? "Error: plain text" : `Error: ${text}`}`,
    );
  });

  it.each([
    ["nothing", undefined],
    ["a text", "x"],
  ])("rejects when it is given %s for a function, and records nothing (D20)", async (_, run) => {
    const done = await finished(async (ctx) => ctx.step("a", run as never));
    expect(await done.status()).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("Step run function missing") },
    });
    expect(done.stored()).toEqual([]);
  });

  it("gives back every kind of value that can be stored, live as on replay (D28)", async () => {
    const value = {
      date: new Date(5),
      map: new Map<unknown, unknown>([["a", 1n]]),
      set: new Set([1, "2"]),
      bytes: new Uint8Array([1, 2, 3]),
      numbers: [Number.NaN, Number.POSITIVE_INFINITY, -0],
      nothing: undefined,
      pattern: /a+/gi,
      error: new RangeError("r"),
    };
    const seen: (typeof value)[] = [];
    const s = await subject(async (ctx) => {
      seen.push(await ctx.step("all", () => value));
      await ctx.sleep("pause", 1_000);
    });
    await s.replay();
    expect(seen).toHaveLength(2);
    for (const each of seen) {
      expect(each).toEqual(value);
      expect(each).not.toBe(value);
      expect(each.error).toBeInstanceOf(RangeError);
      expect(Object.is(each.numbers[2], -0)).toBe(true);
    }
  });

  it("takes whatever is thrown for a failure, hostile values too", async () => {
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    const getters = Object.defineProperty(new Error("x"), "name", {
      get() {
        throw new Error("no");
      },
    });
    const s = await finished(async (ctx) => {
      const kinds: unknown[] = [];
      for (const [index, thrown] of [revoked.proxy, getters, Object.create(null), Symbol("s"), 1n].entries()) {
        const result = await ctx.tryStep({ name: `s${index}`, maxRetries: 1, run: () => Promise.reject(thrown) });
        kinds.push(result.ok ? "ok" : result.failure.kind);
      }
      return kinds;
    });
    expect((await s.status()).output).toEqual(Array(5).fill("exhausted"));
  });

  it("fails the workflow with whatever the workflow throws", async () => {
    for (const thrown of [undefined, null, 0, "text", Symbol("s"), Object.create(null)]) {
      const s = await finished(async (ctx) => {
        await ctx.rollbackCheckpoint("cp");
        throw thrown;
      });
      expect(await s.status()).toMatchObject({ status: "failed", error: { name: "Error" } });
    }
  });

  it.each([
    ["a function", () => () => 1, "function"],
    ["a class instance", () => new (class Point {})(), "Point"],
    ["a promise in an object", () => ({ p: Promise.resolve() }), "Promise"],
    ["two megabytes", () => "x".repeat(2_000_001), "too large"],
  ])("fails once and for good when it gives %s, and the actor still opens (D29)", async (_, make, text) => {
    const runs = new Runs();
    const s = await finished(async (ctx) => ctx.step("bad", () => (runs.note("bad"), make())));
    expect(runs.count("bad")).toBe(1);
    expect(await s.status()).toMatchObject({
      status: "failed",
      error: { name: "CriticalError", message: expect.stringContaining(text) },
    });
    expect(s.stored()[0]).toMatchObject({
      status: "failed",
      attempts: 1,
      failure: { kind: "critical", error: { code: "not_storable" } },
    });
    await s.restart();
    expect(runs.count("bad")).toBe(1);
    expect(s.actor.crashes).toBe(1);
  });

  it("fails critically when it leaves a state that cannot be stored, and the state is as it was", async () => {
    const runs = new Runs();
    const s = await finished(
      async (ctx) =>
        ctx.step("bad", (step) => {
          runs.note("bad");
          step.state.big = "x".repeat(2_000_001);
        }),
      { state: { big: "" } },
    );
    expect(runs.count("bad")).toBe(1);
    expect(await s.status()).toMatchObject({ status: "failed", error: { name: "CriticalError" } });
    expect(await s.state()).toEqual({ big: "" });
  });

  it("runs again after a crash in the middle of it, with the same attempt (D30)", async () => {
    const attempts: number[] = [];
    let finish: (() => void) | undefined;
    const s = await subject(async (ctx) =>
      ctx.step("a", (step) => {
        attempts.push(step.attempt);
        return new Promise<void>((resolve) => (finish = resolve));
      }),
    );
    expect(s.stored()).toEqual([]);
    await s.restart();
    expect(attempts).toEqual([1, 1]);
    expect(s.stored()[0]).toMatchObject({ status: "running", attempts: 0 });
    finish?.();
    await s.world.settle();
    expect(s.stored()[0]).toMatchObject({ status: "completed", attempts: 1, interrupted: 0 });
    expect((await s.status()).status).toBe("completed");
  });

  it("ends with workflow/step_interrupted when it was cut off ten times more, with what is recorded since the first", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) => ctx.tryStep("deadly", () => new Promise(() => runs.note("deadly"))));
    for (let boot = 0; boot < 20 && (await s.status()).status === "running"; boot += 1) await s.restart();
    expect((await s.status()).output).toMatchObject({
      ok: false,
      failure: { kind: "critical", error: { metadata: { code: "step_interrupted" } } },
    });
    // The first run writes nothing before it starts; the ten after it do.
    expect(runs.count("deadly")).toBe(11);
  });

  it("makes no commit of its own when it is ephemeral; its entry goes with the next (D25)", async () => {
    const commits: number[] = [];
    const keys: string[][] = [];
    const s = await subject(async (ctx, { actor: { store } }) => {
      const seen = (): void => {
        commits.push(store.commits);
        keys.push([...store.keys]);
      };
      await ctx.step("first", () => {});
      await ctx.step({ name: "e1", ephemeral: true, run: seen });
      seen();
      await ctx.step("last", () => {});
      await ctx.sleep("pause", 1_000);
    });
    expect(commits[1]).toBe(commits[0]);
    expect(s.lines()).toEqual([
      "step first completed",
      "step e1 completed",
      "step last completed",
      "sleep pause pending",
    ]);
  });

  it("is never behind the state that an ephemeral callback changed", async () => {
    let crash = false;
    const s = await subject(
      async (ctx, self) => {
        await ctx.step({
          name: "count",
          ephemeral: true,
          run: (step) => {
            step.state.n += 1;
          },
        });
        await self.world.turn();
        if (crash) await new Promise(() => {});
        await ctx.step("after", () => {});
      },
      { state: { n: 0 } },
    );
    crash = true;
    await s.restart();
    await s.world.passUntilQuiet();
    expect(await s.state()).toEqual({ n: 1 });
  });

  it("stores the error and no output with a failed attempt (D26)", async () => {
    const s = await subject(async (ctx) =>
      ctx.step("a", () =>
        Promise.reject(
          Object.assign(new TypeError("why"), { code: "E_WHY", metadata: { at: 3 }, cause: new Error("root") }),
        ),
      ),
    );
    const [entry] = s.stored();
    expect(entry).toMatchObject({
      status: "pending",
      attempts: 1,
      dueAt: s.clock.now() + 200,
      failure: {
        kind: "error",
        error: { name: "TypeError", message: "why", code: "E_WHY", metadata: { at: 3 }, cause: { message: "root" } },
      },
    });
    expect(entry?.value).toBeUndefined();
  });

  it("exhausts at once with maxRetries 0 (D160)", async () => {
    const runs = new Runs();
    const done = await finished(async (ctx) =>
      ctx.step({ name: "a", maxRetries: 0, run: () => Promise.reject(runs.note("a") ?? new Error("no")) }),
    );
    expect(runs.count("a")).toBe(1);
    expect((await done.status()).error?.name).toBe("StepExhaustedError");
  });

  it("is not started again by whatever happens while it runs (FLOW-14)", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx, { clock }) => {
      await ctx.step({ name: "long", timeout: 0, run: () => (runs.note("long"), clock.delay(600_000)) });
    });
    for (let n = 0; n < 5; n += 1) {
      await s.send("m", n);
      await s.call("get");
      await s.actor.fireAlarm();
      await s.world.pass(60_000);
    }
    await s.world.pass(300_000);
    expect(runs.list).toEqual(["long"]);
    expect((await s.status()).status).toBe("completed");
  });

  it("runs as often as it says, far beyond what the platform retries an alarm (P39)", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) => {
      await ctx.step({
        name: "s",
        maxRetries: 19,
        retryBackoffBase: 500,
        retryBackoffMax: 1_000,
        run: () => Promise.reject(runs.note("s") ?? new Error("no")),
      });
    });
    for (let n = 0; n < 25; n += 1) {
      s.actor.crash();
      await s.world.pass(1_000);
    }
    expect(runs.count("s")).toBe(20);
    expect((await s.status()).status).toBe("failed");
  });

  it("counts attempts for each step from 1, and a thrown retryAfter wins over the backoff", async () => {
    const attempts: [string, number, number][] = [];
    const s = await subject(async (ctx, { clock }) => {
      for (const name of ["a", "b"]) {
        await ctx.step(name, (step) => {
          attempts.push([name, step.attempt, clock.now()]);
          if (step.attempt === 1) throw Object.assign(new Error("later"), { retryAfter: 70_000 });
        });
      }
    });
    const start = s.clock.now();
    await s.world.passUntilQuiet();
    expect(attempts.map(([name, attempt]) => [name, attempt])).toEqual([
      ["a", 1],
      ["a", 2],
      ["b", 1],
      ["b", 2],
    ]);
    expect(attempts[1]?.[2]).toBe(start + 70_000);
    expect(attempts[3]?.[2]).toBe(start + 140_000);
  });

  it("keeps the state of failed attempts, as roll-forward says", async () => {
    const done = await finished(
      async (ctx) =>
        ctx.step("a", (step) => {
          step.state.n += 1;
          if (step.attempt < 3) throw new Error("no");
        }),
      { state: { n: 0 } },
    );
    expect(await done.state()).toEqual({ n: 3 });
  });

  it("costs one row, two if it changed the state, and nothing before it starts", async () => {
    const at: number[] = [];
    const s = await subject(
      async (ctx, { actor: { store } }) => {
        const rows = (): number => store.rows;
        await ctx.sleep("begin", 1_000);
        await ctx.step("warm", () => {});
        await ctx.step("plain", () => void at.push(rows()));
        await ctx.step("state", (step) => {
          at.push(rows());
          step.state.n = 5;
        });
        await ctx.step("after", () => void at.push(rows()));
      },
      { state: { n: 0 } },
    );
    await s.world.pass(1_000);
    expect(at[1]! - at[0]!).toBe(1);
    expect(at[2]! - at[1]!).toBe(2);
  });

  it("sends all it staged or nothing: a queue that has no room is a failure to be retried", async () => {
    const s = await subject(
      async (ctx) => {
        await ctx.sleep("begin", 10);
        await ctx.step("send", async (step: Step) => {
          for (let n = 0; n < 2; n += 1) await step.queue.send("out", n);
        });
        await ctx.sleep("stay", 3_600_000);
      },
      { options: { maxQueueSize: 3 } },
    );
    await s.send("other", 1);
    await s.send("other", 2);
    await s.world.pass(10);
    expect(s.queued).toBe(2);
    expect(s.stored().at(-1)).toMatchObject({
      location: ["send"],
      status: "pending",
      attempts: 1,
      failure: { error: { group: "queue", code: "full" } },
    });
    await s.call("tryNext", { names: ["other"] });
    await s.world.pass(200);
    expect(s.queued).toBe(3);
    expect(await s.call("tryNext", { names: ["out"] })).toMatchObject({ body: 0 });
  });

  it("sends what it staged with its success, and nothing from a failed attempt", async () => {
    const s = await subject(async (ctx) => {
      await ctx.step("send", async (step: Step) => {
        await step.queue.send("out", `attempt ${step.attempt}`);
        if (step.attempt === 1) throw new Error("after sending");
      });
      await ctx.sleep("pause", 3_600_000);
    });
    expect(s.queued).toBe(0);
    await s.world.pass(200);
    expect(s.queued).toBe(1);
    expect(await s.call("tryNext")).toMatchObject({ name: "out", body: "attempt 2" });
    expect(await s.call("tryNext")).toBeUndefined();
  });
});

function describeError(error: unknown): unknown {
  const { name, message, code, metadata, cause } = error as {
    name: string;
    message: string;
    code: unknown;
    metadata: unknown;
    cause: unknown;
  };
  return {
    constructor: (error as object).constructor.name,
    name,
    message,
    code,
    metadata,
    cause: cause === undefined ? undefined : describeError(cause),
  };
}

describe("what a step's callback gives and throws", () => {
  it.each([
    [
      "whose then throws",
      () => ({
        then: () => {
          throw new Error("thrown by then");
        },
      }),
    ],
    [
      "whose then cannot be read",
      () => ({
        get then(): never {
          throw new Error("thrown by then");
        },
      }),
    ],
  ])("a thenable %s is a failed attempt, retried like any", async (_, thenable) => {
    const runs = new Runs();
    const done = await finished(async (ctx) =>
      ctx
        .tryStep({ name: "s", maxRetries: 1, run: () => (runs.note("s"), thenable()) })
        .then((result) => !result.ok && [result.failure.kind, result.failure.attempts, result.failure.error.message]),
    );
    expect(await done.status()).toEqual({ status: "completed", output: ["exhausted", 2, "thrown by then"] });
    expect(runs.count("s")).toBe(2);
  });

  it("keeps AsyncLocalStorage in every attempt, whatever ended the one before", async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const s = await subject(async (ctx, self) =>
      storage.run("request 7", async () => {
        await ctx.step({
          name: "s",
          maxRetries: 3,
          timeout: 50,
          retryOnTimeout: true,
          run: async (step) => {
            seen.push(storage.getStore());
            if (step.attempt === 1) throw new Error("no");
            if (step.attempt === 2) await self.clock.delay(1_000);
            seen.push(storage.getStore());
          },
        });
        seen.push(storage.getStore());
      }),
    );
    await s.world.passUntilQuiet();
    expect(await s.status()).toMatchObject({ status: "completed" });
    expect(seen.length).toBeGreaterThanOrEqual(5);
    expect(new Set(seen)).toEqual(new Set(["request 7"]));
  });

  it("keeps the errors of an AggregateError, live and on replay", async () => {
    const seen: unknown[] = [];
    const s = await subject(async (ctx) => {
      await ctx
        .step({
          name: "s",
          maxRetries: 0,
          run: () =>
            Promise.any([
              Promise.reject(new TypeError("one")),
              Promise.reject(Object.assign(new Error("two"), { code: "E2" })),
            ]),
        })
        .catch((error: Error) => {
          const { errors } = error.cause as AggregateError;
          seen.push([
            error.cause instanceof AggregateError,
            errors.map(({ name, message, code }: { name: string; message: string; code?: string }) => [
              name,
              message,
              code,
            ]),
          ]);
        });
      await ctx.sleep("stay", 1_000);
    });
    await s.replay();
    const once = [
      true,
      [
        ["TypeError", "one", undefined],
        ["Error", "two", "E2"],
      ],
    ];
    expect(seen).toEqual([once, once]);
  });

  it("stores an AggregateError of many and long errors all the same", async () => {
    const done = await finished(async (ctx) => {
      const nested = (depth: number): Error =>
        new AggregateError(
          Array.from({ length: 300 }, () => (depth > 0 ? new Error("é".repeat(20_000)) : nested(1))),
          "é".repeat(20_000),
        );
      await ctx
        .step({
          name: "s",
          maxRetries: 0,
          run: () => {
            throw nested(0);
          },
        })
        .catch(() => {});
      return "done";
    });
    expect(await done.status()).toEqual({ status: "completed", output: "done" });
    expect(done.actor.crashes).toBe(0);
  });
});

describe("numbers that a step, a loop or a wait is given", () => {
  const step = (options: object) => (ctx: Ctx) => ctx.step({ name: "x", run: () => 1, ...options });
  const loop = (options: object) => (ctx: Ctx) => ctx.loop({ name: "x", run: async () => Loop.break(1), ...options });
  const bad: [what: string, run: (ctx: Ctx) => Promise<unknown>, code: string, says: string][] = [
    ...[Number.NaN, -1, 1.5, "3"].map(
      (maxRetries) =>
        [`maxRetries ${maxRetries}`, step({ maxRetries }), "invalid_step", "`maxRetries` must be an integer"] as never,
    ),
    ...[Number.NaN, -1, Number.POSITIVE_INFINITY, 1e300].map(
      (retryBackoffBase) =>
        [
          `retryBackoffBase ${retryBackoffBase}`,
          step({ retryBackoffBase }),
          "invalid_step",
          "`retryBackoffBase` must be",
        ] as never,
    ),
    ["retryBackoffMax NaN", step({ retryBackoffMax: Number.NaN }), "invalid_step", "`retryBackoffMax` must be"],
    ["timeout NaN", step({ timeout: Number.NaN }), "invalid_step", "`timeout` must be"],
    [
      "timeout of tryStep",
      (ctx) => ctx.tryStep({ name: "x", run: () => 1, timeout: "5" as never }),
      "invalid_step",
      "not string",
    ],
    ...[0, -1, 2.5, Number.NaN, Number.POSITIVE_INFINITY].map(
      (historyPruneInterval) =>
        [
          `historyPruneInterval ${historyPruneInterval}`,
          loop({ historyPruneInterval }),
          "invalid_loop",
          "`historyPruneInterval` must be an integer of at least 1",
        ] as never,
    ),
    ["historySize", loop({ historySize: -1 }), "invalid_loop", "`historySize` must be"],
    ...[Number.NaN, Number.POSITIVE_INFINITY, 1e300].map(
      (ms) => [`sleep ${ms}`, (ctx: Ctx) => ctx.sleep("x", ms), "invalid_time", "Sleep"] as never,
    ),
    ["sleepUntil 1e300", (ctx) => ctx.sleepUntil("x", 1e300), "invalid_time", "Sleep"],
    ["timeout of next", (ctx) => ctx.queue.next("x", { timeout: 1e300 }), "invalid_time", "timeout"],
    [
      "a name that is a number",
      (ctx) => ctx.step(5 as never, () => 1),
      "invalid_name",
      "it must be a string, not number",
    ],
    [
      "a loop whose name is a number",
      (ctx) => ctx.loop(5 as never, async () => Loop.break(1)),
      "invalid_name",
      "it must be a string, not number",
    ],
  ];

  it.each(bad)("%s is refused with a typed error, and nothing is recorded", async (_, run, code, says) => {
    const done = await finished(async (ctx) =>
      run(ctx).catch((error: { group: string; code: string; message: string }) => [
        error.group,
        error.code,
        error.message,
      ]),
    );
    const { output } = await done.status();
    expect(output).toEqual(["workflow", code, expect.stringContaining(says)]);
    expect(done.stored()).toEqual([]);
  });

  it("Infinity retries until one succeeds, and is no limit of an attempt's time", async () => {
    const done = await finished(async (ctx, self) =>
      ctx.step({
        name: "x",
        maxRetries: Number.POSITIVE_INFINITY,
        timeout: Number.POSITIVE_INFINITY,
        retryBackoffMax: 10,
        run: async (step) => {
          if (step.attempt < 20) throw new Error("no");
          await self.clock.delay(3_600_000);
          return step.attempt;
        },
      }),
    );
    expect(await done.status()).toEqual({ status: "completed", output: 20 });
  });

  it("a negative timeout is due now", async () => {
    const done = await finished(async (ctx, self) =>
      ctx.tryStep({ name: "x", timeout: -1, run: () => self.clock.delay(5) }),
    );
    expect(await done.status()).toMatchObject({ output: { ok: false, failure: { kind: "timeout" } } });
  });

  it("those of a recorded operation are not looked at again: it goes on as it began", async () => {
    const program = (maxRetries: number, historySize: number) => async (ctx: Ctx) => {
      await ctx.step({ name: "done", maxRetries, run: () => 1 });
      return ctx.loop({
        name: "l",
        historySize,
        run: async (l: Ctx) => (await l.sleep("z", 1_000), Loop.break("end")),
      });
    };
    const s = await subject(program(3, 5));
    const next = s.deploy(program(-1, -5));
    await next.world.passUntilQuiet();
    expect(await next.status()).toEqual({ status: "completed", output: "end" });
  });
});

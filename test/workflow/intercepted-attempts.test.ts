import { describe, expect, it } from "vitest";
import type { StepAttempt } from "../../src/actor/index.js";
import { ManualClock } from "../../src/testing/index.js";
import { Loop } from "../../src/workflow/index.js";
import { Runs, finished, subject, type Ctx, type Step } from "./subject.js";

/** Each attempt as `location attempt`, rollbacks with a sign. */
function line({ step, attempt, isRollback }: StepAttempt): string {
  return `${isRollback ? "-" : ""}${step.join("/")} ${attempt}`;
}

describe("an intercepted attempt", () => {
  it("runs something in place of the callback, whose result is the step's", async () => {
    const runs = new Runs();
    const done = await finished(async (ctx) => ctx.step("a", runs.of("a", 1)), {
      interceptAttempt: () => Promise.resolve({ given: true }),
    });
    expect(await done.status()).toEqual({ status: "completed", output: { given: true } });
    expect(runs.list).toEqual([]);
    expect(done.lines()).toEqual(["step a completed"]);
  });

  it("may run the callback, and gives what it gives or throws", async () => {
    const seen: string[] = [];
    const done = await finished(
      async (ctx) =>
        ctx.step("a", async (step) => {
          if (step.attempt === 1) throw new Error("once");
          return step.attempt;
        }),
      { interceptAttempt: (attempt) => (seen.push(line(attempt)), attempt.run()) },
    );
    expect(await done.status()).toEqual({ status: "completed", output: 2 });
    expect(seen).toEqual(["a 1", "a 2"]);
  });

  it("is retried as the callback would be", async () => {
    const at: number[] = [];
    const clock = new ManualClock();
    const s = await subject(async (ctx) => ctx.step({ name: "a", maxRetries: 2, run: () => 1 }), {
      clock,
      interceptAttempt: () => {
        at.push(clock.now());
        throw new Error("no");
      },
    });
    await s.world.passUntilQuiet();
    expect(at.map((each) => each - at[0]!)).toEqual([0, 200, 600]);
    expect(await s.status()).toMatchObject({ status: "failed", error: { name: "StepExhaustedError" } });
  });

  it("is refused a value that cannot be stored", async () => {
    const done = await finished(async (ctx) => ctx.step("a", () => 1), { interceptAttempt: () => () => 1 });
    expect(await done.status()).toMatchObject({ status: "failed", error: { name: "CriticalError" } });
  });

  it("that never settles is timed out, and its signal aborts", async () => {
    const signals: AbortSignal[] = [];
    const s = await subject(async (ctx) => ctx.step({ name: "a", timeout: 5_000, run: () => 1 }), {
      interceptAttempt: ({ abortSignal }) => (signals.push(abortSignal), new Promise(() => {})),
    });
    await s.world.pass(4_999);
    expect(await s.status()).toMatchObject({ status: "running" });
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    await s.world.pass(1);
    expect(await s.status()).toMatchObject({ status: "failed", error: { message: expect.stringContaining("5000ms") } });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it("has the step's context: its writes and messages are in the commit that records the step", async () => {
    const commits: string[][] = [];
    const done = await finished(async (ctx) => ctx.step("a", () => 1), {
      queues: { mail: {} } as never,
      interceptAttempt: ({ context }) => {
        const step = context as Step;
        step.state.log.push("written");
        void step.queue.send("mail", "sent");
      },
      onCommit: (rows) => void commits.push([...rows.keys()].sort()),
    });
    expect(await done.state()).toEqual({ log: ["written"] });
    expect(done.queued).toBe(1);
    for (const rows of commits) expect(rows.includes("m/1")).toBe(rows.some((key) => key.startsWith("e/")));
  });

  it("says where it is: in loops, branches and blocks, and which step a handler undoes", async () => {
    const seen: string[] = [];
    const done = await finished(
      async (ctx: Ctx) => {
        await ctx.rollbackCheckpoint("before");
        await ctx.loop("poll", async (each: Ctx) => {
          await each.step("check", () => 1);
          return Loop.break(undefined);
        });
        await ctx.join("both", { left: { run: (branch: Ctx) => branch.step("l", () => 1) } });
        await ctx.try("block", async (block: Ctx) =>
          block.tryStep({
            name: "t",
            run: () => 1,
            rollback: () => Promise.reject(new Error("undone")),
            maxRetries: 1,
          }),
        );
        throw new Error("undo");
      },
      { interceptAttempt: (attempt) => (seen.push(line(attempt)), attempt.run()) },
    );
    expect(await done.status()).toMatchObject({ status: "failed" });
    expect(seen).toEqual(["poll/0/check 1", "both/left/l 1", "block/t 1", "-block/t 1", "-block/t 2"]);
  });

  it("that a crash cut off is intercepted again, as the same attempt of the same actor", async () => {
    const seen: StepAttempt[] = [];
    const s = await subject(async (ctx) => ctx.step("a", () => 7), {
      interceptAttempt: (attempt) => (seen.push(attempt), seen.length === 1 ? new Promise(() => {}) : attempt.run()),
    });
    await s.restart();
    await s.world.passUntilQuiet();
    expect(seen.map(line)).toEqual(["a 1", "a 1"]);
    expect(seen).toMatchObject([
      { name: "subject", key: ["k"] },
      { name: "subject", key: ["k"] },
    ]);
    expect(await s.status()).toEqual({ status: "completed", output: 7 });
  });
});

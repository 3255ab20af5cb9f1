import { describe, expect, it } from "vitest";
import { CriticalError, RollbackError, type StepExhaustedError } from "../../../src/entry/workflow.js";
import { Runs, finished, subject } from "../subject.js";

const HOUR = 3_600_000;

describe("tryStep", () => {
  it("gives the value of a step that succeeds", async () => {
    const s = await finished(async (ctx) => [
      await ctx.tryStep("a", () => 1),
      await ctx.tryStep({ name: "b", run: async () => undefined }),
    ]);
    expect((await s.status()).output).toEqual([
      { ok: true, value: 1 },
      { ok: true, value: undefined },
    ]);
    expect(s.lines()).toEqual(["step a completed", "step b completed"]);
  });

  it("gives a critical failure, the same on replay without another run (D95)", async () => {
    const runs = new Runs();
    const seen: unknown[] = [];
    const s = await subject(async (ctx) => {
      seen.push(
        await ctx.tryStep("a", () =>
          Promise.reject(runs.note("a") ?? new CriticalError("stop", { metadata: { n: 1 } })),
        ),
      );
      await ctx.sleep("stay", HOUR);
    });
    await s.replay();
    const failure = {
      kind: "critical",
      stepName: "a",
      attempts: 1,
      error: { name: "CriticalError", message: "stop", metadata: { group: "workflow", code: "critical", n: 1 } },
    };
    expect(seen).toEqual([
      { ok: false, failure },
      { ok: false, failure },
    ]);
    expect(runs.count("a")).toBe(1);
    expect((await s.status()).status).toBe("running");
  });

  it("retries first, and gives only the exhausted failure (D96)", async () => {
    const runs = new Runs();
    const s = await finished(async (ctx) =>
      ctx.tryStep({ name: "a", maxRetries: 2, run: () => Promise.reject(runs.note("a") ?? new TypeError("no")) }),
    );
    expect(runs.count("a")).toBe(3);
    expect((await s.status()).output).toEqual({
      ok: false,
      failure: { kind: "exhausted", stepName: "a", attempts: 3, error: { name: "TypeError", message: "no" } },
    });
  });

  it("gives `exhausted` after one attempt with maxRetries 0 (D97)", async () => {
    const s = await finished(async (ctx) =>
      ctx.tryStep({ name: "a", maxRetries: 0, run: () => Promise.reject(new Error("no")) }),
    );
    expect((await s.status()).output).toMatchObject({ ok: false, failure: { kind: "exhausted", attempts: 1 } });
  });

  it.each([
    [false, 1],
    [true, 2],
  ])("gives `timeout`, live and replayed (retryOnTimeout %s)", async (retryOnTimeout, attempts) => {
    const runs = new Runs();
    const seen: unknown[] = [];
    const s = await subject(async (ctx) => {
      seen.push(
        await ctx.tryStep({
          name: "slow",
          timeout: 10,
          retryOnTimeout,
          maxRetries: 1,
          run: () => new Promise(() => runs.note("slow")),
        }),
      );
      await ctx.sleep("stay", HOUR);
    });
    await s.world.pass(1_000);
    await s.replay();
    expect(seen).toHaveLength(2);
    expect(seen[0]).toMatchObject({
      ok: false,
      failure: { kind: "timeout", attempts, error: { message: 'Step "slow" timed out after 10ms' } },
    });
    expect(seen[1]).toEqual(seen[0]);
    expect(runs.count("slow")).toBe(attempts);
  });

  it("lets a RollbackError through unless it is to be caught, and what can be undone is undone (D98)", async () => {
    const runs = new Runs();
    const s = await finished(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.step({ name: "a", run: runs.of("a"), rollback: runs.of("undo a") });
      await ctx.tryStep("b", () => Promise.reject(new RollbackError("back")));
    });
    expect(runs.list).toEqual(["a", "undo a"]);
    expect(await s.status()).toMatchObject({ status: "failed", error: { name: "RollbackError" } });
  });

  it("gives a RollbackError that it is to catch, and nothing is undone (D99)", async () => {
    const runs = new Runs();
    const s = await finished(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.step({ name: "a", run: runs.of("a"), rollback: runs.of("undo a") });
      return ctx.tryStep({ name: "b", catch: ["rollback"], run: () => Promise.reject(new RollbackError("back")) });
    });
    expect(runs.list).toEqual(["a"]);
    expect((await s.status()).output).toMatchObject({
      ok: false,
      failure: { kind: "rollback", attempts: 1, error: { name: "RollbackError", message: "back" } },
    });
  });

  it("lets through what its list does not have", async () => {
    const s = await finished(async (ctx) => {
      const names: string[] = [];
      await ctx
        .tryStep({ name: "a", catch: ["critical"], maxRetries: 0, run: () => Promise.reject(new Error("no")) })
        .catch((error: StepExhaustedError) => names.push(error.name));
      await ctx
        .tryStep({ name: "b", catch: [], run: () => Promise.reject(new CriticalError("no")) })
        .catch((error: CriticalError) => names.push(error.name));
      return names;
    });
    expect((await s.status()).output).toEqual(["StepExhaustedError", "CriticalError"]);
  });

  it("keeps the state that the failed step had changed (D105)", async () => {
    const s = await finished(
      async (ctx) =>
        ctx.tryStep({
          name: "a",
          maxRetries: 0,
          run: (step) => {
            step.state.n = 1;
            throw new Error("no");
          },
        }),
      { state: { n: 0 } },
    );
    expect(await s.state()).toEqual({ n: 1 });
  });

  it("gives a value that cannot be stored as a critical failure", async () => {
    const s = await finished(async (ctx) => ctx.tryStep("a", () => () => 1));
    expect((await s.status()).output).toMatchObject({
      ok: false,
      failure: { kind: "critical", attempts: 1, error: { metadata: { code: "not_serializable" } } },
    });
  });

  it("needs a function", async () => {
    const s = await finished(async (ctx) =>
      ctx.tryStep("a", undefined as never).catch((error: Error) => error.message),
    );
    expect((await s.status()).output).toContain("Step run function missing");
  });
});

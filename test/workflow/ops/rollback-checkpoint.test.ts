import { describe, expect, it } from "vitest";
import { Loop } from "../../../src/entry/workflow.js";
import { Runs, finished, subject, type Ctx } from "../subject.js";

const HOUR = 3_600_000;

describe("rollbackCheckpoint", () => {
  it("is recorded, and answers from history", async () => {
    const s = await subject(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.sleep("stay", HOUR);
    });
    expect(s.lines()).toEqual(["rollback_checkpoint cp completed", "sleep stay pending"]);
    await s.replay();
    expect((await s.status()).status).toBe("running");
    await s.world.pass(HOUR);
    expect((await s.status()).status).toBe("completed");
  });

  it("is missed by a step with a rollback: the workflow fails, the step does not run, nothing is undone (D107)", async () => {
    const runs = new Runs();
    const s = await finished(async (ctx) => {
      await ctx
        .step({ name: "a", run: runs.of("a"), rollback: runs.of("undo a") })
        .catch(() => runs.note("caught"))
        .finally(() => runs.note("finally"));
      await ctx.step("b", runs.of("b"));
    });
    expect(await s.status()).toMatchObject({
      status: "failed",
      error: { name: "RollbackCheckpointError", message: expect.stringContaining('Step "a" has a rollback') },
    });
    expect(runs.list).not.toContain("a");
    expect(runs.list).not.toContain("b");
    expect(s.errors).toHaveLength(1);
    const rows = s.actor.store.dump();
    await s.restart();
    expect(s.actor.store.dump()).toEqual(rows);
  });

  it.each<[string, (ctx: Ctx, step: (b: Ctx) => Promise<unknown>) => Promise<unknown>]>([
    ["a loop", (ctx, step) => ctx.loop("l", async (round) => Loop.break(await step(round)))],
    ["a join", (ctx, step) => ctx.join("j", { a: { run: step } })],
    ["a race", (ctx, step) => ctx.race("r", [{ name: "a", run: step }])],
    ["a try block", (ctx, step) => ctx.try("t", step)],
    [
      "a try block in a loop in a join",
      (ctx, step) =>
        ctx.join("j", { a: { run: (b) => b.loop("l", async (round) => Loop.break(await round.try("t", step))) } }),
    ],
  ])("counts for the steps in %s in its scope (D159)", async (_, run) => {
    const runs = new Runs();
    const s = await finished(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await run(ctx, (b) => b.step({ name: "a", run: runs.of("a"), rollback: runs.of("undo a") }));
    });
    expect((await s.status()).status).toBe("completed");
    expect(runs.list).toEqual(["a"]);
  });

  it("does not count for the scope around it", async () => {
    const runs = new Runs();
    const s = await finished(async (ctx) => {
      await ctx.try("t", (b) => b.rollbackCheckpoint("cp"));
      await ctx.step({ name: "a", run: runs.of("a"), rollback: runs.of("undo a") });
    });
    expect(await s.status()).toMatchObject({ status: "failed", error: { name: "RollbackCheckpointError" } });
    expect(runs.list).toEqual([]);
  });
});

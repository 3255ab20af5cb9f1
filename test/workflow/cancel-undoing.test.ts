import { describe, expect, it } from "vitest";
import { CancelledError, CriticalError } from "../../src/entry/workflow.js";
import { Runs, finished, subject, type Ctx } from "./subject.js";

const HOUR = 3_600_000;

/** A trip that waits for a message after two steps that can be undone. */
function trip(runs: Runs, undo: (name: string) => unknown = () => {}): (ctx: Ctx) => Promise<unknown> {
  return async (ctx) => {
    await ctx.rollbackCheckpoint("cp");
    for (const name of ["hotel", "flight"]) {
      await ctx.step({
        name,
        run: runs.of(name),
        rollback: () => {
          runs.note(`undo ${name}`);
          return undo(name) as never;
        },
        maxRetries: 0,
      });
    }
    await ctx.step("mail", runs.of("mail"));
    await ctx.sleep("nap", HOUR).catch((error: Error) => {
      runs.note(error.name);
      throw error;
    });
    await ctx.step("never", runs.of("never"));
  };
}

describe("cancel with rollback", () => {
  it("undoes completed steps, the latest first, and ends as cancelled; in memory, evicted and paused", async () => {
    for (const how of ["in memory", "evicted", "paused"]) {
      const runs = new Runs();
      const s = await subject(trip(runs));
      if (how === "evicted") s.actor.crash();
      if (how === "paused") await s.call("pause");
      await s.call("cancel", { rollback: true });
      await s.world.passUntilQuiet();
      const told = how === "in memory" ? ["CancelledError"] : [];
      expect(runs.list, how).toEqual(["hotel", "flight", "mail", ...told, "undo flight", "undo hotel"]);
      expect(await s.status()).toEqual({ status: "cancelled" });
      expect(s.actor.holdsLease).toBe(false);
      expect(s.actor.store.alarmAt).toBeNull();
    }
  });

  it("is one commit that keeps the lease: a crash right after it undoes all the same", async () => {
    const runs = new Runs();
    const s = await subject(trip(runs, () => new Promise(() => {})));
    await s.call("cancel", { rollback: true });
    expect(await s.status()).toMatchObject({ status: "rolling_back", error: { name: "CancelledError" } });
    expect(s.actor.holdsLease).toBe(true);
    const next = s.deploy(trip(runs));
    await next.world.passUntilQuiet();
    expect(await next.status()).toEqual({ status: "cancelled" });
    expect(runs.list.slice(-2)).toEqual(["undo flight", "undo hotel"]);
  });

  it("drops a running step, whose signal fires", async () => {
    let reason: unknown;
    const runs = new Runs();
    const s = await subject(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.step({ name: "a", run: runs.of("a"), rollback: runs.of("undo a") });
      await ctx.step({
        name: "long",
        run: (step) =>
          new Promise(() => step.abortSignal.addEventListener("abort", () => (reason = step.abortSignal.reason))),
        rollback: runs.of("undo long"),
      });
    });
    await s.call("cancel", { rollback: true });
    await s.world.settle();
    expect(reason).toBeInstanceOf(CancelledError);
    expect(runs.list).toEqual(["a", "undo a"]);
    expect(await s.status()).toEqual({ status: "cancelled" });
  });

  it("names the handlers that failed, and undoes the others", async () => {
    const runs = new Runs();
    const s = await subject(
      trip(runs, (name) => {
        if (name === "flight") throw new CriticalError("no refund");
      }),
    );
    await s.call("cancel", { rollback: true });
    await s.world.settle();
    expect(runs.list.slice(-2)).toEqual(["undo flight", "undo hotel"]);
    const { status, rollbackErrors } = await s.status();
    expect([status, rollbackErrors]).toMatchObject(["cancelled", [{ stepName: "flight" }]]);
    await s.restart();
    expect(await s.status()).toMatchObject({ status: "cancelled", rollbackErrors: [{ stepName: "flight" }] });
  });

  it("ends at once where nothing can be undone, and does nothing where the run has ended", async () => {
    const s = await subject(async (ctx) => ctx.sleep("nap", HOUR));
    await s.call("cancel", { rollback: true });
    expect(await s.status()).toEqual({ status: "cancelled" });
    const done = await finished(async () => 1);
    const rows = done.actor.store.dump();
    await done.call("cancel", { rollback: true });
    expect(done.actor.store.dump()).toEqual(rows);
  });

  it("is refused while the run is being undone; without rollback it ends that", async () => {
    const s = await subject(trip(new Runs(), () => new Promise(() => {})));
    await s.call("cancel", { rollback: true });
    await expect(s.call("cancel", { rollback: true })).rejects.toMatchObject({ code: "rolling_back" });
    await s.call("cancel");
    await s.world.passUntilQuiet();
    expect(await s.status()).toEqual({ status: "cancelled" });
  });

  it("refuses options that are not valid, and changes nothing", async () => {
    const s = await subject(trip(new Runs()));
    const rows = s.actor.store.dump();
    for (const bad of [{ rollback: "yes" }, { undo: true }, 5]) await expect(s.call("cancel", bad)).rejects.toThrow();
    expect(s.actor.store.dump()).toEqual(rows);
  });

  it("undone steps start over with replayFrom", async () => {
    const runs = new Runs();
    const s = await subject(trip(runs));
    await s.call("cancel", { rollback: true });
    await s.world.passUntilQuiet();
    const mail = (await s.history()).find(({ location }) => location[0] === "mail");
    await s.call("replayFrom", mail?.id);
    await s.world.passUntilQuiet();
    expect(runs.list.slice(-4)).toEqual(["hotel", "flight", "mail", "never"]);
    expect((await s.status()).status).toBe("completed");
  });
});

describe("retry", () => {
  it("is refused while the run is being undone, and works when it has failed", async () => {
    let broken = true;
    let undone!: () => void;
    const s = await subject(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.step({ name: "a", run: () => 1, rollback: () => new Promise<void>((resolve) => (undone = resolve)) });
      return ctx.step({ name: "b", maxRetries: 0, run: () => (broken ? Promise.reject(new Error("no")) : 2) });
    });
    broken = false;
    for (const verb of ["retry", "recover"])
      await expect(s.call(verb)).rejects.toMatchObject({ group: "workflow", code: "rolling_back" });
    undone();
    await s.world.settle();
    await s.call("retry");
    await s.world.settle();
    expect(await s.status()).toEqual({ status: "completed", output: 2 });
  });

  it("in a hook of the start does nothing then: the start must not fail", async () => {
    const runs = new Runs();
    const program = trip(runs, () => new Promise(() => {}));
    const s = await subject(program);
    await s.call("cancel", { rollback: true });
    const next = s.deploy(trip(runs), {
      config: { onWake: (c: { workflow: { retry(): void } }) => c.workflow.retry() },
    });
    await next.world.passUntilQuiet();
    expect((await next.status()).status).toBe("cancelled");
  });
});

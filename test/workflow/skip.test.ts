import { describe, expect, it } from "vitest";
import { Runs, finished, subject, type Ctx, type Subject } from "./subject.js";

const HOUR = 3_600_000;

async function idOf(s: Subject, ...location: string[]): Promise<string> {
  const found = (await s.history()).find((entry) => entry.location.join("/") === location.join("/"));
  return found?.id ?? "none";
}

/** Charges, which fails each time, then ships. */
function order(runs: Runs, maxRetries: number): (ctx: Ctx) => Promise<unknown> {
  return async (ctx) => {
    await ctx.step("reserve", runs.of("reserve"));
    const paid = await ctx.step({
      name: "charge",
      maxRetries,
      retryBackoffBase: HOUR,
      retryBackoffMax: HOUR,
      run: async () => {
        runs.note("charge");
        throw new Error("502");
      },
    });
    await ctx.step("ship", runs.of("ship"));
    return paid;
  };
}

describe("skip", () => {
  it("completes a step in backoff with the value, in memory, evicted and crashed after; its attempts stay in view", async () => {
    for (const how of ["in memory", "evicted", "crashed after"]) {
      const runs = new Runs();
      const s = await subject(order(runs, 3));
      const id = await idOf(s, "charge");
      if (how === "evicted") s.actor.crash();
      await s.call("skip", id, { receipt: 7n });
      if (how === "crashed after") s.actor.crash();
      await s.world.passUntilQuiet();
      expect(await s.status(), how).toEqual({ status: "completed", output: { receipt: 7n } });
      expect(runs.list).toEqual(["reserve", "charge", "ship"]);
      const entry = (await s.history()).find((each) => each.id === id);
      expect(entry).toMatchObject({ status: "completed", skipped: true, value: { receipt: 7n }, attempts: 1 });
      expect(entry?.failedAttempts).toHaveLength(1);
      expect(entry).not.toHaveProperty("error");
    }
  });

  it("on a failed run completes the step that failed it, and retries", async () => {
    for (const evicted of [false, true]) {
      const runs = new Runs();
      const s = await finished(order(runs, 0));
      expect((await s.status()).status).toBe("failed");
      if (evicted) await s.restart();
      await s.call("skip", await idOf(s, "charge"), "by hand");
      await s.world.passUntilQuiet();
      expect(await s.status()).toEqual({ status: "completed", output: "by hand" });
      expect(runs.list).toEqual(["reserve", "charge", "ship"]);
    }
  });

  it("of a failed join completes one branch's step; the others that failed start over", async () => {
    let broken = true;
    const s = await finished(async (ctx) => {
      const branch = (): object => ({
        run: (b: Ctx) =>
          b.step({ name: "s", maxRetries: 0, run: () => (broken ? Promise.reject(new Error("no")) : "up") }),
      });
      return ctx.join("j", { a: branch(), b: branch() } as never);
    });
    broken = false;
    await s.call("skip", await idOf(s, "j", "a", "s"), "skipped");
    await s.world.passUntilQuiet();
    expect((await s.status()).output).toEqual({ a: "skipped", b: "up" });
  });

  it("a paused run stays paused, and has the value when it goes on", async () => {
    const runs = new Runs();
    const s = await subject(order(runs, 3));
    await s.call("pause");
    await s.call("skip", await idOf(s, "charge"), "by hand");
    await s.world.passUntilQuiet();
    expect((await s.status()).status).toBe("paused");
    await s.call("resume");
    await s.world.settle();
    expect((await s.status()).output).toBe("by hand");
  });

  it("takes nothing but the step that holds the run, and a value that can be stored; refusals change nothing", async () => {
    const s = await subject(order(new Runs(), 3));
    const [reserve, charge] = [await idOf(s, "reserve"), await idOf(s, "charge")];
    const rows = s.actor.store.dump();
    await expect(s.call("skip", reserve, 1)).rejects.toMatchObject({ group: "workflow", code: "step_passed" });
    await expect(s.call("skip", "999", 1)).rejects.toMatchObject({ code: "step_not_found" });
    await expect(s.call("skip", charge, new Map([["x".repeat(2_100_000), 1]]))).rejects.toMatchObject({
      group: "value",
      code: "too_large",
    });
    await expect(s.call("skip", charge, 1, { why: "x" })).rejects.toThrow();
    expect(s.actor.store.dump()).toEqual(rows);
    const done = await finished(async (ctx) => ctx.step("s", () => 1));
    await expect(done.call("skip", await idOf(done, "s"), 1)).rejects.toMatchObject({ code: "step_passed" });
  });

  it("is refused while an attempt of the step runs", async () => {
    let attempts = 0;
    const s = await subject(async (ctx) =>
      ctx.step({
        name: "s",
        retryBackoffBase: 1_000,
        run: () => ((attempts += 1) === 1 ? Promise.reject(new Error("no")) : new Promise<void>(() => {})),
      }),
    );
    await s.world.pass(2_000);
    expect(attempts).toBe(2);
    await expect(s.call("skip", await idOf(s, "s"), 1)).rejects.toMatchObject({ code: "workflow_in_flight" });
  });

  it("a step that failed and whose failure the code handled does not hold the run", async () => {
    const s = await finished(async (ctx) => {
      await ctx.tryStep({ name: "handled", maxRetries: 0, run: () => Promise.reject(new Error("no")) });
      await ctx.step({ name: "bad", maxRetries: 0, run: () => Promise.reject(new Error("no")) });
    });
    await expect(s.call("skip", await idOf(s, "handled"), 1)).rejects.toMatchObject({ code: "step_passed" });
    await s.call("skip", await idOf(s, "bad"), 1);
    await s.world.settle();
    expect((await s.status()).status).toBe("completed");
  });
});

describe("a dry run", () => {
  it("tells in words and as data what would happen, and changes nothing", async () => {
    const runs = new Runs();
    const s = await finished(
      async (ctx) => {
        await ctx.rollbackCheckpoint("cp");
        await ctx.step({ name: "reserve", run: runs.of("reserve"), rollback: () => {} });
        await ctx.queue.next("go", { names: ["q"], timeout: 1_000 }).catch(() => {});
        try {
          await ctx.step({ name: "charge", maxRetries: 0, run: () => Promise.reject(new Error("no")) });
        } finally {
          await ctx.step("log", runs.of("log"));
        }
      },
      { queues: { q: {} } as never },
    );
    const rows = s.actor.store.dump();
    const ids = Object.fromEntries(
      (await s.history()).map(({ id, location, kind }) => [`${kind} ${location.join("/")}`, id]),
    );
    const dry = { dryRun: true };
    expect(await s.call("retry", dry)).toEqual({
      sentence: 'Runs "reserve", "charge" again, deletes "log", an undoing, keeps 2 entries.',
      again: [ids["step reserve"], ids["step charge"]],
      deleted: [ids["step log"], ids["rollback reserve"]],
      kept: [ids["rollback_checkpoint cp"], ids["message go"]],
      messages: [],
    });
    expect((await s.call("skip", ids["step charge"], 1, dry)).sentence).toBe(
      'Completes "charge" with the value, runs "reserve" again, deletes "log", an undoing, keeps 3 entries.',
    );
    expect((await s.call("cancel", dry)).sentence).toBe("Does nothing, keeps 6 entries.");
    expect((await s.call("replayFrom", ids["step charge"], dry)).deleted).toEqual([
      ids["step charge"],
      ids["step log"],
      ids["rollback reserve"],
    ]);
    expect(s.actor.store.dump()).toEqual(rows);
    await expect(s.call("retry", { dryRun: "yes" })).rejects.toThrow();
    await expect(s.call("pause", "x", dry)).rejects.toThrow();
  });

  it("names the messages that would be queued again", async () => {
    const s = await finished(
      async (ctx) => {
        await ctx.step("a", () => 1);
        await ctx.queue.next("m", { names: ["q"] });
        await ctx.step({ name: "bad", maxRetries: 0, run: () => Promise.reject(new Error("no")) });
      },
      { queues: { q: {} } as never },
    );
    const { id } = await s.send("q", "x");
    await s.world.settle();
    const plan = await s.call("replayFrom", await idOf(s, "a"), { dryRun: true });
    expect(plan.messages).toEqual([id]);
    expect(plan.sentence).toBe('Deletes "a", "m", "bad", returns 1 message to the queue, keeps 0 entries.');
  });
});

describe("acts", () => {
  it("are kept with their time and by whom, the last twenty, also when the run ends and over restarts", async () => {
    const s = await subject(async (ctx) => ctx.sleep("nap", HOUR));
    const at = s.clock.now();
    await s.call("pause", "why", { by: "ada" });
    await s.call("resume", { dryRun: true, by: "nobody" });
    await s.call("resume");
    await s.call("retry");
    await s.call("cancel", { by: "bob" });
    await s.restart();
    expect((await s.position()).acts).toEqual([
      { at, act: "pause", by: "ada" },
      { at, act: "resume" },
      { at, act: "cancel", by: "bob" },
    ]);
    for (let times = 0; times < 25; times += 1) await s.call("replayFrom", undefined, { by: `b${times}` });
    const { acts } = await s.position();
    expect(acts).toHaveLength(20);
    expect(acts?.at(-1)).toMatchObject({ act: "replayFrom", by: "b24" });
    await expect(s.call("cancel", { by: "x".repeat(201) })).rejects.toThrow();
  });
});

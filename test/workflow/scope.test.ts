import { describe, expect, it } from "vitest";
import { Loop } from "../../src/entry/workflow.js";
import { Runs, finished, subject, type Ctx, type Subject } from "./subject.js";

const HOUR = 3_600_000;

async function expectFailedOnce(s: Subject, error: object): Promise<void> {
  expect(await s.status()).toMatchObject({ status: "failed", error });
  expect(s.errors).toHaveLength(1);
  expect(s.actor.store.alarmAt).toBeNull();
  expect(s.actor.holdsLease).toBe(false);
  // It has ended: nothing runs again.
  const rows = s.actor.store.dump();
  await s.restart();
  await s.world.passUntilQuiet();
  expect(s.actor.store.dump()).toEqual(rows);
}

const misuse = { name: "EntryInProgressError" };

describe("misuse of a scope", () => {
  it("fails the workflow when an await is forgotten before another operation (D21)", async () => {
    const runs = new Runs();
    const s = await finished(async (ctx) => {
      void ctx.step("a", runs.of("a"));
      await ctx.step("b", runs.of("b"));
    });
    await expectFailedOnce(s, {
      ...misuse,
      message: expect.stringContaining('"b" was started in (root) while "a" was still in flight'),
    });
    expect(runs.count("b")).toBe(0);
  });

  it("says which operation was started too early, also while the other still runs", async () => {
    const s = await finished(async (ctx) => {
      void ctx.step("a", () => new Promise(() => {}));
      await ctx.step("b", () => 1);
    });
    await expectFailedOnce(s, {
      ...misuse,
      message: expect.stringContaining('"b" was started in (root) while "a" was still in flight'),
    });
  });

  it("fails the workflow when an await is forgotten at its end", async () => {
    const s = await finished(async (ctx) => {
      void ctx.sleep("nap", HOUR);
    });
    await expectFailedOnce(s, {
      ...misuse,
      message: expect.stringContaining('ended while its operation "nap" was open'),
    });
  });

  it("fails the workflow when a forgotten await follows a replayed operation", async () => {
    const runs = new Runs();
    let forget = false;
    const program = async (ctx: Ctx): Promise<void> => {
      const first = ctx.step("a", runs.of("a"));
      if (!forget) await first;
      await ctx.sleep("nap", HOUR);
    };
    const s = await subject(program);
    forget = true;
    await s.replay();
    expect(await s.status()).toMatchObject({ status: "failed", error: misuse });
  });

  it("fails the workflow for Promise.all over operations (D144)", async () => {
    const runs = new Runs();
    const s = await finished(async (ctx) => {
      await Promise.all([ctx.step("a", runs.of("a")), ctx.step("b", runs.of("b")), ctx.sleep("c", 5)]);
    });
    await expectFailedOnce(s, misuse);
    expect(runs.count("b")).toBe(0);
  });

  it("fails the workflow though the code catches the error, once the operation in flight is over", async () => {
    const runs = new Runs();
    const s = await finished(async (ctx) => {
      const first = ctx.step("a", runs.of("a"));
      await ctx.step("b", runs.of("b")).catch(() => runs.note("caught"));
      await first;
      runs.note("went on");
    });
    await expectFailedOnce(s, misuse);
    expect(runs.list).not.toContain("went on");
  });

  it("fails the workflow at once when what is in flight only waits", async () => {
    const s = await subject(async (ctx) => {
      const nap = ctx.sleep("nap", HOUR);
      await new Promise<void>((resolve) => queueMicrotask(resolve));
      await ctx.step("b", () => 1).catch(() => undefined);
      await nap;
    });
    expect(await s.status()).toMatchObject({ status: "failed", error: misuse });
  });

  it.each<[string, (ctx: Ctx, use: (outer: Ctx) => Promise<unknown>) => Promise<unknown>]>([
    ["a loop", (ctx, use) => ctx.loop("l", async () => Loop.break(await use(ctx)))],
    ["a branch of a join", (ctx, use) => ctx.join("j", { a: { run: () => use(ctx) } })],
    ["a branch of a race", (ctx, use) => ctx.race("r", [{ name: "a", run: () => use(ctx) }])],
    ["a try block", (ctx, use) => ctx.try("t", () => use(ctx))],
  ])("fails the workflow when %s uses the context around it", async (_, run) => {
    const runs = new Runs();
    const s = await finished(async (ctx) => {
      await run(ctx, (outer) => outer.step("wrong", runs.of("wrong")));
      runs.note("went on");
    });
    await expectFailedOnce(s, misuse);
    expect(runs.list).toEqual([]);
  });

  it.each<[string, (ctx: Ctx) => Promise<unknown>]>([
    ["its own context", (ctx) => ctx.step({ name: "s", run: async () => ctx.sleep("inner", 1) })],
    [
      "a context further out",
      (ctx) =>
        ctx.loop("l", async (round) =>
          Loop.break(await round.step({ name: "s", run: async () => ctx.sleep("inner", 1) })),
        ),
    ],
    [
      "a context that has ended",
      async (ctx) => {
        let leaked: Ctx | undefined;
        await ctx.loop("l", async (round) => {
          leaked = round;
          return Loop.break(undefined);
        });
        return ctx.step({ name: "s", run: async () => leaked?.sleep("inner", 1) });
      },
    ],
  ])("is a critical failure of the step whose callback uses %s, once (D27)", async (_, run) => {
    const runs = new Runs();
    const s = await finished(async (ctx) => {
      try {
        await run(ctx);
      } catch (error) {
        runs.note((error as Error).name);
        runs.note((error as { code: string }).code);
      }
      return ctx.step("after", () => "went on");
    });
    expect(runs.list).toEqual(["CriticalError", "entry_in_progress"]);
    expect((await s.status()).output).toBe("went on");
    expect(s.stored().find((entry) => entry.location.at(-1) === "s")).toMatchObject({
      status: "failed",
      attempts: 1,
      failure: { kind: "critical" },
    });
  });

  it("fails the workflow when an iteration's context is used after the iteration", async () => {
    let leaked: Ctx | undefined;
    const s = await finished(async (ctx) => {
      await ctx.loop("l", async (round) => {
        leaked = round;
        await round.step("s", () => 1);
        return Loop.break(undefined);
      });
      await leaked?.step("late", () => 2).catch(() => undefined);
      await ctx.step("after", () => 3);
    });
    await expectFailedOnce(s, {
      ...misuse,
      message: expect.stringContaining("has ended; its context can no longer be used"),
    });
  });

  it("fails the workflow when one iteration uses the context of another", async () => {
    let leaked: Ctx | undefined;
    const s = await finished(async (ctx) => {
      await ctx.loop({
        name: "l",
        state: 0,
        run: async (round, n: number) => {
          leaked ??= round;
          await leaked.step(`s${n}`, () => 1);
          return n === 1 ? Loop.break(undefined) : Loop.continue(n + 1);
        },
      });
    });
    await expectFailedOnce(s, misuse);
  });

  it("does not settle for code that goes on after the end of the workflow", async () => {
    const runs = new Runs();
    const s = await finished(async (ctx) => {
      void (async () => {
        await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
        runs.note("late");
        await ctx.step("late", runs.of("must not run")).then(
          () => runs.note("settled"),
          () => runs.note("rejected"),
        );
      })();
      return "end";
    });
    await s.world.settle();
    expect(runs.list).toEqual(expect.arrayContaining(["late"]));
    expect(runs.list).not.toContain("must not run");
    expect((await s.status()).output).toBe("end");
    expect(s.stored()).toEqual([]);
  });

  it("does not undo anything: a fault of the code's structure is no failure of the work (FLOW-21)", async () => {
    const runs = new Runs();
    const s = await finished(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.step({ name: "a", run: runs.of("a"), rollback: runs.of("undo a") });
      void ctx.step("b", runs.of("b"));
      await ctx.step("c", runs.of("c"));
    });
    expect(await s.status()).toMatchObject({ status: "failed", error: misuse });
    expect(runs.list).not.toContain("undo a");
  });
});

describe("names", () => {
  it.each<[string, (ctx: Ctx) => Promise<unknown>, (ctx: Ctx) => Promise<unknown>]>([
    ["two steps (D22)", (ctx) => ctx.step("x", () => 1), (ctx) => ctx.step("x", () => 2)],
    ["a step and a sleep (D23)", (ctx) => ctx.step("x", () => 1), (ctx) => ctx.sleep("x", 1)],
    ["a checkpoint and a step (D146)", (ctx) => ctx.rollbackCheckpoint("x"), (ctx) => ctx.step("x", () => 1)],
    ["a receive and a step", (ctx) => ctx.queue.nextBatch("x", { timeout: 0 }), (ctx) => ctx.step("x", () => 1)],
    ["a step and a receive", (ctx) => ctx.step("x", () => 1), (ctx) => ctx.queue.nextBatch("x", { timeout: 0 })],
    ["a try block and a loop", (ctx) => ctx.try("x", async () => 1), (ctx) => ctx.loop("x", async () => Loop.break(1))],
    ["a version and a join", (ctx) => ctx.getVersion("x", 1), (ctx) => ctx.join("x", {})],
    ["two versions", (ctx) => ctx.getVersion("x", 1), (ctx) => ctx.getVersion("x", 1)],
    ["a removed one and a race", (ctx) => ctx.removed("x", "step"), (ctx) => ctx.race("x", [])],
  ])("are unique in their scope over all kinds: %s", async (_, first, second) => {
    const runs = new Runs();
    const s = await subject(async (ctx) => {
      await first(ctx);
      await second(ctx).catch(() => runs.note("caught"));
      runs.note("went on");
    });
    const status = await s.status();
    expect(status).toMatchObject({
      status: "diverged",
      error: { name: "HistoryDivergedError", message: expect.stringContaining('Duplicate entry name "x"') },
    });
    expect(s.errors).toMatchObject([{ code: "workflow/duplicate_name", location: "x" }]);
    expect(runs.list).toEqual([]);
  });

  it("may be the same in different scopes (D24)", async () => {
    const s = await finished(async (ctx) => {
      const seen: unknown[] = [await ctx.step("x", () => "root")];
      seen.push(await ctx.try("block", (b) => b.step("x", () => "try")));
      seen.push(await ctx.join("join", { x: { run: (b) => b.step("x", () => "join") } }));
      seen.push(await ctx.race("race", [{ name: "x", run: (b) => b.step("x", () => "race") }]));
      seen.push(await ctx.loop("loop", async (round) => Loop.break(await round.step("x", () => "loop"))));
      return seen;
    });
    expect((await s.status()).output).toEqual([
      "root",
      { ok: true, value: "try" },
      { x: "join" },
      { winner: "x", value: "race" },
      "loop",
    ]);
  });

  it.each([
    "",
    "a/b",
    ":",
    "__proto__",
    "constructor",
    "~0",
    "0",
    "-1",
    "é\n\u0000",
    "\ud800",
    "x".repeat(1_024),
    "é".repeat(512),
  ])("may be %j, for every kind, live as on replay (D148)", async (name) => {
    const runs = new Runs();
    const scopes: [string, (ctx: Ctx) => Promise<unknown>][] = [
      ["step", (ctx) => ctx.step(name, runs.of("step", 1))],
      ["sleep", (ctx) => ctx.sleep(name, 1)],
      ["receive", (ctx) => ctx.queue.nextBatch(name, { timeout: 0, names: [name] })],
      ["loop", (ctx) => ctx.loop(name, async (round) => Loop.break(await round.step(name, runs.of("loop", 2))))],
      [
        "join",
        (ctx) => ctx.join(name, Object.fromEntries([[name, { run: (b: Ctx) => b.step(name, runs.of("join", 3)) }]])),
      ],
      ["race", (ctx) => ctx.race(name, [{ name, run: (b) => b.step(name, runs.of("race", 4)) }])],
      ["try", (ctx) => ctx.try(name, (b) => b.step(name, runs.of("try", 5)))],
      ["version", (ctx) => ctx.getVersion(name, 6)],
      ["removed", (ctx) => ctx.removed(name, "step")],
      ["checkpoint", (ctx) => ctx.rollbackCheckpoint(name)],
    ];
    const seen: unknown[] = [];
    const s = await subject(async (ctx) => {
      for (const [scope, run] of scopes) seen.push(await ctx.try(scope, (inner) => run(inner)));
      await ctx.sleep("stay", HOUR);
    });
    await s.world.pass(1);
    await s.replay();
    await s.world.settle();
    expect((await s.status()).status).toBe("running");
    expect(seen).toHaveLength(2 * scopes.length);
    expect(seen.slice(scopes.length)).toEqual(seen.slice(0, scopes.length));
    expect(runs.list).toEqual(["step", "loop", "join", "race", "try"]);
  });

  it.each([
    ["1 KiB and one byte", "x".repeat(1_025)],
    ["more than 1 KiB in UTF-8", "é".repeat(513)],
    ["a number", 5],
    ["nothing", undefined],
    ["an object", {}],
  ])("are refused with workflow/invalid_name when they are %s, and nothing is recorded", async (_, name) => {
    const s = await finished(async (ctx) => {
      const codes: unknown[] = [];
      const note = (error: { code: string }): void => void codes.push(error.code);
      await ctx.step({ name: name as string, run: () => 1 }).catch(note);
      await ctx.sleep(name as string, 1).catch(note);
      await ctx.queue.next(name as string).catch(note);
      await ctx.getVersion(name as string, 1).catch(note);
      await ctx.join(name as string, {}).catch(note);
      return codes;
    });
    expect((await s.status()).output).toEqual(Array(5).fill("invalid_name"));
    expect(s.stored()).toEqual([]);
  });
});

describe("a context that somebody else has kept", () => {
  /** How a call settles, if it does. */
  const ending = (call: () => Promise<unknown>): Promise<string> =>
    call().then(
      () => "answered",
      (error: { group: string; code: string }) => `${error.group}/${error.code}`,
    );

  it.each<[string, (ctx: Ctx, keep: (each: Ctx) => void) => Promise<unknown>]>([
    ["of a workflow", async (ctx, keep) => (keep(ctx), ctx.sleep("nap", HOUR))],
    [
      "of an iteration",
      (ctx, keep) => ctx.loop("l", async (round) => (keep(round), await round.queue.next("wait"), Loop.break())),
    ],
    ["of a branch", (ctx, keep) => ctx.join("j", { b: { run: async (b) => (keep(b), b.sleep("nap", HOUR)) } })],
    [
      "of a branch that has ended",
      (ctx, keep) => ctx.join("j", { b: { run: async (b) => keep(b) }, c: { run: (c) => c.sleep("nap", HOUR) } }),
    ],
  ])("%s is told when the activation, or the workflow, is over", async (_, run) => {
    for (const end of ["crash", "cancel", "sleep"]) {
      let kept: Ctx | undefined;
      const s = await subject((ctx) => run(ctx, (each) => (kept ??= each)), {
        actions: { sleep: (c) => c.sleep() },
        config: { onSleep: () => {} },
      });
      const old = kept as unknown as Ctx;
      if (end === "cancel") await s.call("cancel");
      if (end === "crash") s.actor.crash();
      if (end === "sleep") await s.call("sleep");
      await s.world.settle();
      for (const call of [
        () => old.step("s", () => 1),
        () => old.sleep("z", 1),
        () => old.queue.next("m"),
        () => old.getVersion("v", 1),
        () => old.join("k", {}),
        () => old.try("t", async () => 1),
      ]) {
        expect(await ending(call)).toMatch(/^workflow\/(evicted|cancelled|entry_in_progress)$/);
      }
    }
  });

  it("of code that does not match its history is told, too", async () => {
    const old = await subject(async (ctx) => (await ctx.step("a", () => 1), ctx.sleep("nap", HOUR)));
    let kept: Ctx | undefined;
    const s = old.deploy(async (ctx) => ((kept = ctx), await ctx.step("b", () => 1)));
    await s.send("wake");
    await s.world.settle();
    expect((await s.status()).status).toBe("diverged");
    expect(await ending(() => (kept as unknown as Ctx).step("c", () => 1))).toBe("workflow/evicted");
  });
});

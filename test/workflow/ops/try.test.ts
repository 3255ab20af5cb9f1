import { describe, expect, it } from "vitest";
import { CriticalError, Loop, RollbackError } from "../../../src/entry/workflow.js";
import { Runs, finished, subject, type Ctx } from "../subject.js";

const HOUR = 3_600_000;

describe("try", () => {
  it("gives its value, in both forms of the call, and records nothing of its own", async () => {
    const s = await finished(async (ctx) => [
      await ctx.try("a", (b) => b.step("s", () => 1)),
      await ctx.try({ name: "b", run: async () => undefined }),
    ]);
    expect((await s.status()).output).toEqual([
      { ok: true, value: 1 },
      { ok: true, value: undefined },
    ]);
    expect(s.lines()).toEqual(["step a/s completed"]);
  });

  it.each<[string, () => Error, number, object]>([
    [
      "critical",
      () => new CriticalError("stop"),
      3,
      { attempts: 1, error: { name: "CriticalError", message: "stop" } },
    ],
    ["exhausted", () => new TypeError("no"), 1, { attempts: 2, error: { name: "TypeError", message: "no" } }],
  ])(
    "gives the terminal failure of a step of it, kind %s, the same on replay (D100)",
    async (kind, make, maxRetries, failure) => {
      const runs = new Runs();
      const seen: unknown[] = [];
      const s = await subject(async (ctx) => {
        seen.push(
          await ctx.try("block", (b) =>
            b.step({ name: "s", maxRetries, run: () => Promise.reject(runs.note("s") ?? make()) }),
          ),
        );
        await ctx.sleep("stay", HOUR);
      });
      await s.world.pass(1_000);
      await s.replay();
      expect(seen).toHaveLength(2);
      expect(seen[0]).toMatchObject({
        ok: false,
        failure: { source: "step", name: "s", step: { kind, stepName: "s", ...failure } },
      });
      expect(seen[1]).toEqual(seen[0]);
      expect((await s.status()).status).toBe("running");
    },
  );

  it("gives the failure of a join or a race of it (D101)", async () => {
    const seen: unknown[] = [];
    const bad = async (): Promise<never> => {
      throw new Error("no");
    };
    const s = await subject(async (ctx) => {
      seen.push([
        await ctx.try("join", (b) => b.join("j", { a: { run: bad } })),
        await ctx.try("race", (b) => b.race("r", [{ name: "a", run: bad }])),
        await ctx.try("empty", (b) => b.race("r", [])),
      ]);
      await ctx.sleep("stay", HOUR);
    });
    await s.replay();
    expect(seen[0]).toMatchObject([
      { ok: false, failure: { source: "join", name: "j", error: { name: "JoinError", message: "Join failed: a" } } },
      {
        ok: false,
        failure: { source: "race", name: "r", error: { name: "RaceError", message: "All branches failed" } },
      },
      { ok: false, failure: { source: "race", name: "r" } },
    ]);
    expect(seen[1]).toEqual(seen[0]);
  });

  it.each([
    ["a plain error", () => new Error("mine"), "Error"],
    ["a CriticalError", () => new CriticalError("mine"), "CriticalError"],
    ["a text", () => "mine", "Error"],
  ])("does not catch %s that its own code throws (D102)", async (_, make, name) => {
    const s = await finished(async (ctx) =>
      ctx.try("block", async () => {
        throw make();
      }),
    );
    expect(await s.status()).toMatchObject({ status: "failed", error: { name, message: "mine" } });
  });

  it("catches a RollbackError of its own code only if it is listed (D103)", async () => {
    const runs = new Runs();
    const caught = await finished(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.step({ name: "a", run: runs.of("a"), rollback: runs.of("undo a") });
      return ctx.try({
        name: "block",
        catch: ["rollback"],
        run: async () => {
          throw new RollbackError("back");
        },
      });
    });
    expect((await caught.status()).output).toMatchObject({
      ok: false,
      failure: { source: "block", name: "block", error: { name: "RollbackError", message: "back" } },
    });
    expect(runs.list).toEqual(["a"]);
    const thrown = await finished(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.step({ name: "a", run: runs.of("a"), rollback: runs.of("undo a") });
      await ctx.try("block", async () => {
        throw new RollbackError("back");
      });
    });
    expect(await thrown.status()).toMatchObject({ status: "failed", error: { name: "RollbackError" } });
    expect(runs.list).toEqual(["a", "a", "undo a"]);
  });

  it("gives a RollbackError of a step of it with the step, if it is listed", async () => {
    const s = await finished(async (ctx) =>
      ctx.try({
        name: "block",
        catch: ["rollback"],
        run: (b) => b.step("s", () => Promise.reject(new RollbackError("back"))),
      }),
    );
    expect((await s.status()).output).toMatchObject({
      ok: false,
      failure: { source: "step", name: "s", step: { kind: "rollback", attempts: 1 } },
    });
  });

  it("catches only the sources that are listed", async () => {
    const s = await finished(async (ctx) =>
      ctx
        .try({ name: "block", catch: ["join"], run: (b) => b.step("s", () => Promise.reject(new CriticalError("no"))) })
        .catch((error: Error) => error.name),
    );
    expect((await s.status()).output).toBe("CriticalError");
  });

  it("passes suspension through: it goes on where it waited (D104)", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) =>
      ctx.try("block", async (b) => {
        await b.step("before", runs.of("before"));
        await b.sleep("nap", HOUR);
        const { body } = await b.queue.next("m", { names: ["m"] });
        await b.step("after", runs.of("after"));
        return body;
      }),
    );
    s.actor.crash();
    await s.world.pass(HOUR);
    s.actor.crash();
    await s.send("m", "hello");
    await s.world.settle();
    expect((await s.status()).output).toEqual({ ok: true, value: "hello" });
    expect(runs.list).toEqual(["before", "after"]);
  });

  it("catches what a loop in it lets through, and nothing twice", async () => {
    const s = await finished(async (ctx) =>
      ctx.try("outer", async (outer) => {
        const inner = await outer.try("inner", (b) =>
          b.loop("l", async (round) =>
            Loop.break(await round.step("s", () => Promise.reject(new CriticalError("deep")))),
          ),
        );
        return inner.ok ? "ok" : inner.failure.source;
      }),
    );
    expect((await s.status()).output).toEqual({ ok: true, value: "step" });
  });

  it("does not catch misuse, divergence or an error that user code made of a step's", async () => {
    const misused = await finished(async (ctx) => ctx.try("block", () => ctx.step("wrong", () => 1)));
    expect(await misused.status()).toMatchObject({ status: "failed", error: { name: "EntryInProgressError" } });
    const diverged = await subject(async (ctx) =>
      ctx.try("block", async (b) => {
        await b.step("x", () => 1);
        await b.step("x", () => 1);
      }),
    );
    expect((await diverged.status()).status).toBe("diverged");
    const wrapped = await finished(async (ctx) =>
      ctx.try("block", async (b: Ctx) => {
        try {
          await b.step("s", () => Promise.reject(new CriticalError("no")));
        } catch (error) {
          throw new Error("wrapped", { cause: error });
        }
      }),
    );
    expect(await wrapped.status()).toMatchObject({ status: "failed", error: { message: "wrapped" } });
  });

  it("needs a function", async () => {
    const s = await finished(async (ctx) =>
      Promise.resolve()
        .then(() => ctx.try("a", undefined as never))
        .catch((error: { code: string }) => error.code),
    );
    expect((await s.status()).output).toBe("invalid_try");
  });
});

import { describe, expect, it } from "vitest";
import { UserError } from "../../../src/protocol/index.js";
import { Loop } from "../../../src/workflow/index.js";
import { subject, type Ctx, type Step, type Subject } from "../../workflow/subject.js";

const HOUR = 3_600_000;

const lines = async (s: Subject): Promise<string[]> =>
  (await s.history()).map(
    ({ kind, location, status, dueAt }) =>
      `${kind} ${location.join("/")} ${status}${dueAt === undefined ? "" : " due"}`,
  );

describe("the history of a workflow", () => {
  const waits = async (ctx: Ctx): Promise<unknown> => {
    await ctx.sleep("nap", 1_000);
    await ctx.queue.nextBatch("batch", { timeout: 1_000 });
    await ctx.queue.next("one", { timeout: 1_000 }).catch(() => {});
    await ctx.step("after", () => 1);
    return ctx.queue.next("last");
  };

  it("shows no wait that is over as pending, live or after a restart", async () => {
    const s = await subject(waits);
    expect(await lines(s)).toEqual(["sleep nap pending due"]);
    await s.world.pass(1_000);
    expect(await lines(s)).toEqual(["sleep nap completed", "message batch pending due"]);
    await s.world.pass(2_000);
    const after = ["sleep nap completed", "message batch completed", "message one completed", "step after completed"];
    expect(await lines(s)).toEqual(after);
    expect((await s.history()).map(({ timedOut }) => timedOut)).toEqual([undefined, true, true, undefined]);
    s.actor.crash();
    expect(await lines(s)).toEqual(after);
  });

  it("shows a sleep that has just ended as completed, while the code behind it runs", async () => {
    const s = await subject(async (ctx, self) => {
      await ctx.sleep("nap", 1_000);
      await self.clock.delay(500);
    });
    await s.world.pass(1_200);
    expect(await lines(s)).toEqual(["sleep nap completed"]);
  });

  it.each(["completed", "cancelled", "failed"])("shows nothing as pending once the workflow has %s", async (end) => {
    const s = await subject(async (ctx) => {
      await ctx.join("j", {
        asleep: { run: (b: Ctx) => b.sleep("nap", HOUR) },
        waits: { run: (b: Ctx) => b.queue.next("never", { names: ["never"], timeout: 2 * HOUR }).catch(() => {}) },
        retried: {
          run: (b: Ctx) =>
            b.step({
              name: "flaky",
              maxRetries: 1,
              retryBackoffBase: HOUR,
              retryBackoffMax: HOUR,
              run: (step: Step) => {
                if (step.attempt === 1 || end === "failed") throw new Error("not yet");
              },
            }),
        },
      });
    });
    if (end === "cancelled") await s.call("cancel");
    else await s.world.passUntilQuiet();
    expect((await s.status()).status).toBe(end);
    for (const { status, dueAt } of await s.history()) {
      expect(status).toMatch(/^(completed|failed|cancelled)$/);
      expect(dueAt).toBeUndefined();
    }
    if (end === "cancelled") expect(await lines(s)).toContain("step j/retried/flaky cancelled");
  });

  it("shows the bodies of messages, decoded", async () => {
    const s = await subject(async (ctx) => {
      await ctx.queue.next("one", { names: ["q"] });
      await ctx.sleep("stay", HOUR);
    });
    await s.send("q", { at: new Date(5), big: 7n });
    await s.world.settle();
    const [message] = await s.history();
    expect(message?.value).toEqual([
      { id: 1, name: "q", body: { at: new Date(5), big: 7n }, createdAt: expect.any(Number) },
    ]);
  });

  it("names rollback handlers by the step that they undo", async () => {
    const s = await subject(async (ctx) => {
      await ctx.rollbackCheckpoint("from here");
      await ctx.loop({
        name: "l",
        run: async (l: Ctx) => (await l.step({ name: "charge", run: () => 1, rollback: () => {} }), Loop.break(1)),
      });
      await ctx.join("j", { b: { run: (b: Ctx) => b.step({ name: "ship", run: () => 1, rollback: () => {} }) } });
      throw new Error("no");
    });
    await s.world.passUntilQuiet();
    expect((await lines(s)).filter((line) => line.startsWith("rollback"))).toEqual([
      "rollback_checkpoint from here completed",
      "rollback j/b/ship completed",
    ]);
  });
});

describe("the status of a failed workflow", () => {
  it("has the error's group, code, metadata and cause", async () => {
    const s = await subject(async () => {
      throw new UserError("no", {
        code: "not_today",
        metadata: { day: 3 },
        cause: Object.assign(new TypeError("why"), { code: 17 }),
      } as never);
    });
    const error = { name: "UserError", message: "no", group: "user", code: "not_today", metadata: { day: 3 } };
    expect((await s.status()).error).toMatchObject(error);
    const t = await subject(async (ctx) =>
      ctx.step({
        name: "s",
        maxRetries: 0,
        run: () => {
          throw Object.assign(new TypeError("why"), { code: 17 });
        },
      }),
    );
    await t.world.passUntilQuiet();
    expect((await t.status()).error).toMatchObject({
      name: "StepExhaustedError",
      group: "workflow",
      code: "step_exhausted",
      cause: { name: "TypeError", message: "why", code: 17 },
    });
  });

  it("has the error of each branch of a join or race, and nothing of how that is stored", async () => {
    const bad = (text: string) => async (): Promise<never> => {
      throw new UserError(text, { code: text });
    };
    const s = await subject(async (ctx) =>
      ctx.join("j", {
        a: { run: bad("one") },
        fine: { run: async () => 1 },
        c: { run: (b: Ctx) => b.race("r", [{ name: "x", run: bad("two") }]) },
      }),
    );
    await s.world.passUntilQuiet();
    const { error } = await s.status();
    expect(error).toEqual({
      name: "JoinError",
      message: "Join failed: a, c",
      group: "workflow",
      code: "join_failed",
      errors: {
        a: expect.objectContaining({ message: "one", group: "user", code: "one" }),
        c: expect.objectContaining({ name: "RaceError", errors: { x: expect.objectContaining({ code: "two" }) } }),
      },
    });
    const [, joined] = [await s.history(), (await s.history()).find(({ kind }) => kind === "join")];
    expect(joined?.error).toMatchObject({ kind: "join", errors: { a: { code: "one" } } });
  });
});

import { describe, expect, it } from "vitest";
import type { WorkflowHistoryEntry } from "../../../src/actor/index.js";
import { UserError } from "../../../src/protocol/index.js";
import { Loop } from "../../../src/workflow/index.js";
import { encodeEntry } from "../../../src/workflow/internal.js";
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

describe("what entries of each kind tell", () => {
  const only = async (s: Subject, name: string): Promise<object> => {
    const found = (await s.history()).find(({ location }) => location.at(-1) === name);
    if (!found) throw new Error(`no entry ${name}`);
    const { id: _, attempts: __, interrupted: ___, startedAt: ____, endedAt: _____, ...rest } = found;
    return rest;
  };

  it("a loop its iteration, also when it has ended", async () => {
    const s = await subject(async (ctx) => {
      await ctx.loop({
        name: "ended",
        state: 0,
        run: async (l: Ctx, n: number) => {
          await l.step("s", () => n);
          return n === 3 ? Loop.break("out") : Loop.continue(n + 1);
        },
      });
      await ctx.loop("open", async (l: Ctx) => void (await l.sleep("nap", HOUR)));
    });
    await s.world.pass(2 * HOUR);
    for (let round = 0; round < 2; round += 1) {
      expect(await only(s, "ended")).toMatchObject({ status: "completed", iteration: 3, value: "out" });
      expect(await only(s, "open")).toMatchObject({ status: "pending", iteration: 2 });
      s.actor.crash();
    }
  });

  it("a race its winner, and what each loser was doing", async () => {
    const s = await subject(async (ctx, self) => {
      await ctx.race("r", [
        { name: "wins", run: (b: Ctx) => b.sleep("short", 1_000) },
        { name: "sleeps", run: (b: Ctx) => b.sleep("nap", HOUR) },
        { name: "waits", run: (b: Ctx) => b.queue.next("pay", { names: ["payments"] }) },
        {
          name: "works",
          run: async (b: Ctx) => {
            await b.sleep("first", 300);
            await b.step({ name: "charge", timeout: 0, run: () => self.clock.delay(HOUR) });
          },
        },
        { name: "outside", run: () => new Promise(() => {}) },
        { name: "rejected", run: () => Promise.reject(new Error("not me")) },
        ...Array.from({ length: 20 }, (_, i) => ({ name: `more${i}`, run: (b: Ctx) => b.sleep("nap", HOUR) })),
      ]);
      await ctx.queue.next("never");
    });
    expect(await only(s, "r")).toMatchObject({ status: "pending", branchCount: 26 });
    await s.world.pass(1_000);
    const began = s.clock.now() - 1_000;
    for (let round = 0; round < 2; round += 1) {
      const shown = (await only(s, "r")) as { branches: object[]; winner: string };
      expect(shown.winner).toBe("wins");
      expect(shown.branches.slice(0, 6)).toEqual([
        { name: "wins", status: "completed" },
        { name: "sleeps", status: "lost", doing: "sleep", operation: "nap", since: began },
        { name: "waits", status: "lost", doing: "message", operation: "pay", since: began },
        { name: "works", status: "lost", doing: "step", operation: "charge", since: began + 300 },
        { name: "outside", status: "lost", doing: "code" },
        { name: "rejected", status: "failed" },
      ]);
      expect(shown.branches.slice(16, 18)).toEqual([
        { name: "more10", status: "lost", doing: "sleep", operation: "nap", since: began },
        { name: "more11", status: "lost" },
      ]);
      s.actor.crash();
    }
  });

  it("a join its branches", async () => {
    const s = await subject(async (ctx) => {
      await ctx.join("j", {
        done: { run: () => Promise.resolve(1) },
        bad: { run: () => Promise.reject(new Error("no")) },
        open: { run: (b: Ctx) => b.sleep("nap", HOUR) },
      });
    });
    const branches = [
      { name: "done", status: "completed" },
      { name: "bad", status: "failed" },
      { name: "open", status: "pending" },
    ];
    expect(await only(s, "j")).toMatchObject({ branches, branchCount: 3 });
    s.actor.crash();
    expect(await only(s, "j")).toMatchObject({ branches });
  });

  it("a receive the messages it took, with their queues, and those it waits for", async () => {
    const s = await subject(async (ctx) => {
      await ctx.queue.next("first", { names: ["q"], timeout: HOUR });
      await ctx.queue.next("second", { names: ["q", "r"], completable: true, timeout: HOUR });
    });
    expect(await only(s, "first")).toMatchObject({ status: "pending", queues: ["q"] });
    await s.send("q", "body");
    await s.world.settle();
    expect(await only(s, "first")).toMatchObject({ status: "completed", messages: [{ id: 1, queue: "q" }] });
    expect(await only(s, "first")).not.toHaveProperty("queues");
    expect(await only(s, "second")).toMatchObject({ status: "pending", queues: ["q", "r"] });
    await s.world.passUntilQuiet();
    expect(await only(s, "second")).toMatchObject({ timedOut: true });
  });

  it("a gate its answer, and a rollback the step that it undid", async () => {
    const s = await subject(async (ctx) => {
      await ctx.rollbackCheckpoint("from here");
      await ctx.getVersion("gate", 3);
      await ctx.removed("gone", "sleep");
      await ctx.step({ name: "charge", run: () => 1, rollback: () => {} });
      throw new Error("no");
    });
    await s.world.passUntilQuiet();
    expect(await only(s, "gate")).toMatchObject({ kind: "version_check", version: 3 });
    expect(await only(s, "gone")).toMatchObject({ kind: "removed", removedKind: "sleep" });
    const history = await s.history();
    const step = history.find(({ kind }) => kind === "step");
    expect(history.find(({ kind }) => kind === "rollback")).toMatchObject({ location: ["charge"], undoes: step?.id });
  });
});

describe("a page of the history", () => {
  const steps = (count: number, value: unknown = "x"): Promise<Subject> =>
    subject(
      async (ctx) => {
        for (let i = 0; i < count; i += 1) await ctx.step(`s${i}`, () => value);
        await ctx.queue.next("never");
      },
      { actions: { page: (c, options) => c.workflow.history(options) } },
    );

  it("begins at an entry and holds so many", async () => {
    const s = await steps(7);
    const all = await s.history();
    const seen: unknown[] = [];
    let from: string | undefined;
    for (let pages = 0; pages < 10; pages += 1) {
      const page = (await s.call("page", { from, limit: 3 })) as typeof all;
      seen.push(...page.slice(0, 2));
      from = page[2]?.id;
      if (from === undefined) break;
    }
    expect(seen).toEqual(all);
    // Of an entry that is not there any more, the next one.
    const [, second] = all;
    expect((await s.call("page", { from: String(Number(all[0]?.id) + 1), limit: 1 }))[0]).toEqual(second);
    expect(await s.call("page", { from: "9999999" })).toEqual([]);
  });

  it("leaves values out, or gives that of one entry", async () => {
    const s = await steps(3, { big: "y".repeat(1_000) });
    const page = (await s.call("page", { values: false })) as WorkflowHistoryEntry[];
    expect(page).toHaveLength(3);
    for (const entry of page) expect(entry).not.toHaveProperty("value");
    const [one] = (await s.call("page", { from: page[1]?.id, limit: 1 })) as WorkflowHistoryEntry[];
    expect(one).toMatchObject({ location: ["s1"], value: { big: "y".repeat(1_000) } });
    expect(await s.call("page", { values: true })).toEqual(await s.history());
  });

  it("decodes the values that it gives, and no others", async () => {
    const s = await steps(3);
    const rows = s.actor.store.dump();
    const [, second] = s.stored();
    if (!second) throw new Error("no second step");
    rows.set(`e/${second.seq}`, encodeEntry({ ...second, value: Uint8Array.of(0xff, 0) }));
    const { alarmAt } = s.actor.store;
    s.actor.crash();
    s.actor.store.restore(rows, alarmAt);
    await expect(s.history()).rejects.toThrowError();
    expect(await s.call("page", { values: false })).toHaveLength(3);
    expect(await s.call("page", { limit: 1 })).toMatchObject([{ location: ["s0"], value: "x" }]);
    expect(await s.call("page", { from: String(second.seq + 1) })).toMatchObject([{ location: ["s2"], value: "x" }]);
  });

  it.each([
    [{ limit: 0 }, "`limit` must be an integer of at least 1"],
    [{ limit: Number.NaN }, "`limit` must be an integer of at least 1"],
    [{ from: 7 }, "`from` must be the id of an entry"],
    [{ from: "__proto__" }, "`from` must be the id of an entry"],
    [{ values: "no" }, "`values` must be true or false"],
    [{ last: 1 }, 'history has no option "last"'],
    [7, "The options of history must be an object"],
  ])("refuses %j", async (options, message) => {
    const s = await subject(async (ctx) => ctx.queue.next("never"), {
      actions: {
        page: (c) => {
          try {
            return c.workflow.history(options);
          } catch (error) {
            return `${(error as Error).name}: ${(error as Error).message}`;
          }
        },
      },
    });
    expect(await s.call("page")).toBe(`TypeError: ${message}`);
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

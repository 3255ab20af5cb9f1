import { describe, expect, it } from "vitest";
import { Loop } from "../../../src/entry/workflow.js";
import { Runs, finished, subject, type Ctx, type Program } from "../subject.js";

const HOUR = 3_600_000;
const YEAR = 365 * 24 * HOUR;

/** Records an operation of each kind under the name `x`. */
const kinds: [string, (ctx: Ctx) => Promise<unknown>][] = [
  ["step", (ctx) => ctx.step("x", () => 1)],
  ["loop", (ctx) => ctx.loop("x", async (round) => Loop.break(await round.step("s", () => 1)))],
  ["sleep", (ctx) => ctx.sleep("x", 0)],
  ["message", (ctx) => ctx.queue.nextBatch("x", { timeout: 0 })],
  ["rollback_checkpoint", (ctx) => ctx.rollbackCheckpoint("x")],
  ["join", (ctx) => ctx.join("x", { a: { run: (b) => b.step("s", () => 1) } })],
  ["race", (ctx) => ctx.race("x", [{ name: "a", run: (b) => b.step("s", () => 1) }])],
  ["version_check", (ctx) => ctx.getVersion("x", 1)],
  ["removed", (ctx) => ctx.removed("x", "step")],
];

const program =
  (middle: (ctx: Ctx) => Promise<unknown>): Program =>
  async (ctx) => {
    await ctx.step("before", () => 1);
    await middle(ctx);
    await ctx.step("after", () => 1);
    await ctx.sleep("nap", HOUR);
  };

describe("removed", () => {
  it.each(kinds)("stands where a %s stood, which stays in history (D114)", async (kind, run) => {
    const s = await subject(program(run));
    const before = s.lines();
    const next = s.deploy(program((ctx) => ctx.removed("x", kind as "step")));
    await next.world.pass(HOUR);
    expect((await next.status()).status).toBe("completed");
    expect(next.lines().map((line) => line.replace(/nap \w+/, "nap"))).toEqual(
      before.map((line) => line.replace(/nap \w+/, "nap")),
    );
  });

  it.each(kinds.filter(([kind]) => kind !== "removed"))(
    "diverges for a %s when it names another kind (D115)",
    async (kind, run) => {
      const s = await subject(program(run));
      const next = s.deploy(program((ctx) => ctx.removed("x", kind === "step" ? "sleep" : "step")));
      await next.world.pass(HOUR);
      expect(await next.status()).toMatchObject({
        status: "diverged",
        error: { message: expect.stringContaining(`found ${kind}`) },
      });
    },
  );

  it("stands for every receive of its name", async () => {
    const s = await subject(
      program(async (ctx) => {
        for (let n = 0; n < 3; n += 1) await ctx.queue.nextBatch("x", { timeout: 0 });
      }),
    );
    const next = s.deploy(program((ctx) => ctx.removed("x", "message")));
    await next.world.pass(HOUR);
    expect((await next.status()).status).toBe("completed");
  });

  it("stands for a try block that has recorded something", async () => {
    const s = await subject(program((ctx) => ctx.try("x", (b) => b.step("s", () => 1))));
    const next = s.deploy(program((ctx) => ctx.removed("x", "try" as "step")));
    await next.world.pass(HOUR);
    expect((await next.status()).status).toBe("completed");
    await next.restart();
    expect((await next.status()).status).toBe("completed");
  });

  it("leaves a placeholder in a new run, and answers from it", async () => {
    const s = await subject(program((ctx) => ctx.removed("x", "step")));
    expect(s.lines()[1]).toBe("removed x completed");
    await s.replay();
    expect((await s.status()).status).toBe("running");
    const again = s.deploy(program((ctx) => ctx.removed("x", "sleep")));
    await again.world.pass(HOUR);
    expect((await again.status()).status).toBe("completed");
  });

  it("may come into code and go from it without a divergence: it is exempt from the order", async () => {
    const runs = new Runs();
    const s = await subject(program((ctx) => ctx.removed("x", "step")));
    const without = s.deploy(program(async () => runs.note("without")));
    await without.replay();
    expect((await without.status()).status).toBe("running");
    const moved = without.deploy(async (ctx) => {
      await ctx.step("before", () => 1);
      await ctx.step("after", () => 1);
      await ctx.removed("x", "step");
      await ctx.removed("y", "step");
      await ctx.sleep("nap", HOUR);
    });
    await moved.world.pass(HOUR);
    expect((await moved.status()).status).toBe("completed");
  });

  it("does not make room for the operation itself: that would be another kind", async () => {
    const s = await subject(program((ctx) => ctx.removed("x", "step")));
    const next = s.deploy(program((ctx) => ctx.step("x", () => 1)));
    await next.world.pass(HOUR);
    expect((await next.status()).status).toBe("diverged");
  });

  it("lets a pending wait go: its deadline wakes nobody any more", async () => {
    const s = await subject(async (ctx) => (await ctx.step("a", () => 1), ctx.sleep("x", 5 * HOUR)));
    const next = s.deploy(
      async (ctx) => (
        await ctx.step("a", () => 1),
        await ctx.removed("x", "sleep"),
        await ctx.step("b", () => 1),
        ctx.queue.next("hold", { names: ["end"] })
      ),
    );
    await next.replay();
    expect(next.actor.store.alarmAt).toBe(next.clock.now() + YEAR);
  });

  it.each<[string, (ctx: Ctx) => Promise<unknown>]>([
    ["sleep", (ctx) => ctx.sleep("x", 5 * HOUR)],
    ["message", (ctx) => ctx.queue.next("x", { names: ["never"], timeout: 5 * HOUR })],
    [
      "step",
      (ctx) =>
        ctx.step({
          name: "x",
          retryBackoffBase: 5 * HOUR,
          retryBackoffMax: 5 * HOUR,
          run: () => Promise.reject(new Error("no")),
        }),
    ],
    [
      "join",
      (ctx) =>
        ctx.join("x", {
          a: { run: (b) => b.sleep("s", 5 * HOUR) },
          b: { run: (b) => b.loop("l", async (round) => void (await round.sleep("s", 6 * HOUR))) },
        }),
    ],
    ["race", (ctx) => ctx.race("x", [{ name: "a", run: (b) => b.sleep("s", 5 * HOUR) }])],
    ["loop", (ctx) => ctx.loop("x", async (round) => void (await round.sleep("s", 5 * HOUR)))],
  ])(
    "lets a pending %s go although nothing is recorded after it: no alarm comes for it, in this life or the next",
    async (kind, run) => {
      const s = await subject(async (ctx) => (await ctx.step("a", () => 1), run(ctx)));
      const next = s.deploy(async (ctx) => {
        await ctx.step("a", () => 1);
        await ctx.removed("x", kind as "step");
        return (await ctx.queue.next("hold", { names: ["end"] })).body;
      });
      await next.replay();
      const farAt = next.clock.now() + YEAR;
      expect(next.actor.store.alarmAt).toBe(farAt);
      await next.restart();
      await next.world.pass(10 * HOUR);
      expect(next.actor.store.alarmAt).toBe(farAt);
      const { commits } = next.actor.store;
      await next.restart();
      expect(next.actor.store.commits).toBe(commits);
      await next.send("end", "over");
      await next.world.settle();
      expect((await next.status()).output).toBe("over");
    },
  );

  it.each(["steps", "", undefined, 5])("rejects %j, which is no kind, and records nothing", async (kind) => {
    const s = await finished(async (ctx) =>
      ctx.removed("x", kind as "step").catch((error: { code: string }) => error.code),
    );
    expect((await s.status()).output).toBe("invalid_removed");
    expect(s.stored()).toEqual([]);
  });
});

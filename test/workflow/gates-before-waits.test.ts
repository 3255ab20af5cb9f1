import { describe, expect, it } from "vitest";
import { Loop } from "../../src/entry/workflow.js";
import { encodeValue } from "../../src/protocol/index.js";
import { encodeEntry } from "../../src/workflow/internal.js";
import { ManualClock } from "../../src/testing/index.js";
import { Runs, subject, type Ctx, type Program, type Subject } from "./subject.js";

const DAY = 24 * 3_600_000;
const START = new ManualClock().now();

type Gate = (ctx: Ctx) => Promise<unknown>;

/** Each waits for five days; `gate` is the gate that a deploy puts before the wait, in the same scope. */
const waits: [string, (ctx: Ctx, gate: Gate) => Promise<unknown>][] = [
  ["sleep", async (ctx, gate) => (await gate(ctx), ctx.sleep("wait", 5 * DAY))],
  ["sleepUntil", async (ctx, gate) => (await gate(ctx), ctx.sleepUntil("wait", START + 5 * DAY))],
  [
    "next",
    async (ctx, gate) => (
      await gate(ctx),
      ctx.queue.next("wait", { names: ["m"], timeout: 5 * DAY }).catch((error: { code: string }) => error.code)
    ),
  ],
  [
    "second next of a name",
    async (ctx, gate) => (
      await ctx.queue.nextBatch("wait", { timeout: 0 }),
      await gate(ctx),
      ctx.queue.nextBatch("wait", { names: ["m"], timeout: 5 * DAY })
    ),
  ],
  [
    "nextBatch",
    async (ctx, gate) => (await gate(ctx), ctx.queue.nextBatch("wait", { names: ["m"], timeout: 5 * DAY })),
  ],
  [
    "race of message and time",
    async (ctx, gate) => {
      await gate(ctx);
      return ctx.race("wait", [
        { name: "message", run: (b) => b.queue.next("m", { names: ["m"] }) },
        { name: "time", run: (b) => b.sleep("t", 5 * DAY) },
      ]);
    },
  ],
  [
    "branch of a race",
    (ctx, gate) => ctx.race("r", [{ name: "a", run: async (b) => (await gate(b), b.sleep("wait", 5 * DAY)) }]),
  ],
  [
    "branch of a join",
    (ctx, gate) =>
      ctx.join("j", {
        a: { run: async (b) => (await b.step("s", () => 1), await gate(b), await b.sleep("wait", 5 * DAY)) },
        b: { run: (b) => b.step("s", () => 1) },
      }),
  ],
  ["join", async (ctx, gate) => (await gate(ctx), ctx.join("j", { a: { run: (b) => b.sleep("wait", 5 * DAY) } }))],
  [
    "iteration",
    (ctx, gate) =>
      ctx.loop({
        name: "l",
        state: 0,
        run: async (round, n: number) => (
          n === 1 && (await gate(round)),
          n === 1 && (await round.sleep("wait", 5 * DAY)),
          n === 1 ? Loop.break(n) : Loop.continue(n + 1)
        ),
      }),
  ],
  [
    "loop",
    async (ctx, gate) => (
      await gate(ctx),
      ctx.loop("l", async (round) => (await round.sleep("wait", 5 * DAY), Loop.break(1)))
    ),
  ],
  [
    "try block",
    (ctx, gate) =>
      ctx.try("y", async (block) => (await block.step("s", () => 1), await gate(block), block.sleep("wait", 5 * DAY))),
  ],
  [
    "try block after the gate",
    async (ctx, gate) => (await gate(ctx), ctx.try("y", (block) => block.sleep("wait", 5 * DAY))),
  ],
  [
    "backoff",
    async (ctx, gate) => {
      await gate(ctx);
      return ctx.step({
        name: "wait",
        retryBackoffBase: 5 * DAY,
        retryBackoffMax: 5 * DAY,
        run: (step) => (step.attempt === 1 ? Promise.reject(new Error("later")) : "done"),
      });
    },
  ],
];

const gates: [string, Gate][] = [
  ["getVersion", (ctx) => ctx.getVersion("gate", 2)],
  ["removed", (ctx) => ctx.removed("gone", "step")],
  ["a try block with a gate", (ctx) => ctx.try("gated", (block) => block.getVersion("gate", 2))],
  [
    "two gates and a placeholder",
    async (ctx) => (await ctx.getVersion("gate", 2), await ctx.removed("gone", "sleep"), ctx.getVersion("second", 3)),
  ],
];

const program =
  (wait: (ctx: Ctx, gate: Gate) => Promise<unknown>, gate: Gate, runs: Runs): Program =>
  async (ctx, { clock }) => {
    await ctx.step("before", () => 1);
    await wait(ctx, gate);
    runs.note(`ended at ${clock.now()}`);
    await ctx.step("after", () => 1);
  };

describe.each(waits)("%s", (name, wait) => {
  it.each(gates)("goes on to its stored deadline with %s deployed in front of it", async (_, gate) => {
    for (const then of ["wakes", "is evicted again", "loses the gate again", "gets a second deploy"]) {
      const runs = new Runs();
      let s: Subject = await subject(program(wait, async () => {}, runs));
      const start = s.clock.now();
      await s.world.pass(DAY);
      s = s.deploy(program(wait, gate, runs));
      await s.replay();
      await s.world.pass(DAY);
      if (then === "is evicted again") await s.replay();
      if (then === "loses the gate again") {
        s = s.deploy(program(wait, async () => {}, runs));
        await s.replay();
      }
      if (then === "gets a second deploy") {
        s = s.deploy(program(wait, async (ctx) => (await ctx.getVersion("newer", 2), gate(ctx)), runs));
        await s.replay();
      }
      expect(runs.list, then).toEqual([]);
      expect(await s.status(), then).toEqual({ status: "running", wakeAt: start + 5 * DAY });
      await s.world.pass(3 * DAY - 1);
      expect(runs.list, then).toEqual([]);
      await s.world.pass(1);
      expect(runs.list, then).toHaveLength(1);
      expect((await s.status()).status, then).toBe("completed");
      await s.restart();
      expect((await s.status()).status, then).toBe("completed");
    }
  });

  if (!/next|message/.test(name)) return;
  it.each(gates)("takes a message that comes in time with %s deployed in front of it", async (_, gate) => {
    const runs = new Runs();
    const s = await subject(program(wait, async () => {}, runs));
    await s.world.pass(DAY);
    const next = s.deploy(program(wait, gate, runs));
    await next.replay();
    next.actor.crash();
    await next.world.pass(DAY);
    await next.send("m", "in time");
    await next.world.pass(1_000);
    expect((await next.status()).status).toBe("completed");
    expect(next.actor.store.keys.filter((key) => key.startsWith("m/"))).toHaveLength(1);
    expect(runs.list).toHaveLength(1);
  });
});

describe("in a history of a release whose order counted gates", () => {
  /**
   * A receive with a timeout of a day and a gate before or after it, as that release recorded them, and a message that
   * arrived in time and came back since.
   */
  async function left(isBehind: boolean): Promise<{ s: Subject; got: unknown[] }> {
    const got: unknown[] = [];
    const made =
      (gate: boolean): Program =>
      async (ctx) => {
        await ctx.step("before", () => 1);
        if (gate && !isBehind) await ctx.getVersion("gate", 2);
        const batch = await ctx.queue.nextBatch("wait", { names: ["m"], timeout: DAY });
        if (gate && isBehind) await ctx.getVersion("gate", 2);
        got.push(batch.length);
        await ctx.queue.next("hold", { names: ["end"] });
      };
    const first = await subject(made(isBehind));
    if (isBehind) await first.world.pass(2 * DAY);
    const s = isBehind ? first : first.deploy(made(true));
    await s.replay();
    got.length = 0;
    const rows = s.actor.store.dump();
    for (const entry of s.stored()) {
      const { completedSeq: _, ...open } = entry;
      if (entry.kind === "message")
        rows.set(`e/${entry.seq}`, encodeEntry({ ...open, status: "pending", dueAt: START + DAY }));
      if (entry.kind === "version_check") rows.set(`e/${entry.seq}`, encodeEntry({ ...entry, data: { version: 2 } }));
    }
    rows.set("m/9", encodeValue(["m", encodeValue("in time"), START + 1, null]));
    s.actor.crash();
    s.clock.moveTo(START + 3 * DAY);
    s.actor.store.restore(rows, START + DAY);
    await s.world.pass(DAY);
    return { s, got };
  }

  it("a receive that had timed out before a gate stays so, and its deadline goes", async () => {
    const { s, got } = await left(true);
    expect(got).toEqual([0]);
    expect(s.lines()).toContain("message wait completed");
    await s.restart();
    expect((await s.status()).wakeAt).toBeUndefined();
  });

  it("a receive with a gate in front of it goes on", async () => {
    const { got } = await left(false);
    expect(got).toEqual([1]);
  });
});

describe("a deploy", () => {
  it("in front of a wait, rolled back while a message has come: the message wins, however late the next start", async () => {
    const wait = async (ctx: Ctx, gate: Gate): Promise<unknown> => (
      await gate(ctx),
      ctx.queue.nextBatch("wait", { names: ["m"], timeout: 5 * DAY })
    );
    let got: unknown;
    const made =
      (gate: Gate): Program =>
      async (ctx) => {
        got = (await wait(ctx, gate)) as unknown;
        await ctx.sleep("nap", DAY);
      };
    const s = await subject(made(async () => {}));
    const gated = s.deploy(made((ctx) => ctx.getVersion("gate", 2)));
    await gated.replay();
    // It arrives while no code can take it: the workflow of this deploy does not match the history.
    const unfit = gated.deploy(async (ctx) => void (await ctx.step("other", () => 1)));
    await unfit.send("m", "in time");
    await unfit.world.settle();
    const back = unfit.deploy(made(async () => {}));
    back.clock.moveTo(back.clock.now() + 6 * DAY);
    await back.world.settle();
    await back.world.pass(DAY / 2);
    expect(got).toMatchObject([{ body: "in time" }]);
  });
});

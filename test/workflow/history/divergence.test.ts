import { describe, expect, it } from "vitest";
import { CriticalError, Loop } from "../../../src/entry/workflow.js";
import { Runs, subject, type Ctx, type Program, type Subject } from "../subject.js";

const HOUR = 3_600_000;
const MINUTE = 60_000;

type Part = (ctx: Ctx, runs: Runs) => Promise<unknown>;

/** Where the changed code is. Each keeps its scope open until that part has ended. */
const scopes: Record<string, (part: Part, runs: Runs) => Program> = {
  "the root": (part, runs) => async (ctx) => part(ctx, runs),
  "an iteration": (part, runs) => async (ctx) =>
    ctx.loop({ name: "l", state: 0, run: async (round) => Loop.break(await part(round, runs)) }),
  "a branch of a join": (part, runs) => async (ctx) =>
    ctx.join("j", { x: { run: (b) => part(b, runs) }, y: { run: (b) => b.sleep("other", 3 * HOUR) } }),
  "a branch of a race": (part, runs) => async (ctx) =>
    ctx.race<unknown>("r", [
      { name: "x", run: (b) => part(b, runs) },
      { name: "y", run: (b) => b.sleep("other", 3 * HOUR) },
    ]),
  "a try block": (part, runs) => async (ctx) => ctx.try("t", (b) => part(b, runs)),
  "a try block in an iteration in a join": (part, runs) => async (ctx) =>
    ctx.join("j", {
      x: {
        run: (b) =>
          b.loop({ name: "l", state: 0, run: async (round) => Loop.break(await round.try("t", (c) => part(c, runs))) }),
      },
    }),
};

const original: Part = async (ctx, runs) => {
  await ctx.step("a", runs.of("a"));
  await ctx.step("b", runs.of("b"));
  await ctx.sleep("nap", HOUR);
  await ctx.step("c", runs.of("c"));
};

interface Change {
  readonly part: Part;
  /** The name recorded where the code diverged, and the name that the code called there. */
  readonly found: string;
  readonly expected?: string;
}

const changes: Record<string, Change> = {
  "renamed at the front": {
    part: async (ctx, runs) => {
      await ctx.step("a2", runs.of("new"));
      await ctx.step("b", runs.of("b"));
      await ctx.sleep("nap", HOUR);
    },
    found: '"a"',
    expected: '"a2"',
  },
  "renamed further on": {
    part: async (ctx, runs) => {
      await ctx.step("a", runs.of("a"));
      await ctx.step("b", runs.of("b"));
      await ctx.sleep("rest", HOUR);
    },
    found: '"nap"',
    expected: '"rest"',
  },
  "removed in the middle": {
    part: async (ctx, runs) => {
      await ctx.step("a", runs.of("a"));
      await ctx.sleep("nap", HOUR);
    },
    found: '"b"',
    expected: '"nap"',
  },
  "removed at the end": {
    part: async (ctx, runs) => {
      await ctx.step("a", runs.of("a"));
      await ctx.step("b", runs.of("b"));
    },
    found: '"nap"',
  },
  "removed with all others": { part: async () => undefined, found: '"a"' },
  reordered: {
    part: async (ctx, runs) => {
      await ctx.step("b", runs.of("b"));
      await ctx.step("a", runs.of("a"));
      await ctx.sleep("nap", HOUR);
    },
    found: '"a"',
    expected: '"b"',
  },
  "of another kind": {
    part: async (ctx, runs) => {
      await ctx.step("a", runs.of("a"));
      await ctx.sleep("b", 1);
      await ctx.sleep("nap", HOUR);
    },
    found: "step",
    expected: 'sleep "b"',
  },
  "inserted at the front": {
    part: async (ctx, runs) => {
      await ctx.step("new", runs.of("new"));
      await original(ctx, runs);
    },
    found: '"a"',
    expected: '"new"',
  },
  "inserted in the middle": {
    part: async (ctx, runs) => {
      await ctx.step("a", runs.of("a"));
      await ctx.step("new", runs.of("new"));
      await ctx.step("b", runs.of("b"));
      await ctx.sleep("nap", HOUR);
    },
    found: '"b"',
    expected: '"new"',
  },
  "not met because the code throws": {
    part: async (ctx, runs) => {
      await ctx.step("a", runs.of("a"));
      throw new Error("mine");
    },
    found: '"b"',
  },
};

/** Everything stored for the workflow, its messages and the state, but not the deadline of the re-check. */
const dataOf = (s: Subject): [string, Uint8Array][] =>
  [...s.actor.store.dump()].filter(([key]) => /^(?:e\/|m\/|s$)/.test(key));

/** The code no longer matches: nothing has run or changed, and the actor serves calls. */
async function expectDiverged(
  s: Subject,
  before: [string, Uint8Array][],
  runs: Runs,
  ran: readonly string[],
): Promise<void> {
  expect(await s.status()).toMatchObject({ status: "diverged", error: { name: "HistoryDivergedError" } });
  expect(dataOf(s)).toEqual(before);
  expect(runs.list).toEqual(ran);
  expect(s.record()).toEqual({ status: "running" });
  expect(await s.state()).toBeDefined();
  expect(s.actor.holdsLease).toBe(false);
  expect(s.actor.timersHeld).toBe(0);
}

describe("a history that the code no longer matches", () => {
  for (const [scope, wrap] of Object.entries(scopes)) {
    it.each(Object.entries(changes))(
      `stops the run with an operation in ${scope} %s: touches nothing, a fixed deploy goes on by itself (D52, D158)`,
      async (_, { part, found, expected }) => {
        const runs = new Runs();
        const s = await subject(wrap(original, runs));
        expect(runs.list).toEqual(["a", "b"]);
        const before = dataOf(s);
        const wrong = s.deploy(wrap(part, runs));
        await wrong.world.pass(HOUR);
        await expectDiverged(wrong, before, runs, ["a", "b"]);
        expect(wrong.errors).toMatchObject([
          { code: "workflow/history_diverged", msg: expect.stringContaining(found) },
        ]);
        if (expected) expect(wrong.errors[0]?.msg).toContain(expected);
        // The re-check runs with a growing delay and reports nothing again.
        expect(wrong.actor.store.alarmAt).toBe(wrong.clock.now() + MINUTE);
        await wrong.world.pass(MINUTE);
        expect(wrong.actor.store.alarmAt).toBe(wrong.clock.now() + 2 * MINUTE);
        await wrong.world.pass(5 * MINUTE);
        await expectDiverged(wrong, before, runs, ["a", "b"]);
        expect(wrong.errors).toHaveLength(1);
        const fixed = wrong.deploy(wrap(original, runs));
        await fixed.world.pass(5 * HOUR);
        expect(runs.list).toEqual(["a", "b", "c"]);
        expect((await fixed.status()).status).toBe("completed");
        expect(fixed.errors).toEqual([]);
      },
    );
  }

  it("is looked at again once an hour at most", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) => original(ctx, runs));
    const wrong = s.deploy(async (ctx) => ctx.step("other", () => 1));
    await wrong.world.pass(50 * HOUR);
    const wait = (wrong.actor.store.alarmAt as number) - wrong.clock.now();
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(HOUR);
    await wrong.world.pass(wait);
    expect(wrong.actor.store.alarmAt).toBe(wrong.clock.now() + HOUR);
  });

  it("is told once for each way in which it differs", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) => original(ctx, runs));
    const wrong = s.deploy(async (ctx) => ctx.step("other", () => 1));
    await wrong.world.pass(5 * HOUR);
    const worse = wrong.deploy(async (ctx) => ctx.step("another", () => 1));
    await worse.world.pass(5 * HOUR);
    expect(wrong.errors).toHaveLength(1);
    expect(worse.errors).toHaveLength(1);
  });

  it("cannot be caught by user code, which is not called again until the re-check", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) => original(ctx, runs));
    const wrong = s.deploy(async (ctx) => {
      runs.note("called");
      try {
        await ctx.step("other", () => 1);
      } catch {
        runs.note("caught");
      } finally {
        runs.note("finally");
      }
    });
    await wrong.world.pass(HOUR);
    expect(runs.list).toEqual(["a", "b", "called"]);
    for (let n = 0; n < 3; n += 1) await wrong.send("m");
    await wrong.restart();
    await wrong.world.settle();
    expect(runs.list).toEqual(["a", "b", "called"]);
    expect(wrong.queued).toBe(3);
  });

  it("undoes nothing, though a checkpoint stands there (D149)", async () => {
    const runs = new Runs();
    const program =
      (last: string): Program =>
      async (ctx) => {
        await ctx.rollbackCheckpoint("cp");
        await ctx.step({ name: "a", run: runs.of("a"), rollback: runs.of("undo a") });
        await ctx.sleep(last, HOUR);
      };
    const s = await subject(program("nap"));
    const wrong = s.deploy(program("rest"));
    await wrong.world.pass(HOUR);
    expect((await wrong.status()).status).toBe("diverged");
    expect(runs.list).toEqual(["a"]);
  });

  it("keeps no gate or placeholder that the code met on its way", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) => original(ctx, runs));
    const before = dataOf(s);
    const wrong = s.deploy(async (ctx) => {
      await ctx.getVersion("gate", 2);
      await ctx.removed("gone", "sleep");
      await ctx.step("a", runs.of("a"));
      await ctx.step("new", runs.of("new"));
    });
    await wrong.world.pass(HOUR);
    await expectDiverged(wrong, before, runs, ["a", "b"]);
    await wrong.world.pass(10 * MINUTE);
    await expectDiverged(wrong, before, runs, ["a", "b"]);
  });

  it("ends the attempts that run beside it, so that they change nothing any more", async () => {
    const runs = new Runs();
    let finish: (() => void) | undefined;
    let signal: AbortSignal | undefined;
    const program =
      (second: string): Program =>
      async (ctx) => {
        await ctx.join("j", {
          busy: {
            run: async (b) => {
              await b.sleep("nap", HOUR);
              await b.step("work", async (step) => {
                signal = step.abortSignal;
                await new Promise<void>((resolve) => (finish = resolve));
                step.state.n += 1;
              });
            },
          },
          changed: {
            run: async (b) => {
              await b.step("a", runs.of("a"));
              for (let turn = 0; turn < 12; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
              await b.step(second, runs.of(second));
              await b.sleep("nap", 5 * HOUR);
            },
          },
        });
      };
    const s = await subject(program("b"), { state: { n: 0 } });
    for (let turn = 0; turn < 5; turn += 1) await s.world.settle();
    expect(runs.list).toEqual(["a", "b"]);
    const wrong = s.deploy(program("c"));
    await wrong.world.pass(HOUR);
    for (let turn = 0; turn < 5; turn += 1) await wrong.world.settle();
    expect((await wrong.status()).status).toBe("diverged");
    expect(signal?.aborted).toBe(true);
    finish?.();
    await wrong.world.settle();
    expect(await wrong.state()).toEqual({ n: 0 });
  });
});

describe("a registry that no longer has what is stored", () => {
  it("leaves a workflow alone, serves the actor, and goes on when the workflow is back", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) => original(ctx, runs));
    const before = dataOf(s);
    const without = s.deploy(undefined);
    await without.world.pass(3 * HOUR);
    expect(dataOf(without)).toEqual(before);
    expect(await without.state()).toBeDefined();
    expect((await without.status()).status).toBe("diverged");
    expect(without.errors).toHaveLength(1);
    const back = without.deploy(async (ctx) => original(ctx, runs));
    await back.world.pass(2 * HOUR);
    expect(runs.list).toEqual(["a", "b", "c"]);
    expect((await back.status()).status).toBe("completed");
  });

  it("goes on at its time when the workflow is back before that", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) => original(ctx, runs));
    const without = s.deploy(undefined);
    await without.world.pass(HOUR / 2);
    await without.state();
    const back = without.deploy(async (ctx) => original(ctx, runs));
    await back.world.pass(HOUR / 2);
    expect(runs.list).toEqual(["a", "b", "c"]);
  });

  it("leaves an actor's data alone that it has no name for", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) => original(ctx, runs));
    const before = dataOf(s);
    const rows = s.actor.store.dump();
    const alarm = s.actor.store.alarmAt;
    s.actor.crash();
    s.actor.store.setAlarm(null);
    const other = await subject(async () => 1, { clock: s.clock });
    const stranger = other.world.actor("unknown", ["k"]);
    stranger.store.restore(rows, alarm);
    await other.world.pass(2 * HOUR);
    expect([...stranger.store.dump()].filter(([key]) => /^(?:e\/|s$)/.test(key))).toEqual(before);
    expect(stranger.store.alarmAt).not.toBeNull();
  });
});

describe("a changed join or race", () => {
  const wait = { run: (b: Ctx) => b.sleep("nap", HOUR) };
  const quick = { run: async (): Promise<number> => 1 };

  it.each<[string, Record<string, typeof wait>]>([
    ["more branches", { a: wait, b: wait, c: wait }],
    ["fewer branches", { a: wait }],
    ["a renamed branch", { a: wait, c: wait }],
  ])("with %s diverges while the join is open (D154)", async (_, branches) => {
    const s = await subject(async (ctx) => ctx.join("j", { a: wait, b: wait }));
    const before = dataOf(s);
    const wrong = s.deploy(async (ctx) => ctx.join("j", branches));
    await wrong.world.pass(HOUR);
    await expectDiverged(wrong, before, new Runs(), []);
    expect(wrong.errors[0]?.msg).toContain("was recorded with the branches a, b");
    const fixed = wrong.deploy(async (ctx) => ctx.join("j", { b: wait, a: wait }));
    await fixed.world.pass(HOUR);
    expect((await fixed.status()).status).toBe("completed");
  });

  it.each<[string, Record<string, typeof quick>]>([
    ["more branches", { a: quick, b: quick, c: quick }],
    ["fewer branches", { a: quick }],
  ])("with %s diverges when the join is completed, too (D154)", async (_, branches) => {
    const program =
      (given: Record<string, typeof quick>): Program =>
      async (ctx) => (await ctx.join("j", given), ctx.sleep("nap", HOUR));
    const s = await subject(program({ a: quick, b: quick }));
    const before = dataOf(s);
    const wrong = s.deploy(program(branches));
    await wrong.world.pass(HOUR);
    await expectDiverged(wrong, before, new Runs(), []);
  });

  it.each<[string, string[]]>([
    ["more branches", ["a", "b", "c"]],
    ["fewer branches", ["a"]],
    ["a renamed branch", ["a", "c"]],
  ])("with %s diverges while the race is open (D152)", async (_, names) => {
    const race =
      (list: string[]): Program =>
      async (ctx) =>
        ctx.race(
          "r",
          list.map((name) => ({ name, run: (b) => b.sleep("nap", HOUR) })),
        );
    const s = await subject(race(["a", "b"]));
    const before = dataOf(s);
    const wrong = s.deploy(race(names));
    await wrong.world.pass(HOUR);
    await expectDiverged(wrong, before, new Runs(), []);
    const fixed = wrong.deploy(race(["a", "b"]));
    await fixed.world.pass(HOUR);
    expect((await fixed.status()).output).toEqual({ winner: "a", value: undefined });
  });

  it("is no divergence when the race is decided: its winner stands", async () => {
    const s = await subject(async (ctx) => {
      const { winner } = await ctx.race("r", [
        { name: "a", run: async () => 1 },
        { name: "b", run: (b) => b.sleep("nap", HOUR) as Promise<never> },
      ]);
      await ctx.sleep("nap", HOUR);
      return winner;
    });
    const next = s.deploy(async (ctx) => {
      const { winner } = await ctx.race("r", [{ name: "x", run: async () => 2 }]);
      await ctx.sleep("nap", HOUR);
      return winner;
    });
    await next.world.pass(HOUR);
    expect((await next.status()).output).toBe("a");
  });
});

describe("changes that are no divergence", () => {
  it("are those behind what is recorded, and of what a callback does", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) => original(ctx, runs));
    const next = s.deploy(async (ctx) => {
      await ctx.step({ name: "a", maxRetries: 9, run: runs.of("changed") });
      await ctx.step("b", () => Promise.reject(new CriticalError("changed")));
      await ctx.sleep("nap", 1);
      await ctx.step("d", runs.of("d"));
    });
    await next.world.pass(HOUR);
    expect(runs.list).toEqual(["a", "b", "d"]);
    expect((await next.status()).status).toBe("completed");
  });

  it("are those of an iteration that has recorded nothing: finished ones never run again", async () => {
    const runs = new Runs();
    const program =
      (name: string): Program =>
      async (ctx) =>
        ctx.loop({
          name: "l",
          state: 0,
          run: async (round, n: number) => {
            await round.queue.next("go", { names: ["go"] });
            await round.step(name, runs.of(`${name}${n}`));
            return Loop.continue(n + 1);
          },
        });
    const s = await subject(program("old"));
    await s.send("go");
    await s.world.settle();
    const next = s.deploy(program("new"));
    await next.send("go");
    await next.world.settle();
    expect(runs.list).toEqual(["old0", "new1"]);
    expect((await next.status()).status).toBe("running");
  });
});

import { describe, expect, it } from "vitest";
import { CriticalError, EvictedError, Loop, RaceError } from "../../../src/entry/workflow.js";
import { Runs, finished, subject, type Ctx, type Step } from "../subject.js";

const HOUR = 3_600_000;

/** A branch that never fulfils by itself. */
const idle = {
  name: "idle",
  run: (b: Ctx): Promise<never> => b.queue.next("idle", { names: ["never"] }) as Promise<never>,
};

describe("race", () => {
  it("gives the first branch that fulfils (D84)", async () => {
    const s = await subject(async (ctx, { clock }) =>
      ctx.race("r", [
        { name: "slow", run: (b) => b.step("s", () => clock.delay(100).then(() => "slow")) },
        { name: "fast", run: (b) => b.step("s", () => clock.delay(50).then(() => "fast")) },
      ]),
    );
    await s.world.pass(50);
    expect((await s.status()).output).toEqual({ winner: "fast", value: "fast" });
  });

  it("lets a sleep of 200 ms win against a step of 500 ms, at 200 ms (D91, D92)", async () => {
    let at: number | undefined;
    let late: (() => unknown) | undefined;
    const s = await subject(
      async (ctx, { clock }) => {
        const result = await ctx.race("r", [
          {
            name: "work",
            run: (b) =>
              b.step("s", async (step) => {
                late = () => (step.state = { n: 9 });
                await clock.delay(500);
                return "primary";
              }),
          },
          { name: "timer", run: (b) => b.sleep("t", 200).then(() => "fallback") },
        ]);
        at = clock.now();
        return result;
      },
      { state: { n: 0 } },
    );
    const start = s.clock.now();
    await s.world.pass(199);
    expect(at).toBeUndefined();
    await s.world.pass(1);
    expect(at).toBe(start + 200);
    const stored = s.stored();
    await s.world.pass(1_000);
    expect((await s.status()).output).toEqual({ winner: "timer", value: "fallback" });
    expect(s.stored()).toEqual(stored);
    expect(late).toThrowError(expect.objectContaining({ code: "step_ended" }));
    expect(await s.state()).toEqual({ n: 0 });
    expect(s.clock.pendingTimers).toBe(0);
  });

  it("ends the seed's timeout and fallback with the fallback", async () => {
    const s = await subject(
      async (ctx, { clock }) => {
        await ctx.loop("jobs", async (round) => {
          const message = await round.queue.next("wait", { names: ["work"] });
          const raced = await round.race("deadline", [
            { name: "primary", run: (b) => b.step("primary", () => clock.delay(500).then(() => "primary")) },
            { name: "timeout", run: (b) => b.sleep("timeout", 200).then(() => undefined as never) },
          ]);
          const source = raced.winner === "timeout" ? await round.step("fallback", () => "fallback") : raced.value;
          await round.step("save", (step) => {
            step.state.lastSource = `${source} ${message.body}`;
          });
        });
      },
      { state: { lastSource: "" } },
    );
    await s.send("work", 1);
    await s.world.pass(200);
    expect(await s.state()).toEqual({ lastSource: "fallback 1" });
  });

  it("fires the losers' abort signals, of the branch and of its step (D85)", async () => {
    const signals: AbortSignal[] = [];
    let winner: AbortSignal | undefined;
    const s = await subject(async (ctx) => {
      await ctx.race("r", [
        {
          name: "loser",
          run: (b) => {
            signals.push(b.abortSignal);
            return b.step("s", (step: Step) => {
              signals.push(step.abortSignal);
              return new Promise<never>(() => {});
            });
          },
        },
        {
          name: "winner",
          run: (b) => {
            winner = b.abortSignal;
            return b.sleep("t", 10);
          },
        },
      ]);
      await ctx.sleep("stay", HOUR);
    });
    expect(signals.map((signal) => signal.aborted)).toEqual([false, false]);
    await s.world.pass(10);
    expect(signals.map((signal) => signal.aborted)).toEqual([true, true]);
    expect(signals[0]?.reason).toBeInstanceOf(EvictedError);
    expect(winner?.aborted).toBe(false);
  });

  it("rejects with every error when all branches do, the same on replay (D86)", async () => {
    const caught: RaceError[] = [];
    const runs = new Runs();
    const s = await subject(async (ctx) => {
      await ctx
        .race("r", [
          {
            name: "a",
            run: (b): Promise<never> => (runs.note("a"), b.step("s", () => Promise.reject(new CriticalError("one")))),
          },
          {
            name: "b",
            run: async () => {
              throw new TypeError("two");
            },
          },
        ])
        .catch((error: RaceError) => caught.push(error));
      await ctx.sleep("stay", HOUR);
    });
    await s.replay();
    expect(caught).toHaveLength(2);
    for (const error of caught) {
      expect(error).toBeInstanceOf(RaceError);
      expect(error.message).toBe("All branches failed");
      expect(error.errors.map(({ name, error: each }) => [name, each.name, each.message])).toEqual([
        ["a", "CriticalError", "one"],
        ["b", "TypeError", "two"],
      ]);
      expect(error.errors[0]?.error).toBeInstanceOf(CriticalError);
    }
    expect(runs.count("a")).toBe(1);
  });

  it("is won by a branch that fulfils after another has rejected (D87)", async () => {
    const s = await subject(async (ctx) =>
      ctx.race("r", [
        {
          name: "bad",
          run: async () => {
            throw new Error("no");
          },
        },
        { name: "good", run: (b) => b.sleep("t", 10).then(() => "ok") },
      ]),
    );
    await s.world.pass(10);
    expect((await s.status()).output).toEqual({ winner: "good", value: "ok" });
  });

  it("gives the recorded winner on replay, and runs no branch (D88)", async () => {
    const runs = new Runs();
    const seen: unknown[] = [];
    const s = await subject(async (ctx) => {
      seen.push(
        await ctx.race("r", [
          { name: "a", run: async (b) => (runs.note("a"), b.step("s", () => new Date(1))) },
          { name: "b", run: async (b): Promise<Date> => (runs.note("b"), b.sleep("t", HOUR).then(() => new Date(2))) },
        ]),
      );
      await ctx.sleep("stay", HOUR);
    });
    await s.replay();
    expect(seen).toEqual([
      { winner: "a", value: new Date(1) },
      { winner: "a", value: new Date(1) },
    ]);
    expect(runs.list).toEqual(["a", "b"]);
  });

  it("keeps what the winner recorded, joins and races in it too, and deletes what the losers did (D89)", async () => {
    const s = await subject(async (ctx) => {
      const result = await ctx.race("r", [
        {
          name: "loser",
          run: async (b): Promise<never> => (
            await b.step("s", () => 1),
            await b.join("j", { x: { run: (c) => c.step("s", () => 1) } }),
            b.sleep("t", 2 * HOUR) as Promise<never>
          ),
        },
        {
          name: "winner",
          run: async (b) => {
            const joined = await b.join("j", { x: { run: (c) => c.step("s", () => 1) } });
            const raced = await b.race("inner", [{ name: "one", run: (c) => c.sleep("t", HOUR).then(() => 2) }, idle]);
            return [joined, raced];
          },
        },
      ]);
      await ctx.sleep("stay", HOUR);
      return result;
    });
    expect(s.lines()).toContain("sleep r/loser/t pending");
    await s.world.pass(HOUR);
    expect(s.lines().filter((line) => line.includes("loser"))).toEqual([]);
    expect(s.lines()).toEqual(
      expect.arrayContaining([
        "race r completed",
        "join r/winner/j completed",
        "step r/winner/j/x/s completed",
        "race r/winner/inner completed",
      ]),
    );
    await s.world.pass(HOUR);
    expect((await s.status()).output).toEqual({ winner: "winner", value: [{ x: 1 }, { winner: "one", value: 2 }] });
  });

  it("stores its win and the end of its losers in one commit (D155)", async () => {
    for (const kind of ["crash-before", "crash-after"] as const) {
      for (let at = 2; at < 14; at += 1) {
        const seen: string[] = [];
        const s = await subject(
          async (ctx) => {
            const { winner } = await ctx.race("r", [
              { name: "message", run: (b) => b.queue.next("m", { names: ["m"] }).then(() => "m") },
              { name: "timer", run: (b) => b.sleep("t", 100).then(() => "t") },
            ]);
            seen.push(winner);
            await ctx.sleep("think", 100);
            await ctx.step("note", (step) => void step.state.log.push(winner));
          },
          { fault: (commit) => (commit === at ? kind : undefined) },
        ).catch(() => undefined);
        if (!s) continue;
        // A message at the deadline itself would be in time.
        await s.world.pass(101);
        await s.send("m").catch(() => undefined);
        await s.world.passUntilQuiet();
        expect((await s.state()).log, `${kind} ${at}`).toEqual(["timer"]);
        expect(new Set(seen).size).toBe(1);
      }
    }
  });

  it("leaves no row of a loser's gate that was met in the turn of the win", async () => {
    const s = await subject(async (ctx) => {
      const first = await ctx.race("r", [
        { name: "quick", run: (b) => b.step("s", () => 1) },
        {
          name: "gated",
          run: async (b) => (
            await b.getVersion("g", 2),
            await b.removed("x", "step"),
            await b.getVersion("h", 2),
            b.queue.next("m", { names: ["m"] }).then(() => 2)
          ),
        },
      ]);
      await ctx.sleep("nap", HOUR);
      return first;
    });
    expect(s.lines()).toEqual(["race r completed", "step r/quick/s completed", "sleep nap pending"]);
    await s.call("replayFrom", (await s.history()).find((entry) => entry.kind === "step")?.id);
    await s.world.pass(HOUR);
    expect(s.lines().filter((line) => line.includes("gated"))).toEqual([]);
    expect((await s.status()).output).toEqual({ winner: "quick", value: 1 });
  });

  it("commits its win before the code sees it", async () => {
    const events: string[] = [];
    const s = await subject(async (ctx) => {
      await ctx.race<unknown>("r", [{ name: "t", run: (b) => b.sleep("t", 10) }, idle]);
      events.push("seen");
      await ctx.sleep("stay", HOUR);
    });
    const { store } = s.actor;
    const write = store.write.bind(store);
    store.write = (generation, batch) => {
      write(generation, batch);
      if (batch.puts.has("e/1")) events.push("race written");
    };
    await s.world.pass(10);
    expect(events).toEqual(["race written", "seen"]);
  });

  it("is not failed by a branch's retry: it sleeps and goes on (D90)", async () => {
    const s = await subject(async (ctx) =>
      ctx.race("r", [
        {
          name: "flaky",
          run: (b) =>
            b.step("s", (step) => {
              if (step.attempt === 1) throw new Error("not yet");
              return step.attempt;
            }),
        },
        { name: "long", run: (b) => b.sleep("t", HOUR) as Promise<never> },
      ]),
    );
    expect(s.actor.timersHeld).toBe(0);
    expect(s.actor.store.alarmAt).toBe(s.clock.now() + 200);
    await s.world.pass(200);
    expect((await s.status()).output).toEqual({ winner: "flaky", value: 2 });
    expect(s.actor.store.alarmAt).toBeNull();
  });

  it("rejects with RaceError when it has no branches (D93)", async () => {
    const s = await finished(async (ctx) =>
      ctx.race("r", []).catch((error: RaceError) => [error.name, error.message, error.errors.length]),
    );
    expect((await s.status()).output).toEqual(["RaceError", 'Race "r" has no branches', 0]);
    expect(s.lines()).toEqual(["race r failed"]);
  });

  it("rejects a loser's open and later operations with EvictedError, in that branch only (D94)", async () => {
    const seen: string[] = [];
    const s = await subject(async (ctx) => {
      const result = await ctx.race("r", [
        {
          name: "loser",
          run: async (b) => {
            try {
              await b.join("j", {
                deep: { run: (c) => c.sleep("open", HOUR).finally(() => seen.push("deep finally")) },
                busy: {
                  run: (c) =>
                    c.step(
                      "busy",
                      (step) =>
                        new Promise<never>(() =>
                          step.abortSignal.addEventListener("abort", () => seen.push("busy aborted")),
                        ),
                    ),
                },
              });
            } catch (error) {
              seen.push(`open ${(error as Error).name}`);
            } finally {
              seen.push("finally");
            }
            await b
              .step("later", () => seen.push("must not run"))
              .catch((error: Error) => seen.push(`later ${error.name}`));
            throw new Error("swallowed");
          },
        },
        { name: "winner", run: (b) => b.sleep("t", 10).then(() => 1) },
      ]);
      await ctx.step("after", () => seen.push("after"));
      await ctx.sleep("nap", HOUR);
      return result.value;
    });
    await s.world.pass(10);
    expect(seen.sort()).toEqual([
      "after",
      "busy aborted",
      "deep finally",
      "finally",
      "later EvictedError",
      "open EvictedError",
    ]);
    // The loser no longer counts as busy.
    expect(s.actor.holdsLease).toBe(false);
    expect(s.actor.timersHeld).toBe(0);
    await s.world.pass(HOUR);
    expect((await s.status()).output).toBe(1);
    expect(s.errors).toEqual([]);
  });

  it("does not let a loser that catches everything spin for ever", async () => {
    let spins = 0;
    const s = await subject(async (ctx) => {
      await ctx.race("r", [
        {
          name: "loser",
          run: async (b) => {
            for (;;) {
              spins += 1;
              if (spins > 100_000) return;
              await b.queue.next("again", { names: ["never"] }).catch(() => undefined);
            }
          },
        },
        { name: "winner", run: (b) => b.sleep("t", 10) },
      ]);
      return "end";
    });
    await s.world.pass(10);
    expect((await s.status()).output).toBe("end");
    expect(spins).toBeLessThan(2_000);
  });

  it("lets a message win against a long sleep after a restart; earlier steps are not run again (D145)", async () => {
    const runs = new Runs();
    const seen: unknown[] = [];
    const s = await subject(async (ctx) => {
      await ctx.step("list", runs.of("list"));
      seen.push(
        await ctx.race("sale", [
          { name: "bid", run: (b) => b.queue.next("bid", { names: ["bids"] }).then((m) => m.body) },
          { name: "closed", run: (b) => b.sleep("t", 24 * HOUR).then(() => "closed") },
        ]),
      );
      await ctx.step("finalize", runs.of("finalize"));
      await ctx.sleep("stay", HOUR);
    });
    await s.world.pass(HOUR);
    s.actor.crash();
    await s.send("bids", 100);
    await s.world.settle();
    await s.replay();
    expect(seen).toEqual([
      { winner: "bid", value: 100 },
      { winner: "bid", value: 100 },
    ]);
    expect(runs.list).toEqual(["list", "finalize"]);
    await s.send("bids", 200);
    await s.world.pass(HOUR);
    expect((await s.status()).status).toBe("completed");
    expect(await s.call("tryNext", { names: ["bids"] })).toMatchObject({ body: 200 });
  });

  it("does not run a branch again that rejected before a restart (D153)", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) =>
      ctx.race("r", [
        {
          name: "bad",
          run: async () => {
            runs.note("bad");
            throw new Error("no");
          },
        },
        { name: "good", run: (b) => b.sleep("t", HOUR).then(() => 1) },
      ]),
    );
    await s.replay();
    await s.world.pass(HOUR);
    expect(runs.list).toEqual(["bad"]);
    expect((await s.status()).output).toEqual({ winner: "good", value: 1 });
  });

  it("lets a branch that ends without waiting win at once, the first in the code's order", async () => {
    const s = await finished(async (ctx) =>
      ctx.race("r", [
        { name: "a", run: () => 1 },
        { name: "b", run: async () => 2 },
      ]),
    );
    expect((await s.status()).output).toEqual({ winner: "a", value: 1 });
  });

  it("makes a branch reject whose value cannot be stored", async () => {
    const s = await finished(async (ctx) =>
      ctx
        .race("r", [{ name: "bad", run: async () => () => 1 }])
        .catch((error: RaceError) => error.errors[0]?.error.message),
    );
    expect((await s.status()).output).toContain("not serializable");
  });

  it("makes the branch reject whose value is too large for its entry; the others go on", async () => {
    const s = await subject(async (ctx) =>
      ctx.race<unknown>("r", [
        { name: "big", run: async () => "x".repeat(1_999_980) },
        { name: "small", run: (b) => b.sleep("t", 10).then(() => 1) },
      ]),
    );
    await s.world.pass(10);
    expect((await s.status()).output).toEqual({ winner: "small", value: 1 });
    await s.restart();
    expect(s.actor.crashes).toBe(1);
  });

  it.each([
    ["no list", { a: { run: (): number => 1 } }],
    ["a branch without a function", [{ name: "a" }]],
    ["a branch without a name", [{ run: (): number => 1 }]],
    ["nothing for a branch", [undefined]],
    [
      "two branches of one name",
      [
        { name: "a", run: async () => 1 },
        { name: "a", run: async () => 2 },
      ],
    ],
    ["a name of 1 KiB and one byte", [{ name: "x".repeat(1_025), run: async () => 1 }]],
  ] as [string, unknown][])("refuses %s, and records nothing", async (_, branches) => {
    const s = await finished(async (ctx) =>
      Promise.resolve()
        .then(() => ctx.race("r", branches as never))
        .catch((error: { code: string }) => error.code),
    );
    expect((await s.status()).output).toBe("invalid_race");
    expect(s.stored()).toEqual([]);
  });

  it.each(["__proto__", "", "a/b", "~0"])("may have a winner named %j", async (name) => {
    const s = await subject(async (ctx) => {
      const result = await ctx.race("r", [{ name, run: (b) => b.step("s", () => 1) }, idle]);
      await ctx.sleep("stay", HOUR);
      return result;
    });
    await s.replay();
    await s.world.pass(HOUR);
    expect((await s.status()).output).toEqual({ winner: name, value: 1 });
  });
});

describe("a race with queue.next", () => {
  it("leaves the message in the queue when the receive has lost", async () => {
    const s = await subject(async (ctx) =>
      ctx.race<unknown>("r", [
        { name: "message", run: (b) => b.queue.next("m", { names: ["m"] }) },
        { name: "timer", run: (b) => b.sleep("t", 10).then(() => "t") },
      ]),
    );
    await s.world.pass(10);
    await s.send("m", 1);
    expect((await s.status()).output).toEqual({ winner: "timer", value: "t" });
    expect(await s.call("tryNext")).toMatchObject({ body: 1 });
  });

  it("puts back what a loser took and did not complete, under its old id (MSG-2)", async () => {
    const s = await subject(async (ctx) =>
      ctx.race<unknown>("r", [
        {
          name: "reader",
          run: async (b) => (await b.queue.nextBatch("m", { names: ["m"], count: 2 }), await b.sleep("t", 2 * HOUR)),
        },
        { name: "timer", run: (b) => b.sleep("t", HOUR).then(() => "t") },
      ]),
    );
    await s.send("m", 1);
    await s.world.settle();
    expect(s.queued).toBe(0);
    await s.send("other", "later");
    await s.world.pass(HOUR);
    expect((await s.status()).output).toEqual({ winner: "timer", value: "t" });
    expect(await s.call("tryNext")).toMatchObject({ id: 1, body: 1 });
    expect(await s.call("tryNext")).toMatchObject({ id: 2, body: "later" });
  });

  it("loses none when a message comes after a restart, while a loser holds an earlier one", async () => {
    const s = await subject(async (ctx) =>
      ctx.race<unknown>("r", [
        { name: "reader", run: async (b) => (await b.queue.next("m", { names: ["m"] }), await b.sleep("t", 2 * HOUR)) },
        { name: "timer", run: (b) => b.sleep("t", HOUR).then(() => "t") },
      ]),
    );
    await s.send("m", "first");
    await s.world.settle();
    await s.restart();
    await s.send("other", "second");
    await s.world.pass(HOUR);
    expect(await s.call("tryNext")).toMatchObject({ body: "first" });
    expect(await s.call("tryNext")).toMatchObject({ body: "second" });
    expect(await s.call("tryNext")).toBeUndefined();
  });

  it("shows again what a loser holds, and a loser cannot complete it any more", async () => {
    let complete: (() => Promise<void>) | undefined;
    const s = await subject(async (ctx) => {
      await ctx.race<unknown>("r", [
        {
          name: "reader",
          run: async (b) => {
            const message = await b.queue.next("m", { names: ["m"], completable: true });
            complete = () => message.complete("late");
            await b.sleep("t", 2 * HOUR);
          },
        },
        { name: "timer", run: (b) => b.sleep("t", HOUR).then(() => "t") },
      ]);
      await ctx.sleep("stay", HOUR);
    });
    const waiting = s.sendAndWait("m", 1, 3 * HOUR);
    await s.world.pass(HOUR);
    await expect(complete?.()).rejects.toBeInstanceOf(EvictedError);
    expect(s.lines()).toEqual(["race r completed", "sleep r/timer/t pending", "sleep stay pending"]);
    expect(await s.call("peek")).toMatchObject({ id: 1 });
    expect(await s.call("answer", "from an action").catch(() => undefined)).toBeUndefined();
    await s.world.pass(2 * HOUR);
    expect(await waiting).toEqual({ status: "timedOut" });
  });

  it("keeps consumed what a loser has completed", async () => {
    const s = await subject(async (ctx) =>
      ctx.race<unknown>("r", [
        {
          name: "reader",
          run: async (b) => {
            const batch = await b.queue.nextBatch("m", { names: ["m"], count: 2, completable: true });
            await batch[0]?.complete("done");
            await b.sleep("t", 2 * HOUR);
          },
        },
        { name: "timer", run: (b) => b.sleep("t", HOUR) },
      ]),
    );
    await s.send("m", 1);
    await s.world.pass(HOUR);
    expect((await s.status()).status).toBe("completed");
    expect(s.queued).toBe(0);
  });

  it("lets a message that came before the deadline win although the wake is late", async () => {
    for (const order of ["message first", "timer first"]) {
      const s = await subject(async (ctx) => {
        const branches = [
          { name: "message", run: (b: Ctx) => b.queue.next("m", { names: ["m"] }).then(() => "m") },
          { name: "timer", run: (b: Ctx) => b.sleep("t", 100).then(() => "t") },
        ];
        const { winner } = await ctx.race("r", order === "message first" ? branches : branches.toReversed());
        return winner;
      });
      // The object is not in memory when another deploy stores the message; it comes back long after the deadline.
      await s.world.pass(50);
      const sender = s.deploy(undefined);
      await sender.send("m");
      const back = sender.deploy(async (ctx) => {
        const branches = [
          { name: "message", run: (b: Ctx) => b.queue.next("m", { names: ["m"] }).then(() => "m") },
          { name: "timer", run: (b: Ctx) => b.sleep("t", 100).then(() => "t") },
        ];
        const { winner } = await ctx.race("r", order === "message first" ? branches : branches.toReversed());
        return winner;
      });
      back.clock.moveTo(back.clock.now() + HOUR);
      await back.world.settle();
      await back.call("get");
      await back.world.settle();
      expect((await back.status()).output, order).toBe("message");
    }
  });

  it("in a loop leaves no message untaken and none behind", async () => {
    const s = await subject(async (ctx) =>
      ctx.loop({
        name: "l",
        state: 0,
        run: async (round, n: number) => {
          const { winner } = await round.race("r", [
            { name: "message", run: (b) => b.queue.next("m", { names: ["m"] }).then((m) => m.body) },
            { name: "timer", run: (b) => b.sleep("t", 100) },
          ]);
          await round.step("note", (step) => void step.state.log.push(winner));
          return n === 5 ? Loop.break(undefined) : Loop.continue(n + 1);
        },
      }),
    );
    for (let n = 0; n < 3; n += 1) {
      await s.send("m", n);
      await s.world.pass(150);
    }
    await s.world.passUntilQuiet();
    expect((await s.state()).log).toEqual(["message", "timer", "message", "timer", "message", "timer"]);
    expect(s.queued).toBe(0);
  });
});

import { describe, expect, it } from "vitest";
import { Loop } from "../../../src/entry/workflow.js";
import { Runs, finished, subject, type Ctx } from "../subject.js";

const HOUR = 3_600_000;

describe("loop", () => {
  it("runs its iterations in order, hands the state on, and gives the value of the break (D39)", async () => {
    const s = await finished(async (ctx) =>
      ctx.loop({
        name: "count",
        state: { n: 1, seen: [] as number[] },
        run: async (_, state) => {
          const seen = [...state.seen, state.n];
          return state.n === 3 ? Loop.break(seen) : Loop.continue({ n: state.n + 1, seen });
        },
      }),
    );
    expect((await s.status()).output).toEqual([1, 2, 3]);
    expect(s.lines()).toEqual(["loop count completed"]);
  });

  it("goes on when a stateless iteration returns nothing (D40)", async () => {
    let n = 0;
    const s = await finished(async (ctx) =>
      ctx.loop("l", async (round) => {
        n = await round.step("n", () => n + 1);
        return n === 3 ? Loop.break("end") : undefined;
      }),
    );
    expect((await s.status()).output).toBe("end");
  });

  it("fails when a stateful iteration returns nothing (D41)", async () => {
    const s = await finished(async (ctx) => ctx.loop({ name: "l", state: 1, run: async () => undefined }));
    expect(await s.status()).toMatchObject({
      status: "failed",
      error: { message: expect.stringMatching(/^Loop "l" returned undefined for a stateful iteration/) },
    });
  });

  it("goes on with the state unchanged when an iteration returns {} (D42)", async () => {
    const seen: unknown[] = [];
    await finished(async (ctx) =>
      ctx.loop({
        name: "l",
        state: { n: 1 },
        run: async (round, state) => {
          seen.push(state.n);
          const again = await round.step("again", () => seen.length < 3);
          state.n = 99;
          return again ? ({} as never) : Loop.break(undefined);
        },
      }),
    );
    expect(seen).toEqual([1, 1, 1]);
  });

  it.each([
    ["a number", 5],
    ["a text", "again"],
    ["true", true],
    ["null", null],
  ])("fails when an iteration returns %s, which says nothing", async (_, value) => {
    const runs = new Runs();
    const s = await finished(async (ctx) =>
      ctx.loop({ name: "l", run: async () => (runs.note("iteration"), value as never) }),
    );
    expect(await s.status()).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining('Loop "l" returned') },
    });
    expect(runs.count("iteration")).toBe(1);
  });

  it("is not run again when it has ended, also with undefined (D43)", async () => {
    const runs = new Runs();
    const seen: unknown[] = [];
    const s = await subject(async (ctx) => {
      seen.push(await ctx.loop("l", async () => (runs.note("l"), Loop.break(undefined))));
      await ctx.sleep("stay", HOUR);
    });
    await s.replay();
    expect(runs.count("l")).toBe(1);
    expect(seen).toEqual([undefined, undefined]);
  });

  it("is entered again exactly at the iteration in flight; what that recorded is replayed (D44)", async () => {
    const runs = new Runs();
    let hang = true;
    const s = await subject(async (ctx) =>
      ctx.loop({
        name: "l",
        state: 0,
        run: async (round, n: number) => {
          runs.note(`enter ${n}`);
          await round.step("a", runs.of(`a${n}`));
          await round.step("b", () => (hang && n === 2 ? new Promise(() => {}) : runs.note(`b${n}`)));
          return n === 3 ? Loop.break(n) : Loop.continue(n + 1);
        },
      }),
    );
    expect(runs.list).toEqual(["enter 0", "a0", "b0", "enter 1", "a1", "b1", "enter 2", "a2"]);
    hang = false;
    await s.restart();
    expect(runs.list.slice(8)).toEqual(["enter 2", "b2", "enter 3", "a3", "b3"]);
    expect((await s.status()).output).toBe(3);
  });

  it("has iterations in which the same name is another step (D24)", async () => {
    const runs = new Runs();
    await finished(async (ctx) =>
      ctx.loop({
        name: "l",
        state: 0,
        run: async (round, n: number) => {
          await round.step("same", runs.of("same"));
          return n === 1 ? Loop.break(undefined) : Loop.continue(n + 1);
        },
      }),
    );
    expect(runs.count("same")).toBe(2);
  });

  it("starts an inner loop anew in each outer iteration, and both survive suspension (D45)", async () => {
    const s = await subject(async (ctx) =>
      ctx.loop({
        name: "outer",
        state: [] as string[],
        run: async (outer, got) => {
          const next = await outer.loop({
            name: "inner",
            state: [] as string[],
            run: async (inner, parts) => {
              const { body } = await inner.queue.next("part", { names: ["parts"] });
              const all = [...parts, String(body)];
              return all.length === 2 ? Loop.break(all.join("+")) : Loop.continue(all);
            },
          });
          const all = [...got, next];
          return all.length === 2 ? Loop.break(all) : Loop.continue(all);
        },
      }),
    );
    for (const part of ["a", "b", "c", "d"]) {
      s.actor.crash();
      await s.send("parts", part);
      await s.world.settle();
    }
    expect((await s.status()).output).toEqual(["a+b", "c+d"]);
  });

  it("gives each iteration its own joins and races (D46)", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) =>
      ctx.loop({
        name: "l",
        state: [] as unknown[],
        run: async (round, got) => {
          const n = got.length;
          const joined = await round.join("j", { a: { run: (b) => b.step("s", () => (runs.note(`j${n}`), n)) } });
          const raced = await round.race("r", [
            { name: "x", run: (b) => b.step("s", () => (runs.note(`r${n}`), n * 10)) },
          ]);
          await round.queue.next("go", { names: ["go"] });
          const all = [...got, joined.a, raced.value];
          return n === 2 ? Loop.break(all) : Loop.continue(all);
        },
      }),
    );
    for (let n = 0; n < 2; n += 1) {
      s.actor.crash();
      await s.send("go");
      await s.world.settle();
    }
    expect((await s.status()).output).toEqual([0, 0, 2, 20]);
    expect(runs.list).toEqual(["j0", "r0", "j2", "r2"]);
  });

  it("overwrites the entries of iterations older than its history from each interval on, and deletes those left (D47)", async () => {
    const kept: number[][] = [];
    const s = await subject(async (ctx, self) =>
      ctx.loop({
        name: "l",
        state: 0,
        historyPruneInterval: 4,
        historySize: 2,
        run: async (round, n: number) => {
          await round.step("s", () => {});
          await round.sleep("p", 1);
          kept.push(
            self
              .stored()
              .filter((entry) => entry.location.length === 3 && entry.kind === "step")
              .map((entry) => Number(entry.location[1])),
          );
          return n === 9 ? Loop.break(undefined) : Loop.continue(n + 1);
        },
      }),
    );
    await s.world.pass(10);
    expect(kept).toEqual([
      [0],
      [0, 1],
      [0, 1, 2],
      [0, 1, 2, 3],
      [1, 2, 3, 4],
      [2, 3, 4, 5],
      [2, 3, 4, 5, 6],
      [2, 3, 4, 5, 6, 7],
      [3, 4, 5, 6, 7, 8],
      [4, 5, 6, 7, 8, 9],
    ]);
  });

  it("deletes nothing twice (D48)", async () => {
    const deleted: string[] = [];
    const s = await subject(async (ctx) => {
      await ctx.sleep("begin", 1);
      await ctx.loop({
        name: "l",
        state: 0,
        historyPruneInterval: 3,
        historySize: 1,
        run: async (round, n: number) => {
          await round.step("s", () => {});
          return n === 20 ? Loop.break(undefined) : Loop.continue(n + 1);
        },
      });
    });
    const { store } = s.actor;
    const write = store.write.bind(store);
    store.write = (generation, batch) => {
      deleted.push(...[...batch.deletes].filter((key) => key.startsWith("e/")));
      write(generation, batch);
    };
    await s.world.pass(1);
    expect(new Set(deleted).size).toBe(deleted.length);
    // Of the three iterations since the last prune: the others' rows were overwritten.
    expect(deleted).toHaveLength(3);
    expect(s.stored().filter((entry) => entry.kind === "step")).toHaveLength(1);
  });

  it("has no more rows after 200 iterations than after 60, though each is another process's", async () => {
    const s = await subject(async (ctx) =>
      ctx.loop("l", async (round) => {
        await round.step("s", () => {});
        await round.sleep("p", 1_000);
      }),
    );
    const rows: number[] = [];
    for (let iteration = 0; iteration < 200; iteration += 1) {
      s.actor.crash();
      await s.world.pass(1_000);
      rows.push(s.actor.store.keys.length);
    }
    expect(Math.max(...rows.slice(60))).toBe(Math.max(...rows.slice(0, 60)));
    expect(Math.max(...rows)).toBeLessThanOrEqual(3 + 2 * 40);
  });

  it.each([1, 3, 10, 17])(
    "leaves nothing of pruned iterations behind when the workflow starts over after %i, wherever it is cut off",
    async (more) => {
      const runs = new Runs();
      const program = async (ctx: Ctx): Promise<void> => {
        await ctx.loop({
          name: "l",
          state: 0,
          historyPruneInterval: 10,
          historySize: 2,
          run: async (round, n: number) => {
            await round.step("s", () => runs.note(`${n}`));
            if (n === 20 + more) await round.sleep("p", HOUR);
            return Loop.continue(n + 1);
          },
        });
      };
      const s = await subject(program);
      await s.world.settle();
      const all = Array.from({ length: 21 + more }, (_, n) => `${n}`);
      expect(runs.list).toEqual(all);
      await s.call("replayFrom");
      for (let turn = 0; turn < 6; turn += 1) await s.world.turn();
      s.actor.crash();
      await s.world.pass(60_000);
      expect(s.stored().filter((entry) => entry.kind === "step").length).toBeLessThanOrEqual(13);
      expect([...new Set(runs.list.slice(all.length))].sort()).toEqual(all.sort());
    },
  );

  it("leaves nothing of pruned iterations behind in a branch that loses", async () => {
    const s = await subject(async (ctx) => {
      await ctx.race("r", [
        {
          name: "loses",
          run: (branch) =>
            branch.loop("l", async (round) => {
              await round.step("s", () => {});
              await round.sleep("p", 10);
            }),
        },
        { name: "wins", run: (branch) => branch.sleep("p", 255) },
      ]);
      await ctx.sleep("stay", HOUR);
    });
    await s.world.pass(260);
    expect(s.stored().filter((entry) => entry.location[1] === "loses")).toEqual([]);
    expect(s.stored()).toHaveLength(3);
  });

  it("deletes what is older than its history when it breaks: 45 iterations leave 25 to 44 (D49)", async () => {
    const s = await finished(async (ctx) =>
      ctx.loop({
        name: "l",
        state: 0,
        run: async (round, n: number) => {
          await round.step("s", () => {});
          return n === 44 ? Loop.break(undefined) : Loop.continue(n + 1);
        },
      }),
    );
    const left = s
      .stored()
      .filter((entry) => entry.kind === "step")
      .map((entry) => Number(entry.location[1]));
    expect(left).toEqual(Array.from({ length: 20 }, (_, n) => n + 25));
  });

  it("completes with an interval of 1 (D50)", async () => {
    const s = await finished(async (ctx) =>
      ctx.loop({
        name: "l",
        state: 0,
        historyPruneInterval: 1,
        run: async (round, n: number) => {
          await round.step("s", () => {});
          return n === 5 ? Loop.break(n) : Loop.continue(n + 1);
        },
      }),
    );
    expect((await s.status()).output).toBe(5);
    expect(s.stored()).toHaveLength(2);
  });

  it.each([
    ["historyEvery", "historyKeep"],
    ["commitInterval", "historySize"],
  ])("understands the older names %s and %s", async (interval, size) => {
    const s = await finished(async (ctx) =>
      ctx.loop({
        name: "l",
        state: 0,
        [interval]: 2,
        [size]: 1,
        run: async (round: typeof ctx, n: number) => {
          await round.step("s", () => {});
          return n === 5 ? Loop.break(undefined) : Loop.continue(n + 1);
        },
      } as never),
    );
    expect(s.stored()).toHaveLength(2);
  });

  it("rejects with what its body throws, unchanged (D51)", async () => {
    const s = await finished(async (ctx) => {
      try {
        await ctx.loop("l", async () => {
          throw new RangeError("mine");
        });
        return "none";
      } catch (error) {
        return [(error as Error).name, (error as Error).message];
      }
    });
    expect((await s.status()).output).toEqual(["RangeError", "mine"]);
  });

  it.each([
    ["state to begin with", { state: () => 1 }, undefined],
    ["state to go on with", { state: 1 }, Loop.continue(() => 1)],
    ["value of a break", { state: 1 }, Loop.break(() => 1)],
  ])("rejects once when its %s cannot be stored, and the actor still opens", async (_, config, result) => {
    const runs = new Runs();
    const s = await finished(async (ctx) =>
      ctx
        .loop({
          name: "l",
          ...(config as { state: number }),
          run: async () => (runs.note("iteration"), result as never),
        })
        .catch((error: { group: string; code: string }) => `${error.group}/${error.code}`),
    );
    expect((await s.status()).output).toBe("value/not_serializable");
    expect(runs.list.length).toBeLessThanOrEqual(1);
    await s.restart();
    expect(s.actor.crashes).toBe(1);
  });

  it("fails after 1,000 iterations in a row without an operation, and lets other events in meanwhile", async () => {
    let n = 0;
    const s = await subject(async (ctx) => ctx.loop("idle", async () => void (n += 1)));
    expect(await s.call("get")).toBeDefined();
    expect(n).toBeLessThan(1_000);
    for (let tries = 0; tries < 200; tries += 1) await s.world.settle();
    expect(n).toBe(1_000);
    expect(await s.status()).toMatchObject({ status: "failed" });
    expect(s.record().failure.error).toMatchObject({ group: "workflow", code: "idle_loop" });
  });

  it("goes through 3,000 items that it mostly passes over, and lets others in meanwhile", async () => {
    const picked: number[] = [];
    let answered = 0;
    const s = await subject(async (ctx) => {
      await ctx.queue.next("go");
      return ctx.loop({
        name: "scan",
        state: 0,
        run: async (l: Ctx, i: number) => {
          if (i === 3_000) return Loop.break(picked.length);
          if (i % 1_499 === 1) await l.step("pick", () => void picked.push(i));
          return Loop.continue(i + 1);
        },
      });
    });
    await s.send("go");
    while (s.record().status === "running" && answered < 1_000) {
      await s.world.turn();
      await s.call("get");
      answered += 1;
    }
    expect(await s.status()).toMatchObject({ status: "completed", output: 3 });
    expect(picked).toEqual([1, 1_500, 2_999]);
    expect(answered).toBeGreaterThan(50);
  });

  it("that comes back to the same state again and again without an operation fails as idle", async () => {
    let n = 0;
    const s = await subject(async (ctx) =>
      ctx.loop({ name: "idle", state: { at: 1 }, run: async () => ((n += 1), Loop.continue({ at: 1 })) }),
    );
    for (let tries = 0; tries < 200 && (await s.status()).status === "running"; tries += 1) await s.world.settle();
    expect(await s.status()).toMatchObject({ status: "failed", error: { group: "workflow", code: "idle_loop" } });
    expect(n).toBe(1_000);
  });

  it("that is idle and loses its race leaves the run to park", async () => {
    const s = await subject(async (ctx, self) => {
      await ctx.race("r", [
        {
          name: "spins",
          run: (b: Ctx) => b.loop({ name: "l", state: 0, run: async (_: Ctx, i: number) => Loop.continue(i + 1) }),
        },
        { name: "foreign", run: async () => void (await self.clock.delay(0)) },
      ]);
      await ctx.sleep("stay", 1_000);
      return "done";
    });
    for (let tries = 0; tries < 20; tries += 1) await s.world.settle();
    expect(s.actor.holdsLease).toBe(false);
    await s.world.pass(1_000);
    expect(await s.status()).toMatchObject({ status: "completed", output: "done" });
  });

  it("counts only iterations in a row as idle", async () => {
    let n = 0;
    const s = await subject(async (ctx) =>
      ctx.loop("l", async (round) => {
        n += 1;
        if (n === 2_500) return Loop.break("end");
        if (n % 900 === 0) await round.step("breathe", () => {});
        return undefined;
      }),
    );
    for (let tries = 0; tries < 500 && s.record().status === "running"; tries += 1) await s.world.settle();
    expect((await s.status()).output).toBe("end");
  });

  it("needs a function", async () => {
    const s = await finished(async (ctx) => {
      const errors = [];
      for (const config of [{ name: "l" }, undefined])
        errors.push(
          await Promise.resolve()
            .then(() => ctx.loop(config as never))
            .catch((error: { code: string }) => error.code),
        );
      return errors;
    });
    expect((await s.status()).output).toEqual(["invalid_loop", "invalid_loop"]);
    expect(s.stored()).toEqual([]);
  });

  it("costs one row an iteration for its position, with whatever is committed next", async () => {
    const s = await subject(async (ctx) => {
      await ctx.sleep("begin", 1);
      await ctx.loop({
        name: "l",
        state: 0,
        historyPruneInterval: 1_000,
        run: async (round, n: number) => {
          await round.step("s", () => {});
          return n === 199 ? Loop.break(undefined) : Loop.continue(n + 1);
        },
      });
    });
    const { rows } = s.actor.store;
    await s.world.pass(1);
    for (let tries = 0; tries < 20; tries += 1) await s.world.settle();
    expect(s.record().status).toBe("completed");
    expect((s.actor.store.rows - rows) / 200).toBeLessThanOrEqual(2.1);
  });

  it("runs 100,000 iterations in bounded storage and memory (FLOW-19)", async () => {
    const iterations = 100_000;
    const interval = 20;
    const perIteration = 1;
    const bound = (2 * interval + 1) * perIteration;
    let most = 0;
    const s = await subject(async (ctx, self) =>
      ctx.loop({
        name: "l",
        state: 0,
        historyPruneInterval: interval,
        run: async (round, n: number) => {
          await round.step("s", () => {});
          if (n % 1_000 === 0) most = Math.max(most, self.stored().length);
          return n === iterations - 1 ? Loop.break(n) : Loop.continue(n + 1);
        },
      }),
    );
    while (s.record().status === "running") await s.world.settle();
    // Plus the loop's own entry.
    expect(most).toBeLessThanOrEqual(bound + 1);
    expect(s.stored().length).toBeLessThanOrEqual(bound + 1);
    expect((await s.history()).length).toBeLessThanOrEqual(bound + 1);
    expect((await s.status()).output).toBe(iterations - 1);
  }, 180_000);
});

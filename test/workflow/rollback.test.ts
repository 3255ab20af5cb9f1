import { describe, expect, it } from "vitest";
import { CriticalError, Loop } from "../../src/entry/workflow.js";
import { Runs, finished, subject, type Ctx, type Program, type Step } from "./subject.js";

const HOUR = 3_600_000;

/** A step that notes its run, and its rollback with its output. */
function undoable(runs: Runs, name: string, extra: object = {}) {
  return {
    name,
    run: () => {
      runs.note(name);
      return `out ${name}`;
    },
    rollback: (_: Step, output: string) => runs.note(`undo ${name} ${output}`),
    ...extra,
  };
}

const undone = (runs: Runs): string[] =>
  runs.list.filter((each) => each.startsWith("undo")).map((each) => each.replace(/^undo (\S+).*/, "$1"));

describe("rollback", () => {
  it("undoes c, b, a when the workflow throws, and ends failed with the original error (D106)", async () => {
    const runs = new Runs();
    const s = await finished(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      for (const name of ["a", "b", "c"]) await ctx.step(undoable(runs, name));
      throw Object.assign(new RangeError("boom"), { code: "E" });
    });
    expect(runs.list).toEqual(["a", "b", "c", "undo c out c", "undo b out b", "undo a out a"]);
    expect(await s.status()).toEqual({ status: "failed", error: { name: "RangeError", message: "boom", code: "E" } });
    expect(s.actor.store.alarmAt).toBeNull();
    expect(s.actor.holdsLease).toBe(false);
  });

  it("gives a handler a step's context and the step's output; what it changes is stored with its record (D113)", async () => {
    const s = await finished(
      async (ctx) => {
        await ctx.rollbackCheckpoint("cp");
        await ctx.step({
          name: "book",
          run: (step) => {
            step.state.booked.push("room");
            return { id: 7, at: new Date(1) };
          },
          rollback: async (step, output) => {
            step.state.booked = [];
            step.state.undone = output;
            step.state.attempt = step.attempt;
            await step.queue.send("undone", output.id);
          },
        });
        throw new CriticalError("no");
      },
      { state: { booked: [] as string[] } },
    );
    expect(await s.state()).toEqual({ booked: [], undone: { id: 7, at: new Date(1) }, attempt: 1 });
    expect(await s.call("tryNext")).toMatchObject({ name: "undone", body: 7 });
  });

  it("does not undo the step that failed, nor steps without a handler", async () => {
    const runs = new Runs();
    const s = await finished(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.step(undoable(runs, "a"));
      await ctx.step("plain", runs.of("plain"));
      await ctx.step(undoable(runs, "bad", { run: () => Promise.reject(new CriticalError("no")) }));
    });
    expect(undone(runs)).toEqual(["a"]);
    expect(await s.status()).toMatchObject({ status: "failed", error: { name: "CriticalError", message: "no" } });
  });

  it("reaches root and try blocks, newest first (D147)", async () => {
    const runs = new Runs();
    await finished(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.step(undoable(runs, "a"));
      await ctx.try("block", async (b) => {
        await b.step(undoable(runs, "b"));
        await b.step("bad", () => Promise.reject(new CriticalError("caught")));
      });
      await ctx.step(undoable(runs, "c"));
      throw new Error("later");
    });
    expect(undone(runs)).toEqual(["c", "b", "a"]);
  });

  it("reaches joins, in the reverse order of completion over all branches (D111)", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx, { clock }) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.step(undoable(runs, "before"));
      const slow = (name: string, ms: number) =>
        undoable(runs, name, { run: () => clock.delay(ms).then(() => `out ${name}`) });
      await ctx.join("j", {
        x: { run: async (b) => (await b.step(slow("x1", 30)), await b.step(slow("x2", 30))) },
        y: { run: (b) => b.step(slow("y", 40)) },
        late: { run: (b) => b.step(slow("late", 90)) },
        early: { run: (b) => b.step(slow("early", 10)) },
      });
      await ctx.step("bad", () => Promise.reject(new CriticalError("no")));
    });
    await s.world.passUntilQuiet();
    expect(undone(runs)).toEqual(["late", "x2", "y", "x1", "early", "before"]);
    expect((await s.status()).status).toBe("failed");
  });

  it("reaches the branches of a join that failed", async () => {
    const runs = new Runs();
    await finished(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.join("j", {
        good: { run: (b) => b.step(undoable(runs, "good")) },
        bad: {
          run: async (b) => (
            await b.step(undoable(runs, "first")),
            await b.step("s", () => Promise.reject(new CriticalError("no")))
          ),
        },
      });
    });
    expect(undone(runs).sort()).toEqual(["first", "good"]);
  });

  it("reaches the winner of a race and not its losers (D111)", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.race("r", [
        { name: "loser", run: async (b) => (await b.step(undoable(runs, "loser")), await b.sleep("t", HOUR)) },
        { name: "winner", run: async (b) => (await b.step(undoable(runs, "winner")), await b.sleep("t", 10)) },
      ]);
      throw new Error("no");
    });
    await s.world.passUntilQuiet();
    expect(undone(runs)).toEqual(["winner"]);
  });

  it("reaches the iteration in flight; finished iterations and loops that ended are closed (D110, D111)", async () => {
    const runs = new Runs();
    const s = await finished(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.step(undoable(runs, "root"));
      await ctx.loop({
        name: "done",
        state: 0,
        run: async (round, n: number) => (
          await round.step(undoable(runs, `done${n}`)),
          n === 1 ? Loop.break(undefined) : Loop.continue(n + 1)
        ),
      });
      await ctx.loop({
        name: "open",
        state: 0,
        run: async (round, n: number) => {
          await round.step(undoable(runs, `open${n}`));
          if (n === 2) await round.step("bad", () => Promise.reject(new CriticalError("no")));
          return Loop.continue(n + 1);
        },
      });
    });
    expect(undone(runs)).toEqual(["open2", "root"]);
    expect(s.stored().find((entry) => entry.location.join() === "open")).toMatchObject({
      status: "pending",
      data: { iteration: 2 },
    });
  });

  it("moves no loop on while it looks for what to undo, not even when the code would now go on (D110)", async () => {
    const runs = new Runs();
    let failed = false;
    const s = await finished(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.loop({
        name: "l",
        state: 0,
        historyPruneInterval: 1,
        historySize: 1,
        run: async (round, n: number) => {
          await round.step(undoable(runs, `l${n}`));
          if (n === 3 && !failed) {
            failed = true;
            throw new Error("not again");
          }
          return Loop.continue(n + 1);
        },
      });
    });
    expect(undone(runs)).toEqual(["l3"]);
    const lines = (entries: readonly { location: readonly unknown[]; status: string }[]): string[] =>
      entries.map((entry) => `${entry.location.join("/")} ${entry.status}`);
    const shown = (await s.history()).filter((entry) => entry.kind !== "rollback");
    expect(lines(shown)).toEqual(
      lines(s.stored().filter(({ location }) => location[0] !== -1)).map((line) =>
        line.replace("pending", "cancelled"),
      ),
    );
    expect(s.stored().find((entry) => entry.kind === "loop")).toMatchObject({
      status: "pending",
      data: { iteration: 3 },
    });
    expect((await s.history()).find((entry) => entry.kind === "loop")).toMatchObject({ status: "cancelled" });
  });

  it("is committed as rolling_back with the failure before the first handler runs (D109)", async () => {
    const seen: unknown[] = [];
    let hang = true;
    const s = await subject(async (ctx, self) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.step({
        name: "a",
        run: () => 1,
        rollback: async () => {
          seen.push(self.record());
          await self.world.turn();
          seen.push(self.record());
          if (hang) await new Promise(() => {});
        },
      });
      throw new Error("no");
    });
    expect(seen[1]).toMatchObject({ status: "rolling_back", failure: { error: { message: "no" } } });
    expect(await s.status()).toMatchObject({ status: "rolling_back", error: { message: "no" } });
    s.actor.crash();
    expect(s.record()).toMatchObject({ status: "rolling_back" });
    expect((await s.status()).status).toBe("rolling_back");
    hang = false;
    await s.restart();
    await s.world.passUntilQuiet();
    expect((await s.status()).status).toBe("failed");
  });

  it("resumes where it stopped: each handler once, in order, whatever commit it was cut off at (D108)", async () => {
    const program =
      (runs: Runs): Program =>
      async (ctx) => {
        await ctx.rollbackCheckpoint("cp");
        for (const name of ["a", "b", "c"]) {
          await ctx.step({
            name,
            run: () => name,
            rollback: (step, output) => {
              runs.note(`undo ${output}`);
              step.state.undone.push(output);
            },
          });
        }
        throw new Error("no");
      };
    const undisturbed = await finished(program(new Runs()), { state: { undone: [] } });
    const { commits } = undisturbed.actor.store;
    for (const kind of ["crash-before", "crash-after"] as const) {
      for (let at = 2; at <= commits; at += 1) {
        const runs = new Runs();
        const s = await subject(program(runs), {
          state: { undone: [] },
          fault: (commit) => (commit === at ? kind : undefined),
        }).catch(() => undefined);
        if (!s) continue;
        await s.world.passUntilQuiet();
        expect(await s.state(), `${kind} ${at}`).toEqual({ undone: ["c", "b", "a"] });
        expect(await s.status()).toMatchObject({ status: "failed", error: { message: "no" } });
        for (const name of ["a", "b", "c"]) expect(runs.count(`undo ${name}`)).toBeLessThanOrEqual(2);
      }
    }
  });

  it("gives a handler the step's retries, and waits its backoff asleep", async () => {
    const attempts: number[] = [];
    const s = await subject(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.step({
        name: "a",
        run: () => 1,
        rollback: (step) => {
          attempts.push(step.attempt);
          if (step.attempt < 3) throw new Error("not yet");
        },
      });
      throw new Error("no");
    });
    expect((await s.status()).status).toBe("rolling_back");
    expect(s.actor.store.alarmAt).toBe(s.clock.now() + 200);
    expect(s.actor.timersHeld).toBe(0);
    s.actor.crash();
    await s.world.pass(200);
    s.actor.crash();
    await s.world.pass(400);
    expect(attempts).toEqual([1, 2, 3]);
    expect((await s.status()).status).toBe("failed");
  });

  it("records a handler that exhausts its retries, and still runs the others (D112)", async () => {
    const runs = new Runs();
    const s = await finished(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.step(undoable(runs, "a"));
      await ctx.step(
        undoable(runs, "b", {
          maxRetries: 1,
          rollback: () => {
            runs.note("try b");
            throw Object.assign(new TypeError("cannot"), { metadata: { why: "so" } });
          },
        }),
      );
      await ctx.step(undoable(runs, "c"));
      throw new Error("original");
    });
    expect(undone(runs)).toEqual(["c", "a"]);
    expect(runs.count("try b")).toBe(2);
    const status = await s.status();
    expect(status).toMatchObject({ status: "failed", error: { name: "Error", message: "original" } });
    expect(status.rollbackErrors).toEqual([
      { stepName: "b", error: { name: "TypeError", message: "cannot", metadata: { why: "so" } } },
    ]);
    expect(status.error?.metadata).toMatchObject({ rollbackErrors: [{ stepName: "b", error: { message: "cannot" } }] });
  });

  it("bounds a handler by the step's timeout, and names the step", async () => {
    const s = await finished(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.step({ name: "slow", timeout: 50, run: () => 1, rollback: () => new Promise(() => {}) });
      throw new Error("no");
    });
    expect((await s.status()).rollbackErrors).toMatchObject([
      { stepName: "slow", error: { message: 'Step "slow" timed out after 50ms' } },
    ]);
  });

  it("does nothing for steps that were undone already when it goes on with other code", async () => {
    const runs = new Runs();
    let hang = true;
    const program: Program = async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.step(undoable(runs, "a", { rollback: () => (hang ? new Promise(() => {}) : runs.note("undo a")) }));
      await ctx.step(undoable(runs, "b"));
      throw new Error("no");
    };
    const s = await subject(program);
    expect(undone(runs)).toEqual(["b"]);
    hang = false;
    const next = s.deploy(program);
    await next.world.passUntilQuiet();
    expect(undone(runs)).toEqual(["b", "a"]);
    expect((await next.status()).status).toBe("failed");
  });

  it("stops as diverged when the code of what must be undone has changed, and goes on with a fixed deploy", async () => {
    const runs = new Runs();
    let hang = true;
    const program =
      (names: string[]): Program =>
      async (ctx) => {
        await ctx.rollbackCheckpoint("cp");
        for (const name of names)
          await ctx.step(
            undoable(runs, name, { rollback: () => (hang ? new Promise(() => {}) : runs.note(`undo ${name}`)) }),
          );
        throw new Error("no");
      };
    const s = await subject(program(["a", "b"]));
    hang = false;
    const wrong = s.deploy(program(["a", "renamed"]));
    await wrong.world.pass(20_000);
    expect((await wrong.status()).status).toBe("diverged");
    expect(undone(runs)).toEqual([]);
    const fixed = wrong.deploy(program(["a", "b"]));
    await fixed.world.passUntilQuiet();
    expect(undone(runs)).toEqual(["b", "a"]);
    expect(await fixed.status()).toMatchObject({ status: "failed", error: { message: "no" } });
  });

  it("is not begun by cancel, and cancel ends one that runs", async () => {
    const runs = new Runs();
    const s = await subject(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.step(undoable(runs, "a"));
      await ctx.sleep("stay", HOUR);
    });
    await s.call("cancel");
    await s.world.passUntilQuiet();
    expect(undone(runs)).toEqual([]);
    let signal: AbortSignal | undefined;
    const running = await subject(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.step({
        name: "a",
        run: () => 1,
        rollback: (step) => {
          signal = step.abortSignal;
          return new Promise(() => {});
        },
      });
      throw new Error("no");
    });
    await running.call("cancel");
    await running.world.passUntilQuiet();
    expect((await running.status()).status).toBe("cancelled");
    expect(signal?.aborted).toBe(true);
    expect(running.actor.store.alarmAt).toBeNull();
  });

  it("completes no message and takes none while it looks for what to undo", async () => {
    const runs = new Runs();
    let failed = false;
    const s = await subject(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.step(undoable(runs, "a"));
      const message = await ctx.queue.next("m", { names: ["m"], completable: true });
      if (!failed) {
        failed = true;
        throw new Error("no");
      }
      // Code that would now continue stops here during the rollback's replay.
      await message.complete("must not be");
      await ctx.queue.next("more", { names: ["m"] });
    });
    const waiting = s.sendAndWait("m", 1, 5_000);
    await s.world.settle();
    await s.world.pass(5_000);
    expect(undone(runs)).toEqual(["a"]);
    expect(await waiting).toEqual({ status: "timedOut" });
    expect(await s.call("tryNext")).toMatchObject({ body: 1 });
  });

  it("does not complete a message that the code completes after it had failed", async () => {
    const s = await subject(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      await ctx.step({ name: "a", run: () => 1, rollback: () => {} });
      const message = await ctx.queue.next("m", { names: ["m"], completable: true });
      await ctx.join("j", {
        bad: { run: (b) => b.step("s", () => Promise.reject(new CriticalError("no"))) },
      });
      await message.complete("never");
    });
    const waiting = s.sendAndWait("m", 1, 5_000);
    await s.world.pass(5_000);
    expect(await waiting).toEqual({ status: "timedOut" });
    expect(s.queued).toBe(1);
  });

  it("keeps a very large failure and very many failed handlers within what can be stored", async () => {
    const s = await finished(async (ctx) => {
      await ctx.rollbackCheckpoint("cp");
      for (let n = 0; n < 300; n += 1) {
        await ctx.step({
          name: `s${n}`,
          maxRetries: 0,
          run: () => n,
          rollback: () => {
            throw new Error("x".repeat(8_000));
          },
        });
      }
      throw new Error("y".repeat(100_000));
    });
    for (let tries = 0; tries < 20; tries += 1) await s.world.settle();
    expect(s.actor.crashes).toBe(0);
    const status = await s.status();
    expect(status.status).toBe("failed");
    expect(status.rollbackErrors?.length).toBeGreaterThan(10);
    await s.restart();
    expect((await s.status()).status).toBe("failed");
  });

  it("needs no replay when there is no checkpoint", async () => {
    let calls = 0;
    const s = await finished(async (ctx: Ctx) => {
      calls += 1;
      await ctx.step("a", () => 1);
      throw new Error("no");
    });
    expect(calls).toBe(1);
    expect((await s.status()).status).toBe("failed");
  });
});

describe("an undoing that is stopped while it looks for what must be undone", () => {
  /** Sixty steps with rollbacks, so that the replay takes several turns of the event loop; the first handler waits. */
  async function looking(runs: Runs) {
    const s = await subject(
      async (ctx, self) => {
        await ctx.rollbackCheckpoint("cp");
        for (let i = 0; i < 60; i += 1) {
          await ctx.step(
            undoable(runs, `s${i}`, {
              rollback: async () => {
                runs.note(`undo s${i}`);
                if (i === 58) await self.clock.delay(HOUR);
              },
            }),
          );
        }
        throw new Error("no");
      },
      { actions: { destroy: (c) => c.destroy() } },
    );
    for (let turns = 0; turns < 100 && !runs.list.includes("undo s58"); turns += 1) await s.world.turn();
    expect(undone(runs)).toEqual(["s59", "s58"]);
    s.actor.crash();
    return s;
  }

  it("stays cancelled: no handler runs, and nothing holds the actor", async () => {
    const runs = new Runs();
    const s = await looking(runs);
    await s.call("cancel");
    await s.world.settle();
    expect(await s.status()).toMatchObject({ status: "cancelled" });
    await s.world.passUntilQuiet();
    expect(await s.status()).toMatchObject({ status: "cancelled" });
    expect(undone(runs)).toEqual(["s59", "s58"]);
    expect(s.actor.holdsLease).toBe(false);
    expect([s.actor.store.alarmAt, s.actor.timersHeld]).toEqual([null, 0]);
    expect(s.errors.filter((line) => line.code !== undefined)).toEqual([]);
  });

  it("ends with the actor, and takes the code for no other", async () => {
    const runs = new Runs();
    const s = await looking(runs);
    await s.call("destroy");
    await s.world.settle();
    expect(undone(runs)).toEqual(["s59", "s58"]);
    expect([s.actor.store.keys, s.actor.store.alarmAt]).toEqual([[], null]);
    expect(s.errors.filter((line) => line.code !== undefined)).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { Loop } from "../../../src/entry/workflow.js";
import { Runs, finished, subject, type Ctx, type Program } from "../subject.js";

const HOUR = 3_600_000;

/** Successive deploys of a workflow with a version gate; 0: without the gate. */
const withGate =
  (latest: number, seen: unknown[]): Program =>
  async (ctx) => {
    await ctx.step("before", () => 1);
    if (latest > 0) seen.push(await ctx.getVersion("gate", latest));
    await ctx.sleep("nap", HOUR);
    await ctx.queue.next("hold", { names: ["end"] });
  };

describe("getVersion", () => {
  it.each([1, 2, 3])(
    "gives latest to a fresh run, and the same when later code says another (latest %s) (D116, D118)",
    async (latest) => {
      const seen: unknown[] = [];
      const s = await subject(withGate(latest, seen));
      expect(s.lines()).toContain("version_check gate completed");
      const next = s.deploy(withGate(latest + 1, seen));
      await next.world.pass(HOUR);
      const back = next.deploy(withGate(1, seen));
      await back.replay();
      expect(seen).toEqual([latest, latest, latest]);
    },
  );

  it.each([1, 2, 3])(
    "gives 1 to a run that had passed the point before the gate existed (latest %s) (D117)",
    async (latest) => {
      const seen: unknown[] = [];
      const s = await subject(withGate(0, seen));
      const next = s.deploy(withGate(latest, seen));
      await next.world.pass(HOUR);
      expect(seen).toEqual([1]);
      expect(next.lines()).toContain("version_check gate completed");
      const later = next.deploy(withGate(latest + 1, seen));
      await later.replay();
      expect(seen).toEqual([1, 1]);
      await later.send("end");
      await later.world.settle();
      expect((await later.status()).status).toBe("completed");
    },
  );

  it.each([1, 2, 3])(
    "gives latest to a run that stands at the point: all it recorded comes before (latest %s)",
    async (latest) => {
      const seen: unknown[] = [];
      const atPoint =
        (gate: number): Program =>
        async (ctx) => {
          await ctx.step("before", () => 1);
          if (gate > 0) seen.push(await ctx.getVersion("gate", gate));
          await ctx.queue.next("hold", { names: ["end"] });
        };
      const s = await subject(atPoint(0));
      const next = s.deploy(atPoint(latest));
      await next.replay();
      expect(seen).toEqual([latest]);
      const later = next.deploy(atPoint(latest + 1));
      await later.replay();
      expect(seen).toEqual([latest, latest]);
    },
  );

  it.each([2, 3])(
    "gives 1 to the iteration in flight and latest to those after it (latest %s) (D119)",
    async (latest) => {
      const seen: unknown[] = [];
      const inLoop =
        (gate: number): Program =>
        async (ctx) =>
          ctx.loop({
            name: "l",
            state: 0,
            run: async (round, n: number) => {
              if (gate > 0) seen.push([n, await round.getVersion("gate", gate)]);
              await round.step("work", () => n);
              await round.sleep("nap", HOUR);
              return n === 4 ? Loop.break(undefined) : Loop.continue(n + 1);
            },
          });
      const s = await subject(inLoop(0));
      await s.world.pass(HOUR);
      const next = s.deploy(inLoop(latest));
      await next.world.pass(2 * HOUR);
      expect(seen).toEqual([
        [1, 1],
        [2, latest],
        [3, latest],
      ]);
      const later = next.deploy(inLoop(latest + 1));
      await later.world.pass(2 * HOUR);
      expect(seen.slice(3)).toEqual([
        [3, latest],
        [4, latest + 1],
      ]);
      expect((await later.status()).status).toBe("completed");
    },
  );

  it("gives latest to an iteration in flight that recorded nothing", async () => {
    const seen: unknown[] = [];
    const inLoop =
      (gate: number): Program =>
      async (ctx) =>
        ctx.loop("l", async (round) => {
          if (gate > 0) seen.push(await round.getVersion("gate", gate));
          await round.queue.next("m", { names: ["m"] });
        });
    const s = await subject(inLoop(0));
    await s.send("m");
    await s.world.settle();
    const next = s.deploy(inLoop(2));
    await next.replay();
    expect(seen).toEqual([2]);
  });

  it.each([1, 2])(
    "gives 1 at the end of a try block that an old run has passed, alone in it or not (latest %s)",
    async (latest) => {
      const seen: unknown[] = [];
      const program =
        (gate: boolean): Program =>
        async (ctx) => {
          await ctx.try("y", async (block) => {
            await block.step("v", () => 1);
            await block.try("inner", async (inner) => {
              if (gate) seen.push(await inner.getVersion("alone", latest));
            });
            if (gate && (seen.push(await block.getVersion("end", latest)), seen.at(-1) !== 1))
              await block.step("new", () => 1);
          });
          await ctx.step("s", () => 1);
          await ctx.sleep("nap", HOUR);
        };
      const s = await subject(program(false));
      const next = s.deploy(program(true));
      await next.replay();
      expect(seen).toEqual([1, 1]);
      await next.world.pass(HOUR);
      expect((await next.status()).status).toBe("completed");
    },
  );

  it("gives latest at the end of a try block that the run stands in", async () => {
    const seen: unknown[] = [];
    const program =
      (gate: boolean): Program =>
      async (ctx) => {
        await ctx.try("y", async (block) => {
          await block.step("v", () => 1);
          if (gate) seen.push(await block.getVersion("end", 2));
          await block.queue.next("m", { names: ["m"] });
        });
      };
    const next = (await subject(program(false))).deploy(program(true));
    await next.replay();
    expect(seen).toEqual([2]);
  });

  it("counts no gate that the code has dropped, once the run has gone past it", async () => {
    const seen: unknown[] = [];
    const program =
      (deploy: number): Program =>
      async (ctx) => {
        await ctx.step("a", () => 1);
        if (deploy === 0) await ctx.getVersion("dropped", 2);
        await ctx.step("b", () => 1);
        if (deploy > 0) seen.push(await ctx.getVersion("here", 2));
        await ctx.queue.next("m", { names: ["m"] });
      };
    const next = (await subject(program(0))).deploy(program(1));
    await next.replay();
    expect(seen).toEqual([2]);
  });

  it("is asked in each scope for itself", async () => {
    const seen: unknown[] = [];
    const program =
      (gate: boolean): Program =>
      async (ctx) =>
        ctx.join("j", {
          old: {
            run: async (b) => {
              if (gate) seen.push(["old", await b.getVersion("g", 2)]);
              await b.sleep("nap", HOUR);
            },
          },
          fresh: {
            run: async (b) => {
              if (gate) seen.push(["fresh", await b.getVersion("g", 2)]);
              await b.queue.next("m", { names: ["m"] });
            },
          },
        });
    const s = await subject(program(false));
    const next = s.deploy(program(true));
    await next.replay();
    expect(seen).toEqual([
      ["old", 1],
      ["fresh", 2],
    ]);
  });

  it("may be retired with removed, in runs that have it and in new ones (D120)", async () => {
    const seen: unknown[] = [];
    const retired: Program = async (ctx) => {
      await ctx.step("before", () => 1);
      await ctx.removed("gate", "version_check");
      await ctx.sleep("nap", HOUR);
    };
    const s = await subject(withGate(2, seen));
    const next = s.deploy(retired);
    await next.world.pass(HOUR);
    expect((await next.status()).status).toBe("completed");
    expect((await (await finished(retired)).status()).status).toBe("completed");
  });

  it("may be dropped without a placeholder: a gate is exempt from the order", async () => {
    const seen: unknown[] = [];
    const s = await subject(withGate(2, seen));
    const next = s.deploy(withGate(0, seen));
    await next.world.pass(HOUR);
    await next.send("end");
    await next.world.settle();
    expect((await next.status()).status).toBe("completed");
  });

  it("diverges when another kind is recorded under its name (D121)", async () => {
    const s = await subject(async (ctx) => (await ctx.step("gate", () => 1), ctx.sleep("nap", HOUR)));
    const next = s.deploy(async (ctx) => (await ctx.getVersion("gate", 2), ctx.sleep("nap", HOUR)));
    await next.world.pass(HOUR);
    expect(await next.status()).toMatchObject({
      status: "diverged",
      error: { message: 'Expected version_check "gate" at gate, found step' },
    });
  });

  it.each([0, 1.5, -1, Number.NaN, "2", undefined])(
    "rejects %s as latest, and records nothing (D122)",
    async (latest) => {
      const s = await finished(async (ctx) =>
        ctx.getVersion("gate", latest as number).catch((error: { code: string }) => error.code),
      );
      expect((await s.status()).output).toBe("invalid_version");
      expect(s.stored()).toEqual([]);
    },
  );

  it.each(["getVersion", "removed", "a try block with a gate"])(
    "does not hide from an undoing what stands behind it when %s is deployed while it goes on",
    async (gate) => {
      const runs = new Runs();
      const program =
        (deployed: boolean): Program =>
        async (ctx) => {
          await ctx.rollbackCheckpoint("cp");
          if (deployed && gate === "getVersion") await ctx.getVersion("g", 2);
          if (deployed && gate === "removed") await ctx.removed("g", "step");
          if (deployed && gate.startsWith("a try")) await ctx.try("y", (block) => block.getVersion("g", 2));
          await ctx.step({ name: "a", run: () => 1, rollback: runs.of("undo a") });
          await ctx.step({
            name: "b",
            run: () => 1,
            rollback: () =>
              runs.count("try b") === 0
                ? (runs.note("try b"), Promise.reject(new Error("later")))
                : runs.note("undo b"),
            retryBackoffBase: HOUR,
            retryBackoffMax: HOUR,
          });
          throw new Error("no");
        };
      const s = await subject(program(false));
      expect(runs.list).toEqual(["try b"]);
      const next = s.deploy(program(true));
      await next.world.pass(2 * HOUR);
      expect(runs.list).toEqual(["try b", "undo b", "undo a"]);
      expect(await next.status()).toMatchObject({ status: "failed", error: { message: "no" } });
    },
  );

  it("keeps its answer over a crash before anything after it is stored, or gives it anew", async () => {
    for (const kind of ["crash-before", "crash-after"] as const) {
      for (let at = 2; at < 8; at += 1) {
        const runs = new Runs();
        const s = await subject(
          async (ctx: Ctx) => {
            const version = await ctx.getVersion("gate", 2);
            await ctx.step("work", (step) => void step.state.log.push(version));
            await ctx.sleep("nap", HOUR);
            runs.note(String(version));
          },
          { fault: (commit) => (commit === at ? kind : undefined) },
        ).catch(() => undefined);
        if (!s) continue;
        await s.world.passUntilQuiet();
        expect((await s.state()).log, `${kind} ${at}`).toEqual([2]);
        expect(new Set(runs.list)).toEqual(new Set(["2"]));
      }
    }
  });
});

import { describe, expect, it } from "vitest";
import { Loop } from "../../src/entry/workflow.js";
import { Runs, finished, subject, type Ctx } from "./subject.js";

const HOUR = 3_600_000;
const STEP_ONLY = [
  "state",
  "vars",
  "db",
  "client",
  "broadcast",
  "schedule",
  "cron",
  "kv",
  "destroy",
  "keepAwake",
  "waitUntil",
];

describe("a workflow context", () => {
  it("knows who it is, in every scope", async () => {
    const s = await finished(async (ctx) => {
      const of = (c: Ctx): unknown[] => [
        c.workflowId === c.actorId,
        c.actorId === ctx.actorId,
        c.name,
        c.key,
        typeof c.log.info,
        c.isEvicted(),
      ];
      return [
        of(ctx),
        await ctx.loop("l", async (round) => Loop.break(of(round))),
        (await ctx.join("j", { a: { run: async (b) => of(b) } })).a,
        await ctx.try("t", async (b) => of(b)),
      ];
    });
    const expected = [true, true, "subject", ["k"], "function", false];
    expect((await s.status()).output).toEqual([expected, expected, expected, { ok: true, value: expected }]);
  });

  it("has the world's env, in every scope, in steps and in onError", async () => {
    const env = { PLAN: "pro" };
    const seen: unknown[] = [];
    const s = await subject(
      async (ctx) => {
        seen.push(ctx.env);
        await ctx.loop("l", async (round) => (seen.push(round.env), Loop.break(1)));
        await ctx.join("j", { a: { run: async (b) => void seen.push(b.env) } });
        await ctx.step("s", (step) => void seen.push(step.env));
        await ctx.step({ name: "fails", maxRetries: 0, run: () => Promise.reject(new Error("no")) });
      },
      { env, onError: (c) => void seen.push(c.env) },
    );
    await s.world.passUntilQuiet();
    expect(seen.length).toBeGreaterThanOrEqual(5);
    for (const one of seen) expect(one).toBe(env);
  });

  it.each(STEP_ONLY)("throws workflow/step_only for `%s`, in every scope (D134)", async (feature) => {
    const s = await finished(async (ctx) => {
      const ask = (c: Ctx): string => {
        try {
          void (c as unknown as Record<string, unknown>)[feature];
          return "nothing thrown";
        } catch (error) {
          const { group, code, message } = error as { group: string; code: string; message: string };
          return `${group}/${code}: ${message}`;
        }
      };
      return [
        ask(ctx),
        await ctx.loop("l", async (round) => Loop.break(ask(round))),
        (await ctx.join("j", { a: { run: async (b) => ask(b) } })).a,
      ];
    });
    expect((await s.status()).output).toEqual(
      Array(3).fill(`workflow/step_only: \`${feature}\` is only available inside workflow steps`),
    );
  });

  it("throws workflow/step_only for queue.send (D134)", async () => {
    const s = await finished(async (ctx) => {
      try {
        (ctx.queue as unknown as { send(name: string): void }).send("q");
        return "nothing thrown";
      } catch (error) {
        return (error as Error).message;
      }
    });
    expect((await s.status()).output).toBe("`queue.send` is only available inside workflow steps");
  });

  it("aborts its signal when the workflow is cancelled, and says so", async () => {
    let kept: Ctx | undefined;
    const s = await subject(async (ctx) => {
      kept = ctx;
      await ctx.sleep("nap", HOUR);
    });
    expect(kept?.isEvicted()).toBe(false);
    await s.call("cancel");
    expect(kept?.isEvicted()).toBe(true);
    expect(kept?.abortSignal.aborted).toBe(true);
  });
});

describe("a step context", () => {
  it("has what the workflow's has not, and says which attempt it is", async () => {
    const s = await finished(
      async (ctx) =>
        ctx.step("s", async (step) => {
          step.state.n += 1;
          step.vars.seen = true;
          await step.queue.send("q", 1);
          return [
            step.attempt,
            step.maxRetries,
            step.name,
            step.key,
            step.actorId === ctx.actorId,
            step.abortSignal.aborted,
            await step.keepAwake(Promise.resolve(5)),
          ];
        }),
      { state: { n: 0 }, config: { vars: { seen: false } }, actions: { vars: (c) => c.vars } },
    );
    expect((await s.status()).output).toEqual([1, 3, "subject", ["k"], true, false, 5]);
    expect(await s.state()).toEqual({ n: 1 });
    expect(await s.call("vars")).toEqual({ seen: true });
    expect(s.queued).toBe(1);
  });

  it.each(["state", "vars", "client", "schedule", "destroy", "keepAwake", "waitUntil", "queue.send"])(
    "throws workflow/step_ended for `%s` when its attempt has ended (D135)",
    async (feature) => {
      const caught: unknown[] = [];
      const s = await finished(
        async (ctx) => {
          let kept: Record<string, unknown> = {};
          await ctx.step("s", (step) => {
            kept = step as unknown as Record<string, unknown>;
          });
          try {
            if (feature === "queue.send")
              await (kept["queue"] as { send(name: string, body: unknown): Promise<void> }).send("q", 1);
            else if (feature === "state" || feature === "vars" || feature === "schedule") void kept[feature];
            else await (kept[feature] as (promise: Promise<void>) => unknown)(Promise.resolve());
          } catch (error) {
            caught.push(error);
          }
        },
        { config: { vars: {} } },
      );
      expect(caught).toMatchObject([
        {
          group: "workflow",
          code: "step_ended",
          message: expect.stringContaining(`\`${feature}\` is only available inside workflow steps`),
        },
      ]);
      expect((await s.status()).status).toBe("completed");
      expect(s.queued).toBe(0);
    },
  );

  it("is dead with every object got from its state", async () => {
    const caught: unknown[] = [];
    const s = await finished(
      async (ctx) => {
        let list: number[] = [];
        await ctx.step("s", (step) => {
          list = step.state.list;
        });
        for (const use of [() => list.push(4), () => list.length, () => [...list]]) {
          try {
            use();
          } catch (error) {
            caught.push((error as { code: string }).code);
          }
        }
      },
      { state: { list: [1, 2, 3] } },
    );
    expect(caught).toEqual(["step_ended", "step_ended", "step_ended"]);
    expect(await s.state()).toEqual({ list: [1, 2, 3] });
  });

  it("destroys the actor, and the key is free (D133)", async () => {
    const seen: string[] = [];
    const s = await subject(async (ctx) => {
      await ctx.sleep("nap", HOUR);
      await ctx.step("s", (step) => {
        step.state.n = 1;
        step.destroy();
      });
      seen.push("went on");
    });
    await s.world.pass(HOUR);
    expect(s.actor.store.keys).toEqual([]);
    expect(s.actor.store.alarmAt).toBeNull();
    expect(seen).toEqual([]);
  });

  it("stops its workflow when the actor is destroyed: what is open rejects, and nothing is left (START-9)", async () => {
    const runs = new Runs();
    const s = await subject(
      async (ctx) => {
        try {
          await ctx.sleep("nap", HOUR);
        } catch (error) {
          runs.note((error as Error).name);
          await ctx.step("more", runs.of("must not run")).catch((again: Error) => runs.note(again.name));
        } finally {
          runs.note("finally");
        }
      },
      { actions: { destroy: (c) => c.destroy() } },
    );
    await s.call("destroy");
    await s.world.settle();
    expect(runs.list).toEqual(["EvictedError", "EvictedError", "finally"]);
    expect(s.actor.store.keys).toEqual([]);
  });
});

describe("the log of a workflow's context", () => {
  const said = (s: { logs: readonly { msg: string }[] }): string[] =>
    s.logs.map(({ msg }) => msg).filter((msg) => msg.startsWith("-"));

  it("says each line once, whatever is replayed, evicted or looked at again to undo it", async () => {
    const s = await subject(async (ctx) => {
      await ctx.rollbackCheckpoint("from here");
      ctx.log.info("- begin");
      await ctx.step({ name: "one", run: () => 1, rollback: () => {} });
      ctx.log.child({ order: 7 }).info("- one is done");
      await ctx.queue.next("wait", { names: ["m"] });
      ctx.log.warn({ msg: "- a message came" } as never);
      await ctx.join("j", {
        a: {
          run: async (b: Ctx) => (
            b.log.info("- a begins"),
            await b.step("s", () => 1),
            b.log.info("- a goes on"),
            b.sleep("z", 1_000)
          ),
        },
        b: { run: async (b: Ctx) => (b.log.info("- b begins"), await b.sleep("z", 2_000), b.log.info("- b ends")) },
      });
      ctx.log.info("- end");
      throw new Error("no");
    });
    await s.replay();
    await s.replay();
    expect(said(s)).toEqual(["- begin", "- one is done"]);
    await s.send("m");
    await s.world.settle();
    await s.replay();
    await s.world.pass(1_500);
    await s.replay();
    await s.world.passUntilQuiet();
    expect((await s.status()).status).toBe("failed");
    expect(said(s)).toEqual([
      "- begin",
      "- one is done",
      "- a message came",
      "- a begins",
      "- b begins",
      "- a goes on",
      "- b ends",
      "- end",
    ]);
  });

  it("says what a new release says behind what is recorded", async () => {
    const s = await subject(async (ctx) => (await ctx.step("one", () => 1), ctx.sleep("z", 1_000)));
    const next = s.deploy(async (ctx) => {
      await ctx.step("one", () => 1);
      ctx.log.info("- in front of the wait: it has been passed");
      await ctx.sleep("z", 1_000);
      ctx.log.info("- behind it");
    });
    await next.world.passUntilQuiet();
    expect(said(next)).toEqual(["- behind it"]);
  });
});

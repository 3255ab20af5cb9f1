/** Effects that user code does not await: they belong to the step, iteration, branch, workflow or action that started them. */
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { actor, db, setup, workflow, type QueueDeclarations, type Registry } from "../../src/actor/index.js";
import { Loop } from "../../src/workflow/index.js";
import { ManualClock } from "../../src/testing/index.js";
import { testWorld } from "../support/test-world.js";
import { finished, subject, type Ctx, type Step, type Subject } from "./subject.js";

type SlowSchema = Extract<QueueDeclarations[string], { readonly "~standard": unknown }>;

/** An asynchronous validator. */
function slowSchema(clock: ManualClock, delayMs: number, refuse?: (value: unknown) => boolean): SlowSchema {
  const validate = async (value: unknown): Promise<object> => {
    await clock.delay(delayMs);
    return refuse?.(value) ? { issues: [{ message: "refused" }] } : { value };
  };
  return { "~standard": { version: 1, vendor: "test", validate } } as unknown as SlowSchema;
}

/** Takes all messages in the queue, in order. */
async function bodies(s: Subject): Promise<unknown[]> {
  const found: unknown[] = [];
  for (let message = await s.call("tryNext"); message; message = await s.call("tryNext")) found.push(message.body);
  return found;
}

describe("effects that a step begins without awaiting them", () => {
  it("stores messages that are sent as the step's last act, in their order", async () => {
    const done = await finished(async (ctx) => {
      await ctx.step("send", (step) => {
        for (let n = 1; n <= 3; n += 1) void step.queue.send("q", n);
      });
    });
    expect(await done.status()).toMatchObject({ status: "completed" });
    expect(await bodies(done)).toEqual([1, 2, 3]);
  });

  it("sends what the message held at the call", async () => {
    const done = await finished(async (ctx) => {
      await ctx.step("send", (step) => {
        const body = { n: 1 };
        void step.queue.send("q", body);
        body.n = 2;
      });
    });
    expect(await bodies(done)).toEqual([{ n: 1 }]);
  });

  it("waits for validators that answer later, and keeps the order of the calls", async () => {
    const clock = new ManualClock();
    const done = await finished(
      async (ctx) => {
        await ctx.step("send", (step) => {
          void step.queue.send("slow", "first");
          void step.queue.send("q", "second");
        });
        return "done";
      },
      { clock, queues: { slow: slowSchema(clock, 100), q: {} } },
    );
    expect(await done.status()).toMatchObject({ status: "completed", output: "done" });
    expect(await bodies(done)).toEqual(["first", "second"]);
  });

  it("waits no longer than the step's timeout, and sends nothing then", async () => {
    const clock = new ManualClock();
    const done = await finished(
      async (ctx) => ctx.tryStep({ name: "send", timeout: 50, run: (step: Step) => void step.queue.send("slow", 1) }),
      {
        clock,
        queues: { slow: slowSchema(clock, 100) },
      },
    );
    expect(await done.status()).toMatchObject({
      status: "completed",
      output: { ok: false, failure: { kind: "timeout" } },
    });
    expect(await bodies(done)).toEqual([]);
  });

  it.each(["cancel", "replayFrom", "crash"])(
    "sends nothing when %s ends an attempt that waits for what it began",
    async (end) => {
      const clock = new ManualClock();
      const heard: unknown[] = [];
      const s = await subject(
        async (ctx) => {
          await ctx.step("send", (step: Step) => {
            step.abortSignal.addEventListener("abort", () => heard.push((step.abortSignal.reason as Error).name));
            void step.queue.send("slow", heard.length);
            step.state.log.push("begun");
          });
          return "done";
        },
        { clock, queues: { slow: slowSchema(clock, 100) } },
      );
      await s.world.pass(50);
      expect((await s.status()).status).toBe("running");
      if (end === "replayFrom")
        await expect(s.call("replayFrom")).rejects.toMatchObject({ code: "workflow_in_flight" });
      if (end === "crash") s.actor.crash();
      if (end === "cancel") await s.call("cancel");
      await s.world.passUntilQuiet();
      expect((await s.status()).status).toBe(end === "cancel" ? "cancelled" : "completed");
      expect(heard).toEqual({ cancel: ["CancelledError"], replayFrom: [], crash: heard }[end]);
      expect(await bodies(s)).toHaveLength(end === "cancel" ? 0 : 1);
      // Roll-forward: the attempt was not over when the state was stored.
      expect(await s.state()).toEqual({ log: end === "crash" ? ["begun", "begun"] : ["begun"] });
    },
  );

  it.each(["at once", "later"])(
    "fails the attempt when what it began is refused %s and nobody handles that",
    async (when) => {
      const clock = new ManualClock();
      const attempts: number[] = [];
      const done = await finished(
        async (ctx) => {
          await ctx.step({
            name: "send",
            maxRetries: 1,
            run: (step: Step) => {
              attempts.push(step.attempt);
              step.state.log.push(step.attempt);
              void step.queue.send("q", step.attempt === 1 ? "bad" : "good");
            },
          });
        },
        { clock, queues: { q: slowSchema(clock, when === "later" ? 10 : 0, (value) => value === "bad") } },
      );
      expect(attempts).toEqual([1, 2]);
      expect(await done.status()).toMatchObject({ status: "completed" });
      expect(await bodies(done)).toEqual(["good"]);
    },
  );

  it("lets a refusal pass that somebody handles", async () => {
    const big = "x".repeat(100_000);
    const codes: unknown[] = [];
    const done = await finished(async (ctx) => {
      await ctx.step("caught", (step) => {
        step.queue.send("q", big).catch((error: { code: string }) => codes.push(error.code));
      });
      await ctx.step("awaited later", async (step) => {
        const sent = step.queue.send("q", big);
        await undefined;
        await sent.catch((error: { code: string }) => codes.push(error.code));
      });
      await ctx.step("tried in a function of its own", (step) => {
        void (async () => {
          try {
            await step.queue.send("q", big);
          } catch (error) {
            codes.push((error as { code: string }).code);
          }
        })();
      });
      await ctx.step("all at once", async (step) => {
        const [result] = await Promise.allSettled([step.queue.send("q", big)]);
        codes.push(result.status);
      });
    });
    expect(await done.status()).toMatchObject({ status: "completed" });
    expect(codes).toEqual(["message_too_large", "message_too_large", "message_too_large", "rejected"]);
  });

  it("what goes on in a function that nobody awaits belongs to the attempt for as long as that waits", async () => {
    const clock = new ManualClock();
    const done = await finished(
      async (ctx) => {
        await ctx.step("send", (step) => {
          void (async () => {
            for (let n = 1; n <= 3; n += 1) await step.queue.send("slow", n);
          })();
        });
      },
      { clock, queues: { slow: slowSchema(clock, 10) } },
    );
    expect(await bodies(done)).toEqual([1, 2, 3]);
  });

  it("fails the attempt for a schedule that is refused", async () => {
    const done = await finished(async (ctx) => {
      const result = await ctx.tryStep({
        name: "schedule",
        maxRetries: 0,
        run: (step: Step) => void step.schedule.after(10, "no such action"),
      });
      return (result as { failure: { error: { metadata: unknown } } }).failure.error.metadata;
    });
    expect(await done.status()).toMatchObject({
      status: "completed",
      output: { group: "actor", code: "action_not_found" },
    });
  });

  it("waits for a transaction, and for statements behind it", async () => {
    const clock = new ManualClock();
    // oxlint-disable-next-line typescript/no-explicit-any -- like the subject of the other tests
    const program = async (ctx: any): Promise<void> => {
      await ctx.step("write", (step: Step) => {
        void step.db.transaction(async (tx: { execute(sql: string): Promise<unknown> }) => {
          await tx.execute("insert into t values (1)");
          await tx.execute("insert into t values (2)");
        });
        void step.db.execute("insert into t values (3)");
      });
      await ctx.step("look", async (step: Step) => {
        step.state.seen = (await step.db.execute("select x from t order by rowid")).map(({ x }: { x: number }) => x);
      });
    };
    const registry = setup({
      use: {
        a: actor({
          state: { seen: [] as number[] },
          db: db({ onMigrate: async (sql) => void (await sql.execute("create table if not exists t (x)")) }),
          run: workflow(program),
          actions: { get: (c) => c.state.seen },
        }),
      },
    }) as unknown as Registry;
    const world = testWorld(registry, { clock, openDatabase: () => new DatabaseSync(":memory:") });
    const a = world.actor("a", ["k"]);
    await a.call("get");
    await world.passUntilQuiet();
    expect(await a.call("get")).toEqual([1, 2, 3]);
  });

  it("waits for messages to other actors, and names the calls that it does not wait for", async () => {
    const clock = new ManualClock();
    const other = actor({
      state: { n: 0 },
      run: async () => {},
      actions: { size: (c) => c.state.n, slow: async () => clock.delay(1_000) },
    });
    const s = await subject(
      async (ctx) => {
        await ctx.step("tell", (step) => {
          const { other: accessor } = step.client();
          void accessor.getOrCreate(["o"]).send("q", "hello");
          void accessor
            .getOrCreate(["o"])
            .slow()
            .catch(() => {});
        });
      },
      { clock, use: { other } },
    );
    await s.world.passUntilQuiet();
    expect(await s.status()).toMatchObject({ status: "completed" });
    expect(s.world.actor("other", ["o"]).store.keys.filter((key) => key.startsWith("m/"))).toHaveLength(1);
    expect(s.logs.filter((line) => line.level === "debug" && String(line.msg).includes("without awaiting"))).toEqual([
      expect.objectContaining({ step: "tell", calls: ["action slow of other"] }),
    ]);
  });

  it("fails the attempt for a message that another actor refuses", async () => {
    const other = actor({ state: {}, queues: { known: {} }, actions: { size: () => 0 } });
    const done = await finished(
      async (ctx) => {
        await ctx
          .tryStep({
            name: "tell",
            maxRetries: 0,
            run: (step: Step) => void step.client().other.getOrCreate(["o"]).send("unknown", 1),
          })
          .then((result) => {
            if (result.ok) throw new Error("nothing failed");
          });
      },
      { use: { other } },
    );
    expect(await done.status()).toMatchObject({ status: "completed" });
  });

  it("does not wait for what is kept awake, or waited for in the background", async () => {
    const clock = new ManualClock();
    const s = await subject(
      async (ctx) => {
        await ctx.step("go", (step) => {
          void step.keepAwake(clock.delay(5_000));
          step.waitUntil(clock.delay(5_000));
        });
        return "done";
      },
      { clock },
    );
    expect(await s.status()).toMatchObject({ status: "completed" });
  });
});

describe("completing a message without awaiting it", () => {
  const program =
    (end: (message: { complete(reply: string): Promise<void> }, ctx: Ctx) => unknown) => async (ctx: Ctx) => {
      const message = await ctx.queue.next("get", { names: ["q"], completable: true });
      return end(message as never, ctx);
    };

  it.each([
    ["synchronous", 0],
    ["asynchronous", 20],
  ])("answers the sender before the workflow's return, with a %s validator", async (_, delayMs) => {
    const clock = new ManualClock();
    const complete = delayMs > 0 ? { complete: slowSchema(clock, delayMs) } : {};
    const s = await subject(
      program((message) => void message.complete("reply")),
      { clock, queues: { q: complete } },
    );
    const reply = s.sendAndWait("q", 1, 10_000);
    await s.world.passUntilQuiet();
    expect(await reply).toEqual({ status: "completed", response: "reply" });
    expect(await s.status()).toMatchObject({ status: "completed" });
    expect(s.queued).toBe(0);
  });

  it("answers at the end of an iteration, a branch and a try block as well", async () => {
    const clock = new ManualClock();
    const next = async (ctx: Ctx): Promise<void> => {
      const message = (await ctx.queue.next("get", { names: ["q"], completable: true })) as {
        body: unknown;
        complete(reply: unknown): Promise<void>;
      };
      void message.complete(message.body);
    };
    const s = await subject(
      async (ctx) => {
        await ctx.loop({
          name: "l",
          state: 0,
          run: async (l: Ctx, n: number) => (await next(l), n === 1 ? Loop.break(n) : Loop.continue(n + 1)),
        });
        await ctx.join("j", { b: { run: next } });
        await ctx.try("t", next);
      },
      { clock, queues: { q: { complete: slowSchema(clock, 20) } } },
    );
    const replies: unknown[] = [];
    for (let n = 1; n <= 4; n += 1) {
      const reply = s.sendAndWait("q", n, 10_000);
      await s.world.passUntilQuiet();
      replies.push(await reply);
    }
    expect(replies).toEqual([1, 2, 3, 4].map((response) => ({ status: "completed", response })));
    expect(await s.status()).toMatchObject({ status: "completed" });
  });

  it("fails what ends with it when the reply is refused and nobody handles that", async () => {
    const clock = new ManualClock();
    const s = await subject(
      program((message) => void message.complete("bad")),
      { clock, queues: { q: { complete: slowSchema(clock, 20, () => true) } } },
    );
    await s.send("q", 1);
    await s.world.passUntilQuiet();
    expect(await s.status()).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("completion response") },
    });
    expect(s.queued).toBe(1);
  });
});

describe("effects of actions and hooks that are not awaited", () => {
  it("stores an action's message with the action, before its caller is answered", async () => {
    const s = await finished(async () => {}, { actions: { go: (c) => void c.queue.send("q", 1) } });
    const before = s.actor.store.commits;
    await s.call("go");
    expect(s.actor.store.commits).toBe(before + 1);
    s.actor.crash();
    expect(await bodies(s)).toEqual([1]);
  });

  it("answers an action's caller when its message is stored, also with a validator that answers later", async () => {
    const clock = new ManualClock();
    const s = await finished(async () => {}, {
      clock,
      queues: { q: slowSchema(clock, 50) },
      actions: { go: (c) => void c.queue.send("q", 1) },
    });
    const answers: unknown[] = [];
    void s.call("go").then(() => answers.push(s.queued));
    await s.world.settle();
    expect(answers).toEqual([]);
    await s.world.pass(50);
    expect(answers).toEqual([1]);
  });

  it("answers a raw request when its message is stored", async () => {
    const clock = new ManualClock();
    const onRequest = (c: { queue: { send(name: string, body: unknown): Promise<unknown> } }): Response => {
      void c.queue.send("q", 1);
      return new Response("sent");
    };
    const s = await finished(async () => {}, { clock, queues: { q: slowSchema(clock, 50) }, config: { onRequest } });
    const answers: unknown[] = [];
    void s.actor.fetch("/send").then(() => answers.push(s.queued));
    await s.world.settle();
    expect(answers).toEqual([]);
    await s.world.pass(50);
    expect(answers).toEqual([1]);
  });

  it("leaves what a run handler sends and nobody awaits to itself", async () => {
    const handled: unknown[] = [];
    const clock = new ManualClock();
    const registry = setup({
      use: {
        a: actor({
          run: async (c) => {
            void c.queue.send("q", "x".repeat(100_000)).catch((error: { code: string }) => handled.push(error.code));
            await clock.delay(10);
          },
          actions: { get: () => 1 },
        }),
      },
    }) as unknown as Registry;
    const world = testWorld(registry, { clock });
    await world.actor("a").call("get");
    await world.passUntilQuiet();
    expect(handled).toEqual(["message_too_large"]);
  });

  it("fails the action whose message is refused and nobody handles that", async () => {
    const s = await finished(async () => {}, {
      actions: {
        go: (c) => void c.queue.send("q", "x".repeat(100_000)),
        caught: (c) => void c.queue.send("q", "x".repeat(100_000)).catch(() => {}),
      },
    });
    await expect(s.call("go")).rejects.toMatchObject({ group: "queue", code: "message_too_large" });
    await s.call("caught");
  });

  it("completes a message without waiting for a turn", async () => {
    const s = await finished(async () => {}, {
      actions: {
        go: async (c) => {
          const message = await c.queue.tryNext({ completable: true });
          void message.complete("reply");
        },
      },
    });
    await s.send("q", 1);
    await s.call("go");
    s.actor.crash();
    expect(s.queued).toBe(0);
  });
});

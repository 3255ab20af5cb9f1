import { describe, expect, it } from "vitest";
import { actor, setup, workflow, type Registry, type WorkflowErrorEvent } from "../../../src/actor/index.js";
import { ManualClock, type CommitFault, type World, type WorldActor } from "../../../src/testing/index.js";
import { CriticalError } from "../../../src/workflow/index.js";
import { testWorld } from "../../support/test-world.js";

interface Told {
  readonly told: string[];
}

/** The parts of an event that tests compare. */
function summary(event: WorkflowErrorEvent): string {
  if (event.step)
    return `step ${event.step.stepName} ${event.step.attempt} ${event.step.willRetry ? `retry in ${event.step.retryDelay}` : "final"}`;
  if (event.rollback) return `rollback ${event.rollback.stepName}`;
  return `workflow ${event.workflow.error.message}`;
}

const events: WorkflowErrorEvent[] = [];

function registry(clock: ManualClock): Registry {
  const subject = actor({
    state: { told: [] } as Told,
    run: workflow(
      async (ctx) => {
        await ctx.rollbackCheckpoint("checkpoint");
        await ctx.step({
          name: "undoable",
          run: () => 1,
          rollback: () => {
            throw new CriticalError("cannot be undone");
          },
        });
        await ctx.step({
          name: "flaky",
          maxRetries: 3,
          retryBackoffBase: 1,
          retryBackoffMax: 1,
          run: async (step) => {
            await clock.delay(1);
            if (step.attempt < 3)
              throw Object.assign(new TypeError(`attempt ${step.attempt}`), { code: "E_FLAKY", nested: {} });
          },
        });
        await ctx.tryStep("caught", () => {
          throw new CriticalError("caught");
        });
        throw new Error("the end");
      },
      {
        onError: async (c, event) => {
          events.push(event);
          await clock.delay(2);
          c.state.told.push(summary(event));
          await c.queue.send("failures", summary(event));
        },
      },
    ),
    actions: {
      get: (c) => c.state,
      status: (c) => c.workflow.status(),
      queued: async (c) => (await c.queue.tryNextBatch({ count: 100 })).map((each) => each.body),
    },
  });
  return setup({ use: { subject } }) as unknown as Registry;
}

const EXPECTED = [
  "step flaky 1 retry in 1",
  "step flaky 2 retry in 1",
  "step caught 1 final",
  "workflow the end",
  "rollback undoable",
];

async function run(fault?: CommitFault): Promise<{ world: World; subject: WorldActor }> {
  events.length = 0;
  const clock = new ManualClock();
  const world = testWorld(registry(clock), { clock, fault: (_, commit) => fault?.(commit) });
  const subject = world.actor("subject", ["k"]);
  for (let tries = 0; tries < 10 && !subject.store.keys.includes("a"); tries += 1) {
    await subject.call("get").catch(() => undefined);
    await world.settle();
  }
  await world.passUntilQuiet();
  return { world, subject };
}

describe("onError", () => {
  it("is told of each failed attempt, rollback and workflow, in order and once (D31, D32, D33, D34)", async () => {
    const { subject } = await run();
    expect(((await subject.call("get")) as Told).told).toEqual(EXPECTED);
    const [first] = events;
    expect(first).toMatchObject({
      step: {
        attempt: 1,
        maxRetries: 3,
        remainingRetries: 3,
        willRetry: true,
        retryDelay: 1,
        error: { name: "TypeError", message: "attempt 1", metadata: { code: "E_FLAKY" } },
      },
    });
    expect(first?.step?.workflowId).toMatch(/^[0-9a-f]{64}-/);
    expect(first?.step?.error.metadata).not.toHaveProperty("nested");
  });

  it("changes state and sends messages that clients see (D36)", async () => {
    const { subject } = await run();
    expect(await subject.call("queued")).toEqual(EXPECTED);
  });

  it("is told nothing again on later wakes (D9)", async () => {
    const { world, subject } = await run();
    subject.crash();
    await subject.call("get");
    await subject.fireAlarm();
    await world.passUntilQuiet();
    expect(((await subject.call("get")) as Told).told).toEqual(EXPECTED);
    expect([subject.store.keys.filter((key) => key.startsWith("f/")), subject.holdsLease]).toEqual([[], false]);
  });

  it("is told at least once, and its changes stand once, wherever it is cut off", async () => {
    const { subject: undisturbed } = await run();
    const { commits } = undisturbed.store;
    expect(commits).toBeGreaterThan(10);
    for (let at = 1; at <= commits; at += 1) {
      for (const kind of ["crash-before", "crash-after"] as const) {
        const { subject } = await run((commit) => (commit === at ? kind : undefined));
        const { told } = (await subject.call("get")) as Told;
        // A crash in the middle of a step adds nothing: interrupted attempts are not failures.
        expect(told, `${kind} ${at}`).toEqual(EXPECTED);
        expect(await subject.call("queued"), `${kind} ${at}`).toEqual(EXPECTED);
        expect(
          subject.store.keys.filter((key) => key.startsWith("f/")),
          `${kind} ${at}`,
        ).toEqual([]);
      }
    }
  });

  it("does not change the outcome when it throws or never ends (D35)", async () => {
    const clock = new ManualClock();
    const lines: unknown[] = [];
    const subjectOf = (onError: () => unknown) =>
      actor({
        options: { actionTimeout: 1_000 },
        run: workflow(
          async (ctx) => {
            await ctx
              .step({ name: "no", maxRetries: 0, run: () => Promise.reject(new Error("no")) })
              .catch(() => undefined);
            return "done";
          },
          { onError },
        ),
        actions: { status: (c) => c.workflow.status() },
      });
    const world = testWorld(
      setup({
        use: {
          throws: subjectOf(() => {
            throw new Error("the hook is broken");
          }),
          hangs: subjectOf(() => new Promise(() => {})),
        },
      }) as never,
      { clock, onLog: (level, entry) => level === "error" && lines.push(entry) },
    );
    for (const name of ["throws", "hangs"]) {
      const subject = world.actor(name);
      await subject.call("status");
      await world.passUntilQuiet();
      expect(await subject.call("status")).toMatchObject({ status: "completed", output: "done" });
      expect(subject.holdsLease).toBe(false);
      expect(subject.store.alarmAt).toBe(null);
    }
    expect(JSON.stringify(lines)).toContain("the hook is broken");
    expect(JSON.stringify(lines)).toContain("did not finish within 1000 ms");
  });

  it("costs nothing where there is no hook", async () => {
    const world = testWorld(
      setup({
        use: {
          plain: actor({
            run: workflow(async (ctx) =>
              ctx.step({ name: "no", maxRetries: 0, run: () => Promise.reject(new Error("no")) }),
            ),
            actions: { get: () => 1 },
          }),
        },
      }) as never,
    );
    const subject = world.actor("plain");
    await subject.call("get");
    await world.passUntilQuiet();
    expect(subject.store.keys.filter((key) => key.startsWith("f/"))).toEqual([]);
  });
});

describe("the end of a failed workflow", () => {
  const ends = async (run: (ctx: never) => Promise<unknown>, fault?: CommitFault): Promise<unknown[]> => {
    const clock = new ManualClock();
    const told: unknown[] = [];
    const subject = actor({
      run: workflow(run as never, {
        onError: (_, event) =>
          void told.push(
            event.step ? `step ${event.step.stepName}` : (event.workflow?.reported ?? event.workflow?.error.message),
          ),
      }),
      actions: { get: () => 1 },
    });
    const world = testWorld(setup({ use: { subject } }) as unknown as Registry, {
      clock,
      ...(fault ? { fault: (_, commit) => fault(commit) } : {}),
    });
    await world
      .actor("subject")
      .call("get")
      .catch(() => {});
    await world.passUntilQuiet();
    return told;
  };
  type Any = Parameters<Parameters<typeof workflow>[0]>[0];
  const fail = (name: string) => (ctx: Any) =>
    ctx.step({
      name,
      maxRetries: 0,
      run: () => {
        throw new Error(name);
      },
    });

  it("is always told, and says whether a step's event told that failure", async () => {
    expect(await ends(fail("s") as never)).toEqual(["step s", true]);
    expect(
      await ends(
        (async (ctx: Any) => (await fail("s")(ctx).catch(() => {}), Promise.reject(new Error("another")))) as never,
      ),
    ).toEqual(["step s", "another"]);
    expect(
      await ends((async (ctx: Any) =>
        fail("s")(ctx).catch((cause: unknown) => Promise.reject(new Error("wrapped", { cause })))) as never),
    ).toEqual(["step s", "wrapped"]);
    expect(await ends((async () => Promise.reject(new Error("plain"))) as never)).toEqual(["plain"]);
  });

  it("of a join or race is told already if every branch that failed did so by a step", async () => {
    expect(
      await ends(((ctx: Any) =>
        ctx.join("j", { a: { run: fail("s") }, b: { run: fail("t") }, c: { run: async () => 1 } })) as never),
    ).toEqual(["step s", "step t", true]);
    expect(
      await ends(((ctx: Any) =>
        ctx.join("j", { a: { run: fail("s") }, b: { run: async () => Promise.reject(new Error("own")) } })) as never),
    ).toEqual(["step s", "Join failed: a, b"]);
    expect(await ends(((ctx: Any) => ctx.race("r", [{ name: "a", run: fail("s") }])) as never)).toEqual([
      "step s",
      true,
    ]);
  });

  it.each([1, 2, 3, 4, 5, 6])("says the same after a crash at commit %d", async (at) => {
    const told = await ends(
      ((ctx: Any) => ctx.join("j", { a: { run: fail("s") }, b: { run: (b: Any) => b.sleep("z", 1_000) } })) as never,
      (commit) => (commit === at ? "crash-after" : undefined),
    );
    expect([...new Set(told)]).toEqual(["step s", true]);
  });
});

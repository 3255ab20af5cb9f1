import { describe, expect, it } from "vitest";
import { actor, setup, workflow, type AnyActorDefinition } from "../../../src/actor/index.js";
import { decodeValue, encodeValue } from "../../../src/protocol/index.js";
import { ManualClock, type CommitFault, type WorldOptions } from "../../../src/testing/index.js";
import { testWorld } from "../../support/test-world.js";
import { single, type Single } from "../subject.js";

// oxlint-disable-next-line typescript/no-explicit-any -- hooks and actions of all kinds share one signature here
type Context = any;

const GET = { kind: "action", name: "get", args: encodeValue([]) } as const;
const RESOLVE = { kind: "resolve" } as const;

/** An actor that goes to sleep after ten seconds of idleness, and notes what it does. */
function sleeper(also: Record<string, unknown> = {}, options: Partial<WorldOptions> = {}): Single & { seen: string[] } {
  const seen: string[] = [];
  const { options: actorOptions = {}, actions = {}, ...hooks } = also;
  const note =
    (name: string): ((c: Context) => void) =>
    (_c) =>
      void seen.push(name);
  const definition = actor({
    createState: () => ({ n: 0, slept: 0 }),
    onMigrate: note("onMigrate"),
    createVars: () => {
      seen.push("createVars");
      return { n: 0 };
    },
    onWake: note("onWake"),
    onSleep: (c: Context) => {
      seen.push("onSleep");
      c.state.slept += 1;
    },
    run: async () => void seen.push("run"),
    ...hooks,
    actions: {
      get: (c: Context) => ({ ...c.state }),
      add: (c: Context) => (c.state.n += 1),
      vars: (c: Context) => (c.vars.n += 1),
      hang: (_c: Context, ms: number) => made.world.clock.delay(ms),
      keep: (c: Context, ms: number) => void c.keepAwake(made.world.clock.delay(ms)),
      wait: (c: Context, ms: number) => c.waitUntil(made.world.clock.delay(ms).then(() => seen.push("waited for"))),
      plan: (c: Context, ms: number) => c.schedule.after(ms, "add"),
      sleep: (c: Context) => c.sleep(),
      next: (c: Context) => c.queue.next({ timeout: 15_000 }),
      ...(actions as object),
    },
    options: { sleepTimeout: 10_000, ...(actorOptions as object) },
  } as never) as AnyActorDefinition;
  const made = { ...single(definition, options), seen };
  return made;
}

const START = ["onMigrate", "createVars", "onWake", "run"];
/** What is stored of an actor that sleeps: no deadline, no lease. */
const ASLEEP = ["a", "s"];

describe("an idle actor with onSleep", () => {
  it("goes to sleep after sleepTimeout, and the next event starts it anew (A8, A41, A47, B34)", async () => {
    const { world, subject, seen } = sleeper();
    await subject.call("add");
    expect(await subject.call("vars")).toBe(1);
    await world.settle();
    expect(seen.splice(0)).toEqual(START);
    await world.pass(9_999);
    expect(seen).toEqual([]);
    await world.pass(1);
    expect(seen.splice(0)).toEqual(["onSleep"]);
    expect(subject.store.keys).toEqual(ASLEEP);
    expect(subject.store.alarmAt).toBe(null);
    expect(subject.timersHeld).toBe(0);
    await world.pass(3_600_000);
    expect(seen).toEqual([]);
    expect(await subject.call("vars"), "vars are gone").toBe(1);
    expect(await subject.call("get")).toEqual({ n: 1, slept: 1 });
    expect(seen).toEqual(START);
  });

  it("holds no timer meanwhile; its one deadline costs a row and an alarm, and activity none", async () => {
    const { world, subject } = sleeper();
    await subject.call("add");
    await world.settle();
    expect(subject.store.keys).toEqual(["a", "d/idle", "s"]);
    expect(subject.store.alarmAt).toBe(world.clock.now() + 10_000);
    expect(subject.timersHeld).toBe(0);
    const { rows, alarmWrites } = subject.store;
    for (let i = 0; i < 50; i += 1) {
      await world.pass(100);
      await subject.call("get");
    }
    expect([subject.store.rows - rows, subject.store.alarmWrites - alarmWrites]).toEqual([0, 0]);
    await subject.call("add");
    expect([subject.store.rows - rows, subject.store.alarmWrites - alarmWrites]).toEqual([1, 0]);
  });

  it("whose deadline comes too early waits for what is left", async () => {
    const { world, subject, seen } = sleeper();
    await subject.call("add");
    await world.pass(6_000);
    await subject.call("get");
    await world.pass(4_000);
    expect(seen).not.toContain("onSleep");
    expect(subject.store.alarmAt).toBe(world.clock.now() + 6_000);
    await world.pass(5_999);
    expect(seen).not.toContain("onSleep");
    await world.pass(1);
    expect(seen).toContain("onSleep");
  });

  it("sleeps only once it is quiet, however often it is called", async () => {
    const { world, subject, seen } = sleeper();
    for (let i = 0; i < 20; i += 1) {
      await subject.call("get");
      await world.pass(9_000);
    }
    expect(seen).not.toContain("onSleep");
    await world.pass(1_000);
    expect(seen.filter((each) => each === "onSleep")).toHaveLength(1);
  });

  it("sleeps after 30 seconds unless told otherwise", async () => {
    const { world, subject, seen } = sleeper({ options: { sleepTimeout: undefined } });
    await subject.call("get");
    await world.pass(29_999);
    expect(seen).not.toContain("onSleep");
    await world.pass(1);
    expect(seen).toContain("onSleep");
  });

  it("never sleeps with noSleep (A44), nor while its timeout has not passed, however long that is", async () => {
    for (const [options, alarm] of [
      [{ noSleep: true }, null],
      [{ sleepTimeout: 1e300 }, "far"],
    ] as const) {
      const { world, subject, seen } = sleeper({ options });
      await subject.call("add");
      await world.pass(3_600_000);
      expect(seen).toEqual(START);
      if (alarm === null) expect([subject.store.keys, subject.store.alarmAt]).toEqual([ASLEEP, null]);
      else expect(subject.store.alarmAt).toBeGreaterThan(world.clock.now() + 300 * 86_400_000);
    }
  });

  it("is kept awake by a call, keepAwake, and a scheduled action, until they end (A43, B31)", async () => {
    for (const [action, ms] of [
      ["hang", 25_000],
      ["keep", 25_000],
    ] as const) {
      const { world, subject, seen } = sleeper();
      const call = subject.call(action, ms);
      await world.pass(ms + 9_999);
      await call;
      expect(seen, action).not.toContain("onSleep");
      await world.pass(1);
      expect(seen, action).toContain("onSleep");
      expect(subject.store.keys).toEqual(ASLEEP);
    }
    const { world, subject, seen } = sleeper({
      actions: { plan: (c: Context) => c.schedule.after(5_000, "hang", 20_000) },
    });
    await subject.call("plan");
    await world.pass(34_999);
    expect(seen).not.toContain("onSleep");
    await world.pass(1);
    expect(seen).toContain("onSleep");
  });

  it("is not kept awake by waitUntil, but waits for it, and what it broadcasts arrives (A54)", async () => {
    const { world, subject, seen } = sleeper({
      actions: {
        wait: (c: Context, ms: number) =>
          c.waitUntil(
            world.clock.delay(ms).then(() => {
              seen.push("waited for");
              c.broadcast("last", "word");
            }),
          ),
      },
    });
    const socket = await subject.connect();
    await socket.subscribe("last");
    await subject.call("wait", 12_000);
    await world.pass(11_999);
    expect(seen).toEqual([...START, "onSleep"]);
    expect(subject.holdsLease, "not yet asleep").toBe(true);
    await world.pass(1);
    expect(seen).toEqual([...START, "onSleep", "waited for"]);
    expect(subject.store.keys).toEqual(ASLEEP);
    expect([socket.events, socket.isOpen]).toEqual([[["last", "word"]], true]);
  });

  it("is kept awake by a run handler that works, not by one that has ended, failed, or waits for a message (A46, A47, A48)", async () => {
    const cases: [(c: Context) => unknown, number][] = [
      [() => new Promise((resolve) => setImmediate(resolve)), 10_000],
      [() => Promise.reject(new Error("the run handler fails")), 10_000],
      [(c) => c.queue.next(), 10_000],
    ];
    for (const [run, ms] of cases) {
      const { world, subject, seen } = sleeper({ run });
      await subject.call("get");
      await world.pass(ms);
      expect(seen).toContain("onSleep");
      expect(subject.store.keys).toEqual(ASLEEP);
    }
    const { world, subject, seen } = sleeper({ run: () => world.clock.delay(20_000) });
    await subject.call("get");
    await world.pass(29_999);
    expect(seen).not.toContain("onSleep");
    await world.pass(1);
    expect(seen).toContain("onSleep");
  });

  it("sleeps though somebody is connected; the connection goes on over the sleep (A42)", async () => {
    const { world, subject, seen } = sleeper({
      actions: { shout: (c: Context, what: string) => c.broadcast("heard", what), size: (c: Context) => c.conns.size },
    });
    const socket = await subject.connect();
    await socket.subscribe("heard");
    await world.pass(10_000);
    expect(seen).toContain("onSleep");
    expect(socket.isOpen).toBe(true);
    expect(subject.store.alarmAt).toBe(null);
    await subject.call("shout", "still there");
    await world.settle();
    expect(socket.received.filter((message) => message.tag === "Event")).toMatchObject([
      { val: { name: "heard", args: ["still there"] } },
    ]);
    expect(seen.filter((each) => each === "createVars")).toHaveLength(2);
  });

  it("is woken by its schedules (A45)", async () => {
    const { world, subject, seen } = sleeper();
    await subject.call("plan", 60_000);
    await world.pass(10_000);
    expect(seen.splice(0)).toEqual([...START, "onSleep"]);
    expect(subject.store.alarmAt).toBe(world.clock.now() + 50_000);
    await world.pass(50_000);
    expect(seen.splice(0)).toEqual(START);
    expect(await subject.call("get")).toEqual({ n: 1, slept: 1 });
    await world.pass(10_000);
    expect(seen).toEqual(["onSleep"]);
  });

  it("with a workflow that waits sleeps and wakes as the workflow says, without its help", async () => {
    const { world, subject, seen } = sleeper({
      run: workflow(async (ctx: Context) => {
        seen.push("workflow begins");
        await ctx.step("first", (step: Context) => void (step.state.n += 1));
        await ctx.sleep("long", 60_000);
        await ctx.step("second", (step: Context) => void (step.state.n += 1));
        await ctx.queue.next("message");
        await ctx.step("third", (step: Context) => void (step.state.n += 1));
      }),
      actions: { send: (c: Context) => c.queue.send("in", 1).then(() => undefined) },
    });
    await subject.call("get");
    await world.pass(10_000);
    expect(seen.splice(0)).toEqual(["onMigrate", "createVars", "onWake", "workflow begins", "onSleep"]);
    await world.pass(50_000);
    expect(seen.splice(0)).toEqual(["onMigrate", "createVars", "onWake", "workflow begins"]);
    await world.pass(10_000);
    expect(seen.splice(0)).toEqual(["onSleep"]);
    await subject.call("send");
    await world.settle();
    expect(await subject.call("get")).toEqual({ n: 3, slept: 2 });
    await world.passUntilQuiet();
    expect(subject.store.alarmAt).toBe(null);
    expect(seen.filter((each) => each === "onSleep")).toHaveLength(1);
  });
});

describe("going to sleep", () => {
  it("fires every signal first; vars and state are there until the end (B35)", async () => {
    const seen: string[] = [];
    const { world, subject } = sleeper({
      onWake: (c: Context) => {
        c.vars.n = 7;
        c.abortSignal.addEventListener("abort", () =>
          seen.push(`captured ${c.aborted} ${c.vars.n} ${c.abortSignal.reason.code}`),
        );
      },
      onSleep: async (c: Context) => {
        seen.push(`onSleep ${c.aborted} ${c.vars.n}`);
        await world.clock.delay(1_000);
        c.state.n = c.vars.n;
      },
    });
    await subject.call("get");
    await world.pass(11_000);
    expect(seen).toEqual(["captured true 7 aborted", "onSleep true 7"]);
    expect(await subject.call("get")).toMatchObject({ n: 7 });
  });

  it("stores what onSleep changed, and tells onStateChange of it", async () => {
    const told: number[] = [];
    const { world, subject } = sleeper({
      onStateChange: (_c: Context, state: { slept: number }) => void told.push(state.slept),
    });
    await subject.call("get");
    await world.pass(10_000);
    expect(told).toEqual([1]);
    subject.crash();
    expect(await subject.call("get")).toMatchObject({ slept: 1 });
  });

  it("goes on when onSleep throws, or leaves a state that cannot be stored", async () => {
    const cases: ((c: Context) => unknown)[] = [
      () => Promise.reject(new Error("no")),
      (c) => {
        c.state.text = "x".repeat(2_000_001);
      },
    ];
    for (const onSleep of cases) {
      const { world, subject, log } = sleeper({ onSleep });
      await subject.call("add");
      await world.pass(10_000);
      expect(subject.store.keys).toEqual(ASLEEP);
      expect(subject.store.alarmAt).toBe(null);
      expect(log.some(({ level }) => level === "error" || level === "warn")).toBe(true);
      expect(await subject.call("get")).toEqual({ n: 1, slept: 0 });
    }
  });

  it("takes at most sleepGracePeriod, whoever ignores the abort (A52)", async () => {
    const { world, subject } = sleeper({
      run: () => new Promise<void>(() => {}),
      onSleep: () => new Promise<void>(() => {}),
      options: { sleepGracePeriod: 2_500 },
    });
    await subject.call("wait", 60_000);
    await subject.call("sleep");
    await world.pass(2_499);
    expect(subject.holdsLease).toBe(true);
    await world.pass(1);
    expect(subject.store.keys).toEqual(ASLEEP);
    expect(subject.store.alarmAt).toBe(null);
    expect(subject.timersHeld).toBe(0);
  });

  it("makes events that come meanwhile wait for a fresh activation", async () => {
    const { world, subject, seen } = sleeper({
      onSleep: async (c: Context) => {
        seen.push("onSleep");
        await world.clock.delay(5_000);
        c.state.slept += 1;
        seen.push("asleep");
      },
    });
    await subject.call("add");
    const socket = await subject.connect();
    await world.pass(11_000);
    seen.splice(0);
    const calls = [
      subject.call("vars").then((n) => seen.push(`vars ${String(n)}`)),
      subject.call("get").then((state) => seen.push(JSON.stringify(state))),
    ];
    void socket.call(1, "add");
    await world.pass(3_999);
    expect(seen).toEqual([]);
    await world.pass(1);
    await Promise.all(calls);
    expect(seen.slice(0, 1 + START.length)).toEqual(["asleep", ...START]);
    expect(seen.slice(1 + START.length)).toEqual(
      expect.arrayContaining(["vars 1", expect.stringContaining('"slept":1')]),
    );
    expect(((await subject.call("get")) as { n: number }).n).toBe(2);
  });

  it("is held by alarms as any work, and does not hold them up", async () => {
    const { world, subject, seen } = sleeper({
      onSleep: async () => {
        await world.clock.delay(50_000);
        seen.push("asleep");
      },
      options: { sleepGracePeriod: 60_000 },
    });
    await subject.call("plan", 35_000);
    await world.pass(10_000);
    for (let i = 0; i < 9; i += 1) {
      expect(subject.store.alarmAt, "at least every 10 s").toBeLessThanOrEqual(world.clock.now() + 10_000);
      await world.pass(5_000);
    }
    expect(seen).toEqual(START);
    await world.pass(5_000);
    expect(seen, "what came due meanwhile runs then").toEqual([...START, "asleep", ...START]);
    expect(await subject.call("get")).toMatchObject({ n: 1 });
  });

  it("ends in the actor's end when onSleep asks for it", async () => {
    const { world, subject, seen } = sleeper({
      onSleep: (c: Context) => c.destroy(),
      onDestroy: () => void seen.push("onDestroy"),
    });
    await subject.call("add");
    await world.pass(10_000);
    await world.settle();
    expect(seen).toEqual([...START, "onDestroy"]);
    expect(subject.store.keys).toEqual([]);
    expect(subject.store.alarmAt).toBe(null);
    expect(await subject.call("get")).toEqual({ n: 0, slept: 0 });
  });

  it("comes back for a message that was sent meanwhile", async () => {
    const cases: [string, unknown][] = [
      [
        "a run handler",
        async (c: Context) => {
          for await (const _ of c.queue.iter()) c.state.n += 1;
        },
      ],
      [
        "a workflow",
        workflow(async (ctx: Context) => {
          await ctx.queue.next("message");
          await ctx.step("count", (step: Context) => void (step.state.n += 1));
        }),
      ],
    ];
    for (const [name, run] of cases) {
      const { world, subject } = sleeper({
        run,
        onSleep: (c: Context) => (c.state.slept++ === 0 ? c.queue.send("in", 1) : undefined),
      });
      await subject.call("get");
      await world.passUntilQuiet();
      expect(await subject.call("get"), name).toEqual({ n: 1, slept: 2 });
      await world.passUntilQuiet();
      expect(subject.store.alarmAt, name).toBe(null);
    }
  });

  it("sets off no alarm after the other while it waits for what was there, whatever its hook sends or something is due", async () => {
    const workflows = workflow(async (ctx: Context) => {
      await ctx.loop("messages", async (loop: Context) => {
        await loop.queue.next("message");
        await loop.step("count", (step: Context) => void (step.state.n += 1));
      });
    });
    const cases: [string, Record<string, unknown>][] = [
      [
        "a message for the workflow",
        { run: workflows, onSleep: (c: Context) => (c.state.slept++ === 0 ? c.queue.send("in", 1) : undefined) },
      ],
      [
        "a scheduled action",
        { onSleep: (c: Context) => (c.state.slept++ === 0 ? c.schedule.after(0, "add") : undefined) },
      ],
      ["a scheduled action, with no hook", { onSleep: undefined }],
    ];
    for (const [name, hooks] of cases) {
      const { world, subject } = sleeper(hooks);
      await subject.call("get");
      await subject.call("wait", 12_000);
      if (name.endsWith("no hook")) await subject.call("plan", 1_000);
      await subject.call("sleep");
      const before = subject.store.commits;
      await world.pass(11_000);
      expect(subject.store.commits - before, name).toBeLessThan(10);
      expect(subject.store.alarmAt, name).toBeGreaterThan(world.clock.now());
      await world.passUntilQuiet();
      expect(await subject.call("get"), name).toMatchObject({ n: 1 });
      await world.passUntilQuiet();
      expect([subject.store.keys.filter((key) => key.startsWith("d/")), subject.holdsLease], name).toEqual([[], false]);
    }
  });

  it("tells the run handler that waits, and iter() ends silently (A49, where onSleep is defined)", async () => {
    for (const wait of ["next", "iter"] as const) {
      const { world, subject, seen, log } = sleeper({
        run: async (c: Context) => {
          if (wait === "next")
            await c.queue
              .next()
              .catch((error: { group: string; code: string }) => seen.push(`${error.group}/${error.code}`));
          else for await (const _ of c.queue.iter()) seen.push("a message");
          seen.push(`over ${c.aborted}`);
        },
      });
      await subject.call("get");
      await world.pass(10_000);
      expect(seen).toEqual(
        [
          "onMigrate",
          "createVars",
          "onWake",
          ...(wait === "next" ? ["actor/aborted"] : []),
          "onSleep",
          "over true",
        ].sort(inOrderOf(seen)),
      );
      expect(log.filter(({ level }) => level === "error")).toEqual([]);
    }
  });

  it("leaves code of the activation that is over without effect, and with an error where it asks for something", async () => {
    let late: Context;
    const { world, subject } = sleeper({ onWake: (c: Context) => (late ??= c) });
    await subject.call("add");
    await world.pass(10_000);
    expect(await subject.call("get")).toMatchObject({ n: 1 });
    expect(() => (late.state.n = 99)).toThrow(expect.objectContaining({ group: "actor", code: "ended" }));
    await world.settle();
    expect(await subject.call("get")).toMatchObject({ n: 1 });
    await expect(late.queue.send("in", 1)).rejects.toMatchObject({ group: "actor", code: "aborted" });
    subject.crash();
    expect(await subject.call("get")).toMatchObject({ n: 1 });
  });
});

describe("c.sleep()", () => {
  it("puts the actor to sleep once the call that asks for it has been answered", async () => {
    const { world, subject, seen } = sleeper();
    await subject.call("sleep").then(() => seen.push("answered"));
    await world.settle();
    expect(seen.splice(0).slice(-2).sort()).toEqual(["answered", "onSleep"]);
    expect(subject.store.keys).toEqual(ASLEEP);
    expect(subject.store.alarmAt).toBe(null);
    await subject.call("get");
    expect(seen).toEqual(START);
  });

  it("waits for other calls, for keepAwake, and for a step that runs", async () => {
    const { world, subject, seen } = sleeper({
      run: workflow(async (ctx: Context) => {
        await ctx.step("long", () => world.clock.delay(4_000).then(() => seen.push("step")));
        await ctx.sleep("an hour", 3_600_000);
      }),
    });
    const call = subject.call("hang", 2_000).then(() => seen.push("call"));
    await subject.call("keep", 3_000);
    await subject.call("sleep");
    await subject.call("sleep");
    await world.pass(3_999);
    expect(seen.slice(-1)).toEqual(["call"]);
    await world.pass(1);
    await call;
    expect(seen.slice(-3)).toEqual(["call", "step", "onSleep"]);
    expect(seen.filter((each) => each === "onSleep")).toHaveLength(1);
  });

  it("tells a run handler that works, and gives it its time", async () => {
    const { world, subject, seen } = sleeper({
      run: async (c: Context) => {
        while (!c.aborted) await world.clock.delay(1_000);
        await world.clock.delay(2_000);
        c.state.n += 1;
        seen.push("cleaned up");
      },
    });
    await subject.call("get");
    await world.pass(60_000);
    expect(seen).not.toContain("onSleep");
    await subject.call("sleep");
    await world.pass(3_000);
    expect(seen.slice(-2)).toEqual(["onSleep", "cleaned up"]);
    expect(subject.store.keys).toEqual(ASLEEP);
    expect(await subject.call("get")).toMatchObject({ n: 1 });
  });

  it("may come from the run handler, and from outside any callback; an actor without onSleep sleeps too", async () => {
    const { world, subject, seen } = sleeper({
      run: async (c: Context) => {
        if (!seen.includes("onSleep")) {
          await world.clock.delay(1_000);
          c.sleep();
        }
        await new Promise<void>((resolve) => c.abortSignal.addEventListener("abort", () => resolve()));
        seen.push("told");
      },
      actions: { later: (c: Context) => void world.clock.delay(500).then(() => c.sleep()) },
    });
    await subject.call("get");
    await world.pass(1_000);
    expect(seen.slice(-2).sort()).toEqual(["onSleep", "told"]);
    await subject.call("later");
    await world.pass(500);
    expect(seen.slice(-2).sort()).toEqual(["onSleep", "told"]);
    expect(seen.filter((each) => each === "told")).toHaveLength(2);
    const without = sleeper({ onSleep: undefined });
    expect(await without.subject.call("vars")).toBe(1);
    const { rows } = without.subject.store;
    await without.subject.call("sleep");
    await without.world.settle();
    expect(without.subject.store.rows, "it costs no row").toBe(rows);
    expect(await without.subject.call("vars")).toBe(1);
    expect(without.seen).toEqual([...START, ...START]);
  });

  it("works with noSleep too", async () => {
    const { world, subject, seen } = sleeper({ options: { noSleep: true } });
    await subject.call("sleep");
    await world.settle();
    expect(seen).toContain("onSleep");
    expect(subject.store.keys).toEqual(ASLEEP);
  });

  it("is refused as starting before the start is over", async () => {
    const { subject } = sleeper({
      onWake: (c: Context) => {
        try {
          c.sleep();
        } catch (error) {
          c.vars.n = (error as { group: string; code: string }).code;
        }
      },
      actions: { refused: (c: Context) => c.vars.n },
    });
    expect(await subject.call("refused")).toBe("starting");
  });

  it("has two members beside it that do nothing any more", async () => {
    const { subject } = sleeper({ actions: { prevent: (c: Context) => (c.setPreventSleep(true), c.preventSleep) } });
    expect(await subject.call("prevent")).toBe(false);
  });
});

describe("an actor that was evicted before it slept", () => {
  it("is started only for onSleep: neither run nor the workflow begins (ALARM-11)", async () => {
    const { world, subject, seen } = sleeper();
    await subject.call("add");
    await world.settle();
    await subject.evict();
    seen.splice(0);
    await world.pass(10_000);
    expect(seen).toEqual(["onMigrate", "createVars", "onWake", "onSleep"]);
    expect(subject.store.keys).toEqual(ASLEEP);
    expect(subject.store.alarmAt).toBe(null);
    expect(await subject.call("get")).toEqual({ n: 1, slept: 1 });
    const flow = sleeper({
      run: workflow(async (ctx: Context) => {
        flow.seen.push("workflow");
        await ctx.sleep("long", 3_600_000);
      }),
    });
    await flow.subject.call("get");
    await flow.world.settle();
    await flow.subject.evict();
    flow.seen.splice(0);
    await flow.world.pass(10_000);
    expect(flow.seen).toEqual(["onMigrate", "createVars", "onWake", "onSleep"]);
  });

  it("waits for another time of idleness if anybody has come before", async () => {
    const { world, subject, seen } = sleeper();
    await subject.call("add");
    await world.pass(5_000);
    await subject.evict();
    await subject.call("get");
    seen.splice(0);
    await world.pass(9_999);
    expect(seen).toEqual([]);
    await world.pass(1);
    expect(seen).toEqual(["onSleep"]);
  });

  it("is started in full if anything else is due too", async () => {
    const { world, subject, seen } = sleeper();
    await subject.call("plan", 10_000);
    await world.settle();
    await subject.evict();
    seen.splice(0);
    await world.pass(10_000);
    expect(seen).toEqual(START);
    await world.pass(10_000);
    expect(seen).toEqual([...START, "onSleep"]);
  });

  it("serves a call that comes while it starts from a fresh activation, after onSleep", async () => {
    const { world, subject, seen } = sleeper();
    await subject.call("add");
    await world.settle();
    await subject.evict();
    seen.splice(0);
    world.clock.moveTo(world.clock.now() + 10_000);
    const alarm = subject.fireAlarm();
    const state = subject.call("get");
    await alarm;
    expect(await state).toEqual({ n: 1, slept: 1 });
    expect(seen).toEqual(["onMigrate", "createVars", "onWake", "onSleep", ...START]);
  });

  it("does not come round for ever because onWake keeps itself busy", async () => {
    const { world, subject, seen } = sleeper({ onWake: (c: Context) => void c.keepAwake(world.clock.delay(2_000)) });
    await subject.call("get");
    await world.pass(5_000);
    await subject.evict();
    await world.pass(3_600_000);
    expect(seen.filter((each) => each === "onSleep")).toHaveLength(1);
    expect(subject.store.alarmAt).toBe(null);
  });

  it("is woken for nothing once the hook is gone, and then never again", async () => {
    const { world, subject } = sleeper();
    await subject.call("add");
    await world.settle();
    const other = testWorld(setup({ use: { subject: actor({ state: {}, actions: { touch: () => {} } }) } }), {
      clock: new ManualClock(world.clock.now()),
    });
    const again = other.actor("subject", ["k"]);
    again.store.restore(subject.store.dump(), subject.store.alarmAt);
    await other.pass(3_600_000);
    expect(again.store.keys).toEqual(ASLEEP);
    expect(again.store.alarmAt).toBe(null);
  });
});

describe("a crash", () => {
  it("anywhere in a life with sleeps loses nothing, and leaves an actor that sleeps", async () => {
    const life = async (fault?: CommitFault): Promise<{ made: Single; commits: number }> => {
      const made = sleeper({}, fault ? { fault: (_actor, commit) => fault(commit) } : {});
      const { world, subject } = made;
      const call = async (action: string, ...args: unknown[]): Promise<void> => {
        for (let tries = 0; tries < 5; tries += 1)
          if (
            await subject.call(action, ...args).then(
              () => true,
              () => false,
            )
          )
            return;
        throw new Error("no call was answered");
      };
      await call("get");
      await world.pass(10_000);
      await call("plan", 20_000);
      await world.pass(10_000);
      await world.pass(20_000);
      await call("sleep");
      await world.passUntilQuiet();
      return { made, commits: subject.store.commits };
    };
    const undisturbed = await life();
    expect(decodeValue(undisturbed.made.subject.store.dump().get("s") as Uint8Array)).toEqual({ n: 1, slept: 4 });
    expect(undisturbed.commits).toBeGreaterThan(12);
    for (let at = 1; at <= undisturbed.commits; at += 1) {
      for (const kind of ["crash-before", "crash-after"] as const) {
        const { made } = await life((commit) => (commit === at ? kind : undefined));
        const { subject } = made;
        expect(subject.crashes, `${kind} ${at}`).toBe(1);
        expect(subject.store.keys, `${kind} ${at}`).toEqual(ASLEEP);
        expect(subject.store.alarmAt, `${kind} ${at}`).toBe(null);
        const state = decodeValue(subject.store.dump().get("s") as Uint8Array) as { n: number; slept: number };
        // Its plan may be made twice: the answer to the first was lost.
        expect([1, 2], `${kind} ${at}`).toContain(state.n);
        expect(state.slept, `${kind} ${at}`).toBeGreaterThanOrEqual(3);
      }
    }
  });

  it("in onSleep lets it come again; one that kills the object each time is given up, and the actor serves", async () => {
    let kills = 1;
    let begun = 0;
    const { world, subject, seen, log } = sleeper({
      onSleep: async (c: Context) => {
        begun += 1;
        await world.turn();
        if (begun <= kills) {
          subject.crash();
          await new Promise(() => {});
        }
        c.state.slept += 1;
        seen.push("asleep");
      },
    });
    await subject.call("add");
    await world.passUntilQuiet();
    expect([begun, seen.filter((each) => each === "asleep").length]).toEqual([2, 1]);
    expect(subject.store.keys).toEqual(ASLEEP);
    begun = 0;
    kills = 1_000;
    await subject.call("add");
    await world.passUntilQuiet();
    expect(begun).toBe(3);
    expect(subject.store.keys).toEqual(ASLEEP);
    expect(subject.store.alarmAt).toBe(null);
    expect(
      log.filter(({ level, entry }) => level === "error" && String(entry["msg"]).includes("given up")),
    ).toHaveLength(1);
    expect(await subject.call("get")).toEqual({ n: 2, slept: 1 });
  });

  it("of an actor whose onWake fails while it starts to sleep leaves a wake, and it sleeps when it can", async () => {
    let fails = false;
    const { world, subject, seen } = sleeper({
      onWake: () => {
        seen.push("onWake");
        if (fails) throw new Error("not now");
      },
    });
    await subject.call("add");
    await world.settle();
    await subject.evict();
    fails = true;
    await world.pass(60_000);
    expect(seen).not.toContain("onSleep");
    expect(subject.store.alarmAt).not.toBe(null);
    fails = false;
    await world.passUntilQuiet();
    expect(seen).toContain("onSleep");
    expect(subject.store.keys).toEqual(ASLEEP);
  });
});

describe("an actor without onSleep", () => {
  it("pays nothing for it: no row, no alarm, and it is never started for it", async () => {
    const { world, subject, seen } = sleeper({ onSleep: undefined });
    await subject.call("add");
    expect(subject.store.keys).toEqual(ASLEEP);
    expect(subject.store.alarmAt).toBe(null);
    await world.pass(3_600_000);
    expect(seen).toEqual(START);
    expect(await subject.send({ mode: "get" }, RESOLVE)).toMatchObject({ ok: true });
    expect(await subject.send({ mode: "get" }, GET)).toMatchObject({ ok: true });
    expect(seen).toEqual(START);
  });
});

/** Sorts as the list does: for parts whose order among each other does not count. */
function inOrderOf(list: readonly string[]): (a: string, b: string) => number {
  return (a, b) => list.indexOf(a) - list.indexOf(b);
}

describe("sleep asked for from outside", () => {
  it("is that of c.sleep(); an actor that does not exist is not made for it", async () => {
    const slept: string[] = [];
    const { world, subject } = single(
      actor({
        state: {},
        onWake: () => void slept.push("wake"),
        onSleep: () => void slept.push("sleep"),
        actions: { get: () => 1 },
      }),
    );
    const sleep = () => subject.send({ mode: "get" }, { kind: "sleep" });
    expect(await sleep()).toMatchObject({ ok: false, error: { group: "actor", code: "not_found" } });
    expect([slept, subject.store.dump().size]).toEqual([[], 0]);
    await subject.call("get");
    expect(await sleep()).toMatchObject({ ok: true });
    await world.settle();
    expect(slept).toEqual(["wake", "sleep"]);
    await subject.call("get");
    expect(slept).toEqual(["wake", "sleep", "wake"]);
  });
});

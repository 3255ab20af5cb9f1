import { describe, expect, it } from "vitest";
import { actor, setup, workflow } from "../../../src/actor/index.js";
import { encodeInput, encodeValue } from "../../../src/protocol/index.js";
import { ManualClock } from "../../../src/testing/index.js";
import { testWorld } from "../../support/test-world.js";
import { single } from "../subject.js";

/** An actor whose hooks say when they run, fail or hang as they are told. */
function hooked(clock = new ManualClock()) {
  const seen: string[] = [];
  const fails = new Set<string>();
  const hangs = new Set<string>();
  const run = async (hook: string): Promise<void> => {
    seen.push(hook);
    if (hangs.has(hook)) await new Promise(() => {});
    if (fails.has(hook)) throw new Error(`${hook} fails`);
  };
  const definition = actor({
    createState: async (_c, input: { from: number } | undefined) => {
      await run("createState");
      return { n: input?.from ?? 0 };
    },
    onMigrate: async (_c, isNew) => run(isNew ? "onMigrate new" : "onMigrate"),
    onCreate: async (c, input: { from: number } | undefined) => {
      await run("onCreate");
      c.state.n += input ? 1 : 0;
    },
    createVars: async (c) => {
      await run("createVars");
      return { seen: c.state.n };
    },
    onWake: async () => run("onWake"),
    run: async () => run("run"),
    actions: { get: (c) => ({ n: c.state.n, vars: c.vars.seen }) },
    options: { createVarsTimeout: 200, onMigrateTimeout: 300 },
  });
  return { ...single(definition, { clock }), seen, fails, hangs };
}

const NEW = ["onMigrate new", "createState", "onCreate", "createVars", "onWake", "run"];
const WAKE = ["onMigrate", "createVars", "onWake", "run"];
const GET = { kind: "action", name: "get", args: encodeValue([]) } as const;

describe("the start of an actor", () => {
  it("runs the hooks of a creation once in its life, and those of a wake at every other start (A4, A7, A8)", async () => {
    const { subject, seen } = hooked();
    await subject.call("get");
    expect(seen.splice(0)).toEqual(NEW);
    await subject.call("get");
    expect(seen.splice(0)).toEqual([]);
    for (let i = 0; i < 2; i += 1) {
      subject.crash();
      await subject.call("get");
      expect(seen.splice(0)).toEqual(WAKE);
    }
  });

  it("gives the input of the creation to createState and onCreate, and to nobody later (A4, A5)", async () => {
    const { subject } = hooked();
    await subject.send({ mode: "getOrCreate", input: encodeValue({ from: 5 }) }, GET);
    await subject.send({ mode: "getOrCreate", input: encodeValue({ from: 50 }) }, GET);
    expect(await subject.call("get")).toEqual({ n: 6, vars: 6 });
    for (const bytes of subject.store.dump().values()) expect(new TextDecoder().decode(bytes)).not.toContain("from");
  });

  it("gives createState and onCreate undefined where there is no input (A6)", async () => {
    const inputs: unknown[] = [];
    const note = (_c: unknown, ...given: unknown[]): void => void inputs.push(given);
    const { subject } = single(
      actor({ createState: note as () => void, onCreate: note, actions: { touch: () => {} } }),
    );
    await subject.call("touch");
    expect(inputs).toEqual([[undefined], [undefined]]);
  });

  it("shows createVars the state that is stored, at every start (A9)", async () => {
    const { subject } = single(
      actor({
        state: { n: 1 },
        createVars: (c) => ({ found: c.state.n }),
        actions: {
          add: (c) => {
            c.state.n += 1;
          },
          found: (c) => c.vars.found,
        },
      }),
    );
    expect(await subject.call("found")).toBe(1);
    await subject.call("add");
    expect(await subject.call("found")).toBe(1);
    subject.crash();
    expect(await subject.call("found")).toBe(2);
  });

  it("takes an input that is larger than a stored value, for hooks that keep less of it", async () => {
    const sum = actor({
      createState: (_c, input: string) => ({ length: input.length, kept: input.length > 3_900_000 ? input : "" }),
      actions: { get: (c) => c.state },
    });
    const { subject } = single(sum);
    const GET_STATE = { kind: "action", name: "get", args: encodeValue([]) } as const;
    const kept = await subject.send({ mode: "getOrCreate", input: encodeInput("x".repeat(4_000_000)) }, GET_STATE);
    expect(kept).toMatchObject({
      ok: false,
      status: 413,
      error: { group: "value", code: "too_large", metadata: { path: "$.kept" } },
    });
    expect(subject.store.keys).toEqual([]);
    await subject.send({ mode: "getOrCreate", input: encodeInput("x".repeat(3_500_000)) }, GET_STATE);
    expect(await subject.call("get")).toEqual({ length: 3_500_000, kept: "" });
  });

  it("is one commit for a creation, after onWake", async () => {
    const { subject } = hooked();
    await subject.call("get");
    expect(subject.store.commits).toBe(1);
    expect(subject.store.keys).toEqual(["a", "s"]);
  });

  for (const hook of ["onMigrate new", "createState", "onCreate", "createVars", "onWake"]) {
    it(`leaves nothing at all when ${hook} throws, and starts from the beginning at the next call`, async () => {
      const { subject, seen, fails } = hooked();
      fails.add(hook);
      await expect(subject.call("get")).rejects.toMatchObject({
        group: "rivetkit",
        code: "internal_error",
        statusCode: 500,
      });
      expect(subject.store.keys).toEqual([]);
      expect(subject.store.commits).toBe(0);
      expect(seen.splice(0)).toEqual(NEW.slice(0, NEW.indexOf(hook) + 1));
      fails.clear();
      expect(await subject.call("get")).toEqual({ n: 0, vars: 0 });
      expect(seen).toEqual(NEW);
    });
  }

  for (const hook of ["createVars", "onWake"]) {
    it(`of an actor that exists fails alone when ${hook} throws`, async () => {
      const { subject, seen, fails } = hooked();
      await subject.call("get");
      subject.crash();
      fails.add(hook);
      for (let i = 0; i < 2; i++) await expect(subject.call("get")).rejects.toMatchObject({ code: "internal_error" });
      expect(subject.store.keys).toEqual(["a", "s"]);
      fails.clear();
      seen.splice(0);
      await subject.call("get");
      expect(seen).toEqual(WAKE);
    });
  }

  const limits = { "onMigrate new": 300, createState: 5_000, onCreate: 5_000, createVars: 200, onWake: 30_000 };
  for (const [hook, limitMs] of Object.entries(limits)) {
    it(`fails after ${limitMs} ms in ${hook}, with a typed error, and holds no timer then (A12)`, async () => {
      const { world, subject, hangs } = hooked();
      hangs.add(hook);
      const call = subject.call("get");
      const failed = expect(call).rejects.toMatchObject({
        group: "actor",
        code: "callback_timed_out",
        statusCode: 408,
        metadata: { callback_name: hook.split(" ")[0], duration_ms: limitMs },
      });
      await world.pass(limitMs - 1);
      expect(subject.timersHeld).toBe(1);
      await world.pass(1);
      await failed;
      expect(subject.timersHeld).toBe(0);
      hangs.clear();
      expect(await subject.call("get")).toEqual({ n: 0, vars: 0 });
    });
  }

  it("creates once for calls that come in one turn, and serves all of them", async () => {
    const { subject, seen } = hooked();
    const answers = await Promise.all(Array.from({ length: 5 }, () => subject.call("get")));
    expect(answers).toEqual(Array.from({ length: 5 }, () => ({ n: 0, vars: 0 })));
    expect(seen).toEqual(NEW);
    expect(subject.crashes).toBe(0);
  });

  it("wakes once for calls and an alarm that come in one turn", async () => {
    const { subject, seen } = hooked();
    await subject.call("get");
    subject.crash();
    seen.splice(0);
    await Promise.all([subject.call("get"), subject.fireAlarm(), subject.call("get")]);
    expect(seen).toEqual(WAKE);
    expect(subject.crashes).toBe(1);
  });

  it("tells all callers that waited for a start about its failure, and lets the next call try again (A11)", async () => {
    const { subject, seen, fails } = hooked();
    const count = (hook: string): number => seen.filter((each) => each === hook).length;
    fails.add("onCreate");
    const codes = (calls: Promise<unknown>[]): Promise<unknown[]> =>
      Promise.all(
        calls.map((call) =>
          call.then(
            () => "answered",
            (error: { code: string }) => error.code,
          ),
        ),
      );
    expect(await codes([subject.call("get"), subject.call("get"), subject.call("get")])).toEqual(
      Array(3).fill("internal_error"),
    );
    expect(count("onCreate"), "one attempt for the three of them").toBe(1);
    expect(await codes([subject.call("get")])).toEqual(["internal_error"]);
    expect(count("onCreate"), "another for who comes later").toBe(2);
    fails.clear();
    expect(await subject.call("get")).toEqual({ n: 0, vars: 0 });
    expect(count("onCreate")).toBe(3);
    fails.add("onWake");
    subject.crash();
    seen.splice(0);
    expect(await codes([subject.call("get"), subject.call("get")])).toEqual(["internal_error", "internal_error"]);
    expect(seen).toEqual(WAKE.slice(0, -1));
  });

  it("does not share the failure of a creation with a caller that brings another input, or may not create", async () => {
    const { subject } = single(
      actor({
        createState: (_c, input: { bad: boolean } | undefined) => {
          if (input?.bad) throw new Error("a bad input");
          return { n: 1 };
        },
        actions: { get: (c) => c.state.n },
      }),
    );
    const bad = { mode: "getOrCreate", input: encodeValue({ bad: true }) } as const;
    const asks = [bad, { mode: "get" }, { mode: "getOrCreate", input: encodeValue({ bad: false }) }, bad] as const;
    const [first, get, good, again] = await Promise.all(asks.map((creation) => subject.send(creation, GET)));
    expect(first).toMatchObject({ ok: false, status: 500 });
    expect(get).toMatchObject({ ok: false, status: 404, error: { code: "not_found" } });
    expect(good).toMatchObject({ ok: true, created: true });
    expect(again, "it waited for the same attempt").toMatchObject({ ok: false, status: 500 });
  });

  it("does not share what is wrong with one call with another that waited for it", async () => {
    const { subject } = hooked();
    const unknown = { kind: "action", name: "unknown", args: encodeValue([]) } as const;
    const [first, second] = await Promise.all([
      subject.send({ mode: "getOrCreate" }, unknown),
      subject.send({ mode: "getOrCreate" }, GET),
    ]);
    expect(first).toMatchObject({ ok: false, error: { code: "action_not_found" } });
    expect(second).toMatchObject({ ok: true, created: true });
  });

  it("that its alarm made and that failed is told to the callers that waited for it; a wake is left", async () => {
    let fails = false;
    let starts = 0;
    const { world, subject } = single(
      actor({
        state: 0,
        onWake: async () => {
          starts += 1;
          await world.turn();
          if (fails) throw new Error("not yet");
        },
        actions: {
          plan: (c) => c.schedule.after(1_000, "planned"),
          planned: (c) => void (c.state += 1),
          get: (c) => c.state,
        },
      }),
    );
    await subject.call("plan");
    subject.crash();
    fails = true;
    starts = 0;
    world.clock.moveTo(world.clock.now() + 1_000);
    const alarm = subject.fireAlarm();
    const call = subject.call("get").catch((error: { code: string }) => error.code);
    await alarm;
    expect(await call).toBe("internal_error");
    expect(starts).toBe(1);
    expect(subject.store.alarmAt).toBeGreaterThan(world.clock.now());
    fails = false;
    await world.passUntilQuiet();
    expect(await subject.call("get")).toBe(1);
  });

  it("lets code of a start that failed change nothing any more", async () => {
    const clock = new ManualClock();
    let late: () => void = () => {};
    let hang = true;
    const { world, subject } = single(
      actor({
        state: { n: 0 },
        createVars: (c) => {
          late = () => {
            c.state.n = 99;
          };
          return hang ? new Promise<number>(() => {}) : 1;
        },
        actions: { get: (c) => c.state.n },
      }),
      { clock },
    );
    const failed = expect(subject.call("get")).rejects.toMatchObject({ code: "callback_timed_out" });
    await world.pass(5_000);
    await failed;
    const stale = late;
    hang = false;
    expect(await subject.call("get")).toBe(0);
    expect(stale).toThrow(expect.objectContaining({ group: "actor", code: "ended" }));
    await world.settle();
    expect(subject.crashes, "the object lives").toBe(0);
    expect(await subject.call("get")).toBe(0);
    subject.crash();
    expect(await subject.call("get")).toBe(0);
  });

  it("that fails again and again is no cut-off: what was due runs once it succeeds, and the workflow goes on", async () => {
    let fails = false;
    const ran: string[] = [];
    const { world, subject } = single(
      actor({
        state: 0,
        onWake: () => {
          if (fails) throw new Error("not yet");
        },
        run: workflow(async (ctx) => {
          await ctx.sleep("pause", 1_000);
          await ctx.step("after", () => void ran.push("step"));
        }),
        actions: {
          plan: (c) => c.schedule.after(1_000, "planned"),
          planned: () => void ran.push("scheduled"),
          status: (c) => c.workflow.status().status,
        },
      }),
    );
    await subject.call("plan");
    await world.settle();
    subject.crash();
    fails = true;
    for (let starts = 0; starts < 25; starts += 1) {
      const at = subject.store.alarmAt ?? 0;
      world.clock.moveTo(Math.max(world.clock.now(), at));
      await subject.fireAlarm();
      expect(subject.store.alarmAt, "a later wake was left").toBeGreaterThan(world.clock.now());
    }
    expect(ran).toEqual([]);
    fails = false;
    await world.passUntilQuiet();
    expect(ran.sort()).toEqual(["scheduled", "step"]);
    expect(await subject.call("status")).toBe("completed");
  });

  it("does not happen for `get` where there is no actor", async () => {
    const { subject, seen } = hooked();
    expect(await subject.send({ mode: "get" }, GET)).toMatchObject({
      ok: false,
      status: 404,
      error: { group: "actor", code: "not_found" },
    });
    expect(seen).toEqual([]);
    expect(subject.store.commits).toBe(0);
  });

  it("refuses `create` where there is an actor, and says which", async () => {
    const { subject } = hooked();
    const created = await subject.send({ mode: "create" }, GET);
    expect(created).toMatchObject({ ok: true, created: true });
    const refused = await subject.send({ mode: "create" }, GET);
    expect(refused).toMatchObject({
      ok: false,
      status: 409,
      error: { code: "duplicate_key", metadata: { existing_actor_id: created.ok && created.actorId } },
    });
  });

  it("has no state in createState and onMigrate of a creation, and no vars before createVars", async () => {
    const told: Record<string, string> = {};
    const tell = (where: string, read: () => unknown): void => {
      try {
        told[where] = `gave ${JSON.stringify(read())}`;
      } catch (error) {
        told[where] = (error as { code: string }).code;
      }
    };
    // oxlint-disable-next-line typescript/no-explicit-any -- reads what the types forbid
    type Any = any;
    const { subject } = single(
      actor({
        createState: (c) => {
          tell("state in createState", () => (c as Any).state);
          return { n: 1 };
        },
        onMigrate: (c: Any, isNew: boolean) => tell(`state in onMigrate ${isNew ? "new" : "wake"}`, () => c.state),
        onCreate: (c: Any) => {
          tell("state in onCreate", () => c.state);
          tell("vars in onCreate", () => c.vars);
        },
        createVars: (c: Any) => {
          tell("vars in createVars", () => c.vars);
          return 2;
        },
        onWake: (c: Any) => tell("vars in onWake", () => c.vars),
        actions: { touch: () => {} },
      }),
    );
    await subject.call("touch");
    subject.crash();
    await subject.call("touch");
    expect(told).toEqual({
      "state in createState": "state_not_ready",
      "state in onMigrate new": "state_not_ready",
      "state in onMigrate wake": 'gave {"n":1}',
      "state in onCreate": 'gave {"n":1}',
      "vars in onCreate": "vars_not_ready",
      "vars in createVars": "vars_not_ready",
      "vars in onWake": "gave 2",
    });
  });

  it("refuses a first state that cannot be stored, and creates nothing", async () => {
    const { subject } = single(actor({ createState: () => ({ bad: () => {} }), actions: { touch: () => {} } }));
    await expect(subject.call("touch")).rejects.toMatchObject({
      group: "value",
      code: "not_serializable",
      statusCode: 400,
    });
    expect(subject.store.keys).toEqual([]);
  });

  it("stores with the creation what onCreate sent and scheduled, or nothing of it", async () => {
    let fail = true;
    const { subject } = single(
      actor({
        state: { n: 0 },
        onCreate: async (c) => {
          await c.queue.send("in", 1);
          await c.schedule.after(1_000, "touch");
          if (fail) throw new Error("no");
        },
        actions: { touch: () => {} },
      }),
    );
    await expect(subject.call("touch")).rejects.toThrow();
    expect(subject.store.keys).toEqual([]);
    expect(subject.store.alarmAt).toBe(null);
    fail = false;
    await subject.call("touch");
    expect(subject.store.commits).toBe(1);
    expect(subject.store.keys).toEqual(["a", expect.stringMatching(/^d\/at\//), "m/1", "s"]);
    expect(subject.store.alarmAt).not.toBe(null);
  });

  it("begins the workflow that a later release gives the actor, once, with whatever comes next", async () => {
    const ran: string[] = [];
    const state = { n: 0 };
    const actions = { get: (c: { state: { n: number } }) => c.state.n };
    const without = setup({ use: { subject: actor({ state, actions }) } });
    const run = workflow(async (ctx) => {
      await ctx.step("first", () => void ran.push("first"));
    });
    const world = testWorld(without);
    const subject = world.actor("subject", ["k"]);
    await subject.call("get");
    world.deploy(setup({ use: { subject: actor({ state, run, actions }) } }) as never);
    expect(await subject.call("get")).toBe(0);
    await world.settle();
    expect(ran).toEqual(["first"]);
    subject.crash();
    await subject.call("get");
    await world.passUntilQuiet();
    expect([ran, subject.store.alarmAt]).toEqual([["first"], null]);
  });

  it("makes the first state that a later release gives the actor, once, after onMigrate and before createVars", async () => {
    const actions = { get: (c: { state?: unknown; vars?: unknown }) => [c.state, c.vars] };
    const without = setup({ use: { subject: actor({ actions: { touch: () => {} } }) } });
    const seen: string[] = [];
    let fails = true;
    const createState = (_c: unknown, input: unknown): { n: number } => {
      seen.push(`createState ${String(input)}`);
      if (fails) throw new Error("not yet");
      return { n: 1 };
    };
    const hooks = {
      onMigrate: (_c: unknown, isNew: boolean) => void seen.push(`onMigrate ${isNew}`),
      onStateChange: () => void seen.push("onStateChange"),
      onCreate: () => void seen.push("onCreate"),
    };
    const kinds = [
      { createState, createVars: (c: { state: { n: number } }) => c.state.n + 1 },
      { state: { n: 1 }, createVars: (c: { state: { n: number } }) => c.state.n + 1 },
    ];
    for (const kind of kinds) {
      seen.splice(0);
      const world = testWorld(without);
      const subject = world.actor("subject", ["k"]);
      await subject.call("touch");
      world.deploy(
        setup({
          use: {
            subject: actor({
              ...kind,
              ...hooks,
              actions: { ...actions, add: (c: { state: { n: number } }) => void (c.state.n += 1) },
            } as never),
          },
        }) as never,
      );
      if ("createState" in kind) {
        await expect(subject.call("get"), "that start alone").rejects.toMatchObject({ code: "internal_error" });
        expect(subject.store.keys).toEqual(["a"]);
        fails = false;
        seen.splice(0);
      }
      expect(await subject.call("get")).toEqual([{ n: 1 }, 2]);
      expect(seen).toEqual(["onMigrate false", ...("createState" in kind ? ["createState undefined"] : [])]);
      expect(subject.store.keys).toEqual(["a", "s"]);
      await subject.call("add");
      subject.crash();
      seen.splice(0);
      expect(await subject.call("get")).toEqual([{ n: 2 }, 3]);
      expect(seen).toEqual(["onMigrate false"]);
    }
  });

  it.each(["crash-before", "crash-after"] as const)(
    "makes that first state also where the object dies at any commit of it (%s)",
    async (kind) => {
      for (const at of [2, 3]) {
        const world = testWorld(setup({ use: { subject: actor({ actions: { touch: () => {} } }) } }), {
          fault: (_actor, commit) => (commit === at ? kind : undefined),
        });
        const subject = world.actor("subject", ["k"]);
        await subject.call("touch");
        const run = workflow((ctx) => ctx.step("count", (step) => void ((step.state as { n: number }).n += 1)));
        world.deploy(
          setup({
            use: {
              subject: actor({
                createState: () => ({ n: 1 }),
                run,
                actions: { get: (c: { state: { n: number } }) => c.state.n },
              } as never),
            },
          }) as never,
        );
        await subject.call("get").catch(() => {});
        await world.passUntilQuiet();
        expect([await subject.call("get"), subject.crashes, subject.store.alarmAt]).toEqual([2, 2, null]);
      }
    },
  );

  it("refuses destroy before it is over, and goes on", async () => {
    const { subject } = single(
      actor({
        state: { refused: "" },
        onCreate: (c) => {
          try {
            c.destroy();
          } catch (error) {
            c.state.refused = (error as { code: string }).code;
          }
        },
        actions: { get: (c) => c.state.refused },
      }),
    );
    expect(await subject.call("get")).toBe("starting");
    expect(await subject.call("get")).toBe("starting");
  });
});

describe("vars", () => {
  it("are a copy of the static value for each start, and are not stored (A10)", async () => {
    const shared = { list: [1] };
    const { world, subject } = single(
      actor({
        vars: shared,
        actions: {
          push: (c) => {
            c.vars.list.push(2);
            return c.vars.list;
          },
        },
      }),
    );
    expect(await subject.call("push")).toEqual([1, 2]);
    expect(await subject.call("push")).toEqual([1, 2, 2]);
    expect(await world.actor("subject", ["other"]).call("push")).toEqual([1, 2]);
    subject.crash();
    expect(await subject.call("push")).toEqual([1, 2]);
    expect(shared).toEqual({ list: [1] });
    expect(subject.store.keys).toEqual(["a"]);
  });

  it("may hold what cannot be stored, and be replaced (B34)", async () => {
    const { subject } = single(
      actor({
        createVars: () => ({ double: (n: number) => n * 2 }),
        actions: {
          double: (c) => c.vars.double(21),
          replace: (c) => {
            c.vars = { double: (n) => n * 3 };
          },
        },
      }),
    );
    expect(await subject.call("double")).toBe(42);
    await subject.call("replace");
    expect(await subject.call("double")).toBe(63);
  });

  it("are seen and changed by steps", async () => {
    const { world, subject } = single(
      actor({
        vars: { seen: 0 },
        run: workflow(async (ctx) => {
          await ctx.step("count", (step) => {
            step.vars.seen += 1;
          });
        }),
        actions: { get: (c) => c.vars.seen },
      }),
    );
    await subject.call("get");
    await world.settle();
    expect(await subject.call("get")).toBe(1);
  });
});

describe("the first state", () => {
  it("is a copy of the static value for each actor (A3)", async () => {
    const shared = { list: [] as number[] };
    const { world, subject } = single(
      actor({
        state: shared,
        actions: {
          push: (c) => {
            c.state.list.push(1);
            return c.state.list;
          },
        },
      }),
    );
    await subject.call("push");
    expect(await subject.call("push")).toEqual([1, 1]);
    expect(await world.actor("subject", ["other"]).call("push")).toEqual([1]);
    expect(shared).toEqual({ list: [] });
  });
});

describe("the key", () => {
  it("is given whole, as a copy, whatever is in its parts", async () => {
    const definition = actor({
      actions: {
        key: (c) => {
          c.key.push("not the actor's");
          return { key: c.key, name: c.name, actorId: c.actorId, region: c.region };
        },
      },
    });
    const ids = new Set<unknown>();
    const { world } = single(definition);
    for (const key of [["a/b", "c"], ["a", "b/c"], ["a,b"], ["a", "b"], ["é\n"], [""], []]) {
      const seen = (await world.actor("subject", key).call("key")) as { key: string[]; name: string; actorId: string };
      expect(seen).toMatchObject({
        key,
        name: "subject",
        actorId: expect.stringMatching(/^[0-9a-f]{64}-[0-9a-f]{16}$/),
      });
      ids.add(seen.actorId);
    }
    expect(ids.size).toBe(7);
  });

  it("over the limits creates nothing", async () => {
    const { world } = single(actor({ actions: { touch: () => {} } }));
    const long = world.actor("subject", ["x".repeat(129)]);
    await expect(long.call("touch")).rejects.toMatchObject({ group: "actor", statusCode: 400 });
    expect(long.store.keys).toEqual([]);
  });
});

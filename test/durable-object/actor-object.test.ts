import { SELF } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { actor, queue, setup, UserError } from "../../src/entry/index.js";
import { workflow } from "../../src/entry/workflow.js";
import { decodeValue, encodeValue, ENVELOPE_VERSION, fromErrorData } from "../../src/protocol/index.js";
import { serve } from "../support/worker.js";
import { clock, failureOf, resultOf, TestObject } from "./test-object.js";

// The start gate and the shell on the real runtime: what reaches an actor, in which order, and what is left behind when
// it does not.

const HOUR_MS = 3_600_000;
const TOO_LARGE = 2_000_001;
class Custom {
  field = 1;
}

/** What hooks did, by key. */
const seen = new Map<string, string[]>();
function note(c: { readonly key: string[] }, what: string): void {
  const key = c.key.join("/");
  seen.set(key, [...(seen.get(key) ?? []), what]);
}
function seenBy(...key: string[]): string[] {
  const notes = seen.get(key.join("/")) ?? [];
  seen.delete(key.join("/"));
  return notes;
}
/** The hooks that fail, as "hook key". */
const failing = new Set<string>();
function mayFail(c: { readonly key: string[] }, hook: string): void {
  note(c, hook);
  if (failing.has(`${hook} ${c.key.join("/")}`)) throw new Error(`${hook} fails`);
}

function hooked() {
  return actor({
    createState: (c, input: { from: number } | undefined) => {
      mayFail(c, "createState");
      return { n: input?.from ?? 0 };
    },
    onMigrate: (c, isNew) => mayFail(c, `onMigrate(${isNew})`),
    onCreate: async (c) => {
      await scheduler.wait(0);
      mayFail(c, "onCreate");
      c.state.n += 1;
    },
    createVars: (c) => {
      mayFail(c, `createVars(${c.state.n})`);
      return { made: true };
    },
    onWake: async (c) => {
      await scheduler.wait(0);
      mayFail(c, "onWake");
    },
    run: async (c) => note(c, "run"),
    actions: {
      add: (c) => {
        note(c, "add");
        c.state.n += 1;
        return c.state.n;
      },
      plan: (c, afterMs: number) => c.schedule.after(afterMs, "planned"),
      planned: (c) => note(c, `planned in ${c.name} ${JSON.stringify(c.key)}`),
      destroy: (c) => c.destroy(),
    },
  });
}

const original = {
  hooked: hooked(),
  slowVars: actor({
    state: { n: 0 },
    onCreate: (c) => note(c, "onCreate"),
    createVars: async (c) => {
      note(c, "createVars");
      if (failing.has(`createVars ${c.key.join("/")}`)) await new Promise(() => {});
      return 1;
    },
    options: { createVarsTimeout: 20 },
    actions: { get: (c) => c.state.n + c.vars },
  }),
  values: actor({
    state: { value: "first" as unknown, other: 1 },
    queues: { in: queue<unknown>(), typed: queue<unknown>() },
    actions: {
      get: (c) => c.state,
      assign: (c, what: string) => {
        c.state.other += 1;
        c.state.value = bad(what);
      },
      hide: (c, what: string) => {
        c.state.value = { list: [] as unknown[] };
        (c.state.value as { list: unknown[] }).list.push({ deep: bad(what) });
      },
      give: (c, what: string) => bad(what),
      send: (c, what: string) => c.queue.send("in", bad(what)),
      grow: (c) => {
        const text = "x".repeat(400_000);
        c.state.value = [text, text, text, text, text, text];
      },
      refuse: () => {
        throw new UserError("No", { code: "no", metadata: { why: "because" } });
      },
    },
  }),
  output: actor({
    state: { runs: 0 },
    run: workflow(async (ctx) => {
      const kinds = ["function", "class", "cycle", "large"];
      const failures: string[] = [];
      for (const kind of kinds) {
        const result = await ctx.tryStep(kind, (step) => {
          step.state.runs += 1;
          return bad(kind);
        });
        failures.push(result.ok ? "stored" : result.failure.kind);
      }
      return failures;
    }),
    actions: {
      get: (c) => ({
        status: c.workflow.status(),
        runs: c.state.runs,
        history: c.workflow.history().map((entry) => entry.error?.message),
      }),
    },
  }),
  failsToStore: actor({
    state: { n: 0 },
    actions: { add: (c) => (c.state.n += 1), plan: (c) => c.schedule.after(HOUR_MS, "add") },
  }),
};
serve(setup({ use: original }));

function bad(what: string): unknown {
  if (what === "function") return () => {};
  if (what === "class") return new Custom();
  if (what === "large") return "x".repeat(TOO_LARGE);
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  return cycle;
}

function dump(object: TestObject): Promise<Record<string, number[]>> {
  return object.inside(({ storage }) =>
    Object.fromEntries([...storage.kv.list<Uint8Array>()].map(([key, bytes]) => [key, [...bytes]])),
  );
}

describe("creation", () => {
  it("runs the hooks in their order, with the input of who creates, and a wake runs those of a wake", async () => {
    const object = new TestObject("hooked", "order");
    const creation = { mode: "create", input: encodeValue({ from: 10 }) } as const;
    expect(resultOf(await object.action("add", [], creation))).toBe(12);
    expect(seenBy("order")).toEqual([
      "onMigrate(true)",
      "createState",
      "onCreate",
      "createVars(11)",
      "onWake",
      "run",
      "add",
    ]);
    await object.evict();
    expect(await object.call("add")).toBe(13);
    expect(seenBy("order")).toEqual(["onMigrate(false)", "createVars(12)", "onWake", "run", "add"]);
    expect(await object.call("add")).toBe(14);
    expect(seenBy("order")).toEqual(["add"]);
  });

  it("is refused where an actor is already, and its input is not seen", async () => {
    const object = new TestObject("hooked", "twice");
    await object.call("add");
    const refused = failureOf(await object.action("add", [], { mode: "create", input: encodeValue({ from: 10 }) }));
    expect(refused).toMatchObject({
      code: "actor/duplicate_key",
      status: 409,
      metadata: { existing_actor_id: expect.stringMatching(/^[0-9a-f]{64}-[0-9a-f]{16}$/) },
    });
    expect(await object.call("add")).toBe(3);
  });

  for (const hook of ["onMigrate(true)", "createState", "onCreate", "createVars(1)", "onWake"]) {
    it(`leaves no keys at all when ${hook} throws, and the next request tries again from the start`, async () => {
      const object = new TestObject("hooked", hook);
      failing.add(`${hook} ${hook}`);
      expect(failureOf(await object.action("add"))).toEqual({ code: "rivetkit/internal_error", status: 500 });
      expect(await object.keys()).toEqual([]);
      expect(await object.alarmAt()).toBe(null);
      expect(failureOf(await object.action("add", [], { mode: "get" })).code).toBe("actor/not_found");
      failing.clear();
      seenBy(hook);
      expect(await object.call("add")).toBe(2);
      expect(seenBy(hook)).toEqual([
        "onMigrate(true)",
        "createState",
        "onCreate",
        "createVars(1)",
        "onWake",
        "run",
        "add",
      ]);
    });
  }

  it("answers a hook that takes too long with the hook and its limit, and the next request starts the actor", async () => {
    const object = new TestObject("slowVars", "slow");
    failing.add("createVars slow");
    expect(failureOf(await object.action("get"))).toEqual({
      code: "actor/callback_timed_out",
      status: 408,
      metadata: { callback_name: "createVars", duration_ms: 20 },
    });
    failing.clear();
    expect(await object.call("get")).toBe(1);
    expect(seenBy("slow")).toEqual(["onCreate", "createVars", "onCreate", "createVars"]);
  });

  it("happens once for many first calls at the same time", async () => {
    const object = new TestObject("hooked", "at once");
    const results = await Promise.all(Array.from({ length: 10 }, () => object.call("add")));
    expect((results as number[]).sort((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(seenBy("at once").filter((hook) => hook === "createState" || hook === "onCreate")).toEqual([
      "createState",
      "onCreate",
    ]);
  });

  it("does not happen for `get`, which writes nothing", async () => {
    const object = new TestObject("hooked", "nobody");
    expect(failureOf(await object.action("add", [], { mode: "get" }))).toEqual({
      code: "actor/not_found",
      status: 404,
    });
    expect(failureOf(await object.send({ kind: "resolve" }, { mode: "get" })).code).toBe("actor/not_found");
    expect(await object.keys()).toEqual([]);
    expect(await object.alarmAt()).toBe(null);
    expect(seenBy("nobody")).toEqual([]);
  });

  it("does not happen for an actor that the registry lacks", async () => {
    const object = new TestObject("unheard of", "k");
    expect(failureOf(await object.action("add"))).toEqual({ code: "actor/not_registered", status: 500 });
    expect(await object.keys()).toEqual([]);
  });

  it("is refused when the Worker is more than one release away, older or newer", async () => {
    const object = new TestObject("hooked", "releases");
    const call = (v: number) =>
      object.stub.call({
        v,
        address: { name: "hooked", key: ["releases"] },
        creation: { mode: "getOrCreate" },
        operation: { kind: "resolve" },
      });
    for (const v of [ENVELOPE_VERSION + 2, ENVELOPE_VERSION - 2])
      expect(failureOf(await call(v))).toEqual({ code: "actor/invalid_request", status: 400 });
    expect(await object.keys()).toEqual([]);
    for (const v of [ENVELOPE_VERSION, ENVELOPE_VERSION + 1]) expect((await call(v)).ok).toBe(true);
  });

  it("is reached over HTTP as well", async () => {
    const url =
      "http://example.com/gateway/hooked/action/add?rvt-namespace=default&rvt-method=getOrCreate&rvt-key=http";
    const response = await SELF.fetch(url, {
      method: "POST",
      body: JSON.stringify({ args: [] }),
      headers: { "content-type": "application/json" },
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ output: 2 });
  });
});

describe("an alarm", () => {
  it("finds name and key in storage when the object does not know its own", async () => {
    const object = new TestObject("hooked", "a/b", "c,d");
    await object.call("plan", HOUR_MS);
    await object.evict();
    seenBy("a/b", "c,d");
    clock.moveTo(clock.now() + HOUR_MS);
    expect(await object.alarm()).toBe(true);
    // The platform forgets it now and then; this runtime never does, so the test's Worker takes it away from all objects.
    expect(await object.inside((ctx) => ctx.id.name)).toBe(undefined);
    expect(seenBy("a/b", "c,d")).toContain('planned in hooked ["a/b","c,d"]');
  });

  it("does nothing on an empty object, and writes nothing", async () => {
    const object = new TestObject("hooked", "blank");
    await object.inside((ctx) => ctx.storage.setAlarm(clock.now() + HOUR_MS));
    expect(await object.alarm()).toBe(true);
    expect(await object.keys()).toEqual([]);
    expect(await object.alarmAt()).toBe(null);
    expect(seenBy("blank")).toEqual([]);
  });

  it("that is left of a destroyed actor brings nothing back", async () => {
    const object = new TestObject("hooked", "destroyed");
    await object.call("plan", HOUR_MS);
    await object.call("destroy");
    await object.inside(async (ctx) => {
      while ([...ctx.storage.kv.list()].length > 0) await scheduler.wait(1);
      await ctx.storage.setAlarm(clock.now() + HOUR_MS);
    });
    seenBy("destroyed");
    await object.evict();
    await object.alarm();
    expect(await object.keys()).toEqual([]);
    expect(await object.alarmAt()).toBe(null);
    expect(seenBy("destroyed")).toEqual([]);
  });

  it("whose start fails leaves a later one, at growing distances, until the start succeeds", async () => {
    const object = new TestObject("hooked", "cannot wake");
    await object.call("plan", HOUR_MS);
    await object.evict();
    failing.add("onWake cannot wake");
    const gaps: number[] = [];
    for (let i = 0; i < 9; i += 1) {
      clock.moveTo((await object.alarmAt()) ?? 0);
      await object.alarm();
      gaps.push(Math.round((((await object.alarmAt()) ?? 0) - clock.now()) / 1_000));
      // The first of them has found no lease.
      expect(await object.keys()).toEqual(expect.arrayContaining(i === 0 ? ["a", "s"] : ["a", "l", "s"]));
    }
    // The lease of a second first, then what starts that find one set.
    expect(gaps).toEqual([1, 10, 20, 40, 80, 160, 300, 300, 300]);
    failing.clear();
    seenBy("cannot wake");
    clock.moveTo((await object.alarmAt()) ?? 0);
    await object.alarm();
    await object.runAlarms();
    expect(seenBy("cannot wake")).toContain('planned in hooked ["cannot wake"]');
    expect(await object.keys()).toEqual(["a", "s"]);
  });

  it("on an actor of a newer storage format changes nothing and stays armed, and so does a call", async () => {
    const object = new TestObject("hooked", "newer");
    await object.call("plan", HOUR_MS);
    await object.evict();
    const format = (to: number) =>
      object.inside(({ storage }) => {
        const record = decodeValue(storage.kv.get<Uint8Array>("a") as Uint8Array) as object;
        storage.kv.put("a", encodeValue({ ...record, format: to }));
      });
    await format(99);
    const before = await dump(object);
    const refused = await object.action("add");
    expect(failureOf(refused)).toMatchObject({ code: "storage/newer_format", status: 500 });
    expect(refused.ok || refused.error.message).toContain("99");
    clock.moveTo(clock.now() + HOUR_MS);
    for (let i = 0; i < 3; i += 1) {
      await object.alarm();
      const at = await object.alarmAt();
      expect(at).toBeGreaterThan(clock.now());
      clock.moveTo(at ?? 0);
    }
    expect(await dump(object)).toEqual(before);
    await format(1);
    seenBy("newer");
    await object.alarm();
    await object.runAlarms();
    expect(seenBy("newer")).toContain('planned in hooked ["newer"]');
  });

  it("on an actor that the registry lacks stays armed, and a deploy that has it again goes on by itself", async () => {
    const object = new TestObject("hooked", "left out");
    await object.call("plan", HOUR_MS);
    const { hooked: _left, ...others } = original;
    serve(setup({ use: others }));
    await object.evict();
    const before = await dump(object);
    clock.moveTo(clock.now() + HOUR_MS);
    await object.alarm();
    expect(await object.alarmAt()).toBeGreaterThan(clock.now());
    expect(failureOf(await object.action("add"))).toEqual({ code: "actor/not_registered", status: 500 });
    expect(await dump(object)).toEqual(before);
    serve(setup({ use: original }));
    await object.evict();
    seenBy("left out");
    clock.moveTo((await object.alarmAt()) ?? 0);
    await object.alarm();
    await object.runAlarms();
    expect(seenBy("left out")).toContain('planned in hooked ["left out"]');
  });
});

describe("storage that refuses", () => {
  /** The next transaction of the object's present instance fails. */
  function refuseNext(object: TestObject): Promise<void> {
    return object.inside(({ storage }) => {
      storage.transactionSync = () => {
        throw new Error("disk I/O error");
      };
    });
  }

  it("a commit answers actor/restarting and throws the instance away; what was stored stays", async () => {
    const object = new TestObject("failsToStore", "commit");
    expect(await object.call("add")).toBe(1);
    const before = await dump(object);
    const instance = await object.inside((ctx) => ctx);
    await refuseNext(object);
    // The instance dies with the call: the caller sees its answer or the platform's own error.
    const outcome = await object
      .action("add")
      .then(failureOf, (error: Error) => ({ code: "broken", message: error.message }));
    expect(["actor/restarting", "broken"]).toContain(outcome.code);
    expect(await object.inside((ctx) => ctx === instance)).toBe(false);
    expect(await dump(object)).toEqual(before);
    expect(await object.call("add")).toBe(2);
  });

  it("an alarm throws the instance away, and the next start arms it again", async () => {
    const object = new TestObject("failsToStore", "alarm");
    await object.call("add");
    const instance = await object.inside((ctx) => ctx);
    await object.inside(({ storage }) => {
      storage.setAlarm = () => Promise.reject(new Error("no alarm"));
    });
    await object.call("plan").catch(() => {});
    expect(await object.inside((ctx) => ctx === instance)).toBe(false);
    expect(await object.call("add")).toBe(2);
    const isPlanned = (await object.keys()).some((key) => key.startsWith("d/"));
    expect((await object.alarmAt()) !== null).toBe(isPlanned);
  });
});

describe("values that cannot be stored", () => {
  const kinds = {
    function: "value/not_serializable",
    class: "value/not_serializable",
    cycle: "value/not_serializable",
    large: "value/too_large",
  };

  for (const [kind, code] of Object.entries(kinds)) {
    const status = kind === "large" ? 413 : 400;

    it(`in state, ${kind}: the action is told ${code}, the stored value stays and the actor opens`, async () => {
      const object = new TestObject("values", `state ${kind}`);
      await object.call("get");
      const assigned = failureOf(await object.action("assign", [kind]));
      expect(assigned).toMatchObject({ code, status });
      expect((assigned.metadata as { path: string }).path).toContain("value");
      const hidden = failureOf(await object.action("hide", [kind]));
      expect(hidden).toMatchObject({ code, status });
      // Of one that is too large the largest member is named.
      expect((hidden.metadata as { path: string }).path).toContain(kind === "large" ? "value" : "list[0].deep");
      await object.evict();
      expect(((await object.call("get")) as { value: unknown }).value).not.toEqual({
        list: [{ deep: expect.anything() }],
      });
      expect(await object.call("get")).toMatchObject({ other: expect.any(Number) });
    });

    it(`as an action's result, ${kind}: the caller is told ${code}`, async () => {
      const object = new TestObject("values", `result ${kind}`);
      await object.call("get");
      const before = await dump(object);
      expect(failureOf(await object.action("give", [kind]))).toMatchObject({ code, status });
      expect(await dump(object)).toEqual(before);
    });

    it(`as a message's body, ${kind}: the sender is told, and nothing is stored`, async () => {
      const object = new TestObject("values", `body ${kind}`);
      await object.call("get");
      const before = await dump(object);
      expect(failureOf(await object.action("send", [kind]))).toMatchObject({
        code: kind === "large" ? expect.stringMatching(/too_large$/) : code,
        status,
      });
      expect(await dump(object)).toEqual(before);
    });
  }

  it("state that grows too large by parts that are not: told at the action's end, put back, and the actor goes on", async () => {
    const object = new TestObject("values", "grows");
    expect(failureOf(await object.action("grow"))).toMatchObject({
      code: "value/too_large",
      status: 413,
      metadata: { limitBytes: 2_000_000 },
    });
    expect(await object.call("get")).toEqual({ value: "first", other: 1 });
    await object.evict();
    expect(await object.call("get")).toEqual({ value: "first", other: 1 });
  });

  it("as a step's output: the step fails without a retry, its state change stays, and the workflow goes on", async () => {
    const object = new TestObject("output");
    await object.call("get");
    await object.settle();
    const { status, runs, history } = (await object.call("get")) as {
      status: unknown;
      runs: number;
      history: string[];
    };
    expect(status).toMatchObject({ status: "completed", output: ["critical", "critical", "critical", "critical"] });
    expect(runs).toBe(4);
    expect(history.map((message) => message.replace(/.*stored: /, ""))).toEqual([
      expect.stringContaining("not serializable"),
      expect.stringContaining("not serializable"),
      expect.stringContaining("cycle"),
      expect.stringContaining("2000000"),
    ]);
  });

  it("in a message from outside over the queue's limit, or to a queue that is not declared: refused, nothing stored", async () => {
    const object = new TestObject("values", "outside");
    await object.call("get");
    const before = await dump(object);
    const send = async (name: string, body: unknown) =>
      failureOf(await object.send({ kind: "send", queue: name, body: encodeValue(body) }));
    expect(await send("in", "x".repeat(65_537))).toMatchObject({ code: "queue/message_too_large", status: 413 });
    expect(await send("constructor", 1)).toMatchObject({ code: "queue/not_declared", status: 404 });
    expect(await send("__proto__", 1)).toMatchObject({ code: "queue/not_declared", status: 404 });
    expect(await dump(object)).toEqual(before);
  });

  it("a user's own error arrives whole; an action's name that objects inherit is unknown", async () => {
    const object = new TestObject("values", "errors");
    const refused = await object.action("refuse");
    expect(failureOf(refused)).toEqual({ code: "user/no", status: 400, metadata: { why: "because" } });
    expect(refused.ok || fromErrorData(refused.error).message).toBe("No");
    for (const name of ["constructor", "__proto__", "toString", "nothing"]) {
      expect(failureOf(await object.action(name))).toEqual({ code: "actor/action_not_found", status: 404 });
    }
  });
});

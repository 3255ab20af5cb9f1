import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { actor, db, queue, setup, workflow, type ActorKv, type RawAccess } from "../../../src/actor/index.js";
import {
  encodeInput,
  encodeValue,
  ENVELOPE_VERSION,
  fromErrorData,
  UserError,
  type CallEnvelope,
  type Creation,
  type CallOperation,
} from "../../../src/protocol/index.js";
import type { WorldActor, WorldOptions } from "../../../src/testing/index.js";
import { testWorld } from "../../support/test-world.js";
import { single } from "../subject.js";

// Admission precedes creation: a caller that is refused has created, run and written nothing.

interface Knock {
  readonly params?: unknown;
  readonly input?: unknown;
  readonly internal?: boolean;
  readonly mode?: "getOrCreate" | "create";
}

function envelopeOf(
  subject: WorldActor,
  operation: CallOperation,
  { params, input, internal, mode = "getOrCreate" }: Knock,
): CallEnvelope {
  const creation: Creation = { mode, ...(input !== undefined && { input: encodeInput(input) }) };
  return {
    v: ENVELOPE_VERSION,
    address: { name: subject.name, key: subject.key },
    creation,
    operation,
    ...(params !== undefined && { params: encodeValue(params) }),
    ...(internal && { internal }),
  };
}

async function knock(subject: WorldActor, operation: CallOperation, options: Knock = {}): Promise<string> {
  const envelope = envelopeOf(subject, operation, options);
  const reply =
    operation.kind === "request"
      ? await subject.deliverRequest(envelope, new Request("http://actor/x"))
      : await subject.deliver(envelope);
  return reply.ok ? "ok" : `${reply.status} ${reply.error.group}/${reply.error.code}`;
}

const ACTION: CallOperation = { kind: "action", name: "get", args: encodeValue([]) };
const SEND: CallOperation = { kind: "send", queue: "orders", body: encodeValue(1) };
const RESOLVE: CallOperation = { kind: "resolve" };

/** All ways to make an actor; a connection's refusal rejects. */
const DOORS: Readonly<Record<string, (subject: WorldActor, options?: Knock) => Promise<string>>> = {
  action: (subject, options) => knock(subject, ACTION, options),
  message: (subject, options) => knock(subject, SEND, options),
  "raw request": (subject, options) => knock(subject, { kind: "request" }, options),
  "PUT /actors": (subject, options) => knock(subject, RESOLVE, options),
  "POST /actors": (subject, options) => knock(subject, RESOLVE, { ...options, mode: "create" }),
  "a creation before a socket": (subject, options) => knock(subject, { kind: "resolve", forCaller: true }, options),
  connection: (subject, options) => subject.connect({ params: options?.params }).then(() => "ok", refusalOf),
  "raw socket": (subject, options) =>
    subject.connect({ params: options?.params, raw: true }).then(() => "ok", refusalOf),
};

function refusalOf(error: unknown): string {
  const { statusCode, group, code } = fromErrorData(error as never, (error as { statusCode: number }).statusCode);
  return `${statusCode} ${group}/${code}`;
}

interface Context {
  readonly kv: ActorKv;
  readonly db: RawAccess;
  readonly schedule: { after(delayMs: number, action: string): Promise<string> };
  readonly cron: { set(job: object): Promise<unknown> };
  readonly queue: { send(name: string, body: unknown): Promise<unknown> };
  readonly abortSignal: AbortSignal;
  state: { n: number };
  keepAwake(promise: Promise<unknown>): Promise<unknown>;
}

const HOOKS = [
  "canCreate",
  "onMigrate",
  "createState",
  "onCreate",
  "createVars",
  "onWake",
  "onBeforeConnect",
  "createConnState",
] as const;
type Hook = (typeof HOOKS)[number];

/** An actor whose every hook writes whatever it can, and one of which refuses. */
function greedy(options: Partial<WorldOptions> = {}, withDatabase = true, withCanCreate = true) {
  const seen: string[] = [];
  const signals: AbortSignal[] = [];
  let refuses: Hook | undefined;
  const run = async (hook: Hook, given: unknown): Promise<void> => {
    const c = given as Context;
    seen.push(hook);
    signals.push(c.abortSignal);
    if (hook !== "canCreate") {
      await c.kv.put(hook, "x");
      await c.schedule.after(1000, "get");
      await c.queue.send("orders", hook);
      if (withDatabase) {
        await c.db.execute(`create table if not exists t (x)`);
        await c.db.transaction((tx) => tx.execute("insert into t values (?)", hook));
      }
      if (!["onMigrate", "createState"].includes(hook)) c.state.n += 1;
      void c.keepAwake(Promise.resolve());
    }
    if (refuses === hook) throw new UserError(`${hook} says no`, { code: "no" });
  };
  const definition = actor({
    ...(withDatabase && { db: db() }),
    queues: { orders: queue<unknown>() },
    ...(withCanCreate && { canCreate: (c: unknown) => run("canCreate", c) }),
    onMigrate: (c) => run("onMigrate", c),
    createState: async (c) => {
      await run("createState", c);
      return { n: 0 };
    },
    onCreate: (c) => run("onCreate", c),
    createVars: async (c) => {
      await run("createVars", c);
      return {};
    },
    onWake: (c) => run("onWake", c),
    onBeforeConnect: (c) => run("onBeforeConnect", c),
    createConnState: async (c) => {
      await run("createConnState", c);
      return {};
    },
    onConnect: () => void seen.push("onConnect"),
    onRequest: () => new Response("served"),
    onWebSocket: () => {},
    run: workflow(async (ctx) => {
      await ctx.step("charge", () => void seen.push("charge"));
    }),
    actions: { get: (c) => (c.state as { n: number }).n },
  });
  const made = single(definition, { openDatabase: () => new DatabaseSync(":memory:"), ...options });
  return { ...made, seen, signals, refuse: (hook: Hook | undefined) => void (refuses = hook) };
}

function expectNothing({ subject }: { readonly subject: WorldActor }): void {
  expect(subject.store.keys).toEqual([]);
  expect([subject.store.alarmAt, subject.store.commits]).toEqual([null, 0]);
  expect(subject.timersHeld).toBe(0);
}

const isMere = (door: string): boolean => door.endsWith("/actors");

describe.each(Object.entries(DOORS))("at the door %s", (door, open) => {
  const hooks = HOOKS.filter((hook) => !(isMere(door) && (hook === "onBeforeConnect" || hook === "createConnState")));
  for (const withDatabase of [false, true]) {
    it.each(hooks)(
      `a throw of %s leaves nothing, and its signal fires (${withDatabase ? "with" : "without"} a database)`,
      async (hook) => {
        const one = greedy({}, withDatabase);
        one.refuse(hook);
        expect(await open(one.subject)).toBe("400 user/no");
        expect(one.seen).toEqual(HOOKS.slice(0, HOOKS.indexOf(hook) + 1));
        expectNothing(one);
        expect(one.signals.every((signal) => signal.aborted)).toBe(true);
        one.refuse(undefined);
        one.seen.length = 0;
        expect(await open(one.subject)).toBe("ok");
        await one.world.settle();
        expect(one.seen.slice(0, hooks.length)).toEqual(hooks);
        expect(one.seen).toContain("charge");
        expect(one.seen.indexOf("charge")).toBeGreaterThanOrEqual(hooks.length);
      },
    );
  }

  it("all that the hooks did, and the creation, are one commit", async () => {
    const keys: string[][] = [];
    const one = greedy({ onCommit: (_actor, rows) => void keys.push([...rows.keys()]) });
    expect(await open(one.subject)).toBe("ok");
    expect(keys[0]).toEqual(expect.arrayContaining(["a", "s"]));
    expect(keys[0]?.filter((key) => key.startsWith("u/"))).toHaveLength(hooks.length - 1);
    expect(keys[0]?.filter((key) => key.startsWith("d/"))).toHaveLength(hooks.length - 1);
  });

  it("a crash before that commit leaves nothing, one after it all", async () => {
    for (const fault of ["crash-before", "crash-after"] as const) {
      let first = true;
      const one = greedy({ fault: () => (first ? ((first = false), fault) : undefined) });
      const opened = open(one.subject).catch(() => "died");
      await Promise.race([opened, one.subject.died()]);
      if (fault === "crash-before") expect([one.subject.store.keys, one.seen.includes("charge")]).toEqual([[], false]);
      else expect(one.subject.store.keys).toEqual(expect.arrayContaining(["a", "s"]));
      await one.world.passUntilQuiet();
      await DOORS["action"]?.(one.subject);
      await one.world.settle();
      expect(one.seen).toContain("charge");
      // Each hook of the one creation that was stored has counted once; and each start since then, and each call.
      const kept = await one.subject.call("get");
      expect(kept).toBeGreaterThanOrEqual(hooks.length - 3);
    }
  });
});

describe("canCreate", () => {
  const asked: unknown[] = [];
  const subjectOf = (answer: unknown): WorldActor => {
    asked.length = 0;
    return single(
      actor({
        state: { n: 1 },
        canCreate: (c, input: unknown, params) => {
          asked.push({ key: c.key, name: c.name, internal: c.internal, method: c.request?.method, input, params });
          if (answer instanceof Error) throw answer;
          return answer as boolean;
        },
        queues: { orders: queue<unknown>() },
        onRequest: () => new Response("served"),
        onWebSocket: () => {},
        actions: { get: (c) => c.state.n },
      }),
    ).subject;
  };

  it.each([false, null, 0, "yes", {}])("that answers %j refuses every door with auth/forbidden", async (answer) => {
    for (const open of Object.values(DOORS)) {
      const subject = subjectOf(answer);
      expect(await open(subject)).toBe("403 auth/forbidden");
      expect(subject.store.keys).toEqual([]);
    }
  });

  it("is asked with the input, the params, the request, and who asks; not for an actor that is there", async () => {
    const subject = subjectOf(undefined);
    const request = { method: "POST", url: "http://x/", headers: [] };
    const reply = await subject.deliver({ ...envelopeOf(subject, RESOLVE, { input: { a: 1 }, params: "p" }), request });
    expect(reply).toMatchObject({ ok: true, created: true });
    expect(asked).toEqual([
      { key: ["k"], name: "subject", internal: false, method: "POST", input: { a: 1 }, params: "p" },
    ]);
    expect(await knock(subject, ACTION)).toBe("ok");
    subject.crash();
    expect(await knock(subject, ACTION)).toBe("ok");
    expect(asked).toHaveLength(1);
  });

  it("is asked of code of the same Worker too, which it can tell", async () => {
    const subject = subjectOf(false);
    expect(await knock(subject, ACTION, { internal: true })).toBe("403 auth/forbidden");
    expect(asked).toMatchObject([{ internal: true, input: undefined, params: undefined }]);
  });

  it("has no state, and its time is bounded", async () => {
    const { subject } = single(
      actor({
        state: { n: 1 },
        canCreate: (c) => void (c as unknown as { state: unknown }).state,
        actions: { get: () => 1 },
      }),
    );
    expect(await knock(subject, ACTION)).toBe("500 actor/state_not_ready");
    const slow = single(actor({ canCreate: () => new Promise<boolean>(() => {}), actions: { get: () => 1 } }));
    const refused = knock(slow.subject, ACTION);
    await slow.world.pass(5_000);
    expect(await refused).toBe("408 actor/callback_timed_out");
    expectNothing(slow);
  });
});

describe("inputSchema", () => {
  const schema = (validate: (value: unknown) => unknown) => ({
    "~standard": { version: 1 as const, vendor: "test", validate: validate as never },
  });
  const ofPlan = schema(async (value) => {
    const { plan } = (value ?? {}) as { plan?: string };
    return plan === "free" || plan === "pro"
      ? { value: { plan, seats: 1 } }
      : { issues: [{ message: "no plan", path: ["plan"] }] };
  });

  it("refuses what it does not know at every door, and nothing is left", async () => {
    for (const open of Object.values(DOORS)) {
      const one = single(
        actor({
          inputSchema: ofPlan,
          createState: (_c, input) => ({ input }),
          queues: { orders: queue<unknown>() },
          onRequest: () => new Response(),
          onWebSocket: () => {},
          actions: { get: (c) => c.state },
        }),
      );
      expect(await open(one.subject, { input: { plan: "gold" } })).toBe("400 actor/validation_error");
      expect(await open(one.subject)).toBe("400 actor/validation_error");
      expectNothing(one);
    }
  });

  it("gives hooks what it makes of the input", async () => {
    const inputs: unknown[] = [];
    const { subject } = single(
      actor({
        inputSchema: ofPlan,
        canCreate: (_c, input) => void inputs.push(input),
        createState: (_c, input) => ({ input }),
        onCreate: (_c, input) => void inputs.push(input),
        actions: { get: (c) => c.state },
      }),
    );
    expect(await knock(subject, ACTION, { input: { plan: "pro" } })).toBe("ok");
    expect(await subject.call("get")).toEqual({ input: { plan: "pro", seats: 1 } });
    expect(inputs).toEqual([
      { plan: "pro", seats: 1 },
      { plan: "pro", seats: 1 },
    ]);
  });

  it("must be a schema", () => {
    expect(() => actor({ inputSchema: {} as never, actions: {} })).toThrow(
      'actor(): "inputSchema" must be a Standard Schema',
    );
    expect(() => actor({ canCreate: true as never, actions: {} })).toThrow('actor(): "canCreate" must be a function');
  });
});

describe("a mere creation, without canCreate", () => {
  const guarded = (): ReturnType<typeof single> =>
    single(
      actor({
        state: {},
        onBeforeConnect: (_c, params: { token: string }) => {
          if (params.token !== "good") throw new UserError("Who?", { code: "who" });
        },
        actions: { get: () => 1 },
      }),
    );

  it.each(["PUT /actors", "POST /actors"])("%s asks onBeforeConnect with the params that came", async (door) => {
    const open = DOORS[door] as (subject: WorldActor, options?: Knock) => Promise<string>;
    const one = guarded();
    expect(await open(one.subject, { params: { token: "bad" } })).toBe("400 user/who");
    // It did not expect to be asked without.
    const reply = await one.subject.deliver(envelopeOf(one.subject, RESOLVE, {}));
    expect(reply).toMatchObject({
      ok: false,
      status: 403,
      error: { group: "auth", code: "forbidden", message: expect.stringMatching(/canCreate.*params/) },
    });
    expect(one.log).toMatchObject([
      {
        level: "warn",
        entry: { msg: expect.stringContaining("canCreate"), stack: expect.stringContaining("TypeError") },
      },
    ]);
    expectNothing(one);
    expect(await open(one.subject, { params: { token: "good" } })).toBe("ok");
  });

  it("is free for code of the same Worker, and for whom the actor is there", async () => {
    const one = guarded();
    expect(await knock(one.subject, RESOLVE, { internal: true })).toBe("ok");
    expect(await knock(one.subject, RESOLVE)).toBe("ok");
    expect(await knock(one.subject, ACTION, { internal: true, params: { token: "bad" } })).toBe("400 user/who");
  });
});

describe("who waits behind a caller that is refused", () => {
  it("starts anew with an input of its own, whether it brings the same or another", async () => {
    const inputs: unknown[] = [];
    let admit: (() => void) | undefined;
    const { subject, world } = single(
      actor({
        createState: (_c, input: unknown) => {
          inputs.push(input);
          return { input };
        },
        onBeforeConnect: async (_c, params: { name: string } | undefined) => {
          if (params?.name !== "mallory") return;
          await new Promise<void>((resolve) => (admit = resolve));
          throw new UserError("No", { code: "no" });
        },
        actions: { get: (c) => c.state.input },
      }),
    );
    const refused = knock(subject, ACTION, { input: "forged", params: { name: "mallory" } });
    await world.settle();
    const behind = [
      knock(subject, ACTION, { input: "forged", params: { name: "ann" } }),
      knock(subject, ACTION, { input: "honest", params: { name: "bob" } }),
    ];
    await world.settle();
    admit?.();
    expect([await refused, ...(await Promise.all(behind))]).toEqual(["400 user/no", "ok", "ok"]);
    expect(inputs).toEqual(["forged", "forged"]);
    expect(await subject.call("get")).toBe("forged");
  });

  it("is not failed for it, however many are refused", async () => {
    const { subject } = single(
      actor({
        state: { n: 0 },
        canCreate: (_c, _input, params) => params === "good",
        actions: { get: (c) => (c.state.n += 1) },
      }),
    );
    const knocks = Array.from({ length: 20 }, (_, i) => knock(subject, ACTION, { params: i === 13 ? "good" : "bad" }));
    const outcomes = await Promise.all(knocks);
    expect(outcomes.slice(0, 13)).toEqual(Array.from({ length: 13 }, () => "403 auth/forbidden"));
    expect(outcomes.slice(13)).toEqual(Array.from({ length: 7 }, () => "ok"));
  });
});

it("onStateChange is not told of the first state, and is of what onWake and admission changed", async () => {
  const told: unknown[] = [];
  const quiet = single(
    actor({
      createState: () => ({ n: 0 }),
      onCreate: (c) => void (c.state.n += 1),
      onStateChange: (_c, state) => void told.push(state.n),
      actions: { get: (c) => c.state.n },
    }),
  );
  expect(await quiet.subject.call("get")).toBe(1);
  await quiet.world.settle();
  expect(told).toEqual([]);
  const loud = single(
    actor({
      state: { n: 0 },
      onWake: (c) => void (c.state.n += 1),
      onBeforeConnect: (c) => void (c.state.n += 1),
      onStateChange: (_c, state) => void told.push(state.n),
      actions: { get: (c) => c.state.n },
    }),
  );
  expect(await loud.subject.call("get")).toBe(2);
  await loud.world.settle();
  expect(told).toEqual([2]);
});

it("another actor's client, in canCreate, asks whether this one may be created", async () => {
  const directory = actor({ state: { open: ["k"] }, actions: { has: (c, key: string) => c.state.open.includes(key) } });
  const subject = actor({
    canCreate: async (c) => (await c.client().directory.getOrCreate(["all"]).has(c.key[0])) as boolean,
    actions: { get: () => 1 },
  });
  const world = testWorld(setup({ use: { directory, subject } }));
  expect(await world.actor("subject", ["k"]).call("get")).toBe(1);
  await expect(world.actor("subject", ["other"]).call("get")).rejects.toMatchObject({
    group: "auth",
    code: "forbidden",
  });
  expect(world.actor("subject", ["other"]).store.keys).toEqual([]);
});

describe("a creation and the first turn of the action that makes it", () => {
  interface Any {
    state: { from: string; n: number };
    broadcast(name: string): void;
  }
  const counter = (also: object = {}) =>
    actor({
      createState: (_c: unknown, input?: unknown) => ({ from: String(input), n: 0 }),
      actions: {
        add: (c: Any) => (c.state.n += 1),
        addAndWait: async (c: Any) => {
          c.state.n += 1;
          await waiting;
          return c.state.n;
        },
        fail: (c: Any) => {
          c.state.n += 1;
          throw new UserError("no");
        },
        get: (c: Any) => ({ ...c.state }),
      },
      ...also,
    } as never);
  const waiting = new Promise<void>((resolve) => setImmediate(resolve));
  const action = (name: string): CallOperation => ({ kind: "action", name, args: encodeValue([]) });
  /** What a new activation finds. */
  const found = async (subject: WorldActor): Promise<unknown> => {
    subject.crash();
    return subject.call("get");
  };

  it.each(["add", "addAndWait"])("are one commit (%s)", async (name) => {
    const { subject } = single(counter());
    expect(await knock(subject, action(name), { input: "me" })).toBe("ok");
    expect([subject.store.commits, subject.store.rows]).toEqual([1, 2]);
    expect(await found(subject)).toEqual({ from: "me", n: 1 });
  });

  it("leave the actor behind, with what the action changed before it failed", async () => {
    const { subject } = single(counter());
    expect(await knock(subject, action("fail"), { input: "me" })).toBe("400 user/user_error");
    expect(await found(subject)).toEqual({ from: "me", n: 1 });
  });

  it("leave the actor behind when the action is called with what are no arguments", async () => {
    const { subject } = single(counter());
    const none: CallOperation = { kind: "action", name: "get", args: encodeValue("none") };
    expect(await knock(subject, none, { input: "me" })).toBe("400 actor/invalid_request");
    expect(await found(subject)).toEqual({ from: "me", n: 0 });
  });

  it.each(["crash-before", "crash-after", "refuse"] as const)(
    "are stored together or not at all (%s)",
    async (fault) => {
      const { subject } = single(counter(), { fault: (_actor, commit) => (commit === 1 ? fault : undefined) });
      expect(await knock(subject, action("add"), { input: "me" }).catch(() => "died")).not.toBe("ok");
      expect(subject.store.keys).toEqual(fault === "crash-after" ? ["a", "s"] : []);
      expect(await knock(subject, action("add"), { input: "you" })).toBe("ok");
      expect(await found(subject)).toEqual(fault === "crash-after" ? { from: "me", n: 2 } : { from: "you", n: 1 });
    },
  );

  it("are seen by others only once they are stored", async () => {
    const { subject } = single(counter());
    const seen: unknown[] = [];
    const look = (what: string) => (outcome: unknown) => seen.push([what, outcome, subject.store.commits]);
    await Promise.all([
      knock(subject, action("addAndWait")).then(look("action")),
      knock(subject, action("get")).then(look("another")),
      subject.send({ mode: "get" }, RESOLVE).then(({ ok }) => look("resolve")(ok)),
    ]);
    expect(seen).toHaveLength(3);
    for (const [, outcome, commits] of seen as [string, unknown, number][]) {
      expect(outcome === "ok" || outcome === true).toBe(true);
      expect(commits).toBeGreaterThan(0);
    }
  });

  it("are two commits where something comes between them, or hears of the action's changes alone", async () => {
    for (const also of [{ onConnect: () => {} }, { onStateChange: () => {} }]) {
      const { subject } = single(counter(also));
      await knock(subject, action("add"), { input: "me" });
      expect([subject.store.commits, subject.store.rows], Object.keys(also)[0]).toEqual([2, 3]);
    }
  });
});

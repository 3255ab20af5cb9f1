import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { actor, db, queue, setup } from "../../src/actor/index.js";
import { createBindingTransport, createClient, createClientWithTransport } from "../../src/client/index.js";
import { UserError } from "../../src/protocol/index.js";
import { createActorCaller, createMessageSender, createRouter } from "../../src/router/index.js";
import { WorldObjects } from "../router/world-objects.js";
import { testWorld } from "../support/test-world.js";
import { single } from "./subject.js";

// oxlint-disable-next-line typescript/no-explicit-any -- callbacks of all kinds share one signature here
type Context = any;

/** Real actors behind the real router, and a client over each way. */
function served(use: Record<string, ReturnType<typeof actor>>) {
  const world = testWorld(setup({ use: use as never }));
  const objects = new WorldObjects(world);
  const names = { actorNames: Object.keys(use) };
  const router = createRouter(names);
  const call = createActorCaller(objects, names);
  const fetch = async (url: string, init: RequestInit): Promise<Response> => (await router(new Request(url, init), objects)) ?? new Response(null, { status: 404 });
  const noSockets = (): Promise<never> => Promise.reject(new Error("There are no sockets here"));
  return {
    fetch,
    clients: {
      HTTP: createClient({ fetch }) as Context,
      "the binding": createClientWithTransport(createBindingTransport({ call, send: createMessageSender(call), openSocket: noSockets, fetch: noSockets })) as Context,
    },
  };
}

describe("c.key", () => {
  const { clients } = served({ subject: actor({ actions: { key: (c) => c.key } }) as never });

  it.each(Object.entries(clients))("is a list over %s: of the one part that a text is, of none where no key was given (B1)", async (_way, client) => {
    expect(await client.subject.getOrCreate("x").key()).toEqual(["x"]);
    expect(await client.subject.getOrCreate(["x"]).key()).toEqual(["x"]);
    expect(await client.subject.getOrCreate(["x", "y"]).key()).toEqual(["x", "y"]);
    expect(await client.subject.getOrCreate().key()).toEqual([]);
    expect(await client.subject.getOrCreate([]).key()).toEqual([]);
  });
});

describe("the caller's request and connection", () => {
  const seen: unknown[] = [];
  const look = (what: string, c: Context): void => void seen.push([what, typeof c.conn?.id, c.request?.method, c.request?.headers.get("x-mine"), c.request?.headers.get("x-rivet-token")]);
  const subject = actor({
    queues: {
      jobs: queue({
        canPublish: (c) => {
          look("canPublish", c);
          return typeof c.conn.id === "string" && c.conn.id.length > 0;
        },
      }),
    },
    onBeforeConnect: (c) => look("onBeforeConnect", c),
    createConnState: (c) => look("createConnState", c) as unknown,
    onConnect: (c) => look("onConnect", c),
    actions: { act: (c) => look("action", c) },
  });
  const { clients, fetch } = served({ subject: subject as never });

  it("are there in each callback that runs for it over HTTP, as it was sent, without what is ours", async () => {
    seen.splice(0);
    for (const [path, body] of [["action/act", '{"args":[]}'], ["queue/jobs", '{"body":1}']] as const) {
      const url = `http://worker.test/gateway/subject/${path}?rvt-namespace=default&rvt-method=getOrCreate&rvt-key=x`;
      const response = await fetch(url, { method: "POST", body, headers: { "x-mine": "yes", "x-rivet-token": "hush", "content-type": "application/json" } });
      expect([path, response.status]).toEqual([path, 200]);
    }
    const known = (hook: string, conn: string): unknown[] => [hook, conn, "POST", "yes", null];
    const connecting = [known("onBeforeConnect", "undefined"), known("createConnState", "undefined"), known("onConnect", "string")];
    expect(seen).toEqual([...connecting, known("action", "string"), ...connecting, known("canPublish", "string")]);
  });

  it("is a connection without a request for a caller inside the Worker; canPublish knows it by its id (C23)", async () => {
    seen.splice(0);
    await clients["the binding"].subject.getOrCreate("y").send("jobs", 1);
    expect(seen.at(-1)).toEqual(["canPublish", "string", undefined, undefined, undefined]);
  });
});

describe("c.client()", () => {
  it("calls another actor's actions from an action, and its errors arrive with group, code and metadata (B33)", async () => {
    const { clients } = served({
      caller: actor({
        actions: {
          relay: (c, text: string) => c.client().callee.getOrCreate("k").answer(text),
          refused: (c, action: string) => c.client().callee.getOrCreate("k")[action]().catch((error: Context) => [error.group, error.code, error.message, error.metadata]),
          missing: (c) => c.client().callee.get("nobody").answer().catch((error: Context) => [error.group, error.code]),
        },
      }) as never,
      callee: actor({
        actions: {
          answer: (c, text: string) => `${c.key.join()} heard ${text}`,
          refuse: () => {
            throw new UserError("Sold out", { code: "sold_out", metadata: { left: 0 } });
          },
          fail: () => {
            throw new Error("the password is hunter2");
          },
        },
      }) as never,
    });
    const caller = clients.HTTP.caller.getOrCreate("k");
    expect(await caller.relay("hello")).toBe("k heard hello");
    expect(await caller.refused("refuse")).toEqual(["user", "sold_out", "Sold out", { left: 0 }]);
    expect(await caller.refused("fail")).toMatchObject(["rivetkit", "internal_error", "An internal error occurred", { errorId: expect.any(String) }]);
    expect((await caller.refused("nothing")).slice(0, 2)).toEqual(["actor", "action_not_found"]);
    expect(await caller.missing()).toEqual(["actor", "not_found"]);
  });
});

describe("c.saveState()", () => {
  const saved: unknown[] = [];
  const subject = (): ReturnType<typeof single> =>
    single(
      actor({
        state: { n: 0 },
        actions: {
          /** Changes, saves, and never ends. */
          save: async (c, options?: object) => {
            c.state.n += 1;
            saved.push(await c.saveState(options as never));
            await new Promise(() => {});
          },
          try: (c, options: unknown) => c.saveState(options as never).then(() => "saved", (error: { group: string; code: string; message: string }) => `${error.group}/${error.code}: ${error.message}`),
          get: (c) => c.state.n,
        },
      }),
    );

  it.each([undefined, {}, { immediate: true }, { immediate: false }, { maxWait: 0 }, { maxWait: 60_000 }])("has made the commit when it resolves, with %j too: a crash then loses nothing (B6, B7)", async (options) => {
    const { world, subject: saving } = subject();
    await saving.call("get");
    saved.splice(0);
    saving.call("save", options).catch(() => {});
    await world.turn();
    await world.turn();
    expect(saved).toEqual([undefined]);
    saving.crash();
    expect(await saving.call("get")).toBe(1);
  });

  it("refuses options that are none, and saves nothing then", async () => {
    const { subject: refusing } = subject();
    for (const maxWait of [-1, Number.NaN, Number.POSITIVE_INFINITY, "1000", null]) {
      expect(await refusing.call("try", { maxWait }), String(maxWait)).toMatch(/^actor\/invalid_option: `maxWait`/);
    }
    expect(await refusing.call("try", { immediate: "yes" })).toMatch(/^actor\/invalid_option: `immediate`/);
    for (const options of [5, "now", null, true]) expect(await refusing.call("try", options), String(options)).toMatch(/^actor\/invalid_option: The options/);
  });
});

describe("members of a context", () => {
  /** What each callback finds, in the order of `spec/api.md` B.9: a member that is there, or the code of its error. */
  const find = (c: Context): string =>
    ["state", "vars", "conn", "conns", "queue", "schedule", "cron", "kv", "db", "broadcast", "client"]
      .map((member) => {
        try {
          return c[member] === undefined ? `no ${member}` : member;
        } catch (error) {
          return `${member}: ${(error as { code: string }).code}`;
        }
      })
      .join(", ");
  const ALL = "state, vars, conn, conns, queue, schedule, cron, kv, db, broadcast, client";
  const WITHOUT_CONN = ALL.replace("conn,", "no conn,");

  it("are those of the documentation in every callback", async () => {
    const found: Record<string, string> = {};
    const note = (where: string) => (c: Context) => void (found[where] = find(c));
    const { world, subject } = single(
      actor({
        createState: (c: Context) => {
          note("createState")(c);
          return { n: 0 };
        },
        createVars: (c: Context) => {
          note("createVars")(c);
          return {};
        },
        db: db(),
        onMigrate: (c: Context, isNew: boolean) => note(`onMigrate ${isNew ? "new" : "wake"}`)(c),
        onCreate: note("onCreate"),
        onWake: note("onWake"),
        run: async (c: Context) => note("run")(c),
        onBeforeConnect: note("onBeforeConnect"),
        createConnState: note("createConnState"),
        onConnect: note("onConnect"),
        onDisconnect: note("onDisconnect"),
        onStateChange: note("onStateChange"),
        onBeforeActionResponse: (c: Context, _name: string, _args: unknown[], output: unknown) => (note("onBeforeActionResponse")(c), output),
        onRequest: (c: Context) => (note("onRequest")(c), new Response()),
        onSleep: note("onSleep"),
        onDestroy: note("onDestroy"),
        actions: {
          act: (c: Context) => {
            note("action")(c);
            c.state.n += 1;
          },
          plan: (c: Context) => c.schedule.after(1_000, "planned"),
          planned: note("scheduled action"),
          sleep: (c: Context) => c.sleep(),
          destroy: (c: Context) => c.destroy(),
        },
      } as never) as never,
      { openDatabase: () => new DatabaseSync(":memory:") },
    );
    await subject.call("act");
    await subject.call("plan");
    await subject.fetch("/");
    await world.pass(1_000);
    await subject.call("sleep");
    await world.settle();
    await subject.call("act");
    await subject.call("destroy");
    await world.settle();
    const beforeState = WITHOUT_CONN.replace("state, vars", "state: state_not_ready, vars: vars_not_ready");
    const beforeVars = WITHOUT_CONN.replace("vars", "vars: vars_not_ready");
    expect(found).toEqual({
      createState: beforeState, "onMigrate new": beforeState, "onMigrate wake": beforeVars, onCreate: beforeVars, createVars: beforeVars,
      onWake: WITHOUT_CONN, run: WITHOUT_CONN, onSleep: WITHOUT_CONN, onDestroy: WITHOUT_CONN, onStateChange: WITHOUT_CONN, onBeforeActionResponse: WITHOUT_CONN,
      onBeforeConnect: WITHOUT_CONN, createConnState: WITHOUT_CONN, onDisconnect: WITHOUT_CONN, "scheduled action": WITHOUT_CONN,
      action: ALL, onConnect: ALL, onRequest: ALL,
    });
  });
});

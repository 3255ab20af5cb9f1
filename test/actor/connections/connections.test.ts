import { describe, expect, it } from "vitest";
import { actor, event, type AnyActorDefinition } from "../../../src/actor/index.js";
import { ENVELOPE_VERSION, decodeValue, UserError } from "../../../src/protocol/index.js";
import { single, type Single } from "../subject.js";

/** An actor that records each hook, and runs the test's code in it. */
function noted(
  hooks: Partial<
    Record<
      "onBeforeConnect" | "createConnState" | "onConnect" | "onDisconnect",
      (c: Context, conn: Connection, end: unknown) => unknown
    >
  > = {},
  more: object = {},
): Single & { notes: string[] } {
  const notes: string[] = [];
  const at = (hook: keyof typeof hooks) => (c: Context, conn: Connection, end?: { code: number }) => {
    notes.push([hook, ...(end ? [end.code] : [])].join(" "));
    return hooks[hook]?.(c, conn, end);
  };
  const definition = actor({
    state: { n: 0 },
    onBeforeConnect: at("onBeforeConnect"),
    createConnState: (c: Context, params: unknown) => at("createConnState")(c, params as never) ?? { by: "nobody" },
    onConnect: at("onConnect"),
    onDisconnect: at("onDisconnect"),
    actions: {
      add: (c: Context) => {
        notes.push("add");
        return (c.state.n += 1);
      },
      read: (c: Context) => c.state.n,
      who: (c: Context) => [...c.conns.values()].map((conn) => conn.id),
      broadcast: (c: Context, name: string, ...args: unknown[]) => c.broadcast(name, ...args),
      push: (c: Context) => c.conn.state.list.push(1),
      connState: (c: Context, change?: object) => Object.assign(c.conn.state, change),
    },
    ...more,
  } as never) as AnyActorDefinition;
  return { ...single(definition), notes };
}
// oxlint-disable-next-line typescript/no-explicit-any -- hooks of all kinds share one signature here
type Context = any;
// oxlint-disable-next-line typescript/no-explicit-any -- as above
type Connection = any;

const rows = (one: Single, prefix: string): string[] =>
  [...one.subject.store.dump().keys()].filter((key) => key.startsWith(prefix));

describe("a call over HTTP", () => {
  it("A33: is a connection of its own, with every hook once, in order", async () => {
    const one = noted();
    expect(await one.subject.call("add")).toBe(1);
    await one.world.settle();
    expect(one.notes).toEqual(["onBeforeConnect", "createConnState", "onConnect", "add", "onDisconnect 1000"]);
    expect(await one.subject.call("who")).toHaveLength(1);
  });

  it("A31: is refused by onBeforeConnect with the hook's error, and neither runs nor says goodbye", async () => {
    const one = noted({
      onBeforeConnect: () => {
        throw new UserError("Go away", { code: "no" });
      },
    });
    await expect(one.subject.call("add")).rejects.toMatchObject({ group: "user", code: "no" });
    expect(one.notes).toEqual(["onBeforeConnect"]);
  });

  it("leaves no row behind, also where onConnect and onDisconnect change the state", async () => {
    const one = noted({ onConnect: (c) => void (c.state.n += 10), onDisconnect: (c) => void (c.state.n -= 10) });
    await one.subject.call("add");
    await one.world.settle();
    expect(rows(one, "c/")).toEqual([]);
    expect(decodeValue(one.subject.store.dump().get("s") as Uint8Array)).toEqual({ n: 1 });
  });

  it("sends no event to a caller that cannot receive any, and says so in the log", async () => {
    const one = noted({ onConnect: (_c, conn) => conn.send("hello") });
    await one.subject.call("add");
    expect(one.log.map(({ entry }) => entry["code"])).toContain("not_configured");
  });
});

describe("a socket", () => {
  it("A32: is in nobody's sight until its hooks have let it in", async () => {
    const seen: number[] = [];
    const one: Single = noted({
      onBeforeConnect: async (c) => {
        seen.push(c.conns.size);
        await one.world.clock.delay(10);
        seen.push(c.conns.size);
      },
      createConnState: async (c) => {
        await one.world.clock.delay(10);
        c.broadcast("news");
        seen.push(c.conns.size);
        return {};
      },
      onConnect: (c, conn) => void seen.push(c.conns.size, Number(c.conns.get(conn.id) === conn)),
    });
    const connecting = one.subject.connect();
    await one.world.pass(20);
    const socket = await connecting;
    expect(seen).toEqual([0, 0, 0, 1, 1]);
    expect(socket.received.map(({ tag }) => tag)).toEqual(["Init"]);
  });

  it("A35, B10: gets what onConnect sends, subscribed or not, after it was told who it is", async () => {
    const one = noted({ onConnect: (_c, conn) => conn.send("hello", conn.params) });
    const socket = await one.subject.connect({ params: { from: "here" } });
    expect(socket.received).toMatchObject([
      { tag: "Init" },
      { tag: "Event", val: { name: "hello", args: [{ from: "here" }] } },
    ]);
  });

  it("is refused where onConnect throws; nobody sees it then, and onDisconnect is not told of it", async () => {
    const one = noted({
      onConnect: (c) => {
        c.state.n = 7;
        throw new UserError("No", { code: "no" });
      },
    });
    await expect(one.subject.connect()).rejects.toMatchObject({ group: "user", code: "no" });
    expect(one.notes).toEqual(["onBeforeConnect", "createConnState", "onConnect"]);
    expect(rows(one, "c/")).toEqual([]);
    expect(decodeValue(one.subject.store.dump().get("s") as Uint8Array)).toEqual({ n: 7 });
  });

  it.each([
    ["onBeforeConnect", "onBeforeConnectTimeout"],
    ["createConnState", "createConnStateTimeout"],
    ["onConnect", "onConnectTimeout"],
  ] as const)(
    "is refused where %s outlasts its time, as is a call; nobody sees it then, and no timer is left",
    async (hook, option) => {
      for (const [options, limitMs] of [
        [{}, 5_000],
        [{ [option]: 7_000 }, 7_000],
      ] as const) {
        const one = noted({ [hook]: () => new Promise(() => {}) }, { options });
        // Created beforehand: callers of a new actor wait for each other.
        const { name, key } = one.subject;
        await one.subject.deliver({
          v: ENVELOPE_VERSION,
          address: { name, key },
          creation: { mode: "create" },
          operation: { kind: "resolve" },
          internal: true,
        });
        const refusals = [one.subject.connect(), one.subject.call("add")].map((opening) =>
          opening.catch((error: unknown) => error),
        );
        let settled = 0;
        for (const refused of refusals) void refused.then(() => (settled += 1));
        await one.world.pass(limitMs - 1);
        expect(settled).toBe(0);
        await one.world.pass(1);
        for (const refused of refusals)
          expect(await refused).toMatchObject({
            group: "actor",
            code: "callback_timed_out",
            statusCode: 408,
            metadata: { callback_name: hook, duration_ms: limitMs },
          });
        expect(one.notes).not.toContain("add");
        expect(one.notes.filter((note) => note.startsWith("onDisconnect"))).toEqual([]);
        expect(one.subject.timersHeld).toBe(0);
        expect(rows(one, "c/")).toEqual([]);
      }
    },
  );

  it("is followed by an onDisconnect that has onConnectTimeout; the actor is served meanwhile, and told in the log", async () => {
    const one = noted({ onDisconnect: () => new Promise(() => {}) }, { options: { onConnectTimeout: 2_000 } });
    const socket = await one.subject.connect();
    const ended = socket.hangUp(4000);
    await one.world.turn();
    const other = await one.subject.connect();
    await other.call(0, "read");
    await one.world.settle();
    expect(other.received.at(-1)).toMatchObject({ tag: "ActionResponse" });
    await one.world.pass(2_000);
    await ended;
    expect(
      one.log.filter(({ level, entry }) => level === "error" && entry["msg"] === "onDisconnect failed"),
    ).toHaveLength(1);
    expect(one.subject.timersHeld).toBe(0);
  });

  it("may be ended by onConnect itself", async () => {
    const one = noted({ onConnect: (_c, conn) => conn.disconnect("full") });
    await expect(one.subject.connect()).rejects.toMatchObject({ group: "connection", code: "closed" });
  });

  it("creates no actor with get", async () => {
    const one = noted();
    await expect(one.subject.connect({ mode: "get" })).rejects.toMatchObject({ group: "actor", code: "not_found" });
    expect(one.subject.store.dump().size).toBe(0);
  });

  it("A34: has the params that the schema made of what it sent, or is refused with its issues", async () => {
    const schema = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: async (value: unknown) =>
          typeof (value as { n?: unknown })?.n === "string"
            ? { value: { n: Number((value as { n: string }).n) } }
            : { issues: [{ message: "n is no text", path: ["n"] }] },
      },
    };
    const one = noted({ onConnect: (_c, conn) => conn.send("params", conn.params) }, { connParamsSchema: schema });
    expect((await one.subject.connect({ params: { n: "5" } })).events).toEqual([["params", { n: 5 }]]);
    await expect(one.subject.connect({ params: { n: 5 } })).rejects.toMatchObject({
      code: "validation_error",
      metadata: { issues: [{ message: "n is no text", path: ["n"] }] },
    });
  });

  it("is refused for params over 4 KiB", async () => {
    await expect(noted().subject.connect({ params: "x".repeat(4_100) })).rejects.toMatchObject({
      group: "request",
      code: "too_large",
    });
  });

  it("B14: has a state of its own, which survives eviction and goes with it", async () => {
    const one = noted({}, { createConnState: undefined, connState: { by: "static", list: [] } });
    const [a, b] = [await one.subject.connect(), await one.subject.connect()];
    await a.call(0, "connState", { by: "a" });
    await a.call(0, "push");
    await one.subject.evict();
    await b.call(0, "connState");
    await a.call(1, "connState");
    await one.world.settle();
    expect(b.received.at(-1)).toMatchObject({ val: { output: { by: "static", list: [] } } });
    expect(a.received.at(-1)).toMatchObject({ val: { output: { by: "a", list: [1] } } });
  });

  it("is told of state that is too large, keeps what was stored, and stays", async () => {
    const one = noted();
    const socket = await one.subject.connect();
    await socket.call(0, "connState", { by: "x".repeat(8_001) });
    await socket.call(1, "connState");
    await one.world.settle();
    expect(socket.received.slice(1)).toMatchObject([
      { tag: "Error", val: { group: "value", code: "too_large", actionId: 0n } },
      { tag: "ActionResponse", val: { id: 1n, output: { by: "nobody" } } },
    ]);
  });

  it("B15: is closed by conn.disconnect with its reason, and onDisconnect runs once, when nobody sees it any more", async () => {
    const left: unknown[] = [];
    const one = noted(
      { onDisconnect: (c, conn, end) => void left.push([conn.params, c.conns.has(conn.id), end]) },
      {
        actions: {
          dismiss: (c: Context, whom: string) =>
            [...c.conns.values()].find((conn: Connection) => conn.params === whom).disconnect("enough"),
        },
      },
    );
    const [a, b] = [await one.subject.connect({ params: "a" }), await one.subject.connect({ params: "b" })];
    await b.call(0, "dismiss", "a");
    await one.world.settle();
    expect(a.end).toEqual({ code: 1000, reason: "enough" });
    expect(b.isOpen).toBe(true);
    await a.hangUp();
    await one.world.settle();
    expect(left).toEqual([["a", false, { code: 1000, reason: "enough" }]]);
  });

  it("that its client closes is told to onDisconnect once, with the client's code", async () => {
    const one = noted();
    const socket = await one.subject.connect();
    await socket.hangUp(4000, "enough");
    await socket.hangUp(4000, "enough");
    expect(one.notes.filter((note) => note.startsWith("onDisconnect"))).toEqual(["onDisconnect 4000"]);
  });

  it("says what it is: an id, whether it hibernates, and that there is no state where the actor has none", async () => {
    const { subject } = single(
      actor({
        actions: {
          about: (c: Context) => {
            try {
              return [c.conn.id, c.conn.isHibernatable, c.conn.state];
            } catch (error) {
              return [c.conn.id, c.conn.isHibernatable, (error as { code: string }).code];
            }
          },
        },
      }),
    );
    const socket = await subject.connect();
    await socket.call(0, "about");
    const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(socket.received.at(-1)).toMatchObject({ val: { output: [uuid, true, "conn_state_not_enabled"] } });
    expect(await subject.call("about")).toEqual([uuid, false, "conn_state_not_enabled"]);
  });

  it("has a state from its first assignment on where the actor declares none, and keeps it over hibernation", async () => {
    const { subject } = single(
      actor({
        actions: {
          give: (c: Context, n: number) => {
            c.conn.state = { n };
          },
          add: (c: Context) => (c.conn.state.n += 1),
        },
      }),
    );
    const socket = await subject.connect();
    await socket.call(0, "give", 5);
    await socket.call(1, "add");
    await subject.evict();
    await socket.call(2, "add");
    expect(socket.received.at(-1)).toMatchObject({ val: { output: 7 } });
    const other = await subject.connect();
    await other.call(0, "add");
    expect(other.received.at(-1)).toMatchObject({ tag: "Error", val: { code: "conn_state_not_enabled" } });
  });

  it("is found in c.conns in every way that a Map has", async () => {
    const ways: Record<string, (conns: Context) => unknown> = {
      values: (conns) => [...conns.values()].map((conn: Connection) => conn.params),
      entries: (conns) =>
        [...conns.entries()].map(([id, conn]: Connection) => (conn.id === id ? conn.params : "another's id")),
      itself: (conns) => [...conns].map(([id, conn]: Connection) => (conn.id === id ? conn.params : "another's id")),
      keys: (conns) => [...conns.keys()].map((id: string) => conns.get(id).params),
      forEach: (conns) => {
        const found: unknown[] = [];
        conns.forEach((conn: Connection, id: string, map: Context) =>
          found.push(map === conns && map.get(id) === conn ? conn.params : "another"),
        );
        return found;
      },
    };
    const one = noted(
      {},
      {
        actions: {
          look: (c: Context, way: string) => [
            ways[way]?.(c.conns),
            c.conns.size,
            c.conns.has("nobody"),
            c.conns.get("nobody"),
          ],
        },
      },
    );
    const [a] = [await one.subject.connect({ params: "a" }), await one.subject.connect({ params: "b" })];
    for (const way of Object.keys(ways)) {
      await a.call(0, "look", way);
      await one.world.settle();
      expect(a.received.at(-1), way).toMatchObject({ val: { output: [["a", "b"], 2, false, undefined] } });
    }
  });
});

describe("events", () => {
  it("B9, B12: reach those that subscribed, declared or not, and no one else", async () => {
    const one = noted();
    const [a, b] = [await one.subject.connect(), await one.subject.connect({ encoding: "bare" })];
    await b.subscribe("news");
    await one.subject.call("broadcast", "news", 1, new Map([["k", 2n]]));
    await b.subscribe("news", false);
    await one.subject.call("broadcast", "news", 2);
    await one.world.settle();
    expect(a.events).toEqual([]);
    expect(b.events).toEqual([["news", 1, new Map([["k", 2n]])]]);
  });

  it("B11: are refused to the one who sends what the schema does not allow, and reach nobody", async () => {
    const schema = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value: unknown) =>
          typeof value === "number" ? { value: value * 2 } : { issues: [{ message: "no number" }] },
      },
    };
    const one = noted(
      {},
      {
        events: {
          count: event({ schema: schema as never }),
          late: schema,
          slow: { "~standard": { version: 1, vendor: "test", validate: async () => ({ value: 1 }) } },
        },
      },
    );
    const socket = await one.subject.connect();
    await socket.subscribe("count");
    await socket.subscribe("late");
    await one.subject.call("broadcast", "count", 4);
    await one.subject.call("broadcast", "late", 5);
    await expect(one.subject.call("broadcast", "count", "4")).rejects.toMatchObject({ code: "validation_error" });
    await expect(one.subject.call("broadcast", "slow", 1)).rejects.toMatchObject({
      group: "feature",
      code: "unsupported",
    });
    await one.world.settle();
    expect(socket.events).toEqual([
      ["count", 8],
      ["late", 10],
    ]);
  });

  it("B13: close the socket of one that may not subscribe", async () => {
    const one = noted({}, { events: { secret: event({ canSubscribe: (c: Context) => c.conn.params === "friend" }) } });
    const [friend, stranger] = [await one.subject.connect({ params: "friend" }), await one.subject.connect()];
    await Promise.all([friend.subscribe("secret"), stranger.subscribe("secret")]);
    await one.subject.call("broadcast", "secret", 1);
    await one.world.settle();
    expect(friend.events).toEqual([["secret", 1]]);
    expect(stranger.end).toEqual({ code: 1011, reason: "auth.forbidden" });
    expect(stranger.received.at(-1)).toMatchObject({
      tag: "Error",
      val: { group: "auth", code: "forbidden", actionId: null },
    });
  });

  it("do not exist from outside unless declared, where any is; the socket stays", async () => {
    const one = noted({}, { events: { news: event() } });
    const socket = await one.subject.connect();
    for (const name of ["olds", "constructor", "__proto__", ""]) await socket.subscribe(name);
    await socket.subscribe("news");
    await one.subject.call("broadcast", "olds", 1);
    await one.subject.call("broadcast", "news", 2);
    await one.world.settle();
    expect(
      socket.received.filter(({ tag }) => tag === "Error").map(({ val }) => (val as { code: string }).code),
    ).toEqual(["not_declared", "not_declared", "not_declared", "not_declared"]);
    expect(socket.events).toEqual([["news", 2]]);
    expect(socket.end).toBeUndefined();
  });

  it("leave only after the state they follow from is durable, and not at all if the process dies before", async () => {
    const one = noted(
      {},
      { actions: { tell: (c: Context) => ((c.state.n += 1), c.broadcast("n", c.state.n), c.state.n) } },
    );
    const first = await one.subject.connect();
    await first.subscribe("n");
    const told = one.subject.call("tell").catch(() => "died");
    // The broadcast's commit is written, but its turn has not ended.
    await Promise.resolve();
    one.subject.crash();
    expect(await told).toBe("died");
    expect(first.events).toEqual([]);
    const second = await one.subject.connect();
    await second.subscribe("n");
    await one.subject.call("tell");
    expect(second.events).toEqual([["n", 1]]);
  });

  it("are encoded once for all that read alike, and a dead socket fails nothing", async () => {
    let reads = 0;
    const one = noted(
      {},
      {
        actions: {
          tell: (c: Context) =>
            c.broadcast(
              "n",
              {
                get read() {
                  return (reads += 1);
                },
              }.read,
            ),
        },
      },
    );
    const sockets = await Promise.all(Array.from({ length: 20 }, () => one.subject.connect()));
    await Promise.all(sockets.map((socket) => socket.subscribe("n")));
    // The socket is dead, and nobody has noticed.
    (sockets[3] as unknown as { die(): void }).die();
    await one.subject.call("tell");
    expect(sockets.map(({ events }) => events.length)).toEqual(sockets.map((_, index) => (index === 3 ? 0 : 1)));
    expect(reads).toBe(1);
  });

  it("that are too long are refused to the sender", async () => {
    const one = noted();
    const socket = await one.subject.connect();
    await socket.subscribe("news");
    await expect(one.subject.call("broadcast", "news", "x".repeat(1_048_577))).rejects.toMatchObject({
      group: "message",
      code: "outgoing_too_long",
    });
    await one.world.settle();
    expect(socket.events).toEqual([]);
    expect(socket.end).toBeUndefined();
  });
});

describe("what a socket carries", () => {
  it("that cannot be read ends that socket, and the actor starts", async () => {
    const one = noted();
    const [good, bad] = [await one.subject.connect({ params: "good" }), await one.subject.connect({ params: "bad" })];
    await one.subject.evict();
    bad.attach(Uint8Array.of(0xff, 1, 2));
    expect(await one.subject.call("who")).toHaveLength(2);
    await one.world.settle();
    expect(bad.end).toEqual({ code: 1011, reason: "actor.restarting" });
    expect(good.end).toBeUndefined();
    expect(one.notes.filter((note) => note === "onDisconnect 1006")).toHaveLength(1);
  });
});

describe("a connection that is lost with the process", () => {
  it("gets its onDisconnect at the next start, once, with code 1006 and what it was", async () => {
    const ends: unknown[] = [];
    const one = noted({
      onConnect: (c) => void (c.state.n += 1),
      onDisconnect: (c, conn, end) => {
        c.state.n -= 1;
        ends.push([conn.params, conn.state, end]);
      },
    });
    const a = await one.subject.connect({ params: "a" });
    await one.subject.connect({ params: "b" });
    await a.call(0, "connState", { by: "a" });
    expect(rows(one, "c/")).toHaveLength(2);
    one.subject.crash();
    one.notes.length = 0;
    await one.subject.call("read");
    await one.world.settle();
    expect(ends).toContainEqual(["a", { by: "a" }, { code: 1006, reason: "The connection was lost" }]);
    expect(ends.filter(([params]: Connection) => params === "b")).toHaveLength(1);
    expect(rows(one, "c/")).toEqual([]);
    expect(decodeValue(one.subject.store.dump().get("s") as Uint8Array)).toEqual({ n: 0 });
    one.subject.crash();
    await one.subject.call("read");
    expect(ends.filter(([params]: Connection) => params === "a")).toHaveLength(1);
  });

  it("is told the true end where its close comes as the actor wakes, whoever wakes it", async () => {
    const ends: unknown[] = [];
    const one = noted({
      onDisconnect: (_c, conn, end) => void ends.push([conn.params, (end as { code: number }).code]),
    });
    const [a, b] = [await one.subject.connect({ params: "a" }), await one.subject.connect({ params: "b" })];
    await one.subject.evict();
    await a.hangUp(4000);
    await one.subject.evict();
    // Another call comes first, and the platform no longer lists the closing socket.
    await Promise.all([one.subject.connect({ params: "c" }), b.hangUp(4001)]);
    await one.world.settle();
    expect(ends).toEqual([
      ["a", 4000],
      ["b", 4001],
    ]);
    expect(rows(one, "c/")).toHaveLength(1);
  });

  it("is told again if the process dies in the middle of telling", async () => {
    let begun = 0;
    const one: Single = noted({
      onDisconnect: async () => {
        begun += 1;
        if (begun === 1) await new Promise(() => {});
      },
    });
    await one.subject.connect();
    one.subject.crash();
    await one.subject.connect();
    await one.world.settle();
    expect(begun).toBe(1);
    one.subject.crash();
    await one.world.passUntilQuiet();
    // The call that was interrupted, and the call that came meanwhile.
    expect(begun).toBe(3);
    expect(rows(one, "c/")).toEqual([]);
  });

  it("costs nothing where there is no onDisconnect", async () => {
    const one = single(actor({ state: { n: 0 }, onConnect: () => {}, actions: { read: (c) => c.state.n } }));
    await one.subject.connect();
    await one.subject.call("read");
    expect(rows(one, "c/")).toEqual([]);
    expect(one.subject.store.commits).toBe(1);
  });
});

describe("an idle actor with connections", () => {
  it("holds no timer and no alarm", async () => {
    const one = noted();
    await one.subject.connect();
    await one.world.settle();
    expect(one.subject.timersHeld).toBe(0);
    expect(one.subject.store.alarmAt).toBeNull();
  });

  it("sends them what a waitUntil promise broadcasts before it ends them with the actor (A54)", async () => {
    const one: Single = noted(
      {},
      {
        actions: {
          end: (c: Context) => {
            c.waitUntil(one.world.clock.delay(1_000).then(() => c.broadcast("last")));
            c.destroy();
          },
        },
      },
    );
    const socket = await one.subject.connect();
    await socket.subscribe("last");
    await one.subject.call("end");
    await one.world.pass(999);
    expect([socket.events, socket.isOpen]).toEqual([[], true]);
    await one.world.pass(1);
    expect(socket.events).toEqual([["last"]]);
    expect(socket.end).toEqual({ code: 1011, reason: "actor.destroyed" });
  });

  it("ends them with the actor: after onDestroy, each with its onDisconnect", async () => {
    const one = noted(
      {},
      {
        onDestroy: (c: Context) => {
          one.notes.push("onDestroy");
          c.broadcast("last");
        },
        actions: { end: (c: Context) => c.destroy() },
      },
    );
    const socket = await one.subject.connect();
    await socket.subscribe("last");
    one.notes.length = 0;
    await one.subject.call("end");
    await one.world.settle();
    expect(one.notes).toEqual([
      "onBeforeConnect",
      "createConnState",
      "onConnect",
      "onDestroy",
      "onDisconnect 1000",
      "onDisconnect 1011",
    ]);
    expect(socket.events).toEqual([["last"]]);
    expect(socket.end).toEqual({ code: 1011, reason: "actor.destroyed" });
    expect(one.subject.store.dump().size).toBe(0);
    await socket.call(1, "end");
  });
});

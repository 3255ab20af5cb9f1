import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createClient, type ActorConn, type ActorConnStatus, type Client } from "../../src/entry/client.js";
import { createHandler } from "../../src/entry/cloudflare.js";
import { actor, event, queue, setup, UserError } from "../../src/entry/index.js";
import { encodeInput, MAX_INPUT_BYTES, objectName } from "../../src/protocol/index.js";
import { workflow } from "../../src/entry/workflow.js";
import { KILLED } from "../support/kill.js";
import { serve } from "../support/worker.js";
import { workerFetch, WorkerSocket } from "./worker-socket.js";

// Our client's connections, over each encoding and over the binding, to the real object behind the real router.

const { ACTORS } = env as unknown as { ACTORS: DurableObjectNamespace };
const stubOf = (key: string): DurableObjectStub => ACTORS.get(ACTORS.idFromName(objectName("room", [key])));

interface Params {
  readonly name?: string;
}
/** How connections ended, by the actor's key. */
const ends = new Map<string, string[]>();
/** Keys of actors in which an action holds its caller. */
const holding = new Set<string>();

const room = actor({
  createState: (_c, input: { topic: string } | undefined) => ({ topic: input?.topic ?? "anything", said: 0 }),
  events: {
    said: event<[who: string, text: string]>(),
    welcome: event<{ name: string }>(),
    secret: event<string>({ canSubscribe: () => false }),
  },
  onBeforeConnect: (_c, params: Params | undefined) => {
    if (params?.name === "mallory")
      throw new UserError("Not you", { code: "unwelcome", metadata: { name: "mallory" } });
  },
  createConnState: (_c, params: Params | undefined) => ({ name: params?.name ?? "nobody" }),
  onConnect: (_c, conn) => {
    if (conn.isHibernatable) conn.send("welcome", { name: conn.state.name });
  },
  onDisconnect: (c, conn, { code, reason }) => {
    if (conn.isHibernatable)
      ends.set(c.key.join(), [...(ends.get(c.key.join()) ?? []), `${conn.state.name} ${code} ${reason}`]);
  },
  actions: {
    say: (c, text: string) => {
      c.state.said += 1;
      c.broadcast("said", c.conn.state.name, text);
      return c.state.said;
    },
    echo: (_c, value: unknown) => value,
    topic: (c) => c.state.topic,
    params: (c) => c.conn.params,
    who: (c) =>
      [...c.conns.values()]
        .filter((conn) => conn.isHibernatable)
        .map((conn) => conn.state.name)
        .toSorted(),
    hold: (c) => {
      holding.add(c.key.join());
      return new Promise<void>(() => {});
    },
    refuse: () => {
      throw new UserError("No", { code: "no", metadata: { why: new Set(["rules"]) } });
    },
    end: (c) => c.destroy(),
    kick: async (c, name: string) => {
      for (const conn of c.conns.values()) if (conn.state.name === name) await conn.disconnect("auth.kicked");
    },
    users: { count: (c) => c.conns.size },
  },
});

/** Has a conversation in a room, as an actor of its own. */
const visitor = actor({
  state: { heard: [] as string[] },
  actions: {
    visit: async (c, key: string, text: string) => {
      const connection = c
        .client<typeof registry>()
        .room.getOrCreate(key)
        .connect({ name: `visitor ${c.key.join()}` });
      const heard = new Promise<void>((resolve) =>
        connection.once("said", (who, words) => resolve(void c.state.heard.push(`${who}: ${words}`))),
      );
      const count = await connection.say(text);
      await heard;
      await connection.dispose();
      return [count, c.state.heard];
    },
  },
});

/** Opens connections and leaves them: in an action, and in a step of its workflow. */
const careless = actor({
  state: { inStep: "" },
  actions: {
    open: async (c, key: string) => {
      const connection = c.client<typeof registry>().room.getOrCreate(key).connect({ name: "of the action" });
      await connection.ready;
    },
    openInStep: async (c, key: string) => void (await c.queue.send("rooms", key)),
    end: (c) => c.destroy(),
  },
  run: workflow(async (ctx) => {
    const { body } = await ctx.queue.next("a room");
    await ctx.step("open", async (step) => {
      const connection = step
        .client<typeof registry>()
        .room.getOrCreate(body as string)
        .connect({ name: "of the step" });
      await connection.ready;
    });
    await ctx.queue.next("nothing");
  }),
});

/** Says what it was asked for, then gives back what it gets. */
const echo = actor({
  onBeforeConnect: (_c, params: Params | undefined) => {
    if (params?.name === "mallory") throw new UserError("Not you", { code: "unwelcome" });
  },
  onWebSocket: (c, socket) => {
    const { pathname, search } = new URL(c.request?.url ?? "");
    socket.send(
      `${pathname}${search} ${c.request?.headers.get("sec-websocket-protocol")} ${JSON.stringify(c.conn.params)}`,
    );
    socket.addEventListener("message", ({ data }) => socket.send(data));
  },
});

/** Tells its id in every way in which it can be reached. */
const next = actor({
  queues: { who: queue<null, string>() },
  onRequest: (c) => new Response(c.actorId),
  onWebSocket: (c, socket) => socket.send(c.actorId),
  run: async (c) => {
    for await (const message of c.queue.iter({ completable: true })) await message.complete(c.actorId);
  },
  actions: { id: (c) => c.actorId, end: (c) => c.destroy() },
});

/** Knows how long its input was. */
const measure = actor({
  createState: (_c, input: string) => ({ length: input.length }),
  onWebSocket: (c, socket) => socket.send(`${c.state.length}`),
  actions: { length: (c) => c.state.length },
});

const registry = setup({ use: { room, visitor, careless, echo, next, measure } });
serve(registry);

const WAYS: [name: string, open: () => Client<typeof registry>][] = [
  ...(["json", "cbor", "bare"] as const).map((encoding): [string, () => Client<typeof registry>] => [
    encoding,
    () =>
      createClient<typeof registry>({
        endpoint: "http://worker.test",
        encoding,
        fetch: workerFetch,
        webSocket: WorkerSocket,
      }),
  ]),
  ["the binding", () => createHandler(registry).client(env)],
];

/** What was opened by a test; its end disposes of it. */
const opened: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.dispose();
});

function start(open: () => Client<typeof registry>): Client<typeof registry> {
  const client = open();
  opened.push(client);
  return client;
}

/** Connects again at once: nothing here waits for the time to pass. */
function hasten(connection: ActorConn<typeof room>): ActorConn<typeof room> {
  connection.onStatusChange((status) => {
    if (status === "disconnected") connection.reconnect();
  });
  return connection;
}

function reached(connection: ActorConn<typeof room>, wanted: ActorConnStatus): Promise<void> {
  return new Promise((resolve) => connection.onStatusChange((status) => status === wanted && resolve()));
}

/** What the object's side did is looked for until it is there: no promise may be settled across objects. */
const POLL_MS = 10_000;

async function ended(key: string, lines: readonly string[]): Promise<void> {
  await vi.waitFor(() => expect(ends.get(key)).toEqual(lines), POLL_MS);
}

async function breakOff(key: string): Promise<void> {
  await runInDurableObject(stubOf(key), (_, state) => state.abort(KILLED)).catch(() => {});
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "no error",
    (error: unknown) => error,
  );

describe.each(WAYS)("a connection over %s", (way, open) => {
  const at = (key: string): string => `${way} ${key}`;

  it("calls actions, nested ones too, with every kind of value, and gets their errors", async () => {
    const connection = start(open)
      .room.getOrCreate(at("calls"), { createWithInput: { topic: "tea" } })
      .connect({ name: "ann" });
    const value = {
      map: new Map([[1n, new Set([new Date(5), undefined])]]),
      bytes: new Uint8Array([1, 2]),
      list: ["$x", NaN],
    };
    expect(await connection.echo(value)).toEqual(value);
    expect([await connection.topic(), await connection.users.count()]).toEqual(["tea", 1]);
    expect(await failureOf(connection.refuse())).toMatchObject({
      group: "user",
      code: "no",
      metadata: { why: new Set(["rules"]) },
      statusCode: 400,
    });
    expect(await failureOf(connection.action({ name: "nothing" }))).toMatchObject({
      group: "actor",
      code: "action_not_found",
    });
    expect([connection.connStatus, typeof connection.actorId, typeof connection.connId]).toEqual([
      "connected",
      "string",
      "string",
    ]);
  });

  it("has the params that it was opened with, and again when it comes back (F11, F12)", async () => {
    let asked = 0;
    const params = () => ({ name: "ann", tags: ["é)", (asked += 1)], big: 2n ** 70n, at: new Date(5) });
    const connection = hasten(start(open).room.getOrCreate(at("params"), { getParams: params }).connect());
    expect(await connection.params()).toEqual({ ...params(), tags: ["é)", 1] });
    const isLost = reached(connection, "disconnected");
    await breakOff(at("params"));
    await isLost;
    expect(await connection.params()).toMatchObject({ tags: ["é)", 3] });
    expect(await start(open).room.getOrCreate(at("params")).connect({ name: "given" }).params()).toEqual({
      name: "given",
    });
  });

  it.each(["getOrCreate", "get"] as const)(
    "of a %s handle that knew a former life of the actor finds the next one; so do its actions, messages, requests and sockets (F24, F25)",
    async (how) => {
      const { next } = start(open);
      const key = at(`stale ${how}`);
      const handle = next[how](key);
      const first = await next.getOrCreate(key).id();
      expect(await handle.id()).toBe(first);
      const firstWord = async (): Promise<unknown> => {
        const socket = await handle.webSocket();
        const { data } = await new Promise<MessageEvent>((resolve) =>
          (socket as unknown as WebSocket).addEventListener("message", resolve),
        );
        socket.close(1000, "");
        return data;
      };
      const ways: (() => Promise<unknown>)[] = [
        () => handle.id(),
        () => handle.send("who", null, { wait: true, timeout: 10_000 }).then(({ response }) => response),
        async () => (await handle.fetch("/")).text(),
        firstWord,
        () => handle.connect().id(),
        () => handle.resolve(),
      ];
      const lives = [first];
      for (const way of ways) {
        await handle.end();
        if (how === "get") await next.getOrCreate(key).id();
        const life = await way();
        expect(life).toMatch(/^[0-9a-f]{64}-[0-9a-f]{16}$/);
        lives.push(life as string);
      }
      expect(new Set(lives).size).toBe(ways.length + 1);
    },
  );

  it("hears events, what the actor sends in onConnect included, until it listens no more", async () => {
    const client = start(open);
    const [ann, bob] = ["ann", "bob"].map((name) => client.room.getOrCreate(at("events")).connect({ name })) as [
      ActorConn<typeof room>,
      ActorConn<typeof room>,
    ];
    const heard: unknown[] = [];
    ann.on("welcome", ({ name }) => heard.push(`welcome ${name}`));
    const end = ann.on("said", (who, text) => heard.push([who, text]));
    bob.once("said", (_who, text) => heard.push(`once ${text}`));
    await Promise.all([ann.ready, bob.ready]);
    await bob.topic();
    expect(await ann.say("one")).toBe(1);
    expect(await bob.say("two")).toBe(2);
    await Promise.all([ann.topic(), bob.topic()]);
    expect(heard.toSorted()).toEqual([["ann", "one"], ["bob", "two"], "once one", "welcome ann"]);
    end();
    await bob.say("three");
    await ann.topic();
    expect(heard).toHaveLength(4);
    expect(await ann.who()).toEqual(["ann", "bob"]);
  });

  it("stays while the object is evicted, and hears each event once and in order", async () => {
    const connection = start(open).room.getOrCreate(at("evicted")).connect({ name: "ann" });
    const [heard, statuses]: [string[], string[]] = [[], []];
    connection.on("said", (_who, text) => heard.push(text));
    await connection.ready;
    connection.onStatusChange((status) => statuses.push(status));
    for (let n = 1; n <= 3; n += 1) {
      expect(await connection.say(`${n}`)).toBe(n);
      await evictDurableObject(stubOf(at("evicted")));
    }
    await connection.topic();
    expect([heard, statuses]).toEqual([["1", "2", "3"], []]);
  });

  it("comes back after the object was reset: subscribed, with new params; what was sent rejects, what waits is sent", async () => {
    let asked = 0;
    const handle = start(open).room.getOrCreate(at("reset"), { getParams: () => ({ name: `ann ${(asked += 1)}` }) });
    const connection = hasten(handle.connect());
    const heard: string[] = [];
    connection.on("said", (who, text) => heard.push(`${who}: ${text}`));
    await connection.say("before");
    const sent = failureOf(connection.hold());
    await vi.waitFor(() => expect(holding).toContain(at("reset")), POLL_MS);
    let waiting: Promise<number> | undefined;
    connection.onClose(() => (waiting ??= connection.say("after")));
    await breakOff(at("reset"));
    expect(await sent).toMatchObject({ group: "client", code: "connection_closed" });
    await connection.ready;
    expect(await waiting).toBe(2);
    await connection.topic();
    expect(heard).toEqual(["ann 1: before", "ann 2: after"]);
    expect(await connection.who()).toEqual(["ann 2"]);
  });

  it("is refused by a hook: the error is told and ends it", async () => {
    const connection = start(open).room.getOrCreate(at("refused")).connect({ name: "mallory" });
    const errors: unknown[] = [];
    connection.onError((error) => errors.push(error));
    const refusal = { group: "user", code: "unwelcome", message: "Not you", metadata: { name: "mallory" } };
    expect(await failureOf(connection.topic())).toMatchObject(refusal);
    expect(errors).toMatchObject([refusal]);
    expect(await failureOf(connection.ready)).toMatchObject(refusal);
    expect(connection.connStatus).toBe("idle");
    // A socket that was never let in is nobody's, and ends with no hook.
    expect([await start(open).room.getOrCreate(at("refused")).who(), ends.get(at("refused"))]).toEqual([[], undefined]);
  });

  it("of a get handle needs an actor that exists", async () => {
    const connection = start(open).room.get(at("nothing")).connect();
    expect(await failureOf(connection.ready)).toMatchObject({ group: "actor", code: "not_found" });
    expect(connection.connStatus).toBe("idle");
  });

  it("is ended by a subscription that is forbidden, and by a dismissal; an event that is not declared is an error only", async () => {
    const client = start(open);
    const connection = client.room.getOrCreate(at("forbidden")).connect({ name: "ann" });
    const errors: string[] = [];
    connection.onError(({ group, code }) => errors.push(`${group}/${code}`));
    await connection.ready;
    connection.on("nothing" as "secret", () => {});
    await connection.topic();
    expect([errors, connection.connStatus]).toEqual([["event/not_declared"], "connected"]);
    const isOver = reached(connection, "idle");
    connection.on("secret", () => {});
    await isOver;
    expect(errors).toEqual(["event/not_declared", "auth/forbidden"]);
    const other = client.room.getOrCreate(at("forbidden")).connect({ name: "bob" });
    await other.ready;
    const isKicked = reached(other, "idle");
    await client.room.getOrCreate(at("forbidden")).kick("bob");
    await isKicked;
    expect(await failureOf(other.topic())).toMatchObject({ group: "auth", code: "kicked" });
  });

  it("finds the next life of the actor, but sends it nothing that was meant for the last one", async () => {
    const client = start(open);
    const connection = hasten(client.room.getOrCreate(at("destroyed")).connect({ name: "ann" }));
    await connection.say("before");
    const first = connection.actorId;
    const isBack = new Promise<void>((resolve) => connection.onClose(() => connection.onOpen(resolve)));
    let waiting: Promise<unknown> | undefined;
    connection.onClose(() => (waiting ??= failureOf(connection.say("meant for the first"))));
    await connection.end().catch(() => {});
    await isBack;
    expect(connection.actorId).not.toBe(first);
    expect(await waiting).toMatchObject({ group: "client", code: "actor_changed" });
    expect(await connection.say("to the second")).toBe(1);
  });

  it("is told that a message was too long, and comes back", async () => {
    const connection = hasten(start(open).room.getOrCreate(at("long")).connect({ name: "ann" }));
    const short = connection.hold();
    expect(await failureOf(connection.echo("x".repeat(70_000)))).toMatchObject({
      group: "message",
      code: "incoming_too_long",
    });
    expect(await failureOf(short)).toMatchObject({ code: "connection_closed", cause: { code: "incoming_too_long" } });
    expect(await connection.topic()).toBe("anything");
  });

  it("may be a raw socket: path, query, protocols and params are the user's, frames pass untouched", async () => {
    const handle = start(open).echo.getOrCreate(at("raw"));
    const socket = await handle.webSocket("a/b?c=1", ["chat"], { params: { name: "ann" } });
    const received: unknown[] = [];
    const isDone = new Promise<void>((resolve) => {
      (socket as unknown as WebSocket).addEventListener("message", ({ data }) => {
        received.push(data);
        if (received.length === 1) socket.send("text");
        if (received.length === 2) socket.send(new Uint8Array([1, 255]));
        if (received.length === 3) resolve();
      });
    });
    await isDone;
    expect(received.slice(0, 2)).toEqual(['/websocket/a/b?c=1 chat {"name":"ann"}', "text"]);
    expect(new Uint8Array(received[2] as ArrayBuffer)).toEqual(new Uint8Array([1, 255]));
    socket.close(1000, "done");
  });

  it("disposed of is gone on both sides", async () => {
    const client = start(open);
    const connection = client.room.getOrCreate(at("disposed")).connect({ name: "ann" });
    await connection.ready;
    const call = failureOf(connection.hold());
    await connection.dispose();
    expect(await call).toMatchObject({ name: "ActorConnDisposed" });
    await ended(at("disposed"), ["ann 1000 Disposed"]);
    expect(await client.room.get(at("disposed")).who()).toEqual([]);
  });
});

describe("connections between actors", () => {
  it("call, hear and end like any other", async () => {
    const client = start(() => createHandler(registry).client(env));
    const watcher = client.room.getOrCreate("of actors").connect({ name: "watcher" });
    const heard: string[] = [];
    watcher.on("said", (who) => heard.push(who));
    await watcher.ready;
    expect(await client.visitor.getOrCreate("one").visit("of actors", "hello")).toEqual([1, ["visitor one: hello"]]);
    expect(await client.visitor.getOrCreate("two").visit("of actors", "hi")).toEqual([2, ["visitor two: hi"]]);
    await watcher.topic();
    expect(heard).toEqual(["visitor one", "visitor two"]);
    await ended("of actors", ["visitor one 1000 Disposed", "visitor two 1000 Disposed"]);
  });

  it("end with the actor, and with the step, that opened them and left them", async () => {
    const client = start(() => createHandler(registry).client(env));
    const actor = client.careless.getOrCreate("leaves");
    await actor.openInStep("left by a step");
    await ended("left by a step", ["of the step 1000 Disposed"]);
    await actor.open("left by an actor");
    expect(await client.room.getOrCreate("left by an actor").who()).toEqual(["of the action"]);
    await actor.end();
    await ended("left by an actor", ["of the action 1000 Disposed"]);
  });

  it("may make an actor from an input of 4 MiB, and not of more", async () => {
    const { measure } = start(() => createHandler(registry).client(env));
    const length = MAX_INPUT_BYTES - (encodeInput("x".repeat(100_000)).byteLength - 100_000);
    const input = (more = 0) => ({ createWithInput: "x".repeat(length + more) });
    expect(encodeInput(input().createWithInput).byteLength).toBe(MAX_INPUT_BYTES);
    expect(await measure.getOrCreate("connection", input()).connect().length()).toBe(length);
    const socket = await measure.getOrCreate("raw socket", input()).webSocket();
    const { data } = await new Promise<MessageEvent>((resolve) =>
      (socket as unknown as WebSocket).addEventListener("message", resolve),
    );
    expect(data).toBe(`${length}`);
    socket.close(1000, "");
    const tooLarge = {
      group: "actor",
      code: "input_too_large",
      statusCode: 413,
      metadata: { limitBytes: MAX_INPUT_BYTES },
    };
    expect(await failureOf(measure.getOrCreate("too large", input(1)).connect().ready)).toMatchObject(tooLarge);
    expect(await failureOf(measure.getOrCreate("too large", input(1)).webSocket())).toMatchObject(tooLarge);
    expect(await failureOf(measure.get("too large").length())).toMatchObject({ code: "not_found" });
  });
});

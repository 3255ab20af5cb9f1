import { inspect } from "node:util";
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { ActorConnDisposed } from "../../src/client/index.js";
import { ActorError, type Encoding } from "../../src/protocol/index.js";
import { fakeSockets, outcome, settle, type FakeSocket } from "./fake-sockets.js";

/** A connection of a `getOrCreate` handle, open unless told otherwise. */
async function connected(options: Parameters<typeof fakeSockets>[0] = {}, connectOptions = {}) {
  const world = fakeSockets(options);
  const connection = world.client.chat.getOrCreate("a").connect(undefined, connectOptions);
  await settle();
  world.socket.init();
  return Object.assign(world, { connection });
}

function recorded(connection: any): string[] {
  const log: string[] = [];
  connection.onStatusChange((status: string) => log.push(status));
  connection.onOpen(() => log.push("open"));
  connection.onClose(() => log.push("close"));
  connection.onError(({ group, code }: ActorError) => log.push(`error ${group}/${code}`));
  return log;
}

/** What is reported as uncaught. */
const uncaught: unknown[] = [];
const onUncaught = (error: unknown): void => void uncaught.push(error);
afterEach(() => {
  process.off("uncaughtException", onUncaught);
  uncaught.length = 0;
});

describe("opening", () => {
  test("shows where it stands", async () => {
    const world = fakeSockets();
    const connection = world.client.chat.getOrCreate("a").connect();
    const log = recorded(connection);
    expect([connection.connStatus, connection.isConnected, connection.actorId, connection.connId]).toEqual([
      "connecting",
      false,
      undefined,
      undefined,
    ]);
    expect(world.sockets).toHaveLength(0);
    await settle();
    expect(world.socket.call).toMatchObject({
      target: { name: "chat", key: ["a"], mode: "getOrCreate" },
      route: { kind: "connect" },
    });
    expect(await outcome(connection.ready)).toBe("pending");
    world.socket.init("actor-1", "conn-1");
    expect([connection.connStatus, connection.isConnected, connection.actorId, connection.connId]).toEqual([
      "connected",
      true,
      "actor-1",
      "conn-1",
    ]);
    expect(await outcome(connection.ready)).toBe(undefined);
    expect(log).toEqual(["connected", "open"]);
    expect(world.clock.pendingTimers).toBe(0);
  });

  test("on a socket that says nothing is given up after 15 s, and tried again", async () => {
    const world = fakeSockets();
    const log = recorded(world.client.chat.getOrCreate("a").connect());
    await world.pass(14_999);
    expect(world.socket.closed).toBeUndefined();
    await world.pass(1);
    expect(world.socket.closed).toBe("4008 client.connection_open_failed");
    expect(log).toEqual(["error client/connection_open_failed", "disconnected"]);
    await world.pass(250);
    expect(world.sockets).toHaveLength(2);
    // What the first one brings now is late.
    world.sockets[0]?.init();
    world.sockets[0]?.drop();
    expect(log).toEqual(["error client/connection_open_failed", "disconnected", "connecting"]);
  });

  test("where there is no socket to be had says why", async () => {
    const world = fakeSockets();
    const cause = new Error("mixed content");
    world.failures.push(cause);
    const errors: ActorError[] = [];
    world.client.chat
      .getOrCreate("a")
      .connect()
      .onError((error: ActorError) => errors.push(error));
    await settle();
    expect(errors).toMatchObject([
      {
        group: "client",
        code: "connection_open_failed",
        statusCode: 503,
        cause,
        message: "No connection to http://nowhere.test. Is the server running there?",
      },
    ]);
  });

  test("that is refused for a reason does not go on", async () => {
    const world = fakeSockets();
    world.failures.push(new ActorError("client", "input_too_large", "too large"));
    const connection = world.client.chat.getOrCreate("a").connect();
    const log = recorded(connection);
    const call = connection.add(1);
    expect(await outcome(call)).toBe("client/input_too_large");
    expect([log, connection.connStatus, world.clock.pendingTimers]).toEqual([
      ["error client/input_too_large", "idle"],
      "idle",
      0,
    ]);
  });

  test("tells who registers later, in a microtask, and not who left meanwhile", async () => {
    const { connection } = await connected();
    const told: string[] = [];
    connection.onOpen(() => told.push("stays"));
    connection.onOpen(() => told.push("leaves"))();
    expect(told).toEqual([]);
    await settle();
    expect(told).toEqual(["stays"]);
  });

  test("tells each who registers from within a listener once", async () => {
    const world = fakeSockets();
    const connection = world.client.chat.getOrCreate("a").connect();
    const told: string[] = [];
    connection.onStatusChange(() => connection.onOpen(() => told.push("from status")));
    connection.onOpen(() => connection.onOpen(() => told.push("from open")));
    await settle();
    world.socket.init();
    await settle();
    expect(told.sort()).toEqual(["from open", "from status"]);
  });

  test("by a handle of an id, and by one that only gets", async () => {
    const world = fakeSockets();
    world.client.chat.getForId("x").connect();
    world.client.chat.get("b").connect();
    await settle();
    expect(world.sockets.map(({ call }) => call.target)).toMatchObject([
      { actorId: "x" },
      { name: "chat", key: ["b"], mode: "get" },
    ]);
  });

  test("carries the input of a creation", async () => {
    const world = fakeSockets();
    world.client.chat.getOrCreate("a", { createWithInput: { n: 1 }, createInRegion: "weur" }).connect();
    await settle();
    expect(world.socket.call.target).toMatchObject({ input: { n: 1 }, region: "weur" });
  });
});

describe.each(["json", "cbor", "bare"] satisfies Encoding[])("in %s", (encoding) => {
  test("calls, nested ones too, give every kind of value, and errors", async () => {
    const { connection, socket } = await connected({ encoding });
    const value = new Map<unknown, unknown>([[1n, new Set([new Date(5), undefined, NaN])]]);
    const results = [
      connection.add(1, "x"),
      connection.users.roles.add({ a: 1 }),
      connection.action({ name: "send", args: [2] }),
      connection.none(),
    ];
    expect(socket.sent).toEqual(['0 add [1,"x"]', '1 users.roles.add [{"a":1}]', "2 send [2]", "3 none []"]);
    socket.answer(1, value);
    socket.answer(0, "first");
    socket.fail(2, "user", "sold_out", { left: 0 });
    socket.answer(3, undefined);
    expect(await results[0]).toBe("first");
    expect(await results[1]).toEqual(value);
    await expect(results[2]).rejects.toMatchObject({
      group: "user",
      code: "sold_out",
      message: "it is sold_out",
      metadata: { left: 0 },
      statusCode: 400,
    });
    expect(await results[3]).toBeUndefined();
  });

  test("events reach their listeners with their arguments", async () => {
    const { connection, socket } = await connected({ encoding });
    const heard: unknown[] = [];
    connection.on("news", (...args: unknown[]) => heard.push(args));
    expect(socket.sent).toEqual(["subscribe news"]);
    socket.event("news", 1n, { at: new Date(5) });
    socket.event("other", 1);
    socket.event("news");
    expect(heard).toEqual([[1n, { at: new Date(5) }], []]);
  });

  test("what cannot be read ends the socket, and the next one is opened", async () => {
    const world = await connected({ encoding });
    const log = recorded(world.connection);
    await settle();
    const call = world.connection.add(1);
    world.socket.emit("message", { data: encoding === "json" ? "{" : new Uint8Array([255, 0]).buffer });
    expect(world.socket.closed).toBe("4002 encoding.invalid");
    expect(await outcome(call)).toBe("client/connection_closed");
    expect(log).toEqual(["open", "disconnected", "close", "error client/malformed_response"]);
    await world.pass(250);
    expect(world.sockets).toHaveLength(2);
  });
});

describe("a call", () => {
  test("made before there is a connection is sent when there is one, in its order, after the subscriptions", async () => {
    const world = fakeSockets();
    const connection = world.client.chat.getOrCreate("a").connect();
    const first = connection.add(1);
    connection.on("news", () => {});
    void connection.add(2);
    await settle();
    expect(world.socket.sent).toEqual([]);
    connection.on("more", () => {});
    world.socket.init();
    expect(world.socket.sent).toEqual(["subscribe news", "subscribe more", "0 add [1]", "1 add [2]"]);
    world.socket.answer(0, "one");
    expect(await first).toBe("one");
  });

  test("keeps its arguments as they are when it is made", async () => {
    const world = fakeSockets();
    const connection = world.client.chat.getOrCreate("a").connect();
    const list = [1];
    void connection.add(list);
    list.push(2);
    await settle();
    world.socket.init();
    expect(world.socket.sent).toEqual(["0 add [[1]]"]);
  });

  test("whose arguments cannot be sent rejects, and takes nobody's number", async () => {
    const { connection, socket } = await connected();
    await expect(connection.add(() => {})).rejects.toMatchObject({ group: "value", code: "not_serializable" });
    void connection.add(1);
    expect(socket.sent).toEqual(["0 add [1]"]);
  });

  test("that was sent when the connection was lost rejects, and is never sent again", async () => {
    const world = await connected();
    const call = world.connection.add(1).catch((error: unknown) => error);
    world.socket.drop();
    const error = await call;
    expect(error).toMatchObject({ group: "client", code: "connection_closed", statusCode: 503 });
    expect(String(error)).toContain("add");
    await world.pass(250);
    world.socket.init();
    expect(world.socket.sent).toEqual([]);
    // A late answer finds nobody.
    world.socket.answer(0, "late");
  });

  test("that was sent rejects with the reason of the close as its cause", async () => {
    const world = await connected();
    const call = world.connection.add(1).catch((error: unknown) => error);
    world.socket.drop(1011, "actor.restarting#1234");
    expect(await call).toMatchObject({
      code: "connection_closed",
      cause: { group: "actor", code: "restarting", metadata: { errorId: "1234" } },
    });
  });

  test("that was too long is told so; others only that the connection was lost", async () => {
    const world = await connected();
    const calls = [
      world.connection.add("short"),
      world.connection.add("x".repeat(1000)),
      world.connection.add("short too"),
    ];
    world.socket.drop(1011, "message.incoming_too_long");
    expect(await Promise.all(calls.map(outcome))).toEqual([
      "client/connection_closed",
      "message/incoming_too_long",
      "client/connection_closed",
    ]);
  });

  test("made while there is no connection waits for the next one to the same actor", async () => {
    const world = await connected();
    world.connection.on("news", () => {});
    world.socket.drop();
    const call = world.connection.add(1);
    await world.pass(250);
    world.socket.init("actor-1", "conn-2");
    expect(world.socket.sent).toEqual(["subscribe news", "0 add [1]"]);
    world.socket.answer(0, "one");
    expect(await call).toBe("one");
  });

  test("made while there is no connection does not reach another life of the actor", async () => {
    const world = await connected();
    world.connection.on("news", () => {});
    world.socket.drop();
    const call = world.connection.add(1);
    await world.pass(250);
    world.socket.init("actor-2", "conn-2");
    expect(await outcome(call)).toBe("client/actor_changed");
    // Subscriptions are the handle's, whichever life answers it.
    expect(world.socket.sent).toEqual(["subscribe news"]);
    expect(world.connection.actorId).toBe("actor-2");
    void world.connection.add(2);
    expect(world.socket.sent).toEqual(["subscribe news", "1 add [2]"]);
  });

  test("on a socket that is closing is lost with it", async () => {
    const world = await connected();
    world.socket.sendError = new Error("closing");
    const call = world.connection.add(1);
    expect(await outcome(call)).toBe("pending");
    world.socket.drop();
    expect(await outcome(call)).toBe("client/connection_closed");
  });

  test("that is aborted rejects at once with the reason, sent or not", async () => {
    const world = await connected();
    const [sent, waiting, before] = [new AbortController(), new AbortController(), new AbortController()];
    before.abort("before");
    expect(await outcome(world.connection.action({ name: "add", args: [0], signal: before.signal }))).toBe("before");
    const sentCall = world.connection.action({ name: "add", args: [1], signal: sent.signal });
    await settle();
    sent.abort("enough");
    expect(await outcome(sentCall)).toBe("enough");
    world.socket.answer(0, "late");
    world.socket.drop();
    const waitingCall = world.connection.action({ name: "add", args: [2], signal: waiting.signal });
    await settle();
    waiting.abort("too late");
    expect(await outcome(waitingCall)).toBe("too late");
    await world.pass(250);
    world.socket.init();
    expect(world.socket.sent).toEqual([]);
  });

  test("lets go of its signal", async () => {
    const { connection, socket } = await connected();
    const { signal } = new AbortController();
    const [added, removed] = [vi.spyOn(signal, "addEventListener"), vi.spyOn(signal, "removeEventListener")];
    const calls = [1, 2].map((n) => connection.action({ name: "add", args: [n], signal }));
    await settle();
    socket.answer(0, "one");
    socket.drop();
    await Promise.allSettled(calls);
    expect([added.mock.calls.length, removed.mock.calls.length]).toEqual([2, 2]);
  });

  test("rejects when its time is over, and says whether it was sent", async () => {
    const world = await connected({}, { callTimeout: 1_000 });
    const sent = world.connection.add(1).catch((error: unknown) => error);
    await world.pass(999);
    world.socket.drop();
    expect(await sent).toMatchObject({ code: "connection_closed" });
    const waiting = world.connection.add(2).catch((error: unknown) => error);
    await world.pass(999);
    expect(await outcome(Promise.race([waiting, Promise.resolve("waits")]))).toBe("waits");
    await world.pass(1);
    expect(await waiting).toMatchObject({
      group: "client",
      code: "call_timed_out",
      statusCode: 408,
      metadata: { timeoutMs: 1000, wasSent: false },
    });
    world.socket.init();
    expect(world.socket.sent).toEqual([]);
    const late = world.connection.add(3).catch((error: unknown) => error);
    await world.pass(1_000);
    expect(await late).toMatchObject({ code: "call_timed_out", metadata: { wasSent: true } });
  });

  test("that was answered leaves no timer", async () => {
    const world = await connected({}, { callTimeout: 1_000 });
    const call = world.connection.add(1);
    expect(world.clock.pendingTimers).toBe(1);
    world.socket.answer(0, 1);
    await call;
    expect(world.clock.pendingTimers).toBe(0);
  });

  test.each([["say"], [undefined], [{}], [{ name: 1 }], [{ name: "say", args: "hi" }]])(
    "made with action(%j) says how it is done",
    async (...args: unknown[]) => {
      const { connection, socket } = await connected();
      await expect(connection.action(...args)).rejects.toThrow(/^Invalid action call/);
      expect(socket.sent).toEqual([]);
    },
  );

  test.each([-1, NaN, "1"])("cannot have a time of %s", (callTimeout) => {
    expect(() => fakeSockets().client.chat.get("a").connect(undefined, { callTimeout })).toThrow(
      expect.objectContaining({ group: "request", code: "invalid" }),
    );
  });
});

describe("listeners", () => {
  test("the first one of an event subscribes, the last one's end unsubscribes", async () => {
    const { connection, socket } = await connected();
    const heard: string[] = [];
    const same = (): void => void heard.push("same");
    const ends = [
      connection.on("news", same),
      connection.on("news", same),
      connection.on("news", () => heard.push("other")),
    ];
    socket.event("news");
    expect(heard).toEqual(["same", "same", "other"]);
    ends[0]();
    ends[0]();
    socket.event("news");
    expect(heard.splice(0)).toEqual(["same", "same", "other", "same", "other"]);
    ends[1]();
    ends[2]();
    socket.event("news");
    expect(heard).toEqual([]);
    connection.on("news", same);
    ends[2]();
    expect(socket.sent).toEqual(["subscribe news", "unsubscribe news", "subscribe news"]);
  });

  test("of one event only are told once, and the server knows", async () => {
    const { connection, socket } = await connected();
    const heard: unknown[] = [];
    connection.once("news", (n: number) => {
      heard.push(n);
      // Within it, the event is over already.
      connection.once("news", (next: number) => heard.push(`next ${next}`));
    });
    socket.event("news", 1);
    expect(socket.sent).toEqual(["subscribe news"]);
    socket.event("news", 2);
    socket.event("news", 3);
    expect([heard, socket.sent]).toEqual([
      [1, "next 2"],
      ["subscribe news", "unsubscribe news"],
    ]);
    const end = connection.once("other", () => heard.push("never"));
    end();
    socket.event("other");
    expect([heard.length, socket.sent.slice(2)]).toEqual([2, ["subscribe other", "unsubscribe other"]]);
  });

  test("that end before there is a connection are never heard of", async () => {
    const world = fakeSockets();
    const connection = world.client.chat.getOrCreate("a").connect();
    connection.on("news", () => {})();
    await settle();
    world.socket.init();
    expect(world.socket.sent).toEqual([]);
  });

  test("taken away while others are told are not told", async () => {
    const { connection, socket } = await connected();
    const heard: string[] = [];
    let endSecond = (): void => {};
    connection.on("news", () => {
      heard.push("first");
      endSecond();
    });
    endSecond = connection.on("news", () => heard.push("second"));
    socket.event("news");
    expect(heard).toEqual(["first"]);
  });

  test("that throw harm nobody; the error is reported", async () => {
    process.on("uncaughtException", onUncaught);
    const { connection, socket } = await connected();
    const heard: string[] = [];
    const broken = new Error("broken listener");
    connection.on("news", () => {
      throw broken;
    });
    connection.on("news", () => heard.push("still told"));
    connection.onClose(() => {
      throw broken;
    });
    connection.onClose(() => heard.push("close"));
    socket.event("news");
    socket.drop();
    await vi.waitFor(() => expect(uncaught).toEqual([broken, broken]));
    expect([heard, connection.connStatus]).toEqual([["still told", "close"], "disconnected"]);
  });

  test("of open, close, error and status all run, and end", async () => {
    const world = fakeSockets();
    const connection = world.client.chat.getOrCreate("a").connect();
    const logs = [recorded(connection), recorded(connection)];
    const gone: string[] = [];
    for (const on of ["onOpen", "onClose", "onError", "onStatusChange"]) connection[on](() => gone.push(on))();
    await settle();
    world.socket.init();
    world.socket.fail(null, "event", "not_declared");
    world.socket.drop();
    const expected = ["connected", "open", "error event/not_declared", "disconnected", "close"];
    expect([logs, gone]).toEqual([[expected, expected], []]);
  });

  test("may use the connection: what they do comes after what is under way", async () => {
    const world = fakeSockets();
    const connection = world.client.chat.getOrCreate("a").connect();
    connection.first().catch(() => {});
    connection.onOpen(() => {
      connection.on("news", () => {});
      connection.second().catch(() => {});
    });
    await settle();
    world.socket.init();
    expect(world.socket.sent).toEqual(["0 first []", "subscribe news", "1 second []"]);
    const log = recorded(connection);
    connection.onClose(() => void connection.dispose());
    world.socket.drop();
    expect([log, world.clock.pendingTimers, connection.connStatus]).toEqual([
      ["disconnected", "close", "idle"],
      0,
      "idle",
    ]);
  });
});

describe("after a loss", () => {
  test("attempts follow after 250 ms · 2^n, at most 30 s, less up to half by chance", async () => {
    const delays = async (random: number): Promise<number[]> => {
      const world = await connected({ random });
      const found: number[] = [];
      world.socket.drop();
      for (let n = 0; n < 10; n++) {
        found.push((world.clock.nextTimerAt() ?? 0) - world.clock.now());
        await world.pass(found.at(-1) ?? 0);
        world.socket.drop();
      }
      expect(world.connection.connStatus).toBe("disconnected");
      return found;
    };
    expect(await delays(0)).toEqual([250, 500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000]);
    expect((await delays(0.999_999)).map(Math.round)).toEqual([
      125, 250, 500, 1000, 2000, 4000, 8000, 15000, 15000, 15000,
    ]);
  });

  test("subscriptions are the ones that stand now", async () => {
    const world = await connected();
    const end = world.connection.on("old", () => {});
    world.socket.drop();
    end();
    world.connection.on("new", () => {});
    await world.pass(250);
    world.socket.init();
    expect(world.socket.sent).toEqual(["subscribe new"]);
  });

  test("ready is the next opening", async () => {
    const world = await connected();
    world.socket.drop();
    const { ready } = world.connection;
    expect(await outcome(ready)).toBe("pending");
    await world.pass(250);
    world.socket.init();
    expect(await outcome(ready)).toBeUndefined();
  });

  test("reconnect() does not wait for the next attempt", async () => {
    const world = await connected();
    world.connection.reconnect();
    expect(world.sockets).toHaveLength(1);
    world.socket.drop();
    world.connection.reconnect();
    await settle();
    expect([world.sockets.length, world.connection.connStatus]).toEqual([2, "connecting"]);
    world.socket.init();
    await world.pass(60_000);
    expect([world.sockets.length, world.connection.connStatus]).toEqual([2, "connected"]);
  });

  test("an error and its close are one loss", async () => {
    const world = await connected();
    const log = recorded(world.connection);
    await settle();
    log.length = 0;
    world.socket.emit("error");
    world.socket.drop();
    expect(log).toEqual(["disconnected", "close"]);
    expect(world.clock.pendingTimers).toBe(1);
  });

  test("a close is answered", async () => {
    const world = await connected();
    world.socket.drop(1000, "bye");
    expect(world.socket.closed).toBe("");
  });
});

describe("params", () => {
  test("are those of connect(), else of getParams, else the handle's", async () => {
    const world = fakeSockets();
    const handle = world.client.chat.getOrCreate("a", { params: "handle's", getParams: () => "asked" });
    handle.connect("given");
    handle.connect();
    handle.connect(undefined, { getParams: async () => "asked here" });
    world.client.chat.get("a", { params: "handle's" }).connect();
    await settle();
    expect(world.sockets.map(({ call }) => call.params).sort()).toEqual(["asked", "asked here", "given", "handle's"]);
  });

  test("are asked for at each attempt", async () => {
    const world = fakeSockets();
    let asked = 0;
    world.client.chat.getOrCreate("a", { getParams: () => `token ${(asked += 1)}` }).connect();
    await settle();
    world.socket.init();
    world.socket.drop();
    await world.pass(250);
    world.socket.drop();
    await world.pass(500);
    expect(world.sockets.map(({ call }) => call.params)).toEqual(["token 1", "token 2", "token 3"]);
  });

  test("that cannot be had are an error, also of the calls that wait, and are asked for again", async () => {
    const world = fakeSockets();
    const cause = new Error("offline");
    const getParams = vi
      .fn<() => unknown>()
      .mockRejectedValueOnce(cause)
      .mockImplementationOnce(() => {
        throw cause;
      })
      .mockReturnValue("token");
    const connection = world.client.chat.getOrCreate("a", { getParams }).connect();
    const errors: unknown[] = [];
    connection.onError((error: unknown) => errors.push(error));
    const early = connection.add(0).catch((error: unknown) => error);
    await world.pass(0);
    expect(errors).toMatchObject([{ group: "client", code: "get_params_failed", cause }]);
    expect(await early).toMatchObject({ group: "client", code: "get_params_failed" });
    await world.pass(250);
    const call = connection.add(1);
    await world.pass(500);
    expect([errors.length, world.sockets.length, world.socket.call.params]).toEqual([2, 1, "token"]);
    world.socket.init();
    world.socket.answer(1, "one");
    expect(await call).toBe("one");
  });

  test("that come after dispose open nothing", async () => {
    const world = fakeSockets();
    let give = (_params: string): void => {};
    const connection = world.client.chat
      .getOrCreate("a", { getParams: () => new Promise((resolve) => (give = resolve)) })
      .connect();
    await settle();
    await connection.dispose();
    give("late");
    await settle();
    expect(world.sockets).toEqual([]);
  });
});

describe("a refusal", () => {
  test("ends it: the error is told, calls reject with it, no timer is left", async () => {
    const world = fakeSockets();
    const connection = world.client.chat.getOrCreate("a").connect();
    const log = recorded(connection);
    const calls = [connection.add(1), connection.add(2)];
    await settle();
    world.socket.fail(null, "user", "no_entry");
    expect(await Promise.all([...calls, connection.ready, connection.add(3)].map(outcome))).toEqual(
      Array(4).fill("user/no_entry"),
    );
    world.socket.drop(1011, "user.no_entry");
    await world.pass(600_000);
    expect([log, world.sockets.length, world.clock.pendingTimers, connection.connStatus]).toEqual([
      ["error user/no_entry", "idle"],
      1,
      0,
      "idle",
    ]);
  });

  test("that comes as a close does the same", async () => {
    const world = fakeSockets();
    const connection = world.client.chat.getOrCreate("a").connect();
    const call = connection.add(1).catch((error: unknown) => error);
    await settle();
    world.socket.drop(1011, "auth.forbidden#0a1b");
    expect(await call).toMatchObject({
      group: "auth",
      code: "forbidden",
      statusCode: 403,
      metadata: { errorId: "0a1b" },
    });
  });

  test("leaves it to reconnect(), with the listeners that stand", async () => {
    const world = fakeSockets();
    const connection = world.client.chat.getOrCreate("a").connect();
    const heard: unknown[] = [];
    connection.on("news", (n: number) => heard.push(n));
    await settle();
    world.socket.drop(1011, "auth.forbidden");
    expect(connection.connStatus).toBe("idle");
    connection.reconnect();
    const { ready } = connection;
    const call = connection.add(1);
    await settle();
    world.socket.init();
    world.socket.event("news", 1);
    world.socket.answer(0, "one");
    expect([heard, await call, await outcome(ready), world.socket.sent]).toEqual([
      [1],
      "one",
      undefined,
      ["subscribe news", "0 add [1]"],
    ]);
  });

  test("of a subscription ends an open connection, and calls without an answer are told why", async () => {
    const world = await connected();
    const call = world.connection.add(1);
    const log = recorded(world.connection);
    world.socket.drop(1011, "auth.forbidden");
    expect(await outcome(call)).toBe("auth/forbidden");
    await world.pass(600_000);
    expect([log.filter((line) => line !== "open"), world.sockets.length]).toEqual([
      ["disconnected", "close", "error auth/forbidden", "idle"],
      1,
    ]);
  });
});

describe("dispose", () => {
  test("closes the socket, rejects what is pending within the tick, and leaves nothing", async () => {
    const world = await connected({}, { callTimeout: 60_000 });
    const log = recorded(world.connection);
    const call = world.connection.add(1);
    let failure: unknown;
    call.catch((error: unknown) => (failure = error));
    const disposed = world.connection.dispose();
    await Promise.resolve();
    await Promise.resolve();
    expect(failure).toBeInstanceOf(ActorConnDisposed);
    expect(failure).toMatchObject({ name: "ActorConnDisposed", group: "client", code: "connection_disposed" });
    expect(await disposed).toBeUndefined();
    expect([world.socket.closed, log.filter((line) => line !== "open"), world.clock.pendingTimers]).toEqual([
      "1000 Disposed",
      ["disconnected", "close", "idle"],
      0,
    ]);
    world.socket.event("news", 1);
    world.socket.drop();
    await world.pass(600_000);
    expect([world.sockets.length, world.connection.connStatus, world.connection.connId]).toEqual([
      1,
      "idle",
      undefined,
    ]);
  });

  test.each(["before the socket", "before the first message", "between two attempts", "twice"])(
    "%s ends all attempts",
    async (when) => {
      const world = fakeSockets();
      const connection = world.client.chat.getOrCreate("a").connect();
      const calls = [connection.add(1)];
      if (when !== "before the socket") await settle();
      if (when === "between two attempts") world.socket.drop();
      if (when === "twice") void connection.dispose();
      await connection.dispose();
      calls.push(connection.add(2), connection.ready);
      expect(await Promise.all(calls.map(outcome))).toEqual(Array(3).fill("client/connection_disposed"));
      await world.pass(600_000);
      expect([world.sockets.length, world.clock.pendingTimers]).toEqual([when === "before the socket" ? 0 : 1, 0]);
      expect(() => connection.reconnect()).toThrow(ActorConnDisposed);
      connection.on("news", () => {})();
    },
  );

  test("tells listeners that would reconnect, who do no harm by it", async () => {
    process.on("uncaughtException", onUncaught);
    const { connection, sockets, clock } = await connected();
    connection.onStatusChange((status: string) => status === "disconnected" && connection.reconnect());
    connection.onClose(() => connection.reconnect());
    await connection.dispose();
    // What a listener throws is reported in a microtask.
    await settle();
    await new Promise((resolve) => setImmediate(resolve));
    expect([uncaught, sockets.length, connection.connStatus, clock.pendingTimers]).toEqual([[], 1, "idle", 0]);
    expect(() => connection.reconnect()).toThrow(ActorConnDisposed);
  });

  test("closes a socket that comes too late", async () => {
    const world = fakeSockets();
    let give = (_socket: FakeSocket): void => {};
    world.transport.openSocket.mockImplementationOnce(() => new Promise((resolve) => (give = resolve)));
    const connection = world.client.chat.getOrCreate("a").connect();
    await settle();
    await connection.dispose();
    const { FakeSocket: Socket } = await import("./fake-sockets.js");
    const late = new Socket({} as never, "json");
    give(late);
    await settle();
    late.init();
    expect([late.closed, connection.connStatus]).toEqual(["1000", "idle"]);
  });

  test("of a client disposes of all its connections, and of no other client's", async () => {
    const [one, other] = [fakeSockets(), fakeSockets()];
    const connections = ["a", "b"].map((key) => one.client.chat.getOrCreate(key).connect());
    const foreign = other.client.chat.getOrCreate("a").connect();
    const gone = one.client.chat.getOrCreate("c").connect();
    await gone.dispose();
    await settle();
    await one.client.dispose();
    expect([...connections, foreign].map(({ connStatus }) => connStatus)).toEqual(["idle", "idle", "connecting"]);
    expect(one.sockets.map(({ closed }) => closed)).toEqual(["1000 Disposed", "1000 Disposed"]);
    const again = one.client.chat.getOrCreate("a").connect();
    await settle();
    expect(again.connStatus).toBe("connecting");
  });

  test("comes with the end of what the client is for, which is listened to only while there are connections", async () => {
    const [life, attempt] = [new AbortController(), new AbortController()];
    const listeners = [life, attempt].map(
      ({ signal }) => [vi.spyOn(signal, "addEventListener"), vi.spyOn(signal, "removeEventListener")] as const,
    );
    const counts = (): number[] =>
      listeners.map(([added, removed]) => added.mock.calls.length - removed.mock.calls.length);
    const world = fakeSockets({ ends: [life.signal, attempt.signal] });
    const connections = [1, 2].map(() => world.client.chat.getOrCreate("a").connect());
    await settle();
    expect(counts()).toEqual([1, 1]);
    await connections[0].dispose();
    expect(counts()).toEqual([1, 1]);
    attempt.abort();
    expect([connections[1].connStatus, counts()]).toEqual(["idle", [0, 0]]);
    expect(world.client.chat.getOrCreate("a").connect().connStatus).toBe("idle");
    await world.pass(60_000);
    expect([world.sockets.length, world.clock.pendingTimers, counts()]).toEqual([2, 0, [0, 0]]);
  });

  test("comes with the signal of the handle or of the connection", async () => {
    const world = fakeSockets();
    const [ofHandle, ofConnection] = [new AbortController(), new AbortController()];
    const handle = world.client.chat.getOrCreate("a", { signal: ofHandle.signal });
    const [one, other] = [handle.connect(undefined, { signal: ofConnection.signal }), handle.connect()];
    await settle();
    ofConnection.abort();
    expect([one.connStatus, other.connStatus]).toEqual(["idle", "connecting"]);
    ofHandle.abort();
    expect(other.connStatus).toBe("idle");
    expect(handle.connect().connStatus).toBe("idle");
  });
});

describe("send", () => {
  test("goes over HTTP, with the params of the connection", async () => {
    const world = fakeSockets();
    const connection = world.client.chat.getOrCreate("a", { getParams: () => "token" }).connect();
    await settle();
    expect(await connection.send("jobs", { v: 1 })).toBeUndefined();
    expect(await connection.send("jobs", { v: 2 }, { wait: true, timeout: 50 })).toEqual({ status: "completed" });
    expect(
      world.transport.send.mock.calls.map(([{ queue, body, wait, timeout, params }]) => [
        queue,
        body,
        wait,
        timeout,
        params,
      ]),
    ).toEqual([
      ["jobs", { v: 1 }, false, undefined, "token"],
      ["jobs", { v: 2 }, true, 50, "token"],
    ]);
    expect(world.socket.sent).toEqual([]);
  });
});

describe("looking at a connection does nothing:", () => {
  test("await gives it back; it can be logged, stringified, copied and compared", async () => {
    const { connection, socket, transport } = await connected();
    expect((await connection) === connection).toBe(true);
    expect(inspect(connection)).toBe('ActorConn {"name":"chat","key":["a"]}');
    expect(JSON.stringify({ connection })).toBe('{"connection":{"name":"chat","key":["a"]}}');
    expect([String(connection), `${connection}`]).toEqual(Array(2).fill('ActorConn {"name":"chat","key":["a"]}'));
    expect(() => ({ ...connection })).not.toThrow();
    expect(connection).toEqual(connection);
    expect([connection.then, connection[Symbol.iterator], connection.add.then]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(connection.add).toBe(connection.add);
    expect([socket.sent, transport.action.mock.calls]).toEqual([[], []]);
  });
});

describe("whatever happens to the sockets", () => {
  type Move = readonly [
    kind: "call" | "subscribe" | "unsubscribe" | "open" | "answer" | "drop" | "refuse" | "pass" | "abort" | "reconnect",
    n: number,
  ];
  const moves: fc.Arbitrary<Move[]> = fc.array(
    fc.tuple(
      fc.constantFrom(
        "call",
        "call",
        "call",
        "subscribe",
        "unsubscribe",
        "open",
        "open",
        "answer",
        "drop",
        "refuse",
        "pass",
        "pass",
        "abort",
        "reconnect",
      ),
      fc.nat(9),
    ),
    { maxLength: 60 },
  ) as fc.Arbitrary<Move[]>;

  test("each call settles once and is sent once at most, to one life of the actor, after the subscriptions", async () => {
    await fc.assert(
      fc.asyncProperty(moves, async (all) => {
        const world = fakeSockets();
        const connection = world.client.chat.getOrCreate("a").connect();
        const settled: number[] = [];
        const controllers: AbortController[] = [];
        const ends = new Map<string, () => void>();
        /** The life that each call was made for, where there was one. */
        const madeFor: (string | undefined)[] = [];
        const initialised = new Set<FakeSocket>();
        const lives = new Map<FakeSocket, string>();
        for (const [kind, n] of all) {
          await settle();
          const socket = world.sockets.at(-1);
          const isLive = socket !== undefined && connection.connStatus === "connected" && initialised.has(socket);
          if (kind === "call") {
            const id = madeFor.length;
            const controller = new AbortController();
            controllers.push(controller);
            madeFor.push(connection.actorId);
            connection.action({ name: "add", args: [id], signal: controller.signal }).then(
              () => settled.push(id),
              () => settled.push(id),
            );
          } else if (kind === "subscribe") {
            if (!ends.has(`e${n}`))
              ends.set(
                `e${n}`,
                connection.on(`e${n}`, () => {}),
              );
          } else if (kind === "unsubscribe") {
            ends.get(`e${n}`)?.();
            ends.delete(`e${n}`);
          } else if (kind === "open" && socket !== undefined && connection.connStatus === "connecting") {
            initialised.add(socket);
            lives.set(socket, `life-${n % 2}`);
            socket.init(`life-${n % 2}`, "c");
            const flushed = [...socket.sent];
            const firstCall = flushed.findIndex((line) => !line.startsWith("subscribe"));
            expect(flushed.slice(0, firstCall === -1 ? undefined : firstCall).sort()).toEqual(
              [...ends.keys()].map((event) => `subscribe ${event}`).sort(),
            );
          } else if (kind === "answer" && isLive) socket.answer(n, "answer");
          else if (kind === "drop" && isLive) socket.drop(1006);
          else if (kind === "refuse" && socket !== undefined && connection.connStatus === "connecting")
            socket.fail(null, n < 5 ? "actor" : "auth", n < 5 ? "starting" : "forbidden");
          else if (kind === "pass") await world.pass(n * 1_000);
          else if (kind === "abort") controllers[n]?.abort();
          else if (kind === "reconnect") connection.reconnect();
        }
        await settle();
        const sentTo = new Map<number, string>();
        for (const socket of world.sockets) {
          for (const line of socket.sent) {
            const id = /^(\d+) add/.exec(line)?.[1];
            if (id === undefined) continue;
            const args = Number(/\[(\d+)\]/.exec(line)?.[1]);
            expect(sentTo.has(args), `call ${args} was sent twice`).toBe(false);
            sentTo.set(args, lives.get(socket) ?? "");
          }
        }
        for (const [id, life] of sentTo) if (madeFor[id] !== undefined) expect(life).toBe(madeFor[id]);
        await connection.dispose();
        await settle();
        expect(settled.toSorted((a, b) => a - b)).toEqual([...madeFor.keys()]);
        expect(world.clock.pendingTimers).toBe(0);
      }),
      { numRuns: 300 },
    );
  });
});

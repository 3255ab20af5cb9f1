import { inspect } from "node:util";
import { loadedCodec } from "./fake-sockets.js";
import { describe, expect, test, vi } from "vitest";
import { createClientWithTransport } from "../../src/client/binding.js";
import { createClient, type ActorTransport } from "../../src/client/index.js";

/** A transport that writes down what it is asked. */
function fakeTransport() {
  const transport = {
    action: vi.fn<ActorTransport["action"]>(async () => "result"),
    send: vi.fn<ActorTransport["send"]>(async () => ({ status: "completed" })),
    resolve: vi.fn<ActorTransport["resolve"]>(async () => "id"),
    create: vi.fn<ActorTransport["create"]>(async () => "id"),
    gatewayUrl: vi.fn<ActorTransport["gatewayUrl"]>(async () => "url"),
    fetch: vi.fn<ActorTransport["fetch"]>(async () => new Response("answer")),
    pingIntervalMs: undefined,
    openSocket: vi.fn<ActorTransport["openSocket"]>(() => new Promise(() => {})),
    codec: loadedCodec("json" as const),
    place: "nowhere",
  };
  const spies = [
    transport.action,
    transport.send,
    transport.resolve,
    transport.create,
    transport.gatewayUrl,
    transport.fetch,
    transport.openSocket,
  ];
  const calls = (): number => spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
  return { client: createClientWithTransport(transport), transport, calls };
}

// oxlint-disable-next-line typescript/no-explicit-any
type Any = any;

/** A handle over HTTP, the bodies of the sends that have left, and what answers each with a status. */
function queuedSends() {
  const left: unknown[] = [];
  const answers: ((status: number) => void)[] = [];
  const fetch = (_url: string, { body }: RequestInit): Promise<Response> => {
    left.push(JSON.parse(new TextDecoder().decode(body as Uint8Array)).body);
    return new Promise((resolve) => {
      answers.push((status) =>
        resolve(Response.json({ status: "completed", group: "a", code: "b", message: "c" }, { status })),
      );
    });
  };
  return {
    handle: createClient<Any>({ endpoint: "http://host.test", encoding: "json", fetch }).chat.get("a"),
    left,
    answers,
  };
}

describe("an option that does not exist is refused by name, and nothing is sent:", () => {
  const unknown: Record<string, (client: Any) => unknown> = {
    get: (client) => client.chat.get("a", { retries: 1 }),
    getOrCreate: (client) => client.chat.getOrCreate("a", { createWithInputs: 1 }),
    getForId: (client) => client.chat.getForId("a", { createWithInput: 1 }),
    create: (client) => client.chat.create("a", { createInRegion: "weur" }),
    send: (client) => client.chat.get("a").send("q", 1, { timout: 5 }),
    connect: (client) => client.chat.get("a").connect(undefined, { callTimout: 5 }),
    webSocket: (client) => client.chat.get("a").webSocket("", [], { headers: {} }),
    resolve: (client) => client.chat.get("a").resolve({ timeout: 5 }),
    getGatewayUrl: (client) => client.chat.get("a").getGatewayUrl({ timeout: 5 }),
    action: (client) => client.chat.get("a").action({ name: "n", arg: [] }),
  };
  test.each(Object.keys(unknown))("%s", async (what) => {
    const { client, calls } = fakeTransport();
    const refused = Promise.resolve().then(() => unknown[what]?.(client));
    await expect(refused).rejects.toMatchObject({
      group: "request",
      code: "invalid",
      statusCode: 400,
      message: expect.stringContaining("has no option"),
    });
    expect(calls()).toBe(0);
  });

  test("createClient", () => {
    expect(() => createClient({ endpoint: "http://x", retries: 1 } as Any)).toThrow(
      'createClient has no option "retries"',
    );
    for (const maxInputSize of [Number.NaN, -1, Infinity, 1.5, "5"])
      expect(() => createClient({ maxInputSize } as Any)).toThrow("maxInputSize");
  });

  test("what RivetKit's client takes is taken", () => {
    const { client, calls } = fakeTransport();
    client.chat.getOrCreate("a", { poolName: "p", skipReadyWait: true, createWithInput: 1 });
    createClient({
      endpoint: "http://x",
      poolName: "p",
      disableMetadataLookup: true,
      devtools: false,
      getUpgradeWebSocket: undefined,
      gateway: { skipReadyWait: true },
    });
    expect(calls()).toBe(0);
  });
});

describe("an action", () => {
  test("is called as a method, nested as it was declared", async () => {
    const { client, transport } = fakeTransport();
    const handle = client.chat.getOrCreate(["a", "b"]);
    expect(await handle.say("hi", 2)).toBe("result");
    await handle.users.roles.add(1);
    expect(transport.action.mock.calls.map(([{ name, args }]) => [name, args])).toEqual([
      ["say", ["hi", 2]],
      ["users.roles.add", [1]],
    ]);
    expect(transport.action.mock.calls[0]?.[0].target).toMatchObject({
      name: "chat",
      key: ["a", "b"],
      mode: "getOrCreate",
    });
  });

  test("is called explicitly, whatever its name", async () => {
    const { client, transport } = fakeTransport();
    const { signal } = new AbortController();
    await client.chat.get("a").action({ name: "send", args: [1], signal });
    await client.chat.get("a").action({ name: "users.call" });
    expect(transport.action.mock.calls.map(([{ name, args, signal: passed }]) => [name, args, passed])).toEqual([
      ["send", [1], signal],
      ["users.call", [], undefined],
    ]);
  });

  test.each([["say", "hi"], [undefined], [null], [{}], [{ name: 1 }], [{ name: "say", args: "hi" }]])(
    "called with action(%j) says how it is done",
    async (...args: unknown[]) => {
      const { client, calls } = fakeTransport();
      await expect(client.chat.get("a").action(...args)).rejects.toThrow(/^Invalid action call/);
      expect(calls()).toBe(0);
    },
  );

  test("is the same function each time, so that it can be a dependency", () => {
    const handle = fakeTransport().client.chat.get("a");
    expect(handle.users.add).toBe(handle.users.add);
  });

  test("can be passed on, bound and applied", async () => {
    const { client, transport } = fakeTransport();
    const { say } = client.chat.get("a");
    await say(1);
    await say.bind(null, 2)();
    await say.call(null, 3);
    await say.apply(null, [4]);
    expect(transport.action.mock.calls.map(([{ name, args }]) => [name, ...args])).toEqual([
      ["say", 1],
      ["say", 2],
      ["say", 3],
      ["say", 4],
    ]);
  });

  test("may be called like a property of functions", async () => {
    const { client, transport } = fakeTransport();
    await client.chat.get("a").users.name();
    await client.chat.get("a").length();
    expect(transport.action.mock.calls.map(([{ name }]) => name)).toEqual(["users.name", "length"]);
  });
});

describe("looking at a proxy calls nothing:", () => {
  const proxies = {
    client: fakeTransport,
    accessor: () => {
      const fake = fakeTransport();
      return { ...fake, client: fake.client.chat };
    },
    handle: () => {
      const fake = fakeTransport();
      return { ...fake, client: fake.client.chat.getOrCreate("a") };
    },
    action: () => {
      const fake = fakeTransport();
      return { ...fake, client: fake.client.chat.getOrCreate("a").say };
    },
    "nested action": () => {
      const fake = fakeTransport();
      return { ...fake, client: fake.client.chat.getOrCreate("a").users.add };
    },
  };

  describe.each(Object.entries(proxies))("%s", (_name, make) => {
    test("await gives it back", async () => {
      const { client: proxy, calls } = make();
      expect((await proxy) === proxy).toBe(true);
      expect((await Promise.resolve(proxy)) === proxy).toBe(true);
      expect(calls()).toBe(0);
    });

    test("it can be logged, stringified, joined to a string, copied and compared", () => {
      const { client: proxy, calls } = make();
      expect(typeof inspect(proxy)).toBe("string");
      expect(() => JSON.stringify({ proxy })).not.toThrow();
      expect(typeof `${proxy}`).toBe("string");
      expect(typeof String(proxy)).toBe("string");
      expect(() => ({ ...proxy })).not.toThrow();
      expect(Object.keys(proxy).filter((key) => key === "then")).toEqual([]);
      expect(proxy == "x").toBe(false);
      expect(proxy).toEqual(proxy);
      expect(proxy instanceof Promise).toBe(false);
      expect(calls()).toBe(0);
    });

    test("inherited names and symbols are not actions", () => {
      const { client: proxy, calls } = make();
      for (const name of [
        "constructor",
        "__proto__",
        "hasOwnProperty",
        "isPrototypeOf",
        "toString",
        "valueOf",
        "toLocaleString",
      ]) {
        const own: unknown = proxy[name];
        expect(
          own === undefined ||
            own === Object.prototype ||
            own === Object ||
            own === Function.prototype ||
            typeof own === "function",
          name,
        ).toBe(true);
        if (typeof own === "function" && name !== "constructor") own.call(proxy, "x", () => 1);
      }
      expect(proxy.hasOwnProperty("nothing")).toBe(false);
      expect([proxy.then, proxy[Symbol.iterator], proxy[Symbol.asyncIterator], proxy[Symbol.toPrimitive]]).toEqual([
        undefined,
        undefined,
        undefined,
        undefined,
      ]);
      expect(calls()).toBe(0);
    });
  });

  test("a handle says which actor it means", () => {
    const { client } = fakeTransport();
    const handle = client.chat.getOrCreate(["a", "b"]);
    expect(JSON.stringify({ handle })).toBe('{"handle":{"name":"chat","key":["a","b"]}}');
    expect(inspect(handle)).toBe('ActorHandle {"name":"chat","key":["a","b"]}');
    expect(String(client.chat.getForId("x"))).toBe('ActorHandle {"actorId":"x"}');
  });

  test("making a client, an accessor and a handle sends nothing", () => {
    const { client, calls } = fakeTransport();
    client.chat.get();
    client.chat.getOrCreate();
    client.chat.getForId("x");
    expect(calls()).toBe(0);
  });
});

describe("a client", () => {
  test("takes the actor's name as an argument too, which reaches names that it has itself", async () => {
    const { client, transport } = fakeTransport();
    await client.getOrCreate("constructor", "k").act();
    await client.get("get").act();
    await client.create("dispose", ["k"], { input: 1, region: "weur" });
    expect(transport.action.mock.calls.map(([{ target }]) => target)).toMatchObject([
      { name: "constructor", key: ["k"] },
      { name: "get", key: [] },
    ]);
    expect(transport.create.mock.calls[0]?.[0]).toMatchObject({
      name: "dispose",
      key: ["k"],
      input: 1,
      region: "weur",
    });
  });

  test.each([
    [undefined, []],
    ["a", ["a"]],
    ["", [""]],
    [[], []],
    [
      ["a", "b"],
      ["a", "b"],
    ],
  ])("takes the key %j as %j", async (key, parts) => {
    const { client, transport } = fakeTransport();
    await client.chat.get(key).resolve();
    expect(transport.resolve.mock.calls[0]?.[0].target).toMatchObject({ key: parts });
  });

  test.each([[1], [{}], [[1]], [null]])("refuses the key %j at once", (key) => {
    expect(() => fakeTransport().client.chat.get(key)).toThrow(
      expect.objectContaining({ group: "actor", code: "invalid_key" }),
    );
  });

  test("keeps its own copy of a key", async () => {
    const { client, transport } = fakeTransport();
    const key = ["a"];
    const handle = client.chat.get(key);
    key.push("b");
    await handle.resolve();
    expect(transport.resolve.mock.calls[0]?.[0].target).toMatchObject({ key: ["a"] });
  });

  test("disposes", async () => {
    expect(await createClient().dispose()).toBeUndefined();
  });
});

describe("send", () => {
  test("resolves undefined, or with wait to the completion", async () => {
    const { client, transport } = fakeTransport();
    transport.send
      .mockResolvedValueOnce({ status: "completed" })
      .mockResolvedValueOnce({ status: "completed", response: { ok: 1 } });
    const handle = client.chat.get("a");
    expect(await handle.send("jobs", { v: 1 })).toBeUndefined();
    expect(await handle.send("jobs", { v: 2 }, { wait: true, timeout: 50 })).toEqual({
      status: "completed",
      response: { ok: 1 },
    });
    expect(transport.send.mock.calls.map(([{ queue, body, wait, timeout }]) => [queue, body, wait, timeout])).toEqual([
      ["jobs", { v: 1 }, false, undefined],
      ["jobs", { v: 2 }, true, 50],
    ]);
  });

  test.each([NaN, Infinity, -Infinity, 1e300, 86_400_001, "50" as unknown as number])(
    "with a timeout of %s sends nothing",
    async (timeout) => {
      const { client, transport } = fakeTransport();
      await expect(client.chat.get("a").send("jobs", 1, { wait: true, timeout })).rejects.toMatchObject({
        group: "request",
        code: "invalid",
        statusCode: 400,
      });
      expect(transport.send).not.toHaveBeenCalled();
    },
  );

  test("with a negative timeout is a poll", async () => {
    const { client, transport } = fakeTransport();
    transport.send.mockResolvedValue({ status: "timedOut" });
    await client.chat.get("a").send("jobs", 1, { wait: true, timeout: -5 });
    expect(transport.send.mock.calls[0]?.[0]).toMatchObject({ timeout: 0 });
  });

  test("stores messages in the order in which they are sent, also after one that failed", async () => {
    const { handle, left, answers } = queuedSends();
    const sends = [0, 1, 2, 3].map((body) => handle.send("jobs", body).catch(() => "failed"));
    for (let sent = 0; sent < 4; sent += 1) {
      await vi.waitFor(() => expect(left).toHaveLength(sent + 1));
      answers[sent]?.(sent === 0 ? 500 : 200);
    }
    expect(await Promise.all(sends)).toEqual(["failed", undefined, undefined, undefined]);
    expect(left).toEqual([0, 1, 2, 3]);
  });

  test("aborted while it waits for its turn sends nothing, and lets the next one keep its place", async () => {
    const { handle, left, answers } = queuedSends();
    const controller = new AbortController();
    const first = handle.send("jobs", 1);
    const second = handle.send("jobs", 2, { signal: controller.signal }).catch((error: unknown) => error);
    const third = handle.send("jobs", 3);
    controller.abort("enough");
    expect(await second).toBe("enough");
    expect(left).toEqual([1]);
    answers[0]?.(200);
    await first;
    await vi.waitFor(() => expect(left).toEqual([1, 3]));
    answers[1]?.(200);
    await third;
  });

  test("sends what it was called with, whatever its caller does to it while it waits for its turn", async () => {
    const { handle, left, answers } = queuedSends();
    const body = { n: 0 };
    const sends = [1, 2, 3].map((n) => {
      body.n = n;
      return handle.send("jobs", body);
    });
    body.n = 4;
    for (let sent = 0; sent < 3; sent += 1) {
      await vi.waitFor(() => expect(left).toHaveLength(sent + 1));
      answers[sent]?.(200);
    }
    await Promise.all(sends);
    expect(left).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  test("that waits for its completion does not hold up the next one", async () => {
    const { client, transport } = fakeTransport();
    transport.send.mockImplementation(({ wait }) =>
      wait ? new Promise(() => {}) : Promise.resolve({ status: "completed" }),
    );
    const handle = client.chat.get("a");
    void handle.send("jobs", 1, { wait: true });
    expect(await handle.send("jobs", 2)).toBeUndefined();
  });
});

test("a handle's signal and a call's are both heard", async () => {
  const { client, transport } = fakeTransport();
  const [ofHandle, ofCall] = [new AbortController(), new AbortController()];
  const handle = client.chat.get("a", { signal: ofHandle.signal });
  await handle.action({ name: "x", signal: ofCall.signal });
  await handle.action({ name: "x" });
  const [first, second] = transport.action.mock.calls.map(([{ signal }]) => signal);
  expect(second).toBe(ofHandle.signal);
  ofCall.abort();
  expect([first?.aborted, second?.aborted]).toEqual([true, false]);
  ofHandle.abort();
  expect(second?.aborted).toBe(true);
});

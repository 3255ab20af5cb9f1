// The client, through a router, to an object: over HTTP and over the binding, which must be the same to a caller.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createBindingTransport, createClientWithTransport } from "../../src/client/binding.js";
import { createClient, type ClientConfig, type ClientFor } from "../../src/client/index.js";
import { ActorError, decodeValue, formatActorId, objectName } from "../../src/protocol/index.js";
import { createActorCaller, createMessageSender, createRouter, type RouterOptions } from "../../src/router/index.js";
import { FakeObjects, fail, GENERATION, succeed, type Answer } from "./fake-objects.js";

const NAMES = ["counter", "chat"];

/** An object that knows who exists: enough of an actor to tell get, getOrCreate and create apart. */
function world(): { objects: FakeObjects; existing: Set<string> } {
  const existing = new Set<string>();
  const objects = new FakeObjects();
  const answer: Answer = ({ address, creation, operation }, object) => {
    const actorId = formatActorId(objects.idOf(object), GENERATION);
    const isMissing = !existing.has(object) || (address.generation !== undefined && address.generation !== GENERATION);
    if (isMissing && (creation.mode === "get" || address.generation !== undefined))
      return fail("actor", "not_found", 404);
    if (!isMissing && creation.mode === "create")
      return fail("actor", "duplicate_key", 409, { existing_actor_id: actorId });
    existing.add(object);
    if (operation.kind !== "action") return succeed(undefined, { actorId, created: isMissing });
    if (operation.name === "input")
      return succeed(creation.mode !== "get" && creation.input ? decodeValue(creation.input) : undefined, { actorId });
    if (operation.name === "fail") return fail("user", "sold_out", 400, { at: new Date(1), left: [0n] });
    if (operation.name.startsWith("users.")) return succeed([operation.name, decodeValue(operation.args)], { actorId });
    return operation.name === "echo"
      ? succeed((decodeValue(operation.args) as unknown[])[0], { actorId })
      : fail("actor", "action_not_found", 404);
  };
  objects.answer = answer;
  return { objects, existing };
}

function httpClient(objects: FakeObjects, config: ClientConfig = {}, options: Partial<RouterOptions> = {}) {
  const router = createRouter({ actorNames: NAMES, sleep: async () => {}, ...options });
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const response = await router(new Request(url, init), objects);
    return response ?? new Response("not here", { status: 404 });
  };
  return createClient<any>({ fetch, ...config });
}

function bindingClient(objects: FakeObjects) {
  const call = createActorCaller(objects, { actorNames: NAMES, sleep: async () => {} });
  return createClientWithTransport(
    createBindingTransport({
      call,
      send: createMessageSender(call, () => Promise.reject(new Error("no sockets here")), { sleep: async () => {} }),
      openSocket: () => Promise.reject(new Error("no sockets here")),
      fetch: async () => new Response(),
    }),
  );
}

const WAYS: [string, (objects: FakeObjects) => ClientFor<any>][] = [
  ["HTTP with json", (objects) => httpClient(objects, { encoding: "json" })],
  ["HTTP with cbor, the default", (objects) => httpClient(objects)],
  ["HTTP with bare", (objects) => httpClient(objects, { encoding: "bare" })],
  [
    "HTTP below a base path",
    (objects) => httpClient(objects, { endpoint: "http://example.test/api/" }, { basePath: "/api" }),
  ],
  ["the binding", bindingClient],
];

describe.each(WAYS)("over %s", (_way, connect) => {
  test("every kind of value comes back as itself, and as another object", async () => {
    const value = {
      date: new Date(5),
      map: new Map<unknown, unknown>([[{ a: 1 }, undefined]]),
      set: new Set(["x"]),
      big: 10n,
      bytes: new Uint8Array([1, 2]),
      floats: new Float64Array([0.5]),
      nothing: undefined,
      nan: NaN,
      zero: -0,
      tagged: ["$x", 1],
      expression: /a/g,
      list: [undefined, null],
      ["__proto__"]: "data",
    };
    const echoed = (await connect(world().objects).counter.getOrCreate("a").echo(value)) as typeof value;
    expect(echoed).toEqual(value);
    expect(echoed.map).not.toBe(value.map);
    expect(Object.is(echoed.zero, -0)).toBe(true);
  });

  test.each([[undefined], [null], [["$x", 1]], [""]])("the result %j comes back", async (value) => {
    expect(await connect(world().objects).counter.getOrCreate("a").echo(value)).toEqual(value);
  });

  test("arguments that look like a tag are arguments", async () => {
    expect(await connect(world().objects).counter.getOrCreate("a").users.add("$Set", [1])).toEqual([
      "users.add",
      ["$Set", [1]],
    ]);
  });

  test("keys of any text reach their own object", async () => {
    const { objects } = world();
    const client = connect(objects);
    const part = fc.oneof(
      fc.string({ unit: "binary", maxLength: 6 }),
      fc.constantFrom("", ",", "/", "\\", "a,b", "é\n", "%2C", "+"),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 4 }), async (key) => {
        await client.counter.getOrCreate(key).echo(1);
        expect(objects.last.object).toBe(objectName("counter", key));
        await client.counter.getOrCreate(key).resolve();
        expect(objects.last.object).toBe(objectName("counter", key));
      }),
      { numRuns: 100 },
    );
  });

  test("get finds what exists, and nothing else", async () => {
    const { objects, existing } = world();
    const client = connect(objects);
    await expect(client.counter.get("a").echo(1)).rejects.toMatchObject({
      group: "actor",
      code: "not_found",
      statusCode: 404,
    });
    await expect(client.counter.get("a").resolve()).rejects.toMatchObject({
      group: "actor",
      code: "not_found",
      statusCode: 404,
    });
    expect(existing.size).toBe(0);
    const id = await client.counter.getOrCreate("a").resolve();
    expect(await client.counter.get("a").resolve()).toBe(id);
    expect(await client.counter.getForId(id).echo(2)).toBe(2);
    expect(await client.getForId("counter", id).resolve()).toBe(id);
  });

  test("create makes a handle of the new actor, and refuses a key that is taken", async () => {
    const { objects, existing } = world();
    const client = connect(objects);
    const handle = await client.counter.create(["a", "b"], { input: { n: 1n } });
    expect([...existing]).toEqual(['["counter","a","b"]']);
    const { creation } = objects.last.envelope;
    expect(creation.mode === "create" && decodeValue(creation.input ?? new Uint8Array())).toEqual({ n: 1n });
    expect(await handle.echo(3)).toBe(3);
    const failure = await client.create("counter", ["a", "b"]).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      group: "actor",
      code: "duplicate_key",
      statusCode: 409,
      metadata: { existing_actor_id: await handle.resolve() },
    });
  });

  test("an id of nothing is not found, and what is no id is refused", async () => {
    const client = connect(world().objects);
    await expect(client.counter.getForId(formatActorId("f".repeat(64), GENERATION)).echo(1)).rejects.toMatchObject({
      code: "not_found",
      statusCode: 404,
    });
    await expect(client.counter.getForId("nonsense").echo(1)).rejects.toMatchObject({
      group: "actor",
      code: "invalid_id",
      statusCode: 400,
    });
  });

  test("input and region go with getOrCreate", async () => {
    const { objects } = world();
    const input = { at: new Date(9), like: ["$x", 1] };
    expect(
      await connect(objects).counter.getOrCreate("a", { createWithInput: input, createInRegion: "weur" }).input(),
    ).toEqual(input);
    expect(objects.last.locationHint).toBe("weur");
  });

  test("params go with every call", async () => {
    const { objects } = world();
    await connect(objects)
      .counter.getOrCreate("a", { params: { user: "é😀", n: 1n } })
      .echo(1);
    expect(decodeValue(objects.last.envelope.params ?? new Uint8Array())).toEqual({ user: "é😀", n: 1n });
  });

  test("an actor's error keeps group, code, message, status and metadata", async () => {
    const failure = await connect(world().objects)
      .counter.getOrCreate("a")
      .fail()
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ActorError);
    expect(failure).toMatchObject({
      group: "user",
      code: "sold_out",
      message: "it is sold_out",
      statusCode: 400,
      metadata: { at: new Date(1), left: [0n] },
    });
  });

  test("an unknown actor is named, and known ones are not", async () => {
    const failure = (await connect(world().objects)
      .nobody.getOrCreate()
      .echo(1)
      .catch((error: unknown) => error)) as ActorError;
    expect(failure).toMatchObject({ group: "actor", code: "not_registered", statusCode: 404 });
    expect(failure.message).toContain("nobody");
    expect(failure.message).not.toContain("counter");
  });

  test("half a surrogate pair in a key or a name resolves to nobody's id", async () => {
    const client = connect(world().objects);
    for (const [name, key] of [
      ["counter", ["a", "\ud800"]],
      ["counter", "\udfff"],
      ["count\ud800", "a"],
    ] as const) {
      await expect((async () => client.get(name as "counter", key).resolve())()).rejects.toMatchObject({
        group: "actor",
        code: name === "counter" ? "invalid_key" : "invalid_name",
        statusCode: 400,
      });
    }
    await expect((async () => client.getForId("counter", "x\ud800").echo(1))()).rejects.toMatchObject({
      group: "actor",
      code: "invalid_id",
    });
  });

  test.each([
    ["k".repeat(129), "key_too_large"],
    ["\ud800", "invalid_key"],
  ])("a key that is none is refused", async (key, code) => {
    await expect((async () => connect(world().objects).counter.getOrCreate(key).echo(1))()).rejects.toMatchObject({
      group: "actor",
      code,
      statusCode: 400,
    });
  });

  test("what cannot be sent is refused before anything leaves", async () => {
    const { objects } = world();
    class Custom {}
    await expect(connect(objects).counter.getOrCreate("a").echo(new Custom())).rejects.toMatchObject({
      group: "value",
      code: "not_serializable",
    });
    expect(objects.calls).toEqual([]);
  });

  test("an internal error is masked, the same everywhere", async () => {
    const objects = new FakeObjects(() => Promise.reject(new Error("a secret")));
    await expect(connect(objects).counter.getOrCreate("a").echo(1)).rejects.toMatchObject({
      group: "rivetkit",
      code: "internal_error",
      message: "An internal error occurred",
      statusCode: 500,
    });
  });

  test("a reset during an action is not repeated", async () => {
    const objects = new FakeObjects(() => Promise.reject(Object.assign(new Error("reset"), { retryable: true })));
    await expect(connect(objects).counter.getOrCreate("a").echo(1)).rejects.toMatchObject({
      group: "actor",
      code: "restarting",
      statusCode: 503,
    });
    expect(objects.calls).toHaveLength(1);
  });

  test("a start in progress is waited for", async () => {
    let tries = 0;
    const objects = new FakeObjects(() =>
      ++tries < 3 ? fail("actor", "starting", 503, { retryable: true }) : succeed("up"),
    );
    expect(await connect(objects).counter.getOrCreate("a").echo(1)).toBe("up");
  });
});

test("tokens travel in headers, never in a URL, and open nothing for the actor to see", async () => {
  const { objects } = world();
  const urls: string[] = [];
  const router = createRouter({ actorNames: NAMES, namespace: "prod", token: "hush" });
  const client = createClient<any>({
    endpoint: "https://prod:hush@example.test",
    fetch: async (url, init) => {
      urls.push(url);
      return (await router(new Request(url, init), objects)) ?? new Response();
    },
  });
  const handle = client.counter.getOrCreate("a");
  await handle.echo(1);
  await handle.getGatewayUrl();
  expect(urls).toHaveLength(2);
  expect(urls.join()).not.toContain("hush");
  expect(JSON.stringify(objects.calls)).not.toContain("hush");
});

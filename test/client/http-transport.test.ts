import { describe, expect, test, vi } from "vitest";
import { ActorClientError, createClient, MalformedResponseMessage } from "../../src/client/index.js";
import { resolveConfig } from "../../src/client/internal.js";
import { ActorError, decodeTaggedCbor, parseBase64, wireCodec } from "../../src/protocol/index.js";
import { clientOf, errorAnswer } from "./fake-fetch.js";

const ID = `${"a".repeat(64)}-0011223344556677`;
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "no error",
    (error: unknown) => error,
  );

describe("a request", () => {
  test("of an action names the actor unambiguously and nothing twice", async () => {
    const { client, sent } = clientOf(() => Response.json({ output: 5 }));
    expect(await client.counter.getOrCreate(["a,b", "c/d"]).increment(3)).toBe(5);
    const [{ url, init, body }] = sent as [(typeof sent)[0]];
    expect(url.origin + url.pathname).toBe("http://localhost:6420/gateway/counter/action/increment");
    expect([...url.searchParams]).toEqual([
      ["rvt-namespace", "default"],
      ["rvt-method", "getOrCreate"],
      ["rvt-key-json", '["a,b","c/d"]'],
    ]);
    expect([init.method, body]).toEqual(["POST", '{"args":[3]}']);
    expect(init.headers).toEqual({
      "content-type": "application/json",
      "x-rivet-encoding": "json",
      "x-perdure-json": "1",
    });
  });

  test("carries what is configured", async () => {
    const { client, sent } = clientOf(undefined, {
      endpoint: "https://host.test/base/",
      namespace: "ns",
      token: "hush",
      poolName: "pool",
      headers: { "X-Custom": "1", "Content-Type": "wrong" },
      gateway: { skipReadyWait: true },
    });
    await client.counter.getOrCreate("a", { createInRegion: "weur", createWithInput: 5, params: { t: 1 } }).x();
    await client.counter.get("a", { params: "é\n" }).x();
    const [first, second] = sent;
    expect(first?.url.href.startsWith("https://host.test/base/gateway/counter/action/x?")).toBe(true);
    expect(Object.fromEntries(first?.url.searchParams ?? [])).toEqual({
      "rvt-namespace": "ns",
      "rvt-method": "getOrCreate",
      "rvt-key-json": '["a"]',
      "rvt-runner": "pool",
      "rvt-region": "weur",
      "rvt-input": "BQ",
      "rvt-skip-ready-wait": "true",
    });
    expect(first?.init.headers).toMatchObject({
      "x-custom": "1",
      "content-type": "application/json",
      "x-rivet-token": "hush",
      "x-rivet-conn-params": '{"t":1}',
    });
    expect(first?.url.href).not.toContain("hush");
    expect(Object.fromEntries(second?.url.searchParams ?? [])).toEqual({
      "rvt-namespace": "ns",
      "rvt-method": "get",
      "rvt-key-json": '["a"]',
      "rvt-skip-ready-wait": "true",
    });
    expect(second?.init.headers).toMatchObject({ "x-rivet-conn-params": '"\\u00e9\\n"' });
  });

  test("by id needs no query", async () => {
    const { client, sent } = clientOf();
    await client.counter.getForId(ID).x();
    expect(sent[0]?.url.href).toBe(`http://localhost:6420/gateway/${ID}/action/x`);
  });

  test.each(["users.add", "a b/c", "é", "?#&", "", "@"])("of the action %j carries it in the path", async (name) => {
    const { client, sent } = clientOf();
    await client.counter.get("a").action({ name });
    expect(sent[0]?.url.pathname).toBe(`/gateway/counter/action/${encodeURIComponent(name)}`);
  });

  test.each([
    ["counter", ".."],
    ["counter", "."],
    ["counter", "\ud800"],
    ["..", "x"],
    ["\udfff", "x"],
  ])("of %j.%j is refused, since no URL carries it", async (actor, name) => {
    const { client, sent } = clientOf();
    expect(await failureOf(client.get(actor).action({ name }))).toMatchObject({
      group: "client",
      code: "invalid_name",
    });
    expect(sent).toEqual([]);
  });

  test("of a message is the transcript's", async () => {
    const answers = [{ status: "completed" }, { status: "completed", response: { ok: 1 } }, { status: "timedOut" }];
    const { client, sent } = clientOf(() => Response.json(answers.shift()));
    const handle = client.counter.get("a");
    expect(await handle.send("jobs", { v: 1 })).toBeUndefined();
    expect(await handle.send("jobs", { v: 1 }, { wait: true, timeout: 50 })).toEqual({
      status: "completed",
      response: { ok: 1 },
    });
    expect(await handle.send("jobs", { v: 1 }, { wait: true })).toEqual({ status: "timedOut" });
    expect(sent[0]?.url.pathname).toBe("/gateway/counter/queue/jobs");
    expect(sent.slice(0, 2).map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      { body: { v: 1 }, name: "jobs", wait: false },
      { body: { v: 1 }, name: "jobs", wait: true, timeout: 50 },
    ]);
  });

  test("to resolve or create is REST, with the key escaped and a bearer token", async () => {
    const { client, sent } = clientOf(
      ({ init }) => Response.json(init.method === "GET" ? { actors: [{ actor_id: ID }] } : { actor: { actor_id: ID } }),
      { token: "hush" },
    );
    const key = ["a,b", "c/d", "", "é"];
    expect(await client.chat.get(key).resolve()).toBe(ID);
    expect(await client.chat.getOrCreate(key, { createWithInput: { n: 1 } }).resolve()).toBe(ID);
    expect(await (await client.chat.create(key, { region: "weur" })).resolve()).toBe(ID);
    expect(await client.chat.getForId(ID).resolve()).toBe(ID);
    expect(await client.chat.getForId(ID).getGatewayUrl()).toBe(`http://localhost:6420/gateway/${ID}`);
    expect(sent.map(({ init, url }) => `${init.method} ${url.pathname}`)).toEqual([
      "GET /actors",
      "PUT /actors",
      "POST /actors",
    ]);
    expect(Object.fromEntries(sent[0]?.url.searchParams ?? [])).toEqual({
      namespace: "default",
      name: "chat",
      key: "a,b/c\\/d/\\0/é",
    });
    const put = JSON.parse(sent[1]?.body ?? "") as { input: string };
    expect(put).toMatchObject({
      name: "chat",
      key: "a,b/c\\/d/\\0/é",
      runner_name_selector: "default",
      crash_policy: "sleep",
    });
    expect(decodeTaggedCbor(parseBase64(put.input))).toEqual({ n: 1 });
    expect(JSON.parse(sent[2]?.body ?? "")).toMatchObject({ datacenter: "weur" });
    expect(sent.map(({ init }) => new Headers(init.headers).get("authorization"))).toEqual(
      Array(3).fill("Bearer hush"),
    );
    expect(sent.map(({ url }) => url.href).join()).not.toContain("hush");
  });

  test("with more input than a URL should carry is refused; the limit can be set, and create has none", async () => {
    const { client, sent } = clientOf(({ init }) =>
      Response.json(init.method === "POST" ? { output: 1, actor: { actor_id: ID } } : { actor: { actor_id: ID } }),
    );
    const createWithInput = "x".repeat(4096);
    expect(await failureOf(client.counter.getOrCreate("a", { createWithInput }).x())).toMatchObject({
      group: "client",
      code: "input_too_large",
      statusCode: 413,
      metadata: { sizeBytes: 4099, limitBytes: 4096 },
    });
    expect(
      await failureOf(client.counter.getOrCreate("a", { createWithInput }).fetch("/")),
      "a raw request",
    ).toMatchObject({ code: "input_too_large" });
    expect(sent).toEqual([]);
    expect(await client.counter.getOrCreate("a", { createWithInput }).resolve()).toBe(ID);
    await client.counter.create("a", { input: createWithInput });
    const large = clientOf(undefined, { maxInputSize: 5000 });
    await large.client.counter.getOrCreate("a", { createWithInput }).x();
    expect(large.sent).toHaveLength(1);
  });

  test("goes to the global fetch as it is at that time", async () => {
    const fetch = vi.spyOn(globalThis, "fetch").mockImplementation(async () => Response.json({ output: 7 }));
    try {
      expect(await createClient<any>({ encoding: "json" }).counter.get("a").x()).toBe(7);
      expect(fetch.mock.calls[0]?.[0]).toContain("http://localhost:6420/gateway/counter/");
    } finally {
      fetch.mockRestore();
    }
  });
});

describe("an endpoint", () => {
  test.each([
    ["https://ns:to%3Aken@host.test/p/", {}, "https://host.test/p", "ns", "to:ken"],
    ["http://ns@host.test", {}, "http://host.test", "ns", undefined],
    ["http://host.test:1/", { namespace: "n", token: "t" }, "http://host.test:1", "n", "t"],
  ])("%s with %j is used", async (endpoint, config, base, namespace, token) => {
    const { client, sent } = clientOf(undefined, { endpoint, ...config });
    await client.counter.get("a").x();
    expect(sent[0]?.url.href.startsWith(`${base}/gateway/counter/action/x?`)).toBe(true);
    expect(sent[0]?.url.searchParams.get("rvt-namespace")).toBe(namespace);
    expect(new Headers(sent[0]?.init.headers).get("x-rivet-token") ?? undefined).toBe(token);
  });

  test.each([
    ["localhost:6420", {}],
    ["nonsense", {}],
    ["", {}],
    ["ws://host", {}],
    ["http://host?x=1", {}],
    ["http://host#x", {}],
    ["http://:hush@host", {}],
    ["http://%ff@host", {}],
    ["http://ns@host", { namespace: "ns" }],
    ["http://ns:hush@host", { token: "hush" }],
  ])("%s with %j is refused without showing secrets", (endpoint, config) => {
    const make = (): unknown => createClient<any>({ endpoint, ...config });
    expect(make).toThrow(ActorClientError);
    expect(make).toThrow(
      expect.objectContaining({
        group: "client",
        code: "invalid_endpoint",
        message: expect.not.stringContaining("hush"),
      }),
    );
  });

  test("may be given alone", () => {
    expect(() => createClient<any>("http://host.test")).not.toThrow();
  });
});

test("the encoding is cbor unless another is asked for", async () => {
  const answer = wireCodec("cbor").actionResponse.encode({ output: new Date(5) }, { extended: true });
  const { client, sent } = clientOf(() => new Response(answer), { encoding: resolveConfig(undefined).encoding });
  expect(await client.counter.get("a").x(1n)).toEqual(new Date(5));
  expect(new Headers(sent[0]?.init.headers).get("x-rivet-encoding")).toBe("cbor");
  expect(wireCodec("cbor").actionRequest.decode(sent[0]?.init.body as Uint8Array)).toEqual({ args: [1n] });
});

test("an encoding that is none is refused", () => {
  expect(() => createClient<any>({ encoding: "xml" as "json" })).toThrow(
    expect.objectContaining({ code: "invalid_encoding" }),
  );
});

describe("an answer", () => {
  test("with an error is that error", async () => {
    const actor = { actorId: ID, generation: 1, key: "a" };
    const body = { group: "user", code: "bad", message: "m", metadata: { left: ["$BigInt", "3"] }, actor };
    const failure = await failureOf(
      clientOf(() => Response.json(body, { status: 400 }))
        .client.counter.get("a")
        .x(),
    );
    expect(failure).toBeInstanceOf(ActorError);
    expect(failure).toMatchObject({
      group: "user",
      code: "bad",
      message: "m",
      statusCode: 400,
      metadata: { left: 3n },
      actor,
    });
  });

  test("of an unknown code has the status of the answer", async () => {
    expect(
      await failureOf(
        clientOf(() => errorAnswer(418, "new", "teapot"))
          .client.counter.get("a")
          .x(),
      ),
    ).toMatchObject({ group: "new", code: "teapot", statusCode: 418 });
  });

  test.each<[string, () => Response]>([
    ["HTML", () => new Response("<html>", { status: 200 })],
    ["HTML of an error", () => new Response("<html>", { status: 502 })],
    ["nothing", () => new Response(null, { status: 200 })],
    ["a list", () => Response.json([1])],
    ["JSON of another API's error", () => Response.json({ error: "no" }, { status: 404 })],
    ["a tag nobody knows", () => Response.json({ output: ["$Unknown", 1] })],
  ])("of %s is client/malformed_response", async (_what, respond) => {
    const { client, sent } = clientOf(respond, { endpoint: "https://ns:hush@host.test" });
    const failure = (await failureOf(client.counter.get("a").x())) as MalformedResponseMessage;
    expect(failure).toBeInstanceOf(MalformedResponseMessage);
    expect(failure).toMatchObject({
      name: "MalformedResponseMessage",
      group: "client",
      code: "malformed_response",
      metadata: { endpoint: "https://host.test" },
    });
    expect(sent).toHaveLength(1);
  });

  test.each<[string, unknown]>([
    ["no actor", {}],
    ["an actor without id", { actor: {} }],
    ["a list", []],
  ])("to PUT /actors with %s is malformed", async (_what, body) => {
    expect(
      await failureOf(
        clientOf(() => Response.json(body))
          .client.counter.getOrCreate("a")
          .resolve(),
      ),
    ).toBeInstanceOf(MalformedResponseMessage);
  });

  test("that does not come is client/network_error naming the endpoint, and the call is not repeated", async () => {
    const cause = new TypeError("fetch failed");
    const { client, sent } = clientOf(() => Promise.reject(cause), { endpoint: "https://ns:hush@host.test/base" });
    const failure = (await failureOf(client.counter.get("a").x())) as ActorClientError;
    expect(failure).toBeInstanceOf(ActorClientError);
    expect(failure).toMatchObject({
      group: "client",
      code: "network_error",
      cause,
      metadata: { endpoint: "https://host.test/base" },
    });
    expect(failure.message).toContain("https://host.test/base");
    expect(failure.message).not.toContain("hush");
    expect(sent).toHaveLength(1);
  });

  test("that breaks off in the middle is client/network_error", async () => {
    const body = new ReadableStream({ start: (controller) => controller.error(new Error("reset")) });
    expect(
      await failureOf(
        clientOf(() => new Response(body))
          .client.counter.get("a")
          .x(),
      ),
    ).toMatchObject({ code: "network_error" });
  });
});

describe("repeating", () => {
  test.each(["actor/starting", "actor/stopping", "guard/service_unavailable"])(
    "happens after %s, which says that nothing ran: five tries in all",
    async (name) => {
      const [group, code] = name.split("/") as [string, string];
      const { client, sent, pauses } = clientOf(() => errorAnswer(503, group, code, { retryable: true }));
      expect(await failureOf(client.counter.get("a").x())).toMatchObject({ group, code, statusCode: 503 });
      expect(sent).toHaveLength(5);
      expect(pauses).toEqual([25, 50, 100, 200]);
    },
  );

  test("ends with the first answer", async () => {
    let tries = 0;
    const { client, sent } = clientOf(() =>
      ++tries < 3 ? errorAnswer(503, "actor", "starting", { retryable: true }) : Response.json({ output: "up" }),
    );
    expect(await client.counter.get("a").x()).toBe("up");
    expect(sent).toHaveLength(3);
  });

  test.each<[string, number, unknown]>([
    ["actor/starting", 503, null],
    ["actor/starting", 503, { retryable: false }],
    ["actor/starting", 500, { retryable: true }],
    ["actor/overloaded", 503, { retryable: true }],
    ["actor/restarting", 503, { retryable: true }],
    ["actor/not_found", 404, { retryable: true }],
    ["user/starting", 503, { retryable: true }],
  ])("does not happen after %s %i with %j", async (name, status, metadata) => {
    const [group, code] = name.split("/") as [string, string];
    const { client, sent } = clientOf(() => errorAnswer(status, group, code, metadata));
    expect(await failureOf(client.counter.get("a").x())).toMatchObject({ code });
    expect(sent).toHaveLength(1);
  });
});

describe("an abort", () => {
  test("before the call sends nothing and rejects with its reason", async () => {
    const { client, sent } = clientOf();
    const reason = new Error("changed my mind");
    expect(await failureOf(client.counter.get("a").action({ name: "x", signal: AbortSignal.abort(reason) }))).toBe(
      reason,
    );
    expect(sent).toEqual([]);
  });

  test("during the call reaches fetch and rejects with its reason", async () => {
    const controller = new AbortController();
    const { client } = clientOf(
      ({ init }) =>
        new Promise((_resolve, reject) =>
          init.signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError"))),
        ),
    );
    const call = failureOf(client.counter.get("a").action({ name: "x", signal: controller.signal }));
    await Promise.resolve();
    controller.abort("enough");
    expect(await call).toBe("enough");
  });

  test("between two tries stops them", async () => {
    const controller = new AbortController();
    const { client, sent } = clientOf(() => {
      controller.abort("enough");
      return errorAnswer(503, "actor", "starting", { retryable: true });
    });
    expect(await failureOf(client.counter.get("a").action({ name: "x", signal: controller.signal }))).toBe("enough");
    expect(sent).toHaveLength(1);
  });
});

import { describe, expect, test } from "vitest";
import { createBindingTransport, createClientWithTransport } from "../../src/client/binding.js";
import { createClient } from "../../src/client/index.js";
import { actor, setup } from "../../src/entry/index.js";
import { ActorError, encodeTaggedCbor, formatBase64Url, UserError } from "../../src/protocol/index.js";
import {
  createActorCaller,
  createMessageSender,
  createRequestSender,
  errorResponse,
  failureOf,
} from "../../src/router/index.js";
import { testWorld } from "../support/test-world.js";
import { ORIGIN, routerOver, type Send } from "./post-action.js";
import { WorldObjects } from "./world-objects.js";

// The way of a raw request through the Worker, to real actors in this process.

const seen: Request[] = [];
const registry = setup({
  use: {
    web: actor({
      createState: (_c, input: string | undefined) => ({ input: input ?? "" }),
      onRequest: async (c, request) => {
        seen.push(request);
        const { pathname, search } = new URL(request.url);
        if (pathname === "/sold-out") throw new UserError("Sold out", { code: "sold_out", metadata: { left: 0 } });
        if (pathname === "/teapot")
          throw new ActorError("user", "teapot", "I am one", { statusCode: 418, public: true });
        if (pathname === "/secret") throw new Error("the password is hunter2");
        if (pathname === "/nothing") return undefined as never;
        if (pathname === "/moved") return Response.redirect(`${ORIGIN}/elsewhere`, 302);
        if (pathname === "/echo")
          return new Response(request.body, {
            headers: { "x-perdure-answer": "mine", "access-control-allow-origin": "https://mine.example" },
          });
        if (pathname === "/params") return Response.json({ params: c.conn.params, input: c.state.input.length });
        return Response.json({
          pathname,
          search,
          url: request.url,
          method: request.method,
          headers: Object.fromEntries(request.headers),
          key: c.key,
        });
      },
    }),
    plain: actor({ state: 1 }),
  },
});

function open(options: Parameters<typeof routerOver>[1] = {}): {
  send: Send;
  world: ReturnType<typeof testWorld>;
  objects: WorldObjects;
} {
  const world = testWorld(registry);
  const objects = new WorldObjects(world);
  return { world, objects, send: routerOver(objects, { actorNames: registry.actorNames, ...options }) };
}

const QUERY = "rvt-namespace=default&rvt-method=getOrCreate&rvt-key=a";
const gateway = (path: string, query = ""): string =>
  `/gateway/web/request${path}?${query === "" ? "" : `${query}&`}${QUERY}`;

async function errorOf(response: Response): Promise<string> {
  const { group, code } = await response.json<{ group: string; code: string }>();
  return `${response.status} ${group}/${code}`;
}

/** A body that does not say how long it is. */
function streamed(...parts: string[]): { body: ReadableStream; duplex: "half" } {
  const body = new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
      controller.close();
    },
  });
  return { body, duplex: "half" };
}

describe("a raw request through the gateway", () => {
  test("reaches the actor with its method, path, query and headers, but nothing of ours", async () => {
    const { send } = open();
    const headers = {
      "x-mine": "yes",
      authorization: "Bearer of-mine",
      cookie: "a=1",
      "x-rivet-token": "hush",
      "x-rivet-conn-params": '"ann"',
      "x-rivet-encoding": "bare",
      "x-perdure-json": "1",
      "x-perdure-envelope": "AAAA",
      "x-rivet-internal-original-request-url": "https://forged.example/",
    };
    const response = await send(gateway("/a%2Fb/é/../c", "x=1&y=%20&x=2"), { method: "PATCH", headers });
    expect(response.status).toBe(200);
    const answer = await response.json<{ headers: Record<string, string> }>();
    expect(answer).toMatchObject({
      pathname: "/a%2Fb/c",
      search: "?x=1&y=%20&x=2",
      url: `${ORIGIN}/a%2Fb/c?x=1&y=%20&x=2`,
      method: "PATCH",
      key: ["a"],
    });
    expect(answer.headers).toEqual({ "x-mine": "yes", authorization: "Bearer of-mine", cookie: "a=1" });
  });

  test.each([
    ["", "/"],
    ["/", "/"],
    ["//x", "//x"],
    ["/request", "/request"],
  ])("to …/request%s is %s for the actor", async (path, pathname) => {
    expect(await (await open().send(gateway(path))).json()).toMatchObject({ pathname, search: "" });
  });

  test("may name the actor by its id, and then has a query of its own only", async () => {
    const { send } = open();
    const id = (await send(gateway("/"))).headers.get("x-rivet-actor");
    expect(await (await send(`/gateway/${id}/request/p?x=1`, { method: "DELETE" })).json()).toMatchObject({
      pathname: "/p",
      search: "?x=1",
      key: ["a"],
    });
  });

  test("streams its body through, and the answer's back", async () => {
    const response = await open().send(gateway("/echo"), { method: "POST", ...streamed("one ", "two") });
    expect(await response.text()).toBe("one two");
  });

  test("brings its params and the input of a new actor, however large that is", async () => {
    const { world } = open();
    const calls = new WorldObjects(world);
    const send = routerOver(calls, { actorNames: registry.actorNames });
    const input = formatBase64Url(encodeTaggedCbor("x".repeat(100_000)));
    const response = await send(`${gateway("/params")}&rvt-input=${input}`, {
      headers: { "x-rivet-conn-params": '{"user":"ann"}' },
    });
    expect(await response.json()).toEqual({ params: { user: "ann" }, input: 100_000 });
    expect(calls.calls, "one that creates, and the request").toBe(2);
    expect(
      await (
        await send(
          `${gateway("/params")}&rvt-input=${formatBase64Url(encodeTaggedCbor("short"))}`.replace(
            "rvt-key=a",
            "rvt-key=b",
          ),
        )
      ).json(),
    ).toMatchObject({ input: 5 });
    expect(calls.calls).toBe(3);
  });

  test("gives a redirect to the caller, and follows none", async () => {
    const response = await open().send(gateway("/moved"));
    expect([response.status, response.headers.get("location")]).toEqual([302, `${ORIGIN}/elsewhere`]);
  });

  test("is answered for the caller's page, which the actor cannot change, and under no mark of ours", async () => {
    const response = await open().send(gateway("/echo"), {
      method: "POST",
      body: "x",
      headers: { origin: "http://localhost:5173" },
    });
    expect(response.headers.get("access-control-allow-origin")).toBe("http://localhost:5173");
    expect(response.headers.get("x-rivet-actor")).toMatch(/^[0-9a-f]{64}-[0-9a-f]{16}$/);
    expect(response.headers.has("x-perdure-answer")).toBe(false);
  });

  test.each<[string, string]>([
    ["400 user/sold_out", "/sold-out"],
    ["418 user/teapot", "/teapot"],
    ["500 rivetkit/internal_error", "/secret"],
    ["500 actor/invalid_response", "/nothing"],
  ])("is answered %s for what the handler did at %s", async (error, path) => {
    const response = await open().send(gateway(path));
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await errorOf(response)).toBe(error);
  });

  test("to an actor without onRequest is a 404, and creates none", async () => {
    const { send, world } = open();
    expect(await errorOf(await send(`/gateway/plain/request/x?${QUERY}`))).toBe("404 actor/no_request_handler");
    expect(world.actors.flatMap(({ store }) => store.keys)).toEqual([]);
  });

  test.each<[string, string, RequestInit?]>([
    ["404 actor/not_found", gateway("/").replace("getOrCreate", "get")],
    ["404 actor/not_registered", gateway("/").replace("/web/", "/nobody/")],
    ["400 guard/query_invalid_params", gateway("/", "rvt-nonsense=1")],
    ["400 actor/invalid_request", gateway("/"), { headers: { "x-rivet-conn-params": "{" } }],
    ["413 request/too_large", gateway("/"), { headers: { "x-rivet-conn-params": `"${"x".repeat(5000)}"` } }],
  ])("is refused as %s: %s", async (error, path, init) => {
    seen.length = 0;
    expect(await errorOf(await open().send(path, init))).toBe(error);
    expect(seen).toEqual([]);
  });

  test("whose body announces more than 20 MiB does not reach the actor; one that announces nothing may be longer", async () => {
    const { send, objects } = open();
    const limit = 20 * 1024 * 1024;
    const announced = (bytes: number): Promise<Response> =>
      send(gateway("/echo"), { method: "POST", ...streamed("x"), headers: { "content-length": String(bytes) } });
    const refused = await announced(limit + 1);
    expect([refused.status, await refused.json()]).toMatchObject([
      413,
      { group: "guard", code: "invalid_request_body", metadata: { limitBytes: limit } },
    ]);
    expect(objects.calls).toBe(0);
    expect((await announced(limit)).status).toBe(200);
    const part = "x".repeat(1024 * 1024);
    const response = await send(gateway("/echo"), { method: "POST", ...streamed(...Array<string>(21).fill(part)) });
    let bytes = 0;
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) bytes += chunk.length;
    expect(bytes).toBe(limit + part.length);
  });

  test("of a caller who has gone is told nothing, and is no internal error", async () => {
    const log: unknown[] = [];
    const { send } = open({ log: { warn: () => {}, error: (entry) => log.push(entry) } });
    expect(await errorOf(await send(gateway("/"), { signal: AbortSignal.abort() }))).toBe(
      "503 guard/tunnel_request_aborted",
    );
    expect(log).toEqual([]);
  });
});

describe.each(["HTTP", "the binding"] as const)("fetch of a handle over %s", (way) => {
  function connect(world = testWorld(registry)): any {
    const objects = new WorldObjects(world);
    if (way === "HTTP") {
      const send = routerOver(objects, { actorNames: registry.actorNames });
      const fetch = async (url: string, init: RequestInit): Promise<Response> => {
        init.signal?.throwIfAborted();
        return send(url.slice(ORIGIN.length), init);
      };
      return createClient({ fetch });
    }
    const call = createActorCaller(objects, { actorNames: registry.actorNames });
    const sendRequest = createRequestSender(objects, new Set(registry.actorNames), call);
    const ports = { log: undefined, newErrorId: () => "error-1", expose: false };
    return createClientWithTransport(
      createBindingTransport({
        call,
        send: createMessageSender(call, () => Promise.reject(new Error("no sockets here"))),
        openSocket: () => Promise.reject(new Error("no sockets here")),
        fetch: (request) =>
          sendRequest(request).catch((error: unknown) => errorResponse(failureOf(error, ports, {}), true)),
      }),
    );
  }

  test("is what the actor's code sees, and its answer what the caller sees (A38)", async () => {
    const handle = connect().web.getOrCreate(["k"], { params: "ann", createWithInput: "input" });
    const response: Response = await handle.fetch("/a/b?x=1", {
      method: "PUT",
      headers: { "x-mine": "yes", "x-rivet-token": "of another", "X-Perdure-Envelope": "AAAA" },
      body: "text",
    });
    expect(await response.json()).toMatchObject({
      pathname: "/a/b",
      search: "?x=1",
      method: "PUT",
      key: ["k"],
      headers: { "x-mine": "yes" },
    });
    expect(
      Object.keys(seen.at(-1)?.headers ? Object.fromEntries(seen.at(-1)!.headers) : {}).filter((name) =>
        name.startsWith("x-"),
      ),
    ).toEqual(["x-mine"]);
    expect(await (await handle.fetch("/params")).json()).toEqual({ params: "ann", input: 5 });
  });

  test("streams both ways", async () => {
    const response: Response = await connect()
      .web.getOrCreate("a")
      .fetch("/echo", { method: "POST", ...streamed("one ", "two") });
    expect(await response.text()).toBe("one two");
  });

  test("resolves with errors as answers (A36, A37)", async () => {
    const client = connect();
    const codes = async (response: Promise<Response>): Promise<string> => errorOf(await response);
    expect(await codes(client.plain.getOrCreate("a").fetch("/"))).toBe("404 actor/no_request_handler");
    expect(await codes(client.web.getOrCreate("a").fetch("/nothing"))).toBe("500 actor/invalid_response");
    expect(await codes(client.web.getOrCreate("a").fetch("/sold-out"))).toBe("400 user/sold_out");
    expect(await codes(client.web.get("absent").fetch("/"))).toBe("404 actor/not_found");
    const masked: Response = await client.web.getOrCreate("a").fetch("/secret");
    expect(await masked.json()).toMatchObject({
      code: "internal_error",
      message: "An internal error occurred",
      metadata: { errorId: expect.any(String) },
    });
  });

  test("of a handle whose actor was destroyed reaches the next one (F24)", async () => {
    const world = testWorld(registry);
    const handle = connect(world).web.getOrCreate("a");
    const first = (await handle.fetch("/")).headers.get("x-rivet-actor");
    await world.actor("web", ["a"]).send({ mode: "get" }, { kind: "destroy" });
    const second: Response = await handle.fetch("/");
    expect([second.status, second.headers.get("x-rivet-actor") === first]).toEqual([200, false]);
  });

  test.runIf(way === "HTTP")("is what its gateway URL serves, too (F31)", async () => {
    const world = testWorld(registry);
    const handle = connect(world).web.getOrCreate("a");
    const url = new URL(await handle.getGatewayUrl());
    const response = await routerOver(new WorldObjects(world), { actorNames: registry.actorNames })(
      `${url.pathname}/request/p?x=1`,
    );
    expect(await response.json()).toMatchObject({ pathname: "/p", search: "?x=1", key: ["a"] });
  });

  test("that is aborted rejects with the reason", async () => {
    await expect(
      connect()
        .web.getOrCreate("a")
        .fetch("/", { signal: AbortSignal.abort("enough") }),
    ).rejects.toBe("enough");
  });
});

describe("a raw request routed by header", () => {
  const routed = async (send: Send, more: Record<string, string> = {}): Promise<Record<string, string>> => {
    const id = (await send(gateway("/").replace("rvt-key=a", "rvt-key=z"))).headers.get("x-rivet-actor") ?? "";
    return { "x-rivet-target": "actor", "x-rivet-actor": id, ...more };
  };

  test.each([
    ["/request", "/"],
    ["/request/", "/"],
    ["/request/a/b", "/a/b"],
  ])("to %s is %s for the actor, with its whole query", async (path, pathname) => {
    const { send } = open();
    const response = await send(`${path}?rvt-key=mine&x=1`, {
      method: "PUT",
      body: "x",
      headers: await routed(send, { "x-mine": "yes", "x-rivet-token": "hush", "content-type": "text/plain" }),
    });
    expect(await response.json()).toMatchObject({
      pathname,
      search: "?rvt-key=mine&x=1",
      method: "PUT",
      key: ["z"],
      headers: { "content-type": "text/plain", "x-mine": "yes" },
    });
    expect([...(seen.at(-1)?.headers.keys() ?? [])].filter((name) => name.startsWith("x-"))).toEqual(["x-mine"]);
  });

  test.each([
    "rvt-token=hush",
    "a=%20&rvt-token=hush",
    "rvt%2Dtoken=hush",
    "rvt-token=hush&rvt-token=hush",
    "rvt-token",
  ])("hides the token of a query (%s) from the actor's code", async (query) => {
    const { send } = open();
    const response = await send(`/request/a?x=1&${query}&y=rvt-token`, { headers: await routed(send) });
    const { search } = await response.json<{ search: string }>();
    expect(search).toBe(query.startsWith("a=") ? "?x=1&a=%20&y=rvt-token" : "?x=1&y=rvt-token");
  });

  test("lies below the base path", async () => {
    const { send } = open({ basePath: "/api" });
    const id = (await send(`/api${gateway("/")}`)).headers.get("x-rivet-actor") ?? "";
    const response = await send("/api/request/a?x=1", { headers: { "x-rivet-target": "actor", "x-rivet-actor": id } });
    expect(await response.json()).toMatchObject({ pathname: "/a", search: "?x=1" });
  });
});

test.each(["GET", "HEAD"])("%s with a body, which some clients send, is served without it", async (method) => {
  const { objects } = open();
  const send = createRequestSender(
    objects,
    new Set(registry.actorNames),
    createActorCaller(objects, { actorNames: registry.actorNames }),
  );
  let cancelled = 0;
  const body = new ReadableStream({ cancel: () => void (cancelled += 1) });
  const target = { name: "web", key: ["a"], creation: { mode: "getOrCreate" } } as const;
  const response = await send({
    target,
    body,
    request: {
      method,
      url: `${ORIGIN}/a`,
      headers: [
        ["content-length", "4"],
        ["x-mine", "yes"],
      ],
    },
  });
  expect([response.status, cancelled]).toEqual([200, 1]);
  if (method === "GET") expect(await response.json()).toMatchObject({ method: "GET", headers: { "x-mine": "yes" } });
  expect(seen.at(-1)?.body).toBeNull();
});

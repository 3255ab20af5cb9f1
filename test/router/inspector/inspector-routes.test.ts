import { describe, expect, it, test } from "vitest";
import {
  actor,
  objectInspector,
  recordHistory,
  setup,
  workflow,
  type AnyActorDefinition,
} from "../../../src/actor/index.js";
import { createRouter, inspectorRoutes, type InspectorOptions } from "../../../src/router/index.js";
import type { World } from "../../../src/testing/index.js";
import { testWorld } from "../../support/test-world.js";
import { FakeObjects, succeed } from "../fake-objects.js";
import { fakeSockets } from "./fake-sockets.js";
import { WorldObjects } from "../world-objects.js";

const TOKEN = "a-token-of-the-tests";
const AT = "actor=order&key=%5B%22o-1%22%5D";
/** RivetKit's routes: whatever the query says of creation, they create nothing. */
const GATEWAY = "/gateway/order/inspector";
const RVT = "rvt-namespace=default&rvt-method=getOrCreate&rvt-key=o-1";

/** Every route of the inspector. */
const ROUTES: readonly (readonly [method: string, path: string, answer: number])[] = [
  ["GET", "/me", 200],
  ["GET", "/actors", 200],
  ["DELETE", "/session", 204],
  ["GET", `/summary?${AT}`, 200],
  ["GET", `/state?${AT}`, 200],
  ["GET", `/history?${AT}&limit=10`, 200],
  ["GET", `/entry?${AT}&entry=1`, 200],
  ["GET", `/histories?${AT}`, 200],
  ["GET", `/queue?${AT}`, 200],
  ["GET", `/message?${AT}&message=1`, 404],
  ["GET", `/schedules?${AT}`, 200],
  ["GET", `/connections?${AT}`, 200],
  ["GET", `/kv?${AT}`, 200],
  ["GET", `/tables?${AT}`, 200],
  ["GET", `/rows?${AT}&table=t`, 404],
  ["GET", `/audit?${AT}`, 200],
  ["PATCH", `/state?${AT}`, 200],
  ["POST", `/queue?${AT}&queue=work`, 200],
  ["DELETE", `/queue?${AT}`, 200],
  ["DELETE", `/message?${AT}&message=1`, 404],
  ["POST", `/workflow/pause?${AT}&reason=wait`, 200],
  ["POST", `/workflow/resume?${AT}`, 200],
  ["POST", `/workflow/retry?${AT}`, 200],
  ["POST", `/workflow/recover?${AT}`, 200],
  ["POST", `/workflow/skip?${AT}&entry=9`, 404],
  ["POST", `/workflow/replay?${AT}`, 200],
  ["POST", `/workflow/replay?${AT}&dryRun=true`, 200],
  ["POST", `/workflow/cancel?${AT}`, 200],
  ["POST", `/workflow/cancel?${AT}&rollback=true`, 200],
  ["POST", `/workflow/cancel?${AT}&rollback=perhaps`, 400],
  ["GET", `/watch?${AT}`, 204],
  ["GET", `/schema?${AT}`, 200],
  ["GET", "/nothing", 404],
  ["GET", "/summary/", 404],
  ["GET", `${GATEWAY}/state?${RVT}`, 200],
  ["PATCH", `${GATEWAY}/state?${RVT}`, 200],
  ["GET", `${GATEWAY}/connections?${RVT}`, 200],
  ["GET", `${GATEWAY}/rpcs?${RVT}`, 200],
  ["POST", `${GATEWAY}/action/touch?${RVT}`, 200],
  ["GET", `${GATEWAY}/queue?${RVT}`, 200],
  ["POST", `${GATEWAY}/queue?${RVT}`, 200],
  ["DELETE", `${GATEWAY}/queue?${RVT}`, 200],
  ["GET", `${GATEWAY}/workflow-history?${RVT}`, 200],
  ["POST", `${GATEWAY}/workflow/replay?${RVT}`, 200],
  ["GET", `${GATEWAY}/traces?${RVT}`, 200],
  ["GET", `${GATEWAY}/database/schema?${RVT}`, 200],
  ["GET", `${GATEWAY}/database/rows?${RVT}&table=t`, 404],
  ["POST", `${GATEWAY}/database/execute?${RVT}`, 501],
  ["GET", `${GATEWAY}/summary?${RVT}`, 200],
  ["GET", `${GATEWAY}/connect?${RVT}`, 204],
  ["GET", `${GATEWAY}?${RVT}`, 404],
  ["GET", `${GATEWAY}/nothing?${RVT}`, 404],
  ["GET", `/gateway/nobody/inspector/nothing`, 404],
];

const definition = actor({
  state: { total: 12n },
  run: workflow(async (ctx) => ctx.step("charge", () => 7n)),
  actions: { touch: () => {} },
}) as unknown as AnyActorDefinition;

interface Call {
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
  readonly origin?: string;
}

/** A Worker with the inspector, and one order. */
async function worker(options?: InspectorOptions, more: { basePath?: string; objects?: FakeObjects } = {}) {
  const world: World = testWorld(setup({ use: { order: definition } }), { inspector: objectInspector(recordHistory) });
  await world.actor("order", ["o-1"]).call("touch");
  await world.settle();
  const objects = more.objects ?? new WorldObjects(world);
  const clock = { now: 1_000_000 };
  const router = createRouter({
    actorNames: ["order"],
    part: inspectorRoutes(options, () => clock.now),
    cors: { origins: "*" },
    newErrorId: () => "error-1",
    sockets: fakeSockets(),
    ...(more.basePath !== undefined && { basePath: more.basePath }),
  });
  const send = async (path: string, { origin = "https://shop.example", ...init }: Call = {}) => {
    const mount = (more.basePath ?? "") + (path.startsWith("/gateway/") ? "" : "/inspector/api");
    const response = await router(new Request(origin + mount + path, init), objects, { SECRET: TOKEN });
    if (!response) throw new Error(`The router left ${path} alone`);
    return response;
  };
  return { send, clock, world, router, objects };
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** Who knocks, and with what they are refused: undefined if they are not, "acts" if they may only look. */
const CALLERS: readonly (readonly [
  who: string,
  options: InspectorOptions | undefined,
  call: Call,
  refused: number | "acts" | undefined,
])[] = [
  ["no token", { token: TOKEN }, {}, 401],
  ["a wrong token", { token: TOKEN }, { headers: bearer("a-token-of-the-testt") }, 401],
  ["a longer token", { token: TOKEN }, { headers: bearer(`${TOKEN}${TOKEN}`) }, 401],
  ["the right token", { token: TOKEN }, { headers: bearer(TOKEN) }, undefined],
  ["a token that the bindings lack", { token: () => undefined }, { headers: bearer("undefined") }, 401],
  ["an empty token that the bindings lack", { token: () => "" }, { headers: { authorization: "Bearer " } }, 401],
  ["someone whom the application knows", { authorize: () => ({ name: "ada", write: true }) }, {}, undefined],
  ["a reader", { authorize: () => ({ name: "bob", write: false }) }, {}, "acts"],
  ["someone whom it refuses", { authorize: () => null }, {}, 401],
  ["someone it says nonsense of", { authorize: () => true as never }, {}, 401],
  [
    "a foreign page with the token",
    { token: TOKEN },
    { headers: { ...bearer(TOKEN), origin: "https://evil.example" } },
    403,
  ],
  ["a page that hides its origin", { token: TOKEN }, { headers: { ...bearer(TOKEN), origin: "null" } }, 403],
  ["a foreign page's image", { token: TOKEN }, { headers: { ...bearer(TOKEN), "sec-fetch-site": "cross-site" } }, 403],
  ["a page of a sister host", { token: TOKEN }, { headers: { ...bearer(TOKEN), "sec-fetch-site": "same-site" } }, 403],
  [
    "its own page",
    { token: TOKEN },
    { headers: { ...bearer(TOKEN), origin: "https://shop.example", "sec-fetch-site": "same-origin" } },
    undefined,
  ],
  ["the address bar", { token: TOKEN }, { headers: { ...bearer(TOKEN), "sec-fetch-site": "none" } }, undefined],
  [
    "this machine",
    undefined,
    { origin: "http://localhost:6420", headers: { "cf-connecting-ip": "127.0.0.1" } },
    undefined,
  ],
  [
    "this machine over IPv6",
    undefined,
    { origin: "http://[::1]:6420", headers: { "cf-connecting-ip": "::1" } },
    undefined,
  ],
  [
    "another port of this machine",
    undefined,
    { origin: "http://localhost:6420", headers: { "cf-connecting-ip": "127.0.0.1", origin: "http://localhost:3000" } },
    403,
  ],
  [
    "another port, over no origin",
    undefined,
    { origin: "http://localhost:6420", headers: { "cf-connecting-ip": "127.0.0.1", "sec-fetch-site": "same-site" } },
    403,
  ],
  [
    "this machine where there is a token",
    { token: TOKEN },
    { origin: "http://localhost:6420", headers: { "cf-connecting-ip": "127.0.0.1" } },
    401,
  ],
  [
    "this machine where the application decides",
    { authorize: () => null },
    { origin: "http://localhost:6420", headers: { "cf-connecting-ip": "127.0.0.1" } },
    401,
  ],
  ["a service binding with a URL of its choice", undefined, { origin: "http://localhost" }, 401],
  [
    "the network, by the name of this machine",
    undefined,
    { origin: "http://localhost:6420", headers: { "cf-connecting-ip": "192.168.0.9" } },
    401,
  ],
  [
    "a rebound name",
    undefined,
    { origin: "http://evil.example:6420", headers: { "cf-connecting-ip": "127.0.0.1" } },
    401,
  ],
];

/** One for every route. */
const BODY = '{"total":["$BigInt","5"],"state":{"total":["$BigInt","6"]},"name":"work","sql":"SELECT 1"}';

describe.each(CALLERS)("%s", (_who, options, call, refused) => {
  test.each(ROUTES)("at %s %s", async (method, path, answer) => {
    const { send, world } = await worker(options);
    const order = world.actor("order", ["o-1"]);
    const before = [...order.store.dump()];
    const body = method === "PATCH" || method === "POST" ? BODY : undefined;
    const isSocket = /^\/watch|\/connect\?/.test(path);
    const headers = { ...call.headers, "if-match": "*", ...(isSocket && { upgrade: "websocket" }) };
    const response = await send(path, { ...call, method, headers, ...(body && { body }) });
    const isAct = method !== "GET" && !path.startsWith("/session");
    const forbidden = refused === "acts" ? (isAct ? 403 : undefined) : refused;
    expect(response.status).toBe(forbidden ?? answer);
    // Who is refused has changed nothing, and who only looks can change nothing.
    if (response.status !== answer || !isAct) expect([...order.store.dump()]).toEqual(before);
    // A page of another origin reads nothing, whatever `cors` says.
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });
});

describe("the inspector's routes", () => {
  it("are not there without the part", async () => {
    const router = createRouter({ actorNames: ["order"] });
    const objects = new FakeObjects(() => succeed(1));
    expect((await router(new Request(`https://shop.example${GATEWAY}/state?${RVT}`), objects))?.status).toBe(404);
    for (const path of ["/inspector", "/inspector/api/me"])
      expect(await router(new Request(`https://shop.example${path}`), objects)).toBeUndefined();
    const below = createRouter({ actorNames: ["order"], basePath: "/base" });
    expect((await below(new Request("https://shop.example/base/inspector/api/me"), objects))?.status).toBe(404);
    expect(objects.calls).toEqual([]);
  });

  it("ask who it is before anything else: no object hears of the others", async () => {
    const objects = new FakeObjects(() => succeed(1));
    const { send } = await worker({ token: TOKEN }, { objects });
    for (const [method, path] of ROUTES) {
      expect((await send(path, { method })).status).toBe(401);
      expect(await (await send(path, { method })).json()).toMatchObject({ group: "inspector", code: "unauthorized" });
    }
    expect(objects.calls).toEqual([]);
  });

  it("answer in tagged JSON, and nobody keeps it", async () => {
    const { send } = await worker({ token: (env) => (env as { SECRET: string }).SECRET }, { basePath: "/base" });
    const answer = await send(`/state?${AT}`, { headers: bearer(TOKEN) });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(await answer.json()).toMatchObject({ isEnabled: true, state: { total: ["$BigInt", "12"] } });
  });

  it("know an actor by its id, too, and one whose class is gone", async () => {
    const { send, world } = await worker({ token: TOKEN });
    const { actorId } = (await (await send(`/summary?${AT}`, { headers: bearer(TOKEN) })).json()) as {
      actorId: string;
    };
    world.deploy(setup({ use: { other: definition } }));
    for (const query of [`id=${actorId}`, AT])
      expect(await (await send(`/summary?${query}`, { headers: bearer(TOKEN) })).json()).toMatchObject({
        actorId,
        isRegistered: false,
      });
  });

  it("give the history of one actor as a file, if it stands as asked", async () => {
    const { send } = await worker({ token: TOKEN });
    const get = async (query: string) => (await send(`/histories?${query}`, { headers: bearer(TOKEN) })).json();
    expect(await get(AT)).toMatchObject({ histories: [{ format: "perdure-history/1", actor: "order", key: ["o-1"] }] });
    expect(await get(`${AT}&status=completed`)).toMatchObject({ histories: [{ run: { status: "completed" } }] });
    expect(await get(`${AT}&status=failed`)).toEqual({ histories: [] });
    expect(await get("actor=order")).toMatchObject({ code: "query_invalid_params" });
  });

  test.each([
    ["/summary", 400],
    ["/summary?actor=order", 400],
    ["/summary?actor=order&key=o-1", 400],
    ["/summary?actor=order&key=%5B%22o-2%22%5D", 404],
    ["/summary?id=nonsense", 400],
    [`/watch?${AT}`, 400],
    [`/entry?${AT}`, 400],
    [`/entry?${AT}&entry=99`, 404],
    [`/history?${AT}&limit=0`, 400],
    [`/history?${AT}&limit=many`, 400],
    [`/history?${AT}&from=__proto__`, 400],
    [`/__proto__?${AT}`, 404],
    [`/constructor?${AT}`, 404],
  ])("refuse %s with %d", async (path, status) => {
    const { send } = await worker({ token: TOKEN });
    const response = await send(path, { headers: bearer(TOKEN) });
    expect([response.status, typeof ((await response.json()) as { message: unknown }).message]).toEqual([
      status,
      "string",
    ]);
  });

  test.each(["POST", "PUT", "HEAD", "OPTIONS", "DELETE"])(
    "take no %s where there is nothing to do for it",
    async (method) => {
      const { send } = await worker({ token: TOKEN });
      expect((await send(`/state?${AT}`, { method, headers: bearer(TOKEN) })).status).toBe(405);
    },
  );

  it("tell of an object of an earlier release, which has started nothing", async () => {
    const objects = new FakeObjects(() => succeed(1));
    const { send } = await worker({ token: TOKEN }, { objects });
    objects.answer = () => ({ v: 2, ok: true, actorId: "x", created: false, createdAt: 0 });
    const response = await send(`/state?${AT}`, { headers: bearer(TOKEN) });
    expect([response.status, objects.last.envelope.operation]).toMatchObject([501, { kind: "resolve" }]);
    expect(objects.last.envelope.creation).toEqual({ mode: "get" });
  });
});

describe("an act over HTTP", () => {
  const acts = async (method: string, path: string, body?: string, headers: Record<string, string> = {}) => {
    const made = await worker({ authorize: () => ({ name: "ada", write: true }) });
    const response = await made.send(path, { method, headers, ...(body !== undefined && { body }) });
    return { ...made, status: response.status, answer: (await response.json()) as Record<string, unknown> };
  };

  it("edits the state that was seen, quoted as HTTP has it, and says who", async () => {
    const { send } = await worker({ authorize: () => ({ name: "ada", write: true }) });
    const { hash } = (await (await send(`/state?${AT}`)).json()) as { hash: string };
    const edit = (tag: string, body: string) =>
      send(`/state?${AT}`, { method: "PATCH", headers: { "if-match": tag }, body });
    const edited = await edit(`"${hash}"`, '{"total":["$BigInt","5"]}');
    expect([edited.status, await edited.json()]).toEqual([200, { hash: expect.not.stringMatching(hash) as unknown }]);
    expect(await (await send(`/state?${AT}`)).json()).toMatchObject({ state: { total: ["$BigInt", "5"] } });
    const late = await edit(hash, '{"total":["$BigInt","6"]}');
    expect([late.status, await late.json()]).toMatchObject([412, { group: "inspector", code: "state_changed" }]);
    expect(await (await send(`/audit?${AT}`)).json()).toMatchObject({ items: [{ act: "setState", by: "ada" }] });
  });

  test.each([
    ["PATCH", `/state?${AT}`, "{}", {}, 400],
    ["PATCH", `/state?${AT}`, "{", { "if-match": "*" }, 400],
    ["PATCH", `/state?${AT}`, '["$BigInt","x"]', { "if-match": "*" }, 400],
    ["PATCH", `/state?${AT}`, `"${"x".repeat(2_100_000)}"`, { "if-match": "*" }, 413],
    ["PATCH", `/state?${AT}`, `${"[".repeat(290)}${"]".repeat(290)}`, { "if-match": "*" }, 400],
    ["PATCH", "/state?actor=order&key=%5B%22o-2%22%5D", "{}", { "if-match": "*" }, 404],
    ["POST", `/queue?${AT}`, "{}", {}, 400],
    ["POST", `/queue?${AT}&queue=${"x".repeat(2_000)}`, "{}", {}, 400],
    ["POST", `/queue?${AT}&queue=work`, "", {}, 400],
    ["DELETE", `/message?${AT}`, undefined, {}, 400],
    ["DELETE", `/message?${AT}&message=__proto__`, undefined, {}, 404],
    ["POST", `/workflow/replay?${AT}&entry=99`, undefined, {}, 404],
    ["GET", `/workflow/cancel?${AT}`, undefined, {}, 405],
    ["PUT", `/state?${AT}`, "{}", { "if-match": "*" }, 405],
    ["POST", `/workflow/explode?${AT}`, undefined, {}, 404],
  ] as const)("is refused: %s %.60s", async (method, path, body, headers, expected) => {
    const { status, answer, world } = await acts(method, path, body, headers);
    expect([status, typeof answer["message"]]).toEqual([expected, "string"]);
    expect([...world.actor("order", ["o-1"]).store.dump().keys()].some((key) => key.startsWith("p/"))).toBe(false);
  });
});

describe("the session of a page", () => {
  const cookieOf = (response: Response): string => response.headers.get("set-cookie")?.split(";")[0] ?? "";

  it("is given for the token, and opens the inspector until it ends", async () => {
    const { send, clock } = await worker({ token: TOKEN }, { basePath: "/base" });
    const begun = await send("/session", { method: "POST", headers: bearer(TOKEN) });
    expect(begun.status).toBe(204);
    const set = begun.headers.get("set-cookie") ?? "";
    for (const part of ["HttpOnly", "SameSite=Strict", "Secure", "Path=/base/inspector", "Max-Age=43200"])
      expect(set.split("; ")).toContain(part);
    expect(set).not.toContain(TOKEN);
    const headers = { cookie: `other=1; ${cookieOf(begun)}` };
    expect((await send("/me", { headers })).status).toBe(200);
    // A page on another port of this machine does send it.
    expect((await send("/me", { headers: { ...headers, origin: "https://shop.example:8443" } })).status).toBe(403);
    clock.now += 12 * 3_600_000;
    expect((await send("/me", { headers })).status).toBe(401);
  });

  it("has no Secure over plain http, where the browser would drop it", async () => {
    const { send } = await worker({ token: TOKEN });
    const begun = await send("/session", { method: "POST", headers: bearer(TOKEN), origin: "http://localhost:6420" });
    expect(begun.headers.get("set-cookie")).not.toContain("Secure");
  });

  it("cannot be made longer, made up, or kept when the token changes", async () => {
    const { send } = await worker({ token: TOKEN });
    const cookie = cookieOf(await send("/session", { method: "POST", headers: bearer(TOKEN) }));
    const [name = "", mac = ""] = cookie.split(".");
    const longer = `${name.replace(/\d+$/, "999999999999999")}.${mac}`;
    for (const forged of [longer, `${name}.`, `${name}.${mac}x`, "perdure_inspector=", "perdure_inspector=a.b"])
      expect([forged, (await send("/me", { headers: { cookie: forged } })).status]).toEqual([forged, 401]);
    const changed = await worker({ token: `${TOKEN}2` });
    expect((await changed.send("/me", { headers: { cookie } })).status).toBe(401);
  });

  it("is not given to whom the application knows otherwise: a reader would become a writer", async () => {
    const { send } = await worker({ token: TOKEN, authorize: () => ({ name: "bob", write: false }) });
    const response = await send("/session", { method: "POST" });
    expect([response.status, response.headers.get("set-cookie")]).toEqual([403, null]);
    expect(await response.json()).toMatchObject({ group: "inspector", code: "forbidden" });
  });

  it("does not make up for a wrong token", async () => {
    const { send } = await worker({ token: TOKEN });
    const cookie = cookieOf(await send("/session", { method: "POST", headers: bearer(TOKEN) }));
    expect((await send("/me", { headers: { cookie } })).status).toBe(200);
    expect((await send("/me", { headers: { cookie, ...bearer("guess") } })).status).toBe(401);
  });

  it("ends when it is deleted", async () => {
    const { send } = await worker({ token: TOKEN });
    const ended = await send("/session", { method: "DELETE", headers: bearer(TOKEN) });
    expect(ended.headers.get("set-cookie")).toMatch(/^perdure_inspector=; .*Max-Age=0/);
  });
});

describe("inspector()", () => {
  test.each([[{ token: "" }], [{ token: 7 }], [{ authorize: true }], [{ tokens: "x" }], ["token"]])(
    "refuses the options %j",
    (options) => {
      expect(() => inspectorRoutes(options as never)).toThrow(TypeError);
    },
  );

  it("asks authorize with the bindings, without the body, and shows who it is", async () => {
    const seen: unknown[] = [];
    const { send } = await worker({
      authorize: async (request, env) => {
        seen.push(request.headers.get("x-user"), (env as { SECRET: string }).SECRET === TOKEN);
        return { name: "a".repeat(300), write: 1 as never };
      },
    });
    expect(await (await send("/me", { headers: { "x-user": "ada" } })).json()).toEqual({
      name: "a".repeat(200),
      write: false,
    });
    expect(seen).toEqual(["ada", true]);
  });

  it("answers with what authorize throws, and lets nobody in", async () => {
    const { send } = await worker({
      authorize: () => {
        throw new Error("the directory is down");
      },
    });
    const response = await send("/me");
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("directory");
  });
});

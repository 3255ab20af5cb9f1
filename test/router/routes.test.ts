import { describe, expect, test } from "vitest";
import { decodeValue, PACKAGE_VERSION } from "../../src/protocol/index.js";
import { createRouter } from "../../src/router/index.js";
import { FakeObjects, fail, GENERATION, succeed } from "./fake-objects.js";
import { ORIGIN, routerOver } from "./post-action.js";

const NAMESPACE = "namespace=ns1";

async function errorOf(response: Response): Promise<string> {
  const { group, code } = await response.json<{ group: string; code: string }>();
  return `${response.status} ${group}/${code}`;
}

describe("paths", () => {
  const known = (path: string, basePath?: string): Promise<boolean> =>
    createRouter({ actorNames: [], ...(basePath !== undefined && { basePath }) })(
      new Request(ORIGIN + path),
      new FakeObjects(),
    ).then((response) => response !== undefined);

  test.each(["/gateway/x", "/actors", "/actors/names", "/metadata", "/health"])("%s is ours", async (path) => {
    expect(await known(path)).toBe(true);
  });

  test.each([
    "/",
    "/index.html",
    "/gatewayx",
    "/actors.html",
    "/health/deep",
    "/metadatas",
    "/api/actors",
    "//gateway/x",
  ])("%s is not ours", async (path) => {
    expect(await known(path)).toBe(false);
  });

  test.each([["/api/rivet"], ["api/rivet/"]])(
    "with base path %s only what lies below it is ours, and all of that",
    async (basePath) => {
      expect(
        await Promise.all(
          ["/api/rivet", "/api/rivet/", "/api/rivet/x", "/api/rivet/gateway/x"].map((path) => known(path, basePath)),
        ),
      ).toEqual([true, true, true, true]);
      expect(
        await Promise.all(["/", "/gateway/x", "/actors", "/api/rivetx", "/api"].map((path) => known(path, basePath))),
      ).toEqual([false, false, false, false, false]);
    },
  );

  test("below a base path serve the same, and a banner", async () => {
    const objects = new FakeObjects(() => succeed(1));
    const send = routerOver(objects, { basePath: "/api/rivet" });
    const path = "/api/rivet/gateway/counter@t/action/a%2Fb?rvt-namespace=default&rvt-method=get&rvt-key=a";
    expect(await (await send(path, { method: "POST" })).json()).toEqual({ output: 1 });
    expect(objects.last.envelope.operation).toMatchObject({ name: "a/b" });
    expect(objects.last.envelope.request?.url).toBe(`${ORIGIN}/api/rivet/gateway/counter/action/a%2Fb`);
    expect(await (await send("/api/rivet")).text()).toContain("Perdure");
    expect(await errorOf(await send("/api/rivet/nothing"))).toBe("404 guard/no_route");
  });
});

test("/metadata and /health say what serves, in which version, and /metadata the actors' names", async () => {
  const send = routerOver(new FakeObjects(), { actorNames: ["chat", "__proto__"] });
  const actorNames = JSON.parse('{"chat":{"metadata":{}},"__proto__":{"metadata":{}}}') as object;
  expect(await (await send("/metadata?namespace=default")).json()).toEqual({
    runtime: "rivetkit",
    version: PACKAGE_VERSION,
    actorNames,
  });
  expect(await (await send("/health")).json()).toEqual({ status: "ok", runtime: "rivetkit", version: PACKAGE_VERSION });
  expect((await send("/health", { method: "HEAD" })).status).toBe(200);
  expect(await errorOf(await send("/health", { method: "POST" }))).toBe("405 actor/method_not_allowed");
});

describe("/actors", () => {
  const actorId = `${"a".repeat(64)}-${GENERATION}`;
  const put = (method: string, body: unknown): RequestInit => ({
    method,
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

  test("PUT gets or creates, as in the published client's transcript", async () => {
    const objects = new FakeObjects(() => succeed(undefined, { created: true, createdAt: 7 }));
    const body = {
      name: "chat",
      key: "a,b/c\\/d/\\0/é",
      runner_name_selector: "default",
      input: "BQ==",
      crash_policy: "sleep",
    };
    const response = await routerOver(objects)(`/actors?${NAMESPACE}`, put("PUT", body));
    expect(await response.json()).toEqual({
      actor: {
        actor_id: actorId,
        name: "chat",
        key: "a,b/c\\/d/\\0/é",
        namespace_id: "ns1",
        datacenter: "default",
        runner_name_selector: "default",
        crash_policy: "sleep",
        create_ts: 7,
      },
      created: true,
    });
    const { address, creation, operation } = objects.last.envelope;
    expect([address, operation]).toEqual([{ name: "chat", key: ["a,b", "c/d", "", "é"] }, { kind: "resolve" }]);
    expect(creation.mode === "getOrCreate" && decodeValue(creation.input ?? new Uint8Array())).toBe(5);
  });

  test("POST creates, and answers 409 with the actor that has the key already", async () => {
    const objects = new FakeObjects();
    const send = routerOver(objects);
    expect(
      await (await send(`/actors?${NAMESPACE}`, put("POST", { name: "chat", datacenter: "weur" }))).json(),
    ).toMatchObject({ actor: { key: "/" } });
    expect(objects.last).toMatchObject({ locationHint: "weur", envelope: { creation: { mode: "create" } } });
    objects.answer = () => fail("actor", "duplicate_key", 409, { existing_actor_id: actorId });
    const response = await send(`/actors?${NAMESPACE}`, put("POST", { name: "chat" }));
    expect([response.status, await response.json()]).toMatchObject([
      409,
      { code: "duplicate_key", metadata: { existing_actor_id: actorId } },
    ]);
  });

  test("GET finds by name and key", async () => {
    const objects = new FakeObjects();
    const send = routerOver(objects);
    expect(await (await send(`/actors?name=chat&key=%2F&${NAMESPACE}`)).json()).toMatchObject({
      actors: [{ actor_id: actorId, name: "chat", key: "/" }],
      pagination: {},
    });
    expect(objects.last.envelope.creation).toEqual({ mode: "get" });
    objects.answer = () => fail("actor", "not_found", 404);
    expect(await (await send(`/actors?name=chat&key=a&${NAMESPACE}`)).json()).toEqual({ actors: [], pagination: {} });
    objects.answer = () => fail("actor", "overloaded", 503);
    expect(await errorOf(await send(`/actors?name=chat&key=a&${NAMESPACE}`))).toBe("503 actor/overloaded");
  });

  test("GET finds by ids, and leaves out those that are none", async () => {
    const objects = new FakeObjects((_envelope, object) =>
      succeed(undefined, { name: "chat", key: [object, "x"], actorId: `${objects.idOf(object)}-${GENERATION}` }),
    );
    const ids = ["one", "two"].map((name) => `${objects.idOf(name)}-${GENERATION}`);
    const response = await routerOver(objects)(
      `/actors?actor_ids=${[ids[0], "nonsense", `${"f".repeat(64)}-${GENERATION}`, ids[1]].join(",")}&${NAMESPACE}`,
    );
    expect(await response.json()).toMatchObject({
      actors: [
        { actor_id: ids[0], name: "chat", key: "one/x" },
        { actor_id: ids[1], key: "two/x" },
      ],
    });
  });

  test.each<[string, string, RequestInit?]>([
    ["400 guard/query_invalid_params", "/actors?name=chat"],
    ["400 guard/query_invalid_params", "/actors"],
    ["400 guard/query_invalid_params", `/actors?actor_ids=${"a,".repeat(33)}`],
    ["400 guard/query_invalid_params", "/actors?name=chat&key=a%5Cb"],
    ["404 actor/not_registered", "/actors?name=nobody&key=a"],
    ["400 encoding/invalid", "/actors", put("PUT", "{")],
    ["400 actor/invalid_request", "/actors", put("PUT", "[]")],
    ["400 actor/invalid_request", "/actors", put("PUT", {})],
    ["400 actor/invalid_request", "/actors", put("PUT", { name: "chat", key: ["a"] })],
    ["400 actor/invalid_request", "/actors", put("PUT", '{"__proto__":{"name":"chat"}}')],
    ["400 guard/query_invalid_params", "/actors", put("POST", { name: "chat", input: "!" })],
    ["400 actor/key_too_large", "/actors", put("POST", { name: "chat", key: "k".repeat(129) })],
    ["405 actor/method_not_allowed", "/actors", { method: "PATCH" }],
  ])("answers %s to %s", async (error, path, init) => {
    const objects = new FakeObjects();
    expect(await errorOf(await routerOver(objects)(path, init))).toBe(error);
    expect(objects.calls).toEqual([]);
  });
});

describe("management routes", () => {
  const bearer = (token: string): RequestInit => ({ headers: { authorization: `Bearer ${token}` } });

  test.each<[string, RequestInit | undefined]>([
    ["/actors/names", undefined],
    ["/actors/names", bearer("")],
    ["/actors/names", bearer("hushhush")],
    ["/actors/names", bearer("hus")],
    ["/actors/names", { headers: { authorization: "hush" } }],
    ["/actors/names?token=hush", undefined],
    ["/actors/x", { method: "DELETE" }],
  ])("%s with %j is 401", async (path, init) => {
    expect(await errorOf(await routerOver(new FakeObjects(), { token: "hush" })(path, init))).toBe(
      "401 api/unauthorized",
    );
  });

  test("stay closed if there is no token, even an empty one", async () => {
    for (const options of [{}, { token: "" }]) {
      expect((await routerOver(new FakeObjects(), options)("/actors/names", bearer(""))).status).toBe(401);
      expect((await routerOver(new FakeObjects(), options)("/actors/names", bearer("undefined"))).status).toBe(401);
    }
  });

  test("open with the token", async () => {
    const send = routerOver(new FakeObjects(), { token: "hush" });
    expect(await (await send("/actors/names", bearer("hush"))).json()).toEqual({
      names: { counter: { metadata: {} }, chat: { metadata: {} } },
      pagination: {},
    });
  });

  const actorId = `${"a".repeat(64)}-${GENERATION}`;

  test("DELETE ends an actor by its id, and creates none", async () => {
    const objects = new FakeObjects();
    const id = `${objects.idOf("one")}-${GENERATION}`;
    const response = await routerOver(objects, { token: "hush" })(`/actors/${id}?${NAMESPACE}`, {
      ...bearer("hush"),
      method: "DELETE",
    });
    expect([response.status, await response.json()]).toEqual([200, {}]);
    const { address, creation, operation } = objects.last.envelope;
    expect([address, creation, operation]).toEqual([
      { name: "", key: [], generation: GENERATION },
      { mode: "get" },
      { kind: "destroy" },
    ]);
  });

  test("POST …/sleep asks an actor to sleep, and creates none", async () => {
    const objects = new FakeObjects();
    const id = `${objects.idOf("one")}-${GENERATION}`;
    const response = await routerOver(objects, { token: "hush" })(`/actors/${id}/sleep?${NAMESPACE}`, {
      ...bearer("hush"),
      method: "POST",
      body: "{}",
    });
    expect([response.status, await response.json()]).toEqual([200, {}]);
    const { creation, operation } = objects.last.envelope;
    expect([creation, operation]).toEqual([{ mode: "get" }, { kind: "sleep" }]);
    expect((await routerOver(objects, { token: "hush" })(`/actors/${id}/sleep`, { method: "POST" })).status).toBe(401);
  });

  test.each<[string, string, string]>([
    ["404 actor/not_found", "DELETE", `/actors/${actorId}`],
    ["400 actor/invalid_id", "DELETE", "/actors/x"],
    ["400 actor/invalid_id", "DELETE", "/actors/%ff"],
    ["400 actor/invalid_id", "DELETE", "/actors/a%2Fb"],
    ["404 actor/namespace_not_found", "DELETE", `/actors/${actorId}?namespace=other`],
    ["405 actor/method_not_allowed", "DELETE", "/actors/names"],
    ["405 actor/method_not_allowed", "GET", `/actors/${actorId}`],
    ["405 actor/method_not_allowed", "DELETE", "/actors"],
    ["404 actor/not_found", "POST", `/actors/${actorId}/sleep`],
    ["405 actor/method_not_allowed", "DELETE", `/actors/${actorId}/sleep`],
    ["501 feature/unsupported", "POST", `/actors/${actorId}/reschedule`],
    ["501 feature/unsupported", "GET", `/actors/${actorId}/kv/keys/YQ==`],
    ["404 guard/no_route", "DELETE", `/actors/${actorId}/`],
    ["404 guard/no_route", "DELETE", `/actors/${actorId}/kv`],
    ["404 guard/no_route", "DELETE", `/actors//${actorId}`],
  ])("answer %s to %s %s", async (error, method, path) => {
    const objects = new FakeObjects();
    expect(
      await errorOf(
        await routerOver(objects, { token: "hush", namespace: "ns1" })(path, { ...bearer("hush"), method }),
      ),
    ).toBe(error);
    expect(objects.calls).toEqual([]);
  });

  test("do not close the ones that clients use", async () => {
    const send = routerOver(new FakeObjects(), { token: "hush" });
    expect((await send("/actors", { method: "PUT", body: '{"name":"chat"}' })).status).toBe(200);
  });
});

describe("a request routed by header", () => {
  const actorId = `${"a".repeat(64)}-${GENERATION}`;

  test.each<[string, Record<string, string>]>([
    ["404 actor/not_found", { "x-rivet-target": "actor", "x-rivet-actor": actorId }],
    ["400 guard/missing_actor", { "x-rivet-target": "actor" }],
    ["400 actor/invalid_id", { "x-rivet-target": "actor", "x-rivet-actor": "nonsense" }],
    ["404 guard/no_route", { "x-rivet-target": "runner", "x-rivet-actor": actorId }],
  ])("is answered %s: %j", async (error, headers) => {
    const objects = new FakeObjects();
    for (const path of ["/request", "/request/", "/request/a/b?x=1"]) {
      const response = await routerOver(objects)(path, {
        method: "DELETE",
        headers: { origin: "http://localhost:5173", ...headers },
      });
      expect(response.headers.get("access-control-allow-origin")).toBe("http://localhost:5173");
      expect(await errorOf(response)).toBe(error);
    }
    expect(objects.calls).toEqual([]);
  });

  test("is the user's own without the header, and ours below a base path", async () => {
    const router = createRouter({ actorNames: [] });
    expect(await router(new Request(`${ORIGIN}/request/a`), new FakeObjects())).toBeUndefined();
    expect(
      await router(new Request(`${ORIGIN}/requests`, { headers: { "x-rivet-target": "actor" } }), new FakeObjects()),
    ).toBeUndefined();
    const send = routerOver(new FakeObjects(), { basePath: "/api" });
    expect(
      await errorOf(await send("/api/request/a", { headers: { "x-rivet-target": "actor", "x-rivet-actor": actorId } })),
    ).toBe("404 actor/not_found");
    expect(await errorOf(await send("/api/request/a"))).toBe("404 guard/no_route");
  });

  test("is preflighted if the real one will have the header", async () => {
    const preflight = (headers: string): Promise<Response | undefined> =>
      createRouter({ actorNames: [] })(
        new Request(`${ORIGIN}/request/a`, {
          method: "OPTIONS",
          headers: { origin: "http://localhost:5173", "access-control-request-headers": headers },
        }),
        new FakeObjects(),
      );
    expect((await preflight("content-type, X-Rivet-Target"))?.status).toBe(204);
    expect(await preflight("content-type")).toBeUndefined();
  });
});

import { describe, expect, test } from "vitest";
import { UserError, unauthorizedError } from "../../src/entry/errors.js";
import type { AuthorizeTarget, RouterOptions } from "../../src/router/index.js";
import { FakeObjects, GENERATION, fail, succeed } from "./fake-objects.js";
import { routerOver } from "./post-action.js";

const ID = `${"a".repeat(64)}-${GENERATION}`;
const KEYED = "rvt-namespace=default&rvt-key-json=%5B%22a%22%2C%22b%22%5D";
const BY_KEY = `${KEYED}&rvt-method=getOrCreate&rvt-input=AQ`;
const TOKEN = { "x-rivet-token": "t", "x-rivet-conn-params": '{"user":"ann"}' };

/** Every door to an actor over HTTP: how it is knocked at, and what `authorize` is told. */
const DOORS: readonly [name: string, path: string, init: RequestInit, told: object][] = [
  [
    "an action",
    `/gateway/counter/action/add?${BY_KEY}`,
    { method: "POST", headers: TOKEN },
    { kind: "action", name: "add", actor: "counter", key: ["a", "b"], token: "t", params: { user: "ann" } },
  ],
  [
    "an action of what must exist",
    `/gateway/counter/action/add?${KEYED}&rvt-method=get`,
    { method: "POST" },
    { kind: "action", actor: "counter", key: ["a", "b"] },
  ],
  [
    "an action by id",
    `/gateway/${ID}/action/add`,
    { method: "POST", headers: { authorization: "Bearer t" } },
    { kind: "action", name: "add", actorId: ID, token: "t" },
  ],
  [
    "a message",
    `/gateway/counter/queue/jobs?${BY_KEY}`,
    { method: "POST", body: '{"body":1}' },
    { kind: "send", name: "jobs", actor: "counter" },
  ],
  [
    "a message by id",
    `/gateway/${ID}/queue/jobs`,
    { method: "POST", body: '{"body":1}' },
    { kind: "send", name: "jobs", actorId: ID },
  ],
  ["a raw request", `/gateway/counter@t/request/x?${BY_KEY}`, {}, { kind: "request", actor: "counter", token: "t" }],
  [
    "a raw request by id",
    `/gateway/${ID}/request/x?rvt-token=t`,
    { method: "POST", body: "x" },
    { kind: "request", actorId: ID, token: "t" },
  ],
  [
    "a raw request by header",
    "/request/x",
    { headers: { "x-rivet-target": "actor", "x-rivet-actor": ID } },
    { kind: "request", actorId: ID },
  ],
  [
    "PUT /actors",
    "/actors?namespace=default",
    { method: "PUT", body: '{"name":"counter","key":"a"}' },
    { kind: "create", actor: "counter", key: ["a"] },
  ],
  [
    "POST /actors",
    "/actors?namespace=default",
    { method: "POST", body: '{"name":"counter","key":"a"}' },
    { kind: "create", actor: "counter", key: ["a"] },
  ],
  ["GET /actors by key", "/actors?name=counter&key=a", {}, { kind: "resolve", actor: "counter", key: ["a"] }],
  ["GET /actors by id", `/actors?actor_ids=${ID}`, {}, { kind: "resolve", actorId: ID }],
  [
    "an actor that the registry does not have",
    `/gateway/nobody/action/add?${BY_KEY}`,
    { method: "POST" },
    { kind: "action", actor: "nobody" },
  ],
  [
    "an id that is nobody's",
    `/gateway/${"b".repeat(64)}-${GENERATION}/action/add`,
    { method: "POST" },
    { kind: "action" },
  ],
];
const ENCODINGS = ["json", "cbor", "bare"];

function opened(
  authorize: (request: Request, target: AuthorizeTarget, env: unknown) => unknown,
  objects = new FakeObjects(),
  options: Partial<RouterOptions> = {},
) {
  objects.idOf("one");
  return {
    objects,
    send: routerOver(objects, { authorize: authorize as RouterOptions["authorize"] & object, ...options }),
  };
}

describe.each(DOORS)("authorize is asked at the door of %s", (_name, path, init, told) => {
  test.each(ENCODINGS)("false is auth/forbidden, and no object is called (%s)", async (encoding) => {
    const asked: AuthorizeTarget[] = [];
    const { objects, send } = opened((_request, target) => asked.push(target) < 0);
    const hasBody = init.body !== undefined && encoding !== "json" && path.includes("/queue/");
    const headers = { ...(init.headers as Record<string, string>), ...(!hasBody && { "x-rivet-encoding": encoding }) };
    const response = await send(path, {
      ...init,
      headers: init.body === undefined && init.method === "POST" ? { ...headers, "x-rivet-encoding": "json" } : headers,
    });
    expect([response.status, await response.json()]).toMatchObject([403, { group: "auth", code: "forbidden" }]);
    expect(objects.calls).toEqual([]);
    expect(asked).toMatchObject([told]);
  });

  test("true and undefined let it pass", async () => {
    for (const answer of [true, undefined]) {
      const { objects, send } = opened(async () => answer, new FakeObjects(() => succeed()));
      const response = await send(path, init);
      expect(response.status).not.toBe(403);
      expect(response.status).not.toBe(401);
      expect(objects.calls.length).toBeLessThanOrEqual(1);
    }
  });
});

test.each([null, 0, "", "yes", {}])("any other answer (%j) refuses", async (answer) => {
  const { objects, send } = opened(() => answer);
  expect((await send(`/gateway/counter/action/add?${BY_KEY}`, { method: "POST" })).status).toBe(403);
  expect(objects.calls).toEqual([]);
});

test.each([
  [unauthorizedError(), 401, { group: "auth", code: "unauthorized", message: "Unauthorized" }],
  [
    new UserError("Pay first", { code: "unpaid", metadata: { plan: "free" } }),
    400,
    { group: "user", code: "unpaid", message: "Pay first", metadata: { plan: "free" } },
  ],
  [
    new TypeError("a secret"),
    500,
    { group: "rivetkit", code: "internal_error", message: "An internal error occurred" },
  ],
])("what it throws is the answer, which its page may read: %s", async (error, status, body) => {
  const { objects, send } = opened(() => {
    throw error;
  });
  const response = await send(`/gateway/counter/action/add?${BY_KEY}`, {
    method: "POST",
    headers: { origin: "http://localhost:5173" },
  });
  expect([response.status, await response.json()]).toMatchObject([status, body]);
  expect(response.headers.get("access-control-allow-origin")).toBe("http://localhost:5173");
  expect(objects.calls).toEqual([]);
});

test("by id it may ask whose id it is; nobody's is undefined", async () => {
  const resolved: unknown[] = [];
  const objects = new FakeObjects(({ operation, address }) => {
    if (address.generation !== GENERATION) return fail("actor", "not_found", 404);
    return succeed(1, operation.kind === "resolve" ? { name: "counter", key: ["a"] } : {});
  });
  const id = `${objects.idOf("one")}-${GENERATION}`;
  const { send } = opened(async (_request, target) => {
    const found = "actorId" in target ? await target.resolve() : undefined;
    resolved.push(found);
    return found?.key[0] === "a";
  }, objects);
  expect((await send(`/gateway/${id}/action/add`, { method: "POST" })).status).toBe(200);
  for (const nobody of [`${id.slice(0, 64)}-${"0".repeat(16)}`, `${"f".repeat(64)}-${GENERATION}`]) {
    expect((await send(`/gateway/${nobody}/action/add`, { method: "POST" })).status, nobody).toBe(403);
  }
  expect(resolved).toEqual([{ actor: "counter", key: ["a"] }, undefined, undefined]);
});

test("it sees the request without its body, which is the actor's", async () => {
  const seen: unknown[] = [];
  const { objects, send } = opened(
    async (request) =>
      void seen.push([
        request.method,
        new URL(request.url).pathname,
        request.headers.get("x-mine"),
        await request.text(),
      ]),
  );
  const response = await send(`/gateway/counter/action/add?${BY_KEY}`, {
    method: "POST",
    body: '{"args":[7]}',
    headers: { "x-mine": "1" },
  });
  expect([response.status, objects.lastArgs, seen]).toEqual([
    200,
    [7],
    [["POST", "/gateway/counter/action/add", "1", ""]],
  ]);
});

test("management has a token of its own, and what names no actor asks nobody", async () => {
  const { send } = opened(() => false, new FakeObjects(() => succeed()), { token: "hush" });
  const objects = new FakeObjects(() => succeed());
  const { send: own } = opened(() => false, objects, { token: "hush" });
  const id = `${objects.idOf("one")}-${GENERATION}`;
  expect((await own(`/actors/${id}`, { method: "DELETE", headers: { authorization: "Bearer hush" } })).status).toBe(
    200,
  );
  expect((await send("/health")).status).toBe(200);
  expect((await send("/metadata")).status).toBe(200);
});

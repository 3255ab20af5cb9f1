import { describe, expect, it, test } from "vitest";
import { WorldObjects } from "../world-objects.js";
import { rivetSubject } from "./rivet-subject.js";

describe("RivetKit's inspector routes", () => {
  it("show the state in JSON with tags, and replace it", async () => {
    const { get } = await rivetSubject();
    const shown = await get("state");
    expect(shown).toMatchObject({ state: { total: ["$BigInt", "12"] }, isStateEnabled: true });
    expect(await get("state", "PATCH", { state: { ...(shown["state"] as object), total: ["$BigInt", "5"] } })).toEqual({
      ok: true,
    });
    // What the other side sends back as it came is what it was.
    expect((await get("action/add", "POST", { args: [["$BigInt", "1"]] }))["output"]).toEqual(["$BigInt", "6"]);
    expect(await get("state")).toMatchObject({ state: { ...(shown["state"] as object), total: ["$BigInt", "6"] } });
    expect(await get("state", "PATCH", {})).toMatchObject({ status: 400, code: "invalid_request" });
  });

  it("show connections, with their type and how many events they hear of", async () => {
    const { get, order } = await rivetSubject();
    await order.connect({ params: { token: "x" } });
    expect(await get("connections")).toEqual({
      connections: [
        {
          connectionType: "socket",
          id: expect.any(String) as unknown,
          details: {
            connectionType: "socket",
            params: { token: "x" },
            stateEnabled: true,
            state: { seat: 1 },
            subscriptions: 0,
            isHibernatable: true,
          },
        },
      ],
    });
  });

  it("list actions, and call them as operators, who are no connections", async () => {
    const { get } = await rivetSubject();
    expect(await get("rpcs")).toEqual({ rpcs: ["add", "args", "every", "explode", "later", "named"] });
    expect(await get("action/add", "POST", { args: [["$BigInt", "1"]] })).toEqual({ output: ["$BigInt", "13"] });
    expect(await get("action/named", "POST", { properties: { a: 1 } })).toEqual({ output: { a: 1 } });
    expect(await get("action/args", "POST", { args: [1, 2] })).toEqual({ output: 2 });
    expect(await get("action/args", "POST")).toEqual({ output: 0 });
    expect(await get("action/nothing", "POST", {})).toMatchObject({ status: 404, code: "action_not_found" });
    const failed = await get("action/explode", "POST", {});
    expect([failed["status"], JSON.stringify(failed)]).toEqual([500, expect.not.stringContaining("hunter2")]);
    expect(await get("action/later", "POST")).toMatchObject({ output: expect.any(String) as unknown });
  });

  it("start the actor for an action, and tell when its start fails", async () => {
    const { get, order, fails, ran } = await rivetSubject();
    await order.evict();
    expect(await get("action/add", "POST", { args: [["$BigInt", "1"]] })).toEqual({ output: ["$BigInt", "13"] });
    await order.evict();
    fails.onWake = true;
    ran.splice(0);
    expect(await get("action/add", "POST", { args: [["$BigInt", "1"]] })).toMatchObject({ status: 500 });
    expect(ran).toEqual([]);
    // Looking goes on.
    expect(await get("state")).toMatchObject({ state: { total: ["$BigInt", "13"] } });
  });

  it("show, fill and drain the queue", async () => {
    const { get, world } = await rivetSubject();
    expect(await get("queue", "POST", { name: "elsewhere", body: { a: 1 } })).toEqual({
      id: expect.stringMatching(/^\d+$/) as unknown,
      name: "elsewhere",
      createdAtMs: world.clock.now(),
    });
    await get("queue", "POST", { name: "elsewhere" });
    expect(await get("queue?limit=1")).toEqual({
      size: 2,
      maxSize: 1000,
      truncated: true,
      messages: [{ id: expect.any(String) as unknown, name: "elsewhere", createdAtMs: world.clock.now() }],
    });
    expect(await get("queue", "DELETE")).toEqual({});
    expect(await get("queue")).toMatchObject({ size: 0, truncated: false, messages: [] });
  });

  it("show the workflow's history without values, and replay it", async () => {
    const { get, world } = await rivetSubject();
    await get("queue", "POST", { name: "payments" });
    await world.settle();
    const shown = await get("workflow-history");
    expect(shown).toMatchObject({ isWorkflowEnabled: true, workflowState: "failed" });
    const { nameRegistry, entries, entryMetadata } = shown["history"] as {
      nameRegistry: string[];
      entries: { id: string; location: { tag: string; val: unknown }[]; kind: { tag: string } }[];
      entryMetadata: Record<string, { status: string }>;
    };
    expect(nameRegistry).toEqual(["shopping", "add", "payment", "charge"]);
    expect(entries.map(({ kind }) => kind.tag)).toContain("WorkflowMessageEntry");
    const added = entries.find(({ location }) => location.length === 3);
    expect(added?.location).toEqual([
      { tag: "WorkflowNameIndex", val: 0 },
      { tag: "WorkflowLoopIterationMarker", val: { loop: 0, iteration: 0 } },
      { tag: "WorkflowNameIndex", val: 1 },
    ]);
    const charge = entries.find(({ location }) => location[0]?.val === 3);
    expect(charge?.kind).toEqual({ tag: "WorkflowStepEntry", val: { output: null, error: "502" } });
    expect(entryMetadata[charge?.id ?? ""]).toMatchObject({ status: "EXHAUSTED", attempts: 1, error: "502" });
    const again = await get("workflow/replay", "POST", { entryId: charge?.id });
    expect(again).toMatchObject({ isWorkflowEnabled: true });
    expect(await get("workflow/replay", "POST", { entryId: "99" })).toMatchObject({
      status: 404,
      code: "step_not_found",
    });
  });

  it("show tables with columns and keys, and run SQL with the values it is given", async () => {
    const { get } = await rivetSubject();
    expect(
      await get("database/execute", "POST", {
        sql: "INSERT INTO lines VALUES (:name, NULL)",
        properties: { name: "tea" },
      }),
    ).toEqual({ rows: [] });
    await get("database/execute", "POST", { sql: "INSERT INTO lines VALUES (?, NULL)", args: ["milk"] });
    expect(await get("database/execute", "POST", { sql: "SELECT name FROM lines ORDER BY name" })).toEqual({
      rows: [{ name: "milk" }, { name: "tea" }],
    });
    expect(await get("database/rows?table=lines&limit=1&offset=1")).toEqual({ rows: [{ name: "milk", shop: null }] });
    const { schema } = (await get("database/schema")) as { schema: { tables: Record<string, unknown>[] } };
    expect(schema.tables[0]).toMatchObject({
      table: { schema: "main", name: "lines", type: "table" },
      columns: [
        { name: "name", type: "TEXT", notnull: 1 },
        { name: "shop", notnull: 0 },
      ],
      foreignKeys: [{ table: "shops", from: "shop", to: "id" }],
      records: 2,
    });
  });

  it("sum up", async () => {
    const { get } = await rivetSubject();
    expect(await get("summary")).toMatchObject({
      isStateEnabled: true,
      isDatabaseEnabled: true,
      isWorkflowEnabled: true,
      queueSize: 0,
      connections: [],
      rpcs: expect.arrayContaining(["add"]) as unknown,
      workflowHistory: { nameRegistry: expect.arrayContaining(["shopping"]) as unknown },
    });
    expect(await get("traces")).toEqual({ otlp: [], clamped: false });
  });

  it("keep what operators did in the audit, without values", async () => {
    const { get, send, router, world } = await rivetSubject();
    await get("action/add", "POST", { args: [["$BigInt", "1"]] });
    await get("database/execute", "POST", { sql: "SELECT 'secret'" });
    expect((await send("state", "PATCH", { state: 1 })).status).toBe(200);
    const request = new Request("https://shop.example/inspector/api/audit?actor=order&key=%5B%22o-1%22%5D", {
      headers: { authorization: "Bearer a-token-of-the-tests" },
    });
    const audit = await (await router(request, new WorldObjects(world), {}))?.text();
    expect(JSON.parse(audit ?? "")).toMatchObject({
      items: [
        { act: "setState", by: "token" },
        { act: "sql", by: "token", detail: {} },
        { act: "call", by: "token", detail: { action: "add" } },
      ],
    });
    expect(audit).not.toContain("secret");
  });

  test.each([
    ["state", "PATCH", "[]", 400],
    ["state", "PATCH", "{", 400],
    ["queue", "POST", { name: "" }, 400],
    ["queue", "POST", {}, 400],
    ["queue?limit=0", "GET", undefined, 400],
    ["queue?limit=many", "GET", undefined, 400],
    ["action/args", "POST", { args: {}, properties: undefined }, 400],
    ["action/args", "POST", { args: [], properties: {} }, 400],
    ["action/args", "POST", { properties: [] }, 400],
    ["action/%ff", "POST", {}, 404],
    ["action/a/b", "POST", {}, 404],
    ["database/rows", "GET", undefined, 400],
    ["database/rows?table=none", "GET", undefined, 404],
    ["database/execute", "POST", {}, 400],
    ["database/execute", "POST", { sql: " " }, 400],
    ["database/execute", "POST", { sql: "SELECT * FROM nothing" }, 500],
    ["workflow/replay", "POST", { entryId: 7 }, 400],
    ["rpcs", "POST", {}, 405],
    ["connect", "GET", undefined, 400],
    ["connect", "POST", {}, 405],
    ["constructor", "GET", undefined, 404],
    ["state?rvt-namespace=other", "GET", undefined, 400],
  ] as const)("refuse %s %s %j with %d, and change nothing", async (path, method, body, status) => {
    const { send, order } = await rivetSubject();
    const before = [...order.store.dump()].filter(([key]) => !key.startsWith("p/inspector"));
    const response = await send(path, method, body);
    expect([response.status, await response.json()]).toMatchObject([
      status,
      { message: expect.any(String) as unknown },
    ]);
    expect([...order.store.dump()].filter(([key]) => !key.startsWith("p/inspector"))).toEqual(before);
  });

  it("create no actor", async () => {
    const { router, world } = await rivetSubject();
    for (const [method, path] of [
      ["GET", "state"],
      ["POST", "action/args"],
      ["PATCH", "state"],
    ]) {
      const url = `https://shop.example/gateway/order/inspector/${path}?rvt-namespace=default&rvt-method=getOrCreate&rvt-key=o-2`;
      const request = new Request(url, {
        method: method as string,
        headers: { authorization: "Bearer a-token-of-the-tests" },
        ...(method !== "GET" && { body: '{"state":1}' }),
      });
      expect((await router(request, new WorldObjects(world)))?.status).toBe(404);
    }
    expect([...world.actor("order", ["o-2"]).store.dump()]).toEqual([]);
  });
});

describe("who uses RivetKit's routes", () => {
  it("comes with a token in a header or a subprotocol, never with a cookie", async () => {
    const seen: unknown[] = [];
    const { send, router, world } = await rivetSubject({
      token: "a-token-of-the-tests",
      authorize: ({ headers }) => {
        seen.push(headers.get("cookie"), headers.get("x-user"));
        return null;
      },
    });
    const begun = await router(
      new Request("https://shop.example/inspector/api/session", {
        method: "POST",
        headers: { authorization: "Bearer a-token-of-the-tests" },
      }),
      new WorldObjects(world),
      {},
    );
    const cookie = begun?.headers.get("set-cookie")?.split(";")[0] ?? "";
    expect(cookie).toContain("perdure_inspector=");
    const upgrade = { upgrade: "websocket", "x-user": "ada", cookie };
    expect((await send("connect", "GET", undefined, { ...upgrade, authorization: "" })).status).toBe(401);
    expect(seen).toEqual([null, "ada"]);
    const offered = (token: string) => ({
      ...upgrade,
      authorization: "",
      "sec-websocket-protocol": `rivet, rivet_inspector_token.${token}`,
    });
    expect((await send("connect", "GET", undefined, offered("a-token-of-the-testt"))).status).toBe(401);
    const opened = await send("connect", "GET", undefined, offered("a-token-of-the-tests"));
    expect([opened.status, opened.headers.get("sec-websocket-protocol")]).toEqual([204, "rivet"]);
    // Of the page's routes the token in a subprotocol opens none: their sockets have the cookie.
    const page = new Request("https://shop.example/inspector/api/me", { headers: offered("a-token-of-the-tests") });
    page.headers.delete("cookie");
    expect((await router(page, new WorldObjects(world), {}))?.status).toBe(401);
  });
});

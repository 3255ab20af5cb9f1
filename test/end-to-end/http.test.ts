import { createClient } from "perdure/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, FixtureServer } from "./fixture-server.js";
import type { registry } from "./fixtures/actors.js";

let server: FixtureServer;
beforeAll(async () => {
  server = await FixtureServer.start();
});
afterAll(async () => {
  await server?.stop();
});

const QUERY = { "rvt-namespace": "default", "rvt-method": "getOrCreate" };

interface Call {
  /** What follows /gateway/. */
  readonly path: string;
  readonly query?: Record<string, string>;
  readonly body?: BodyInit;
  readonly method?: string;
}

/** A request as `curl` would make it. */
async function request({
  path,
  query = {},
  body = '{"args":[]}',
  method = "POST",
}: Call): Promise<{ status: number; code: string; text: string }> {
  const url = `${server.url}/gateway/${path}?${new URLSearchParams({ ...QUERY, ...query })}`;
  const response = await fetch(url, { method, ...(method === "GET" ? {} : { body }) });
  const text = await response.text();
  const json = (text.startsWith("{") ? JSON.parse(text) : {}) as { group?: string; code?: string };
  return { status: response.status, code: json.code === undefined ? "" : `${json.group}/${json.code}`, text };
}

const json = JSON.stringify;

describe("bad calls of an actor, over HTTP", () => {
  const cases: readonly (Call & { readonly what: string; readonly status: number; readonly code: string })[] = [
    { what: "an unknown actor", path: "nobody/action/get", status: 404, code: "actor/not_registered" },
    { what: "an actor named __proto__", path: "__proto__/action/get", status: 404, code: "actor/not_registered" },
    { what: "an actor named constructor", path: "constructor/action/get", status: 404, code: "actor/not_registered" },
    { what: "a nameless actor", path: "/action/get", status: 400, code: "actor/invalid_name" },
    {
      what: "an actor's name of 65 bytes",
      path: `${"a".repeat(65)}/action/get`,
      status: 400,
      code: "actor/invalid_name",
    },
    {
      what: "an actor that does not exist",
      path: "store/action/get",
      query: { "rvt-method": "get", "rvt-key": "absent" },
      status: 404,
      code: "actor/not_found",
    },

    { what: "an unknown action", path: "store/action/nothing", status: 404, code: "actor/action_not_found" },
    { what: "an action named __proto__", path: "store/action/__proto__", status: 404, code: "actor/action_not_found" },
    {
      what: "an action named constructor",
      path: "store/action/constructor",
      status: 404,
      code: "actor/action_not_found",
    },
    { what: "an action named toString", path: "store/action/toString", status: 404, code: "actor/action_not_found" },
    { what: "a group of actions", path: "store/action/nested", status: 404, code: "actor/action_not_found" },
    {
      what: "an inherited member of a group",
      path: "store/action/nested.constructor",
      status: 404,
      code: "actor/action_not_found",
    },
    { what: "a member of an action", path: "store/action/get.call", status: 404, code: "actor/action_not_found" },
    { what: "a lifecycle hook", path: "store/action/onCreate", status: 404, code: "actor/action_not_found" },

    {
      what: "a body that is no JSON",
      path: "store/action/set",
      body: '{"args":[1',
      status: 400,
      code: "encoding/invalid",
    },
    {
      what: "bytes that are no UTF-8",
      path: "store/action/set",
      body: new Uint8Array([0x7b, 0xff, 0x7d]),
      status: 400,
      code: "encoding/invalid",
    },
    {
      what: "JSON of another shape",
      path: "store/action/set",
      body: "[1]",
      status: 400,
      code: "actor/invalid_request",
    },
    {
      what: "arguments that are no list",
      path: "store/action/set",
      body: '{"args":{"0":1}}',
      status: 400,
      code: "actor/invalid_request",
    },
    {
      what: "an unknown tag",
      path: "store/action/set",
      body: '{"args":[["$Nothing",1]]}',
      status: 400,
      code: "encoding/invalid",
    },
    {
      what: "a body over the limit",
      path: "store/action/set",
      body: json({ args: ["x".repeat(65_536)] }),
      status: 413,
      code: "message/incoming_too_long",
    },
    {
      what: "a body far over the limit",
      path: "store/action/set",
      body: json({ args: ["x".repeat(1_000_000)] }),
      status: 413,
      code: "message/incoming_too_long",
    },

    {
      what: "a part of a key over 128 bytes",
      path: "store/action/get",
      query: { "rvt-key": "k".repeat(129) },
      status: 400,
      code: "actor/key_too_large",
    },
    {
      what: "a key over 1024 bytes",
      path: "store/action/get",
      query: { "rvt-key": Array(11).fill("k".repeat(100)).join(",") },
      status: 400,
      code: "actor/key_too_large",
    },
    {
      what: "a key that is no array",
      path: "store/action/get",
      query: { "rvt-key-json": '"a"' },
      status: 400,
      code: "guard/query_invalid_params",
    },
    {
      what: "a key with a number in it",
      path: "store/action/get",
      query: { "rvt-key-json": "[1]" },
      status: 400,
      code: "guard/query_invalid_params",
    },
    {
      what: "half a surrogate pair in a key",
      path: "store/action/get",
      query: { "rvt-key-json": '["\\ud800"]' },
      status: 400,
      code: "actor/invalid_key",
    },
    {
      what: "two keys that contradict",
      path: "store/action/get",
      query: { "rvt-key": "a", "rvt-key-json": '["b"]' },
      status: 400,
      code: "guard/query_invalid_params",
    },
    {
      what: "an unknown parameter",
      path: "store/action/get",
      query: { "rvt-nothing": "1" },
      status: 400,
      code: "guard/query_invalid_params",
    },
    {
      what: "an unknown method of ours",
      path: "store/action/get",
      query: { "rvt-method": "take" },
      status: 400,
      code: "guard/query_invalid_params",
    },

    { what: "GET", path: "store/action/get", method: "GET", status: 405, code: "actor/method_not_allowed" },
    { what: "an unknown route", path: "store/nowhere/get", status: 404, code: "guard/no_route" },
    {
      what: "an id that nobody has",
      path: `${"0".repeat(64)}-${"0".repeat(16)}/action/get`,
      query: {},
      status: 400,
      code: "guard/query_invalid_params",
    },

    { what: "a function as state", path: "store/action/setFunction", status: 400, code: "value/not_serializable" },
    {
      what: "a class instance as state",
      path: "store/action/setInstance",
      status: 400,
      code: "value/not_serializable",
    },
    { what: "a cycle as state", path: "store/action/setCycle", status: 400, code: "value/not_serializable" },
    { what: "state over 2,000,000 bytes", path: "store/action/setLarge", status: 413, code: "value/too_large" },
    { what: "a function as result", path: "store/action/giveFunction", status: 400, code: "value/not_serializable" },
    { what: "an error for users", path: "store/action/refuse", status: 400, code: "user/not_allowed" },
    {
      what: "an error that users must not see",
      path: "store/action/fail",
      status: 500,
      code: "rivetkit/internal_error",
    },
    {
      what: "a rejection that users must not see",
      path: "store/action/reject",
      status: 500,
      code: "rivetkit/internal_error",
    },

    {
      what: "a queue that is not declared",
      path: "declared/queue/other",
      body: '{"body":1}',
      status: 404,
      code: "queue/not_declared",
    },
    {
      what: "a queue named __proto__",
      path: "declared/queue/__proto__",
      body: '{"body":1}',
      status: 404,
      code: "queue/not_declared",
    },
    {
      what: "a message over the limit",
      path: "declared/queue/numbers",
      body: json({ body: "x".repeat(65_537) }),
      status: 413,
      code: "queue/message_too_large",
    },
    {
      what: "a message that is no JSON",
      path: "declared/queue/numbers",
      body: "{",
      status: 400,
      code: "encoding/invalid",
    },
  ];

  for (const { what, status, code, ...call } of cases) {
    test(`${what} is ${status} ${code}`, async () => {
      const answer = await request(call);
      expect(answer, answer.text).toMatchObject({ status, code });
      expect(answer.text).not.toContain("secret");
    });
  }

  test("none of them changed anything", async () => {
    const client = createClient<typeof registry>(server.url);
    expect(await client.store.getOrCreate().get()).toBe("first");
    expect(await client.declared.getOrCreate().get()).toBe(0);
    await expect(client.store.get(["absent"]).resolve()).rejects.toMatchObject({ group: "actor", code: "not_found" });
  });

  test("the actor works as before", async () => {
    const client = createClient<typeof registry>(server.url);
    const store = client.store.getOrCreate(["after"]);
    await expect(store.setFunction()).rejects.toMatchObject({ code: "not_serializable" });
    await store.set({ a: [1, new Date(5), 10n] });
    expect(await store.get()).toEqual({ a: [1, new Date(5), 10n] });
    const declared = client.declared.getOrCreate(["after"]);
    await declared.send("numbers", 2);
    await declared.send("numbers", 3);
    await eventually(
      () => declared.get(),
      (sum) => sum === 5,
    );
  });
});

describe("odd input that is legal", () => {
  test("an empty body means no arguments", async () => {
    expect(await request({ path: "store/action/get", query: { "rvt-key": "empty" }, body: "" })).toMatchObject({
      status: 200,
      text: '{"output":"first"}',
    });
  });

  test("__proto__ is a key like any other", async () => {
    const call = {
      path: "store/action/set",
      query: { "rvt-key": "proto" },
      body: '{"args":[{"__proto__":{"isAdmin":true},"constructor":1}]}',
    };
    expect(await request(call)).toMatchObject({ status: 200 });
    const { text } = await request({ ...call, path: "store/action/get", body: '{"args":[]}' });
    expect(text).toBe('{"output":{"__proto__":{"isAdmin":true},"constructor":1}}');
  });

  test("keys that look alike are different actors", async () => {
    const client = createClient<typeof registry>(server.url);
    const keys = [["a/b", "c"], ["a", "b/c"], ["a,b"], ["a", "b"], ["é\n"], [""], []];
    await Promise.all(keys.map((key, index) => client.store.getOrCreate(key).set(index)));
    expect(await Promise.all(keys.map((key) => client.store.getOrCreate(key).get()))).toEqual(
      keys.map((_, index) => index),
    );
  });
});

describe("a sleep that is no time", () => {
  for (const durationMs of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    test(`of ${durationMs} ms fails the workflow, and the actor still answers`, async () => {
      const actor = createClient<typeof registry>(server.url).badSleep.getOrCreate([String(durationMs)], {
        createWithInput: { durationMs },
      });
      const state = await eventually(
        () => actor.get(),
        ({ status }) => status !== "running",
      );
      expect(state).toMatchObject({
        isPast: false,
        status: "failed",
        error: { message: expect.stringContaining("sleep") },
      });
    });
  }

  test("of less than nothing is over at once", async () => {
    const actor = createClient<typeof registry>(server.url).badSleep.getOrCreate(["negative"], {
      createWithInput: { durationMs: -5 },
    });
    expect(
      await eventually(
        () => actor.get(),
        ({ status }) => status !== "running",
      ),
    ).toMatchObject({ isPast: true, status: "completed" });
  });
});

test("HEAD of a raw request has status and headers of GET, the announced length among them", async () => {
  const ask = async (path: string, method: string): Promise<unknown[]> => {
    const response = await fetch(
      `${server.url}/gateway/web/request/${path}?${new URLSearchParams({ ...QUERY, "rvt-key": "sized" })}`,
      { method, headers: { "accept-encoding": "identity" } },
    );
    await response.text();
    return [
      response.status,
      path === "sized" ? response.headers.get("content-length") : response.headers.get("content-type"),
    ];
  };
  for (const method of ["GET", "HEAD"]) {
    expect(await ask("sized", method), method).toEqual([200, "5"]);
    expect(await ask("missing", method), method).toEqual([400, "application/json"]);
  }
});

import { describe, expect, test } from "vitest";
import { decodeValue, encodeValue, wireCodec, type CallOperation } from "../../src/protocol/index.js";
import { FakeObjects, fail, GENERATION, succeed, type Answer } from "./fake-objects.js";
import { routerOver, type Send } from "./post-action.js";

const ADDRESS = "rvt-namespace=default&rvt-method=getOrCreate&rvt-key=a";
const ACTOR_ID = `${"a".repeat(64)}-${GENERATION}`;

/** An object that stores every message as number 7, and whose messages are completed like this. */
function queueObject(completed: unknown = { status: "completed" }): FakeObjects {
  const answer: Answer = ({ operation }) =>
    succeed(operation.kind === "send" ? { id: 7, createdAt: 5, waitMs: operation.timeoutMs ?? 60_000 } : completed);
  const objects = new FakeObjects(answer);
  // Whatever id it answers with is its own.
  objects.idFromString = () => objects.idFromName('["counter","a"]');
  return objects;
}

function post(
  send: Send,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
  queue = "jobs",
): Promise<Response> {
  return send(`/gateway/counter/queue/${queue}?${ADDRESS}`, { method: "POST", body, headers });
}

function operationsOf(objects: FakeObjects): CallOperation[] {
  return objects.calls.map(({ envelope }) => envelope.operation);
}

async function errorOf(response: Response): Promise<string> {
  const { group, code } = await response.json<{ group: string; code: string }>();
  return `${response.status} ${group}/${code}`;
}

describe("a queue send", () => {
  test("is the transcript of the published client's: stored, answered, and nothing waits", async () => {
    const objects = queueObject();
    const response = await post(routerOver(objects), '{"body":{"v":1},"name":"jobs","wait":false}', {
      "x-rivet-encoding": "json",
    });
    expect([response.status, await response.text()]).toEqual([200, '{"status":"completed"}']);
    expect(response.headers.get("x-rivet-actor")).toBe(ACTOR_ID);
    const [operation, ...more] = operationsOf(objects);
    expect([operation, more]).toEqual([{ kind: "send", queue: "jobs", body: encodeValue({ v: 1 }) }, []]);
    expect(objects.last.object).toBe('["counter","a"]');
  });

  test("with wait attaches to the stored message, by the actor's id, and answers its reply", async () => {
    const objects = queueObject({ status: "completed", reply: encodeValue({ ok: 1 }) });
    const response = await post(routerOver(objects), '{"body":{"v":1},"name":"jobs","wait":true,"timeout":50}');
    expect(await response.json()).toEqual({ status: "completed", response: { ok: 1 } });
    expect(operationsOf(objects)).toMatchObject([
      { kind: "send", wait: true, timeoutMs: 50 },
      { kind: "wait", messageId: 7, createdAt: 5, timeoutMs: 50 },
    ]);
    expect(objects.last.envelope).toMatchObject({
      address: { name: "", key: [], generation: GENERATION },
      creation: { mode: "get" },
    });
  });

  test("that nobody completes in time says so; without a time of its own it is the action timeout's error", async () => {
    const send = routerOver(queueObject({ status: "timedOut" }), { now: () => 1 });
    expect(await (await post(send, '{"wait":true,"timeout":0}')).json()).toEqual({ status: "timedOut" });
    const response = await post(send, '{"wait":true}');
    expect([response.status, await response.json()]).toMatchObject([
      408,
      { group: "actor", code: "action_timed_out", metadata: { timeoutMs: 60_000 } },
    ]);
  });

  test.each(["json", "cbor", "bare"] as const)("in %s carries body and reply", async (encoding) => {
    const codec = wireCodec(encoding);
    const value = { list: [1, 2n, undefined], set: new Set(["x"]), bytes: new Uint8Array([1]), like: ["$x", 1] };
    const objects = queueObject({ status: "completed", reply: encodeValue(value) });
    const response = await post(
      routerOver(objects),
      codec.queueSendRequest.encode({ body: value, name: "jobs", wait: true, timeout: 9 }),
      { "x-rivet-encoding": encoding },
    );
    expect(response.headers.get("content-type")).toBe(codec.contentType);
    expect(codec.queueSendResponse.decode(new Uint8Array(await response.arrayBuffer()))).toEqual({
      status: "completed",
      response: value,
    });
    const [sent] = operationsOf(objects);
    expect(sent?.kind === "send" && [decodeValue(sent.body), sent.timeoutMs]).toEqual([value, 9]);
  });

  test("a reply that is undefined is no reply", async () => {
    expect(
      await (await post(routerOver(queueObject({ status: "completed", reply: undefined })), '{"wait":true}')).text(),
    ).toBe('{"status":"completed"}');
  });

  test("carries params and the request, as an action does", async () => {
    const objects = queueObject();
    await routerOver(objects)(`/gateway/counter/queue/jobs?${ADDRESS}&mine=1`, {
      method: "POST",
      body: "{}",
      headers: { "x-rivet-conn-params": '{"t":1}', "x-mine": "y", "x-rivet-token": "hush" },
    });
    expect(decodeValue(objects.last.envelope.params ?? new Uint8Array())).toEqual({ t: 1 });
    expect(objects.last.envelope.request).toMatchObject({
      method: "POST",
      url: "http://localhost:6420/gateway/counter/queue/jobs?mine=1",
    });
    expect(JSON.stringify(objects.calls)).not.toContain("hush");
  });

  test.each(["", "{}", '{"body":null,"name":null,"wait":null,"timeout":null}'])(
    "that a person types may be %j",
    async (body) => {
      expect((await post(routerOver(queueObject()), body)).status).toBe(200);
    },
  );

  test.each(["a b", "a/b", "é\n", "", "__proto__"])("to the queue %j is for that queue", async (queue) => {
    const objects = queueObject();
    await post(routerOver(objects), "{}", {}, encodeURIComponent(queue));
    expect(operationsOf(objects)[0]).toMatchObject({ queue });
  });

  test.each<[string, string]>([
    ["400 encoding/invalid", "{"],
    ["400 actor/invalid_request", "[1]"],
    ["400 actor/invalid_request", '{"wait":1}'],
    ["400 actor/invalid_request", '{"wait":true,"timeout":-1}'],
    ["400 actor/invalid_request", '{"wait":true,"timeout":"5"}'],
    ["400 actor/invalid_request", '{"name":5}'],
    ["400 request/invalid", '{"name":"other"}'],
    ["400 request/invalid", '{"wait":true,"timeout":1e300}'],
  ])("is answered %s: %s", async (error, body) => {
    const objects = queueObject();
    expect(await errorOf(await post(routerOver(objects), body))).toBe(error);
    expect(objects.calls).toEqual([]);
  });

  test("of another method, or of no queue, has no route", async () => {
    const send = routerOver(queueObject());
    expect(await errorOf(await send(`/gateway/counter/queue/jobs?${ADDRESS}`))).toBe("405 actor/method_not_allowed");
    expect(await errorOf(await send(`/gateway/counter/queue?${ADDRESS}`, { method: "POST" }))).toBe(
      "404 guard/no_route",
    );
  });

  test("has a body of at most 1 MiB, or of what is set", async () => {
    const objects = queueObject();
    const bodyOf = (bytes: number): string => `{"body":"${"x".repeat(bytes - 11)}"}`;
    const limit = 1024 * 1024;
    expect((await post(routerOver(objects), bodyOf(limit))).status).toBe(200);
    const refused = await post(routerOver(objects), bodyOf(limit + 1));
    expect([refused.status, await refused.json()]).toMatchObject([
      413,
      { group: "queue", code: "message_too_large", metadata: { limitBytes: limit } },
    ]);
    expect(await errorOf(await post(routerOver(objects, { maxQueueBodySize: 20 }), bodyOf(21)))).toBe(
      "413 queue/message_too_large",
    );
    expect(objects.calls).toHaveLength(1);
  });

  test.each([
    ["queue", "full", 429],
    ["queue", "message_too_large", 413],
    ["queue", "not_declared", 404],
    ["auth", "forbidden", 403],
  ])("refused by the actor with %s/%s is a %i", async (group, code, status) => {
    const objects = new FakeObjects(() => fail(group, code, status));
    expect(await errorOf(await post(routerOver(objects), '{"wait":true}'))).toBe(`${status} ${group}/${code}`);
    expect(objects.calls).toHaveLength(1);
  });
});

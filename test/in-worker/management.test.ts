import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { createHandler } from "../../src/entry/cloudflare.js";
import { actor, queue, setup } from "../../src/entry/index.js";
import { objectName } from "../../src/protocol/index.js";
import { serve } from "../support/worker.js";

// The end of an actor over REST, on the platform's own storage.

const ends: string[] = [];
const counter = actor({
  state: { count: 0 },
  onDestroy: (c) => void ends.push(`${c.key.join()} with ${c.state.count}`),
  actions: { add: (c) => (c.state.count += 1), remind: (c) => c.schedule.after(3_600_000, "add") },
});
const registry = setup({ use: { counter } });
serve(registry);
const { ACTORS } = env as unknown as { ACTORS: DurableObjectNamespace };
const handler = createHandler(registry, { logLevel: "silent", token: "hush" });
const client = handler.client(env);

async function remove(id: string, token: string): Promise<[status: number, body: unknown]> {
  const request = new Request(`http://worker.test/actors/${id}?namespace=default`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${token}` },
  });
  const response = await handler.fetch(request, env, {} as ExecutionContext);
  return [response.status, await response.json()];
}

it("DELETE /actors/{id} leaves nothing of the actor, and its key begins anew", async () => {
  const handle = client.counter.getOrCreate(["doomed"]);
  await handle.add();
  await handle.remind();
  const id = await handle.resolve();
  expect(await remove(id, "guess")).toMatchObject([401, { code: "unauthorized" }]);
  expect(await handle.add()).toBe(2);
  expect(await remove(id, "hush")).toEqual([200, {}]);
  expect(await remove(id, "hush")).toMatchObject([404, { group: "actor", code: "not_found" }]);
  expect(ends).toEqual(["doomed with 2"]);
  await runInDurableObject(
    ACTORS.get(ACTORS.idFromName(objectName("counter", ["doomed"]))),
    async (_instance, { storage }) => {
      expect([[...storage.kv.list()], await storage.getAlarm()]).toEqual([[], null]);
    },
  );
  expect(await handle.add()).toBe(1);
  expect(await remove(id, "hush"), "the old id is not the new actor").toMatchObject([404, { code: "not_found" }]);
  expect(await handle.add()).toBe(2);
});

it("a registry answers by itself once createHandler was called for it: serve, handler and the routes that one may mount", async () => {
  const logged: unknown[] = [];
  const log = (entry: unknown): number => logged.push(entry);
  const baseLogger = { trace: log, debug: log, info: log, warn: log, error: log, fatal: log };
  const own = setup({
    use: { counter: actor({ options: { waitUntilTimeout: 1 } }) },
    serverless: { basePath: "/api/rivet" },
    logging: { baseLogger },
  });
  const entry = own.serve();
  createHandler(own, { fetch: (_request, _env, ctx) => new Response(typeof ctx.waitUntil) });
  const get = async (answer: Promise<Response>): Promise<unknown> => (await answer).json();
  const request = (path: string): Request => new Request(`http://worker.test${path}`);
  expect(await get(entry.fetch(request("/api/rivet/health"), env, {}))).toMatchObject({ status: "ok" });
  expect(await get(own.handler(request("/api/rivet/health")))).toMatchObject({ status: "ok" });
  expect(await get(own.routes.health(request("/anything")))).toMatchObject({ status: "ok" });
  expect(await get(own.routes.metadata(request("/")))).toMatchObject({ actorNames: { counter: {} } });
  expect(await get(own.handler(request("/api/rivet/actors?name=counter&key=a&namespace=default")))).toMatchObject({
    actors: [],
  });
  expect(await (await own.handler(request("/elsewhere"))).text()).toBe("function");
  createHandler(setup({ use: own.config.use, logging: { baseLogger, level: "error" } }));
  createHandler(own, { logLevel: "silent" });
  expect(logged, "neither of these two has logged its warning").toEqual([
    {
      part: "router",
      msg: expect.stringContaining('"waitUntilTimeout"'),
      actor: "counter",
      option: "waitUntilTimeout",
    },
  ]);
});

it("a message may be as large as its actor says, and no larger", async () => {
  const registry = setup({
    use: { generous: actor({ queues: { any: queue<string>() }, options: { maxQueueMessageSize: 1_800_000 } }) },
  });
  serve(registry);
  const own = createHandler(registry, { logLevel: "silent" });
  const send = async (bytes: number): Promise<[number, unknown]> => {
    const url = "http://worker.test/gateway/generous/queue/any?rvt-namespace=default&rvt-method=getOrCreate&rvt-key=a";
    const response = await own.fetch(
      new Request(url, { method: "POST", body: JSON.stringify({ body: "x".repeat(bytes) }) }),
      env,
      {} as ExecutionContext,
    );
    return [response.status, await response.json()];
  };
  expect(await send(1_700_000)).toEqual([200, { status: "completed" }]);
  expect(await send(1_900_000)).toMatchObject([
    413,
    { group: "queue", code: "message_too_large", metadata: { limitBytes: 1_800_000 } },
  ]);
});

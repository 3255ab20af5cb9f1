// The way of a call, from the client through the router to the actor and back: nothing of ours is read through Object.prototype.
import { expect, test } from "vitest";
import { createBindingTransport, createClientWithTransport } from "../../src/client/binding.js";
import { createClient, type ClientConfig } from "../../src/client/index.js";
import { actor, queue, setup, UserError } from "../../src/entry/index.js";
import {
  createActorCaller,
  createMessageSender,
  createRequestSender,
  createRouter,
  createSocketOpener,
} from "../../src/router/index.js";
import { testWorld } from "../support/test-world.js";
import { waitPorts, WorldObjects } from "./world-objects.js";

// oxlint-disable-next-line typescript/no-explicit-any -- clients without types
type Any = any;

// It reads files with Node, whose types are not here.
const PROTOTYPE = "../support/polluted-prototype.js";
const NAMES = ["counter"];
const counter = actor({
  createState: (_: Any, input: unknown) => ({ n: 0, input }),
  queues: { work: queue<number, string>() },
  onRequest: async (_: Any, request: Request) => new Response(await request.text(), { headers: { "x-answer": "yes" } }),
  actions: {
    add: (c: Any, by: number) => (c.state.n += by),
    echo: (_: Any, value: unknown) => value,
    fail: () => {
      throw new UserError("no", { code: "refused", metadata: { at: 1 } });
    },
    finish: async (c: Any) => {
      const message = await c.queue.tryNext({ names: ["work"], completable: true });
      await message?.complete("done");
    },
  },
} as never);

async function runCalls(): Promise<void> {
  const world = testWorld(setup({ use: { counter } as never }));
  const objects = new WorldObjects(world);
  const ports = waitPorts(world);
  const router = createRouter({ actorNames: NAMES, token: "token", cors: { origins: ["http://page.test"] }, ...ports });
  const fetch = async (url: string, init?: RequestInit): Promise<Response> =>
    (await router(new Request(url, init), objects)) ?? new Response("not here", { status: 404 });
  const overHttp = (config: ClientConfig = {}): Any => createClient<Any>({ fetch, ...config } as never);
  const call = createActorCaller(objects, { actorNames: NAMES, ...ports });
  const names = new Set(NAMES);
  const openSocket = createSocketOpener(objects, names, call);
  const overBinding: Any = createClientWithTransport(
    createBindingTransport(
      {
        call,
        send: createMessageSender(call, openSocket, ports),
        openSocket,
        fetch: createRequestSender(objects, names, call),
      },
      ports,
    ),
  );
  for (const client of [overHttp(), overHttp({ encoding: "json" }), overHttp({ encoding: "bare" }), overBinding]) {
    const handle = client.counter.getOrCreate(["a"], { createWithInput: { from: "test" } });
    await handle.add(1);
    await handle.echo({ a: [1, new Date(1)] });
    await handle.action({ name: "add", args: [2] });
    await handle.resolve();
    await handle.send("work", 1);
    const waiting = handle.send("work", 2, { wait: true, timeout: 1_000 });
    await world.settle();
    await handle.finish();
    await handle.finish();
    await waiting;
    const response: Response = await handle.fetch("/path", { method: "POST", body: "hi" });
    await response.text();
    for (const refused of [
      handle.fail(),
      handle.nothing(),
      client.counter.get(["none"]).add(1),
      client.counter.create(["a"]),
      handle.send("none", 1),
    ])
      await (refused as Promise<unknown>).catch(() => {});
  }
  const paths = [
    "/",
    "/metadata",
    "/health",
    "/actors?name=counter&key=a&namespace=default",
    "/gateway/counter/action/add?rvt-namespace=default&rvt-method=getOrCreate&rvt-key=b",
    "/gateway/none/action/add",
    "/nothing",
  ];
  for (const path of paths)
    await (
      await fetch(
        `http://example.test${path}`,
        path.includes("/action/add")
          ? { method: "POST", body: '{"args":[1]}', headers: { origin: "http://page.test" } }
          : {},
      )
    ).text();
  await fetch("http://example.test/actors", { method: "PUT", body: JSON.stringify({ name: "counter", key: '["c"]' }) });
  await fetch("http://example.test/metadata", {
    method: "OPTIONS",
    headers: { origin: "http://page.test", "access-control-request-method": "POST" },
  });
}

test("the calls are answered", runCalls);

test("reads no option, envelope or answer through Object.prototype", async () => {
  const { propertyNames, readsThroughPrototype }: Any = await import(PROTOTYPE);
  const reads: string[] = await readsThroughPrototype(propertyNames(), runCalls);
  expect(reads).toEqual([]);
});

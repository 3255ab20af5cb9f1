import { describe, expect, test, vi } from "vitest";
import { actor, event, queue, setup, UserError } from "../../../src/entry/index.js";
import { setupTest } from "../../../src/entry/test.js";
import { workflow } from "../../../src/entry/workflow.js";
import { loadWs } from "../../../src/testing-kit/internal.js";

// On the clock of the machine: nothing here says how long something takes.

const room = actor({
  state: { said: [] as string[], rung: 0 },
  events: { said: event<[who: string, text: string]>() },
  onBeforeConnect: (_c, params: { name?: string } | undefined) => {
    if (params?.name === "mallory") throw new UserError("Not you", { code: "unwelcome" });
  },
  createConnState: (_c, params: { name?: string } | undefined) => ({ name: params?.name ?? "nobody" }),
  actions: {
    say: (c, text: string) => {
      c.state.said.push(text);
      c.broadcast("said", c.conn.state.name, text);
    },
    said: (c) => c.state.said,
    env: (c) => c.env,
    ringSoon: (c) => c.schedule.after(5, "ring"),
    ring: (c) => void (c.state.rung += 1),
    rung: (c) => c.state.rung,
    leave: (c) => c.conn.disconnect(),
    tellOther: async (c, key: string, text: string) =>
      c.client<typeof registry>().room.getOrCreate(key).say(text) as Promise<void>,
  },
  onRequest: async (c, request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/cookies")
      return new Response("two", {
        headers: [
          ["set-cookie", "a=1"],
          ["set-cookie", "b=2"],
        ],
      });
    return Response.json({ method: request.method, pathname, body: await request.text(), key: c.key });
  },
  onWebSocket: (_c, socket) => {
    socket.addEventListener("message", ({ data }) => socket.send(data as string | ArrayBuffer));
  },
});
const order = actor({
  state: { charged: 0 },
  queues: { approvals: queue<string, string>() },
  run: workflow(async (ctx) => {
    await ctx.step({
      name: "charge",
      retryBackoffBase: 1,
      run: (step) => {
        step.state.charged += 1;
        if (step.state.charged < 2) throw new Error("502");
      },
    });
    await ctx.sleep("a moment", 5);
    const message = await ctx.queue.next("approval", { names: ["approvals"], completable: true });
    await message.complete(`approved by ${message.body}`);
  }),
  actions: { charged: (c) => c.state.charged },
});
const registry = setup({ use: { room, order } });

describe("setupTest", () => {
  test("serves actions, events and errors of actors over HTTP and WebSocket", async (c) => {
    const { client } = await setupTest(c, registry);
    const [ada, bob] = ["ada", "bob"].map((name) => client.room.getOrCreate("r", { params: { name } }).connect());
    const heard: unknown[] = [];
    bob?.on("said", (who, text) => heard.push([who, text]));
    await bob?.ready;
    await ada?.say("hello");
    await vi.waitFor(() => expect(heard).toEqual([["ada", "hello"]]));
    expect(await client.room.getOrCreate("r").said()).toEqual(["hello"]);
    await client.room.getOrCreate("r").tellOther("other", "hi");
    expect(await client.room.getOrCreate("other").said()).toEqual(["hi"]);
    const refused = client.room.getOrCreate("r", { params: { name: "mallory" } }).connect();
    expect(await new Promise((resolve) => refused.onError(resolve))).toMatchObject({ code: "unwelcome" });
    const missing = client.room.get("nobody").said();
    await expect(missing).rejects.toMatchObject({ group: "actor", code: "not_found" });
  });

  test("runs schedules, retries, sleeps and waiting sends by the machine's clock", async (c) => {
    const { client } = await setupTest(c, registry);
    const handle = client.order.getOrCreate("o");
    const reply = await handle.send("approvals", "ada", { wait: true });
    expect(reply).toEqual({ status: "completed", response: "approved by ada" });
    expect(await handle.charged()).toBe(2);
    const bell = client.room.getOrCreate("bell");
    await bell.ringSoon();
    await vi.waitFor(async () => expect(await bell.rung()).toBe(1));
  });

  test("serves gateway URLs: raw requests with bodies and cookies, raw sockets, and what is not ours", async (c) => {
    const { client, endpoint } = await setupTest(c, registry);
    const handle = client.room.getOrCreate("raw");
    await handle.resolve();
    const url = await handle.getGatewayUrl();
    expect(url.startsWith(endpoint)).toBe(true);
    const posted = await handle.fetch("/path", { method: "POST", body: "hello" });
    expect(await posted.json()).toEqual({ method: "POST", pathname: "/path", body: "hello", key: ["raw"] });
    expect((await handle.fetch("/cookies")).headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect((await fetch(`${endpoint}/nothing`)).status).toBe(404);
    expect((await fetch(`${endpoint}/health`)).status).toBe(200);
    const socket = await handle.webSocket();
    socket.binaryType = "arraybuffer";
    const got: unknown[] = [];
    socket.addEventListener("message", ({ data }: { data: unknown }) => got.push(data));
    await new Promise((resolve) => socket.addEventListener("open", resolve));
    socket.send("ping");
    socket.send(Uint8Array.of(1, 2));
    await vi.waitFor(() => expect(got).toEqual(["ping", Uint8Array.of(1, 2).buffer]));
    socket.close();
  });

  test("gives c.env, keeps worlds apart, and ends with its test", async (c) => {
    const ends: (() => Promise<void>)[] = [];
    const first = await setupTest({ onTestFinished: (end) => ends.push(end) }, registry, { env: { KEY: "k" } });
    const second = await setupTest(c, registry);
    expect(await first.client.room.getOrCreate("r").env()).toEqual({ KEY: "k" });
    await first.client.room.getOrCreate("r").say("in the first");
    expect(await second.client.room.getOrCreate("r").said()).toEqual([]);
    const connection = first.client.room.getOrCreate("r").connect();
    await connection.ready;
    for (const end of ends) await end();
    await expect(fetch(`${first.endpoint}/health`)).rejects.toThrow("fetch failed");
    expect((await fetch(`${second.endpoint}/health`)).status).toBe(200);
  });

  test("says what it needs", async (c) => {
    const wrong: [RegExp, unknown[]][] = [
      [/the test's own context, whose onTestFinished/, [undefined, registry]],
      [/the test's own context, whose onTestFinished/, [{}, registry]],
      [/a registry, made by setup\(\)/, [c, {}]],
      [/no option "port"/, [c, registry, { port: 1 }]],
      [/env must be an object/, [c, registry, { env: "x" }]],
    ];
    for (const [problem, args] of wrong)
      await expect((setupTest as (...given: unknown[]) => Promise<unknown>)(...args)).rejects.toThrow(problem);
    const missing = loadWs(() => Promise.reject(new Error("Cannot find package 'ws'")));
    await expect(missing).rejects.toThrow("npm install --save-dev ws");
  });
});

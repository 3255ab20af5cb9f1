import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { createHandler } from "../../src/entry/cloudflare.js";
import { actor, queue, setup } from "../../src/entry/index.js";
import { decodeValue, encodeValue, objectName } from "../../src/protocol/index.js";
import {
  awaitThroughSocket,
  createActorCaller,
  createSocketOpener,
  type ActorNamespace,
} from "../../src/router/index.js";
import { KILLED } from "../support/kill.js";
import { serve } from "../support/worker.js";

// A sender who waits is held by the Worker while the object behind it is thrown away: on the platform's own stubs and errors.

const jobs = actor({
  state: {},
  queues: { work: queue<number, string>() },
  actions: {
    finish: async (c) => {
      const message = await c.queue.tryNext({ completable: true });
      await message?.complete(`did ${message.body}`);
      return message?.body;
    },
    connected: (c) => c.conns.size,
  },
});
const caller = actor({
  state: {},
  actions: {
    ask: (c, key: string, timeout: number) =>
      c.client<typeof registry>().jobs.getOrCreate(key).send("work", 7, { wait: true, timeout }),
  },
});
const registry = setup({ use: { jobs, caller } });
serve(registry);
const { ACTORS } = env as unknown as { ACTORS: DurableObjectNamespace };
const client = createHandler(registry, { logLevel: "silent" }).client(env);
const worker = (exports as unknown as { default: { fetch(request: Request): Promise<Response> } }).default;

const ways: Record<string, (key: string, timeout: number) => Promise<unknown>> = {
  async HTTP(key, timeout) {
    const url = `http://worker.test/gateway/jobs/queue/work?rvt-namespace=default&rvt-method=getOrCreate&rvt-key=${key}`;
    const response = await worker.fetch(
      new Request(url, { method: "POST", body: JSON.stringify({ body: 7, wait: true, timeout }) }),
    );
    return response.json();
  },
  binding: (key, timeout) => client.jobs.getOrCreate(key).send("work", 7, { wait: true, timeout }),
  "another actor": (key, timeout) => client.caller.getOrCreate(key).ask(key, timeout),
};

function inside<T>(key: string, body: (ctx: DurableObjectState) => T): Promise<T> {
  return runInDurableObject(ACTORS.get(ACTORS.idFromName(objectName("jobs", [key]))), (_instance, ctx) => body(ctx));
}

/** Throws the instance of the actor away, as a reset does, and everything that is in it. */
async function kill(key: string): Promise<void> {
  await inside(key, (ctx) => ctx.abort(KILLED)).catch(() => {});
}

/** Looks for the message, since nothing tells when it is stored. */
async function stored(key: string): Promise<void> {
  for (let polls = 0; polls < 1000; polls++) {
    if ((await inside(key, (ctx) => [...ctx.storage.kv.list({ prefix: "m/" })].length)) > 0) return;
    await scheduler.wait(1);
  }
  throw new Error("The message was not stored.");
}

describe.each(Object.keys(ways))("a sender over %s", (way) => {
  const send = ways[way] as (typeof ways)[string];
  const key = way.replace(" ", "-");

  it("gets the reply", async () => {
    const sent = send(`${key}-1`, 60_000);
    await stored(`${key}-1`);
    expect(await client.jobs.get(`${key}-1`).finish()).toBe(7);
    expect(await sent).toEqual({ status: "completed", response: "did 7" });
  });

  it("gets the reply of an object that was thrown away twice meanwhile", async () => {
    const sent = send(`${key}-2`, 60_000);
    await stored(`${key}-2`);
    await kill(`${key}-2`);
    await scheduler.wait(100);
    await kill(`${key}-2`);
    expect(await client.jobs.get(`${key}-2`).finish()).toBe(7);
    expect(await sent).toEqual({ status: "completed", response: "did 7" });
  });

  it("is told when the time is over, object or not", async () => {
    const sent = send(`${key}-3`, 150);
    await stored(`${key}-3`);
    await kill(`${key}-3`);
    expect(await sent).toEqual({ status: "timedOut" });
  });
});

describe("a sender who waits through a socket", () => {
  const objects = ACTORS as unknown as ActorNamespace;
  const names = new Set(["jobs", "caller"]);
  const call = createActorCaller(objects, { actorNames: names });
  const openSocket = createSocketOpener(objects, names, call);
  const setTimer = (ms: number, action: () => void) => {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  };
  const token = "0123456789abcdef".repeat(2);

  /** Stores a message whose sender then waits through a socket, as after the 30 s of its call. */
  async function waiting(key: string, signal?: AbortSignal) {
    const target = { name: "jobs", key: [key], creation: { mode: "getOrCreate" } } as const;
    const { actorId, output } = await call({
      target,
      operation: { kind: "send", queue: "work", body: encodeValue(7), wait: true, timeoutMs: 3_600_000, token },
    });
    const { id, createdAt } = decodeValue(output ?? new Uint8Array()) as { id: number; createdAt: number };
    const operation = { kind: "wait", messageId: id, createdAt, timeoutMs: 3_600_000, token } as const;
    const result = awaitThroughSocket(openSocket, { actorId, operation, leftMs: 3_600_000, signal, setTimer });
    result.catch(() => {});
    // The upgrade is answered before any later call.
    while ((await inside(key, (ctx) => ctx.getWebSockets().length)) === 0) await scheduler.wait(1);
    return { result };
  }

  it("lets the object be evicted, is no connection, and gets the reply from the next one at once", async () => {
    const { result: sent } = await waiting("evicted");
    const stub = ACTORS.get(ACTORS.idFromName(objectName("jobs", ["evicted"])));
    await evictDurableObject(stub);
    await evictDurableObject(stub).catch(() => {});
    // The call itself is one.
    expect(await client.jobs.get("evicted").connected()).toBe(
      await client.jobs.getOrCreate("nobody waits").connected(),
    );
    expect(await client.jobs.get("evicted").finish()).toBe(7);
    expect(await sent).toEqual({ status: "completed", reply: encodeValue("did 7") });
    expect(await inside("evicted", (ctx) => [...ctx.storage.kv.list()].map(([name]) => name))).toEqual(["a", "s"]);
  });

  it("leaves nothing but the message when it goes", async () => {
    const leaves = new AbortController();
    const { result: sent } = await waiting("abandoned", leaves.signal);
    leaves.abort(new Error("gone"));
    await expect(sent).rejects.toThrow("gone");
    for (
      let polls = 0;
      polls < 1_000 && (await inside("abandoned", (ctx) => ctx.getWebSockets().length)) > 0;
      polls += 1
    )
      await scheduler.wait(1);
    expect(
      await inside("abandoned", (ctx) => [
        ctx.getWebSockets().length,
        [...ctx.storage.kv.list()].map(([name]) => name),
      ]),
    ).toEqual([0, ["a", "m/1", "s"]]);
  });
});

import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { createHandler } from "../../src/entry/cloudflare.js";
import { actor, queue, setup } from "../../src/entry/index.js";
import { objectName } from "../../src/protocol/index.js";
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
  },
});
const caller = actor({
  state: {},
  actions: {
    ask: (c, key: string, timeout: number) => c.client<typeof registry>().jobs.getOrCreate(key).send("work", 7, { wait: true, timeout }),
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
    const response = await worker.fetch(new Request(url, { method: "POST", body: JSON.stringify({ body: 7, wait: true, timeout }) }));
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

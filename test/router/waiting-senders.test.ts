// Router, wait and real actors together: what a sender hears whose actor crashes, or ends, while it waits.
import { describe, expect, test } from "vitest";
import { actor, queue, setup } from "../../src/entry/index.js";
import { createBindingTransport, createClientWithTransport } from "../../src/client/index.js";
import { createActorCaller, createMessageSender } from "../../src/router/index.js";
import type { World } from "../../src/testing/index.js";
import { testWorld } from "../support/test-world.js";
import { routerOver } from "./post-action.js";
import { WorldObjects } from "./world-objects.js";

const ADDRESS = "rvt-namespace=default&rvt-method=getOrCreate&rvt-key=a";

const jobs = actor({
  state: {},
  queues: { work: queue<number, string>(), unread: queue<number>() },
  options: { actionTimeout: 5000 },
  actions: {
    finish: async (c) => {
      const message = await c.queue.tryNext({ names: ["work"], completable: true });
      await message?.complete(`did ${message.body}`);
    },
    end: (c) => c.destroy(),
  },
});

/** Everything by the world's clock: the actors', and the Worker's pauses. */
function setUp() {
  const world = testWorld(setup({ use: { counter: jobs } }));
  const objects = new WorldObjects(world);
  const ports = { now: () => world.clock.now(), sleep: (ms: number) => world.clock.delay(ms), random: () => 0 };
  const send = routerOver(objects, ports);
  const over = (kind: "HTTP" | "the binding") => async (queueName: string, options: { wait: true; timeout?: number }): Promise<unknown> => {
    if (kind === "HTTP") {
      const response = await send(`/gateway/counter/queue/${queueName}?${ADDRESS}`, { method: "POST", body: JSON.stringify({ body: 7, ...options }) });
      const answer = await response.json<{ group?: string; code?: string }>();
      return response.ok ? answer : `${answer.group}/${answer.code}`;
    }
    const call = createActorCaller(objects, { actorNames: ["counter"], ...ports });
    const client = createClientWithTransport(createBindingTransport({ call, send: createMessageSender(call, ports), openSocket: () => Promise.reject(new Error("no sockets here")), fetch: async () => new Response() }, ports));
    return client.counter.getOrCreate("a").send(queueName, 7, options).catch(({ group, code }: { group: string; code: string }) => `${group}/${code}`);
  };
  return { world, over, jobs: world.actor("counter", ["a"]) };
}

/** What a promise has come to, once nothing more happens by itself. */
async function state(world: World, promise: Promise<unknown>): Promise<unknown> {
  let result: unknown = "waiting";
  void promise.then((value) => (result = value));
  for (let i = 0; i < 5; i++) await world.settle();
  return result;
}

describe.each(["HTTP", "the binding"] as const)("a sender over %s", (way) => {
  test("gets the reply when its message is completed", async () => {
    const { world, over, jobs: object } = setUp();
    const sent = over(way)("work", { wait: true, timeout: 1000 });
    expect(await state(world, sent)).toBe("waiting");
    await object.call("finish");
    expect(await state(world, sent)).toEqual({ status: "completed", response: "did 7" });
  });

  test("is told that the time was over, at that time, and the message stays", async () => {
    const { world, over, jobs: object } = setUp();
    const sent = over(way)("work", { wait: true, timeout: 1000 });
    await world.pass(999);
    expect(await state(world, sent)).toBe("waiting");
    await world.pass(1);
    expect(await state(world, sent)).toEqual({ status: "timedOut" });
    expect(object.store.keys.filter((key) => key.startsWith("m/"))).toHaveLength(1);
  });

  test("without a time of its own waits as long as an action may run", async () => {
    const { world, over } = setUp();
    const sent = over(way)("unread", { wait: true });
    await world.pass(5001);
    expect(await state(world, sent)).toBe("actor/action_timed_out");
  });

  test("waits on when the object crashes, and gets the reply from the next one", async () => {
    const { world, over, jobs: object } = setUp();
    const sent = over(way)("work", { wait: true, timeout: 10_000 });
    await world.pass(100);
    object.crash();
    await world.pass(100);
    object.crash();
    await world.pass(1000);
    expect(await state(world, sent)).toBe("waiting");
    await object.call("finish");
    await world.pass(2000);
    expect(await state(world, sent)).toEqual({ status: "completed", response: "did 7" });
    expect(object.crashes).toBe(2);
  });

  test("gets a reply that was given while nobody was attached", async () => {
    const { world, over, jobs: object } = setUp();
    const sent = over(way)("work", { wait: true, timeout: 10_000 });
    await state(world, sent);
    object.crash();
    await object.call("finish");
    await world.pass(1000);
    expect(await state(world, sent)).toEqual({ status: "completed", response: "did 7" });
  });

  test("is told when it is over although the object crashes at the end of its time", async () => {
    const { world, over, jobs: object } = setUp();
    const sent = over(way)("unread", { wait: true, timeout: 1000 });
    await world.pass(990);
    object.crash();
    await world.pass(20);
    expect(await state(world, sent)).toEqual({ status: "timedOut" });
  });

  test("hears that the actor was destroyed, and of no other life of its key", async () => {
    const { world, over, jobs: object } = setUp();
    const sent = over(way)("work", { wait: true, timeout: 10_000 });
    await world.pass(10);
    await object.call("end");
    await world.pass(1000);
    expect(await state(world, sent)).toBe("actor/destroyed");
  });
});

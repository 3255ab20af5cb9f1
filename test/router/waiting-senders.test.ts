// Router, wait and real actors together: what a sender hears whose actor crashes, or ends, while it waits.
import { describe, expect, test } from "vitest";
import { actor, queue, setup } from "../../src/entry/index.js";
import { workflow } from "../../src/entry/workflow.js";
import { createBindingTransport, createClientWithTransport } from "../../src/client/binding.js";
import { createActorCaller, createMessageSender, createSocketOpener } from "../../src/router/index.js";
import type { World, WorldOptions } from "../../src/testing/index.js";
import { testWorld } from "../support/test-world.js";
import { routerOver } from "./post-action.js";
import { waitPorts, WorldObjects } from "./world-objects.js";

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

/** Answers each message as it comes. */
const quick = actor({
  queues: { work: queue<number, string>() },
  run: workflow(async (ctx) => {
    await ctx.loop("loop", async (loop) => {
      const message = await loop.queue.next("take", { completable: true });
      await message.complete(`did ${String(message.body)}`);
    });
  }),
  actions: { get: () => "there" },
});

/** Everything by the world's clock: the actors', and the Worker's pauses. */
function setUp(options: Partial<WorldOptions> = {}, counter: typeof jobs | typeof quick = jobs) {
  const world = testWorld(setup({ use: { counter } }), options);
  const objects = new WorldObjects(world);
  const ports = waitPorts(world);
  const send = routerOver(objects, ports);
  const over =
    (kind: "HTTP" | "the binding") =>
    async (queueName: string, options: { wait: true; timeout?: number }): Promise<unknown> => {
      if (kind === "HTTP") {
        const response = await send(`/gateway/counter/queue/${queueName}?${ADDRESS}`, {
          method: "POST",
          body: JSON.stringify({ body: 7, ...options }),
        });
        const answer = await response.json<{ group?: string; code?: string }>();
        return response.ok ? answer : `${answer.group}/${answer.code}`;
      }
      const call = createActorCaller(objects, { actorNames: ["counter"], ...ports });
      const client = createClientWithTransport(
        createBindingTransport(
          {
            call,
            send: createMessageSender(call, createSocketOpener(objects, new Set(["counter"]), call), ports),
            openSocket: () => Promise.reject(new Error("no sockets here")),
            fetch: async () => new Response(),
          },
          ports,
        ),
      );
      return client.counter
        .getOrCreate("a")
        .send(queueName, 7, options)
        .catch(({ group, code }: { group: string; code: string }) => `${group}/${code}`);
    };
  return { world, objects, over, send, jobs: world.actor("counter", ["a"]) };
}

/** What a promise has come to, once nothing more happens by itself. */
async function state(world: World, promise: Promise<unknown>): Promise<unknown> {
  let result: unknown = "waiting";
  void promise.then((value) => (result = value));
  for (let i = 0; i < 5; i++) await world.settle();
  return result;
}

const HOUR = 3_600_000;

describe.each(["HTTP", "the binding"] as const)("a sender over %s who waits for an hour", (way) => {
  test("holds the object for 30 s, then nothing in it but a socket that outlives evictions, and gets the reply at once", async () => {
    const { world, over, jobs: object } = setUp();
    const sent = over(way)("work", { wait: true, timeout: HOUR });
    await world.pass(29_999);
    expect([object.timersHeld, object.replySockets.open]).toEqual([1, 0]);
    await world.pass(1);
    expect(await state(world, sent)).toBe("waiting");
    expect([object.timersHeld, object.replySockets.open]).toEqual([0, 1]);
    const { rows, alarmAt } = object.store;
    await object.evict();
    await world.pass(HOUR / 2);
    expect([object.store.rows, object.store.alarmAt, object.sockets.size]).toEqual([rows, alarmAt, 0]);
    await object.call("finish");
    expect(await state(world, sent)).toEqual({ status: "completed", response: "did 7" });
    expect([object.replySockets.open, object.store.keys]).toEqual([0, ["a", "s"]]);
  });

  test("attaches again when the object has crashed, and finds the reply that was given meanwhile", async () => {
    const { world, over, jobs: object } = setUp();
    const sent = over(way)("work", { wait: true, timeout: HOUR });
    await world.pass(40_000);
    object.crash();
    // Before it is back.
    await object.call("finish");
    expect(object.store.keys).toContain("d/reply/1");
    await world.pass(1_000);
    expect(await state(world, sent)).toEqual({ status: "completed", response: "did 7" });
    await world.pass(HOUR);
    expect(object.store.keys).toEqual(["a", "s"]);
  });

  test("is told when its time is over, and that the actor was destroyed; both leave no socket", async () => {
    const { world, over, jobs: object } = setUp();
    const late = over(way)("unread", { wait: true, timeout: HOUR });
    await world.pass(HOUR - 1);
    expect(await state(world, late)).toBe("waiting");
    await world.pass(1);
    expect(await state(world, late)).toEqual({ status: "timedOut" });
    expect(object.replySockets.open).toBe(0);
    const lost = over(way)("unread", { wait: true, timeout: HOUR });
    await world.pass(40_000);
    await object.call("end");
    await world.pass(1_000);
    expect(await state(world, lost)).toBe("actor/destroyed");
    expect([object.replySockets.open, object.store.keys]).toEqual([0, []]);
  });

  test("gets the reply, or is told the time is over, wherever the actor dies", async () => {
    let commits = Infinity;
    for (let at = 1; at <= commits; at += 1) {
      let seen = 0;
      const { world, over, jobs: object } = setUp({ fault: () => ((seen += 1) === at ? "crash-after" : undefined) });
      const sent = over(way)("work", { wait: true, timeout: HOUR });
      await world.pass(40_000);
      await object.call("finish").catch(() => {});
      await world.pass(5_000);
      await object.call("finish").catch(() => {});
      await world.pass(HOUR);
      const result = await state(world, sent);
      // A send whose answer was lost is not repeated; a reply that left with the process is lost.
      expect([
        "actor/restarting",
        "rivetkit/internal_error",
        "guard/service_unavailable",
        JSON.stringify({ status: "completed", response: "did 7" }),
        JSON.stringify({ status: "timedOut" }),
      ]).toContain(typeof result === "string" ? result : JSON.stringify(result));
      expect([object.replySockets.open, object.timersHeld]).toEqual([0, 0]);
      expect(object.store.keys.filter((key) => key.startsWith("d/"))).toEqual([]);
      commits = Math.min(commits, seen);
    }
    expect(commits).toBeGreaterThan(1);
  });
});

test("a sender whose workflow answers at once gets the reply wherever the actor dies, once its message is stored", async () => {
  const told = new Set<boolean>();
  for (const fault of ["crash-before", "crash-after"] as const) {
    let commits = 1;
    for (let at = 0; at <= commits; at += 1) {
      let seen = 0;
      let isArmed = false;
      const { world, over } = setUp({ fault: () => (isArmed && (seen += 1) === at ? fault : undefined) }, quick);
      const { store } = world.actor("counter", ["a"]);
      await world.actor("counter", ["a"]).call("get");
      await world.settle();
      const before = store.keys;
      isArmed = true;
      const sent = over("HTTP")("work", { wait: true, timeout: 20_000 });
      await world.pass(60_000);
      const result = await state(world, sent);
      const isStored = store.keys.some((key) => !before.includes(key));
      const expected = isStored ? { status: "completed", response: "did 7" } : "actor/restarting";
      expect([fault, at, result]).toEqual([fault, at, expected]);
      told.add(isStored);
      commits = Math.max(commits, seen);
    }
    expect(commits).toBeGreaterThan(2);
  }
  expect([...told]).toEqual([true, false]);
});

test("a sender who leaves closes its socket", async () => {
  const { world, send, jobs: object } = setUp();
  const leaves = new AbortController();
  const sent = send(`/gateway/counter/queue/work?${ADDRESS}`, {
    method: "POST",
    body: JSON.stringify({ body: 7, wait: true, timeout: HOUR }),
    signal: leaves.signal,
  }).catch(() => "gone");
  await world.pass(40_000);
  expect(object.replySockets.open).toBe(1);
  leaves.abort();
  await state(world, sent);
  expect([object.replySockets.open, object.timersHeld]).toEqual([0, 0]);
});

describe.each(["HTTP", "the binding"] as const)("a sender over %s", (way) => {
  test("gets the reply when its message is completed, in one call of the object, which keeps nothing of it", async () => {
    const { world, objects, over, jobs: object } = setUp();
    const sent = over(way)("work", { wait: true, timeout: 1000 });
    expect(await state(world, sent)).toBe("waiting");
    await object.call("finish");
    expect(await state(world, sent)).toEqual({ status: "completed", response: "did 7" });
    expect([objects.calls, object.store.keys]).toEqual([1, ["a", "s"]]);
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

import { describe, expect, it } from "vitest";
import { queue } from "../../src/actor/index.js";
import { Subject } from "./subject.js";

// oxlint-disable-next-line typescript/no-explicit-any
type Any = any;

const number = {
  "~standard": {
    version: 1 as const,
    vendor: "test",
    validate: (value: unknown) =>
      typeof value === "number" ? { value } : { issues: [{ message: "a number", path: ["n"] }] },
  },
};
const withDefault = {
  "~standard": {
    version: 1 as const,
    vendor: "test",
    validate: async (value: unknown) => ({ value: { size: 1, ...(value as object) } }),
  },
};

/** An actor without a workflow, and the queue as its actions see it. */
function plain(
  options: {
    queues?: Any;
    options?: Record<string, number>;
    run?: (c: Any) => Promise<unknown>;
    actions?: Record<string, (c: Any, ...args: Any[]) => unknown>;
    config?: object;
  } = {},
): Subject {
  return new Subject(undefined, {
    ...(options.queues ? { queues: options.queues } : {}),
    ...(options.options ? { options: options.options } : {}),
    // A receiver: without declared queues, messages from outside need one.
    config: { run: options.run ?? (async () => {}), ...options.config },
    actions: {
      put: (c, name: string, body?: unknown) => c.queue.send(name, body),
      batch: (c, selection?: object) => c.queue.nextBatch(selection),
      tryBatch: (c, selection?: object) => c.queue.tryNextBatch(selection),
      names: (c, names: string[], selection?: object) => c.queue.waitForNames(names, selection),
      ask: (c, name: string, body: unknown, selection?: object) => c.queue.enqueueAndWait(name, body, selection),
      ...options.actions,
    },
  });
}

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => value,
    (error: { group: string; code: string }) => `${error.group}/${error.code}`,
  );

describe("c.queue of an action", () => {
  it("receives what a client sent, and what the actor sent under any name (C1, C2)", async () => {
    const s = plain({ queues: { jobs: queue() } });
    await s.send("jobs", { n: 1 });
    await s.call("put", "whatever", 2);
    expect(await s.call("next", { names: ["jobs"] })).toEqual({
      id: 1,
      name: "jobs",
      body: { n: 1 },
      createdAt: s.clock.now(),
    });
    expect(await s.call("next")).toMatchObject({ id: 2, name: "whatever", body: 2 });
    expect(s.queued).toBe(0);
  });

  it("takes the oldest over several queues, or over all (C3, C4, C31)", async () => {
    const s = plain();
    for (const [name, body] of [
      ["c", 0],
      ["b", 1],
      ["a", 2],
      ["b", 3],
    ] as const)
      await s.send(name, body);
    expect((await s.call("batch", { names: ["a", "b"], count: 2 })).map((message: Any) => message.body)).toEqual([
      1, 2,
    ]);
    expect((await s.call("batch", { count: 5 })).map((message: Any) => message.body)).toEqual([0, 3]);
  });

  it("gives undefined and [] when the time is over, and holds nothing after it (C5)", async () => {
    const s = plain();
    await s.call("get");
    const waiting = [s.call("next", { timeout: 50 }), s.call("batch", { timeout: 50 })];
    await s.world.pass(49);
    expect(s.actor.timersHeld).toBe(1);
    await s.world.pass(1);
    expect(await Promise.all(waiting)).toEqual([undefined, []]);
    expect(s.actor.timersHeld).toBe(0);
  });

  it("does not wait in tryNext and tryNextBatch (C6)", async () => {
    const s = plain();
    expect(await s.call("tryNext")).toBeUndefined();
    expect(await s.call("tryBatch")).toEqual([]);
    await s.send("a", 1);
    expect(await s.call("tryBatch", { count: 3 })).toMatchObject([{ body: 1 }]);
  });

  it("ends a wait when its signal fires or the actor is destroyed (C7, C8)", async () => {
    let abort: AbortController | undefined;
    const s = plain({
      actions: {
        signalled: (c) => {
          abort = new AbortController();
          return c.queue.next({ signal: abort.signal });
        },
        fired: (c) => c.queue.next({ signal: AbortSignal.abort() }),
        destroy: (c) => c.destroy(),
      },
    });
    await s.call("get");
    const waiting = codeOf(s.call("signalled"));
    await s.world.settle();
    abort?.abort();
    expect(await waiting).toBe("actor/aborted");
    expect(await codeOf(s.call("fired"))).toBe("actor/aborted");
    const rest = codeOf(s.call("next"));
    await s.world.settle();
    await s.call("destroy");
    await s.world.settle();
    expect(await rest).toMatch(/^actor\/(?:aborted|destroyed)$/);
  });

  it("gives a message to the first that waits for it (MSG-2)", async () => {
    const s = plain();
    await s.call("get");
    const first = s.call("next", { names: ["a", "b"] });
    await s.world.turn();
    const second = s.call("next", { names: ["b"] });
    await s.world.turn();
    await s.send("b", 1);
    await s.send("b", 2);
    expect(await first).toMatchObject({ body: 1 });
    expect(await second).toMatchObject({ body: 2 });
  });

  it("tells in waitForNamesAvailable that there is a message, and takes none", async () => {
    const s = plain({
      actions: {
        available: async (c, names?: string[], selection?: object) => (
          await c.queue.waitForNamesAvailable(names, selection),
          "there"
        ),
      },
    });
    await s.call("get");
    const waiting = s.call("available", ["a"]);
    const late = codeOf(s.call("available", ["b"], { timeout: 50 }));
    await s.send("a", 1);
    expect(await waiting).toBe("there");
    expect(await s.call("available")).toBe("there");
    await s.world.pass(50);
    expect(await late).toBe("queue/timed_out");
    expect(s.queued).toBe(1);
    expect(await s.call("next")).toMatchObject({ name: "a", body: 1 });
  });

  it("throws queue/timed_out in waitForNames (C29)", async () => {
    const s = plain();
    await s.call("get");
    const waiting = codeOf(s.call("names", ["a"], { timeout: 50 }));
    await s.send("b", 1);
    await s.world.pass(50);
    expect(await waiting).toBe("queue/timed_out");
    expect(await s.call("names", ["b"])).toMatchObject({ body: 1 });
  });

  it.each([
    ["a count of 0", "batch", { count: 0 }],
    ["a count of 1.5", "batch", { count: 1.5 }],
    ["NaN for a timeout", "next", { timeout: Number.NaN }],
    ["an endless timeout", "next", { timeout: Number.POSITIVE_INFINITY }],
    ["names that are a text", "next", { names: "ab", timeout: 0 }],
    ["names that are numbers", "next", { names: [1], timeout: 0 }],
  ])("refuses %s with queue/invalid_payload", async (_, action, selection) => {
    const s = plain();
    await s.send("a", 1);
    expect(await codeOf(s.call(action, selection))).toBe("queue/invalid_payload");
    expect(s.queued).toBe(1);
    expect(s.actor.timersHeld).toBe(0);
  });
});

describe("completable messages of an action", () => {
  it("stay stored and come again to other callbacks, also after a restart (C13)", async () => {
    const s = plain();
    await s.send("a", 1);
    expect(await s.call("peek")).toMatchObject({ id: 1 });
    expect(await s.call("peek")).toMatchObject({ id: 1 });
    s.actor.crash();
    expect(await s.call("peek")).toMatchObject({ id: 1 });
    expect(s.queued).toBe(1);
  });

  it("block the next receive of their queue in the same callback until they are completed, and of no other (C14)", async () => {
    const s = plain({
      actions: {
        work: async (c) => {
          const message = await c.queue.next({ names: ["a"], completable: true });
          const seen = [
            await codeOf(c.queue.tryNext({ names: ["a"] })),
            await codeOf(c.queue.tryNext()),
            await codeOf(c.queue.tryNext({ names: ["b"] })),
          ];
          await message.complete();
          return [...seen, await codeOf(c.queue.tryNext({ names: ["a"] }))];
        },
      },
    });
    await s.send("a", 1);
    const refused = "queue/previous_message_not_completed";
    expect(await s.call("work")).toEqual([refused, refused, undefined, undefined]);
    expect(s.queued).toBe(0);
  });

  it("are completed once (C15)", async () => {
    const s = plain({
      actions: {
        twice: async (c) => {
          const message = await c.queue.next({ completable: true });
          return [
            await codeOf(message.complete(1)),
            await codeOf(message.complete(2)),
            await codeOf(c.queue.tryNext()),
          ];
        },
        atOnce: async (c) => {
          const message = await c.queue.next({ completable: true });
          return (await Promise.allSettled([message.complete(1), message.complete(2)])).map((each) => each.status);
        },
      },
    });
    await s.send("a", 1);
    expect(await s.call("twice")).toEqual([undefined, "queue/already_completed", undefined]);
    await s.send("a", 1);
    expect(await s.call("atOnce")).toEqual(["fulfilled", "rejected"]);
  });

  it("block nobody any more when somebody else has completed them", async () => {
    const held: Any[] = [];
    const s = plain({
      actions: {
        hold: async (c) => {
          held.push(c, await c.queue.next({ completable: true }));
        },
        complete: async (c) => void (await (await c.queue.next({ completable: true })).complete("b")),
        goOn: async () => {
          const [c, message] = held;
          return [await codeOf(message.complete("a")), await codeOf(c.queue.tryNext())];
        },
      },
    });
    await s.send("a", 1);
    await s.call("hold");
    await s.call("complete");
    await s.send("a", 2);
    expect(await s.call("goOn")).toEqual(["queue/already_completed", expect.objectContaining({ body: 2 })]);
  });

  it("answer a waiting sender (C11, C17), with a response that fits the schema", async () => {
    const s = plain({
      queues: { ask: queue({ complete: number as Any }) },
      actions: {
        answer: async (c, response: unknown) => {
          const message = await c.queue.next({ completable: true });
          return codeOf(message.complete(response));
        },
      },
    });
    const waiting = s.sendAndWait("ask", 1, 1_000);
    await s.world.settle();
    expect(await s.call("answer", "text")).toBe("actor/validation_error");
    expect(await s.call("answer", 7)).toBeUndefined();
    expect(await waiting).toEqual({ status: "completed", response: 7 });
  });

  it("leave a sender with timedOut when nobody completes them, with or without a receive (C12, C18)", async () => {
    const s = plain();
    await s.call("get");
    const unread = s.sendAndWait("a", 1, 50);
    await s.world.pass(50);
    expect(await unread).toEqual({ status: "timedOut" });
    expect(s.queued).toBe(1);
    const read = s.sendAndWait("b", 1, 50);
    await s.world.settle();
    await s.call("tryNext", { names: ["b"] });
    await s.world.pass(50);
    expect(await read).toEqual({ status: "timedOut" });
  });
});

describe("enqueueAndWait", () => {
  it("gives the response, or throws queue/timed_out, and leaves nothing behind", async () => {
    const s = plain({
      actions: { answer: async (c) => (await c.queue.next({ completable: true })).complete({ ok: true }) },
    });
    await s.call("get");
    const asked = s.call("ask", "q", 1, { timeout: 1_000 });
    await s.world.settle();
    await s.call("answer");
    expect(await asked).toEqual({ ok: true });
    const late = codeOf(s.call("ask", "q", 2, { timeout: 50 }));
    await s.world.pass(50);
    expect(await late).toBe("queue/timed_out");
    expect(s.queued).toBe(1);
    expect(s.actor.timersHeld).toBe(0);
  });

  it("ends with its signal at once: no timer keeps the object awake", async () => {
    let abort: AbortController | undefined;
    const s = plain({
      actions: {
        asks: (c) => {
          abort = new AbortController();
          return c.queue.enqueueAndWait("q", 1, { timeout: 50_000, signal: abort.signal });
        },
      },
    });
    await s.call("get");
    const asked = codeOf(s.call("asks"));
    await s.world.settle();
    abort?.abort();
    expect(await asked).toBe("actor/aborted");
    expect(s.actor.timersHeld).toBe(0);
  });

  it("is queue/self_wait at once in a run handler (C30)", async () => {
    const seen: unknown[] = [];
    const s = plain({ run: async (c) => void seen.push(await codeOf(c.queue.enqueueAndWait("q", 1))) });
    await s.call("get");
    await s.world.settle();
    expect(seen).toEqual(["queue/self_wait"]);
    expect(s.queued).toBe(0);
  });
});

describe("sending", () => {
  it("is refused beyond the queue's size, with nothing written, and goes on when there is room (C9)", async () => {
    const s = plain({ options: { maxQueueSize: 3 } });
    for (let n = 0; n < 3; n += 1) await s.send("a", n);
    const { rows } = s.actor.store;
    await expect(s.send("a", 3)).rejects.toMatchObject({
      group: "queue",
      code: "full",
      message: "Queue is full. Limit is 3 messages.",
      metadata: { limit: 3 },
    });
    expect(await codeOf(s.call("put", "a", 3))).toBe("queue/full");
    expect(s.actor.store.rows).toBe(rows);
    await s.call("tryNext");
    expect((await s.send("a", 3)).id).toBe(4);
  });

  it("is refused beyond the bytes of the queue, with nothing written, from inside and outside, until there is room", async () => {
    const s = plain({ options: { maxQueueBytes: 3_000 } });
    const kilobyte = "x".repeat(990);
    for (let n = 0; n < 3; n += 1) await s.send("a", kilobyte);
    const { rows } = s.actor.store;
    await expect(s.send("a", kilobyte)).rejects.toMatchObject({
      group: "queue",
      code: "full",
      metadata: { limitBytes: 3_000 },
    });
    expect(await codeOf(s.call("put", "a", kilobyte))).toBe("queue/full");
    await s.send("a", 1);
    expect(s.actor.store.rows).toBe(rows + 1);
    await s.call("tryNext");
    s.actor.crash();
    await s.send("a", kilobyte);
    expect(await codeOf(s.call("put", "a", kilobyte))).toBe("queue/full");
  });

  it("fills 8 MiB by default, and more that an earlier release stored is only drained", async () => {
    const before = plain({ options: { maxQueueBytes: 100_000_000 } });
    const body = "x".repeat(65_000);
    for (let n = 0; n < 140; n += 1) await before.send("a", body);
    const s = before.deploy(undefined, { options: {} });
    await expect(s.send("a", 1)).rejects.toMatchObject({
      group: "queue",
      code: "full",
      metadata: { limitBytes: 8_388_608 },
    });
    for (let n = 0; n < 10; n += 1) await s.call("tryNext");
    await expect(s.send("a", body)).rejects.toMatchObject({ code: "full" });
    for (let n = 0; n < 2; n += 1) await s.call("tryNext");
    await s.send("a", body);
    expect(s.queued).toBe(129);
  });

  it("is refused by an actor without queues, workflow and run handler, which nothing is stored in or created for", async () => {
    const s = new Subject(undefined, {
      actions: { put: (c, name: string, body?: unknown) => c.queue.send(name, body) },
    });
    await expect(s.send("any", 1)).rejects.toMatchObject({ group: "queue", code: "not_declared" });
    expect(s.actor.store.keys).toEqual([]);
    await s.call("get");
    const { rows } = s.actor.store;
    await expect(s.send("any", 1)).rejects.toMatchObject({ group: "queue", code: "not_declared" });
    await expect(s.sendAndWait("any", 1, 50)).rejects.toMatchObject({ group: "queue", code: "not_declared" });
    expect(s.actor.store.rows).toBe(rows);
    // Inside the actor, any queue name is allowed.
    await s.call("put", "any", 1);
    expect(await s.call("tryNext")).toMatchObject({ name: "any", body: 1 });
  });

  it("is refused for a body beyond its limit, default 64 KiB, with nothing written (C10)", async () => {
    const s = plain();
    await s.call("get");
    const { rows } = s.actor.store;
    const fits = "x".repeat(65_536 - 5);
    await expect(s.send("a", `${fits}xxx`)).rejects.toMatchObject({
      group: "queue",
      code: "message_too_large",
      metadata: { limitBytes: 65_536 },
    });
    expect(s.actor.store.rows).toBe(rows);
    await s.send("a", fits);
    expect(s.queued).toBe(1);
  });

  it("stores what the schema makes of the body, and refuses what it does not take (C24, C25)", async () => {
    const s = plain({ queues: { sized: queue({ message: withDefault as Any }), strict: number } });
    await s.send("sized", { name: "n" });
    expect(await s.call("tryNext")).toMatchObject({ body: { size: 1, name: "n" } });
    await expect(s.send("strict", "x")).rejects.toMatchObject({
      group: "actor",
      code: "validation_error",
      message: "Invalid queue `strict` message",
      metadata: { issues: [{ message: "a number", path: ["n"] }] },
    });
    expect(await codeOf(s.call("put", "strict", "x"))).toBe("actor/validation_error");
    expect(s.queued).toBe(0);
  });

  it("to a queue that is not declared is refused if any is declared, and taken if none is (C19, C20, C21)", async () => {
    const declares = plain({ queues: { jobs: queue() } });
    await declares.call("get");
    const { rows } = declares.actor.store;
    for (const name of ["other", "__proto__", "constructor", "toString"]) {
      await expect(declares.send(name, 1)).rejects.toMatchObject({ group: "queue", code: "not_declared" });
      await expect(declares.sendAndWait(name, 1, 50)).rejects.toMatchObject({ group: "queue", code: "not_declared" });
    }
    expect(declares.actor.store.rows).toBe(rows);
    const open = plain();
    await open.send("__proto__", 1);
    expect(await open.call("tryNext", { names: ["__proto__"] })).toMatchObject({ name: "__proto__", body: 1 });
  });

  it("from outside asks canPublish, from inside does not (C22)", async () => {
    let allowed: unknown = false;
    const s = plain({ queues: { jobs: queue({ canPublish: async () => allowed as boolean }) } });
    await s.call("get");
    await expect(s.send("jobs", 1)).rejects.toMatchObject({ group: "auth", code: "forbidden" });
    expect(s.queued).toBe(0);
    await s.call("put", "jobs", 1);
    allowed = "yes";
    await s.send("jobs", 2);
    expect(s.queued).toBe(2);
  });

  it("gives ids that ascend in the order of the sends (C31)", async () => {
    const s = plain();
    const ids: number[] = [];
    for (let n = 0; n < 5; n += 1) ids.push((await s.send("a", n)).id);
    expect(ids).toEqual([1, 2, 3, 4, 5]);
    expect((await Promise.all([6, 7, 8].map((n) => s.send("a", n)))).map((each) => each.id)).toEqual([6, 7, 8]);
  });
});

describe("a plain run handler", () => {
  it("gets each message once, in the order of ids, and ends silently (C27)", async () => {
    const seen: number[] = [];
    let abort: AbortController | undefined;
    let ended = false;
    const s = plain({
      run: async (c) => {
        abort = new AbortController();
        for await (const message of c.queue.iter({ names: ["a"], signal: abort.signal })) seen.push(message.body);
        ended = true;
      },
    });
    for (let n = 0; n < 5; n += 1) await s.send("a", n);
    await s.world.settle();
    expect(seen).toEqual([0, 1, 2, 3, 4]);
    expect(s.actor.timersHeld).toBe(0);
    abort?.abort();
    await s.world.settle();
    expect(ended).toBe(true);
    expect(s.errors).toEqual([]);
  });

  it("is started by a message when the object sleeps, and receives it (C28)", async () => {
    const seen: unknown[] = [];
    const s = plain({
      run: async (c) => {
        for await (const message of c.queue) seen.push(message.body);
      },
    });
    await s.call("get");
    await s.world.settle();
    s.actor.crash();
    await s.send("a", "woken");
    await s.world.settle();
    expect(seen).toEqual(["woken"]);
    expect(s.actor.holdsLease).toBe(false);
  });
});

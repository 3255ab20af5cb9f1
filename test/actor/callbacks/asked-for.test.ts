/** What a call makes only when user code asks for it. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { actor, event, workflow } from "../../../src/actor/index.js";
import { ActionSignal } from "../../../src/actor/internal.js";
import { decodeValue, ENVELOPE_VERSION, encodeValue, type ToServer } from "../../../src/protocol/index.js";
import { single } from "../subject.js";

// oxlint-disable-next-line typescript/no-explicit-any -- contexts as user code has them
type Any = any;

/** A world that counts the calls of its ports. */
function counting(definition: Any) {
  const ports: Record<string, number> = {};
  const { world, subject } = single(actor(definition), {
    portFault: (_actor, port) => {
      ports[port] = (ports[port] ?? 0) + 1;
      return false;
    },
  });
  const call = (name: string) =>
    subject.deliver({
      v: ENVELOPE_VERSION,
      address: { name: "subject", key: ["k"] },
      creation: { mode: "getOrCreate" },
      operation: { kind: "action", name, args: encodeValue([]) },
      request: { method: "POST", url: "http://host/path", headers: [["x-a", "1"]] },
    });
  return { world, subject, ports, call };
}

afterEach(() => vi.restoreAllMocks());

describe("a call", () => {
  it("that ends in its turn makes no Request, no AbortController, no timer and no turn of its own", async () => {
    const { ports, call, subject } = counting({
      state: { n: 0 },
      actions: { add: (c: Any) => (c.state.n += 1) },
    });
    await call("add");
    for (const port of Object.keys(ports)) delete ports[port];
    const requests = vi.spyOn(globalThis, "Request");
    const controllers = vi.spyOn(globalThis, "AbortController");
    const before = subject.store.commits;
    expect((await call("add")).ok).toBe(true);
    expect(requests).not.toHaveBeenCalled();
    expect(controllers).not.toHaveBeenCalled();
    expect([ports["timer"], ports["yield"], ports["waitUntil"]]).toEqual([undefined, undefined, undefined]);
    expect(subject.store.commits - before).toBe(1);
  });

  it("that changes the state before it waits stores that at the end of the turn", async () => {
    const { world, subject, call } = counting({
      state: { n: 0 },
      actions: {
        add: async (c: Any) => {
          c.state.n += 1;
          await world.clock.delay(1_000);
        },
      },
    });
    const answered = call("add");
    await world.settle();
    const before = subject.store.commits;
    expect(before, "the creation and the change").toBe(1);
    await world.pass(1_000);
    await answered;
    expect(subject.store.commits).toBe(before);
  });

  it("gives the same request and connection at each access", async () => {
    const seen: Any[] = [];
    const { call } = counting({
      actions: {
        look: (c: Any) => {
          seen.push(
            c.request === c.request,
            c.request.headers.get("x-a"),
            c.conn === c.conn,
            c.conns.get(c.conn.id) === c.conn,
          );
        },
      },
    });
    await call("look");
    expect(seen).toEqual([true, "1", true, true]);
  });

  it("is a connection of `c.conns` while it runs, also if only another call looks", async () => {
    const kept: Any = {};
    const { world, call } = counting({
      actions: {
        stay: async (c: Any) => {
          kept.c = c;
          await world.clock.delay(1_000);
        },
        count: (c: Any) => (kept.size = c.conns.size),
      },
    });
    const stays = call("stay");
    await world.settle();
    await call("count");
    expect(kept.size).toBe(2);
    await world.pass(1_000);
    await stays;
    await call("count");
    expect(kept.size, "only the call itself").toBe(1);
    expect(kept.c.conns.has(kept.c.conn.id), "of a call that has ended").toBe(false);
  });
});

describe("a step", () => {
  /** An actor whose workflow runs the step for each message, and the state that is stored by now. */
  function stepping(run: (step: Any, clock: Any) => unknown) {
    const validate = async (value: unknown) => {
      await world.clock.delay(1_000);
      return { value };
    };
    const { ports, world, subject } = counting({
      state: { n: 0 },
      queues: { work: {}, checked: { "~standard": { version: 1, vendor: "test", validate } } },
      run: workflow(async (ctx: Any) => {
        await ctx.loop("loop", async (loop: Any) => {
          await loop.queue.next("wait", { names: ["work"] });
          await loop.step("add", (step: Any) => run(step, world.clock));
        });
      }),
    });
    const send = async () => {
      await subject.deliver({
        v: ENVELOPE_VERSION,
        address: { name: "subject", key: ["k"] },
        creation: { mode: "getOrCreate" },
        operation: { kind: "send", queue: "work", body: encodeValue(1) },
        request: { method: "POST", url: "http://host/path", headers: [] },
      });
      await world.settle();
    };
    const stored = (): number => (decodeValue(subject.store.dump().get("s") as Uint8Array) as { n: number }).n;
    return { ports, world, send, stored };
  }

  it("that changes the state and ends in its turn takes no turn of its own", async () => {
    const { ports, send, stored } = stepping((step) => void (step.state.n += 1));
    await send();
    for (const port of Object.keys(ports)) delete ports[port];
    await send();
    expect(stored()).toBe(2);
    expect(ports["yield"]).toBeUndefined();
  });

  it.each<[string, (step: Any, clock: Any) => unknown]>([
    ["that waits after it has changed the state", (step, clock) => ((step.state.n += 1), clock.delay(1_000))],
    [
      "with effects that go on",
      (step) => {
        step.state.n += 1;
        void step.queue.send("checked", 1);
      },
    ],
  ])("%s stores that at the end of the turn", async (_, run) => {
    const { world, send, stored } = stepping(run);
    await send();
    expect(stored()).toBe(1);
    await world.pass(1_000);
    expect(stored()).toBe(1);
  });
});

describe("a frame of a socket", () => {
  it.each<ToServer>([
    { tag: "ActionRequest", val: { id: 1n, name: "add", args: [1] } },
    { tag: "SubscriptionRequest", val: { eventName: "n", subscribe: true } },
  ])("makes no timer and no turn of its own: $tag", async (message) => {
    const { ports, subject } = counting({
      state: { n: 0 },
      events: { n: event() },
      actions: { add: (c: Any, more: number) => (c.state.n += more) },
    });
    const socket = await subject.connect();
    for (const port of Object.keys(ports)) delete ports[port];
    await socket.say(message);
    expect([ports["timer"], ports["yield"], ports["waitUntil"]]).toEqual([undefined, undefined, undefined]);
    expect(socket.received.filter(({ tag }) => tag === "Error")).toEqual([]);
  });
});

describe("the signal of an action", () => {
  const over = new Error("over");

  it.each(["before", "after"])("aborts with a shutdown, made %s it", (made) => {
    const shutdown = new AbortController();
    const signal = new ActionSignal(shutdown.signal);
    if (made === "before") void signal.signal;
    shutdown.abort(over);
    expect(signal.signal.reason).toBe(over);
    expect(() => signal.throwIfAborted()).toThrow(over);
  });

  it.each(["before", "after"])("aborts with its action's timeout, made %s it, and with the first reason", (made) => {
    const shutdown = new AbortController();
    const signal = new ActionSignal(shutdown.signal);
    if (made === "before") void signal.signal;
    signal.abort(over);
    shutdown.abort(new Error("later"));
    expect(signal.signal.reason).toBe(over);
  });

  it.each(["made", "not made"])("is not aborted by a shutdown after the action, or before it (%s)", (made) => {
    const shutdown = new AbortController();
    const ended = new ActionSignal(shutdown.signal);
    if (made === "made") void ended.signal;
    ended.over();
    shutdown.abort(over);
    const late = new ActionSignal(shutdown.signal);
    for (const each of [ended, late]) {
      expect(each.signal.aborted).toBe(false);
      each.throwIfAborted();
    }
  });
});

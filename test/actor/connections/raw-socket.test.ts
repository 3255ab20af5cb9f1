import { describe, expect, it } from "vitest";
import { actor, type AnyActorDefinition } from "../../../src/actor/index.js";
import { single, type Single } from "../subject.js";

// oxlint-disable-next-line typescript/no-explicit-any -- sockets and contexts as user code has them
type Any = any;

/** An actor with the test's handler. Records the calls of its hooks. */
function raw(onWebSocket: (c: Any, socket: Any, one: Noted) => unknown, canHibernateWebSocket = true): Noted {
  const notes: unknown[] = [];
  const one: Noted = {
    notes,
    ...single(
      actor({
        state: { n: 0 },
        onWebSocket: (c: Any, socket: Any) => onWebSocket(c, socket, one),
        onDisconnect: (_c: Any, conn: Any, end: Any) =>
          void (conn.params !== undefined && notes.push(`gone ${end.code}`)),
        actions: { end: (c: Any) => c.destroy(), sleep: (c: Any) => c.sleep() },
        options: { canHibernateWebSocket },
      } as never) as AnyActorDefinition,
    ),
  };
  return one;
}
type Noted = Single & { readonly notes: unknown[] };

const listen = (socket: Any, { notes }: Noted): void => {
  socket.addEventListener("message", ({ data }: Any) => void notes.push(data));
  socket.addEventListener("close", ({ code }: Any) => void notes.push(`close ${code} ${socket.readyState}`));
};

describe("the close of a raw socket", () => {
  it("is told after the messages before it, also to a handler that listens late", async () => {
    const one = raw(async (_c, socket, self) => {
      await self.world.clock.delay(10);
      listen(socket, self);
    });
    const socket = await one.subject.connect({ raw: true, params: "it" });
    const served = [socket.sayRaw("one"), socket.sayRaw("two"), socket.hangUp(3001)];
    await one.world.pass(10);
    await Promise.all(served);
    expect(one.notes).toEqual(["one", "two", "close 3001 3", "gone 3001"]);
  });

  it("does not wait for a handler that listens already, nor for one that looks at readyState", async () => {
    const listening = raw((_c, socket, self) => (listen(socket, self), new Promise(() => {})));
    const looking = raw(async (_c, socket, { world, notes }) => {
      while (socket.readyState === 1) await world.clock.delay(100);
      notes.push("saw it");
    });
    const sockets = [
      await listening.subject.connect({ raw: true, params: "it" }),
      await looking.subject.connect({ raw: true, params: "it" }),
    ];
    const ended = sockets.map((socket) => socket.hangUp(3001));
    await listening.world.settle();
    await looking.world.pass(100);
    await Promise.all(ended);
    expect([listening.notes, looking.notes]).toEqual([
      ["close 3001 3", "gone 3001"],
      ["saw it", "gone 3001"],
    ]);
  });

  it("is followed by onDisconnect after onConnectTimeout, where a listener hangs", async () => {
    const one = raw((_c, socket) => socket.addEventListener("close", () => new Promise(() => {})));
    const socket = await one.subject.connect({ raw: true, params: "it" });
    const ended = socket.hangUp(3001);
    await one.world.pass(4_999);
    expect(one.notes).toEqual([]);
    await one.world.pass(1);
    await ended;
    expect(one.notes).toEqual(["gone 3001"]);
    expect(
      one.log.some(({ entry }) => String(entry["msg"]).startsWith("The close event of a raw socket was not")),
    ).toBe(true);
    expect(one.subject.timersHeld).toBe(0);
  });

  it.each(["end", "sleep"])("holds up no %s, though its listener hangs", async (action) => {
    const one = raw((_c, socket) => socket.addEventListener("close", () => new Promise(() => {})), false);
    const socket = await one.subject.connect({ raw: true, params: "it" });
    await one.subject.call(action);
    await one.world.pass(5_000);
    expect(socket.end?.reason).toBe(action === "end" ? "actor.destroyed" : "actor.sleeping");
    expect(one.notes).toEqual([action === "end" ? "gone 1011" : "gone 1001"]);
    if (action === "end") expect(one.subject.store.keys).toEqual([]);
    else expect(await one.subject.call("sleep")).toBeUndefined();
  });
});

it("a listener that makes the state one that cannot be stored is logged; the next caller is not told", async () => {
  const one = raw((c, socket) => socket.addEventListener("message", () => void (c.state.n = "x".repeat(2_000_001))));
  const socket = await one.subject.connect({ raw: true, params: "it" });
  await socket.sayRaw("x");
  expect(await one.subject.call("sleep")).toBeUndefined();
  expect(one.log.some(({ entry }) => String(entry["msg"]).startsWith("A listener of a raw socket failed"))).toBe(true);
});

it("what a raw socket sends is text or bytes, and a TypeError otherwise", async () => {
  const one = raw((_c, socket, { notes }) => {
    socket.send("text");
    socket.send(Uint8Array.of(1, 2, 3).subarray(1));
    socket.send(Uint8Array.of(4).buffer);
    for (const odd of [new Blob(["lost"]), 5, undefined, null, {}]) {
      try {
        socket.send(odd);
      } catch (error) {
        notes.push((error as Error).name);
      }
    }
  });
  const socket = await one.subject.connect({ raw: true });
  await one.world.settle();
  expect(socket.frames).toEqual(["text", Uint8Array.of(2, 3), Uint8Array.of(4)]);
  expect(one.notes).toEqual(Array.from({ length: 5 }, () => "TypeError"));
});

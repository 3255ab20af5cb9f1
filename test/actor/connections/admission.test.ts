import { describe, expect, it } from "vitest";
import { actor, type AnyActorDefinition } from "../../../src/actor/index.js";
import { UserError } from "../../../src/protocol/index.js";
import type { MemorySocket } from "../../../src/testing/index.js";
import { single, type Single } from "../subject.js";

// Admission and its failures: a caller is admitted or gets an error, and nobody else notices.

// oxlint-disable-next-line typescript/no-explicit-any -- hooks of all kinds share one signature here
type Any = any;

function room(parts: object): Single {
  const actions = {
    add: (c: Any) => (c.state.n += 1),
    end: (c: Any) => c.destroy(),
    count: (c: Any) => [...c.conns.values()].filter(({ params }: Any) => params !== undefined).length,
  };
  return single(actor({ state: { n: 0 }, actions, ...parts } as never) as AnyActorDefinition);
}

const rows = (one: Single): string[] => one.subject.store.keys.filter((key) => key.startsWith("c/"));
/** The outcome of an attempt to connect, while time passes. */
const outcome = (connecting: Promise<MemorySocket>): Promise<MemorySocket | string> =>
  connecting.catch((error: Any) => `${error.group}/${error.code}`);

describe("a socket on its way in", () => {
  it.each(["onBeforeConnect", "createConnState", "onConnect"])(
    "is not let in to an actor that %s has destroyed",
    async (hook) => {
      const one = room({
        [hook]: (c: Any, given: Any) => (hook === "onConnect" ? given.params : given) === "last" && c.destroy(),
      });
      await one.subject.connect({ params: "first" });
      const last = await outcome(one.subject.connect({ params: "last" }));
      await one.world.settle();
      // Admitted and ended, or refused; never left open without a peer.
      expect(typeof last === "string" ? last : last.end?.reason).toMatch(/^actor.destroyed$/);
      expect(one.subject.store.keys).toEqual([]);
    },
  );

  it("is refused once the others are told that the actor is destroyed", async () => {
    const one: Single = room({
      onBeforeConnect: (_c: Any, params: string) => (params === "late" ? one.world.clock.delay(100) : undefined),
      onDisconnect: (_c: Any, conn: Any) => (conn.params === "first" ? one.world.clock.delay(1_000) : undefined),
    });
    const first = await one.subject.connect({ params: "first" });
    const late = outcome(one.subject.connect({ params: "late" }));
    await one.world.settle();
    const ending = first.call(1, "end");
    await one.world.pass(2_000);
    await ending;
    expect(await late).toBe("actor/destroyed");
    expect(first.end?.reason).toBe("actor.destroyed");
    expect(one.subject.store.keys).toEqual([]);
  });

  it("that onConnect refuses after a commit of its own leaves no row, and onDisconnect is never told of it", async () => {
    const told: unknown[] = [];
    const one = room({
      onConnect: async (c: Any, conn: Any) => {
        c.state.n += 1;
        await c.saveState({ immediate: true });
        if (conn.params === "refused") throw new UserError("No", { code: "no" });
      },
      onDisconnect: (_c: Any, conn: Any) => void told.push(conn.params),
    });
    await one.subject.connect({ params: "in" });
    expect(await outcome(one.subject.connect({ params: "refused" }))).toBe("user/no");
    expect(rows(one)).toHaveLength(1);
    await one.subject.evict();
    await one.subject.call("add");
    await one.world.settle();
    expect(told).toEqual([undefined]);
  });

  it("that the platform does not take has gone: nobody sees it, and onDisconnect is told", async () => {
    const ends: unknown[] = [];
    const one = room({
      onDisconnect: (_c: Any, conn: Any, end: Any) =>
        void (conn.params !== undefined && ends.push([conn.params, end.code])),
    });
    await one.subject.connect({ params: "in" });
    one.subject.sockets.add = () => {
      throw new Error("So many sockets does no object have");
    };
    expect(await outcome(one.subject.connect({ params: "too many" }))).toBe("rivetkit/internal_error");
    await one.world.settle();
    expect(await one.subject.call("count")).toBe(1);
    expect(ends).toEqual([["too many", 1006]]);
    await one.world.settle();
    expect(rows(one)).toHaveLength(1);
  });
});

describe("params", () => {
  it("that user code has changed are remembered as they were when the connection began", async () => {
    const one = room({
      connState: { n: 0 },
      onBeforeConnect: (_c: Any, params: Any) => void (params && (params.by = "onBeforeConnect")),
      onConnect: (_c: Any, conn: Any) => void (conn.params && (conn.params.run = () => {})),
      onDisconnect: () => {},
      actions: {
        add: (c: Any) => (c.state.n += 1),
        touch: (c: Any) => void (c.conn.state.n += 1),
        params: (c: Any) => c.conn.params,
      },
    });
    const socket = await one.subject.connect({ params: { of: "the client" } });
    await socket.call(1, "touch");
    expect(await one.subject.call("add")).toBe(1);
    await one.subject.evict();
    await socket.call(2, "params");
    expect(socket.received.at(-1)).toMatchObject({ val: { output: { of: "the client", by: "onBeforeConnect" } } });
  });

  it.each([
    ["too long", "x".repeat(5_000), "request/too_large"],
    ["no value that can be stored", () => {}, "value/not_serializable"],
  ])("that a hook has made %s refuse that caller, and no one else", async (_what, value, refusal) => {
    const one = room({
      onBeforeConnect: (_c: Any, params: Any) => void (params && (params.value = value)),
      onDisconnect: () => {},
    });
    expect(await outcome(one.subject.connect({ params: {} }))).toBe(refusal);
    expect(await one.subject.call("add")).toBe(1);
    expect(one.subject.crashes).toBe(0);
  });
});

describe("a hook that makes the actor's state one that cannot be stored", () => {
  it.each(["onBeforeConnect", "createConnState", "onConnect"])(
    "%s refuses its caller, and no one else is told",
    async (hook) => {
      const one = room({
        [hook]: (c: Any, given: Any) =>
          void ((hook === "onConnect" ? given.params : given) === "bad" && (c.state.n = "x".repeat(2_000_001))),
      });
      const other = await one.subject.connect({ params: "good" });
      expect(await outcome(one.subject.connect({ params: "bad" }))).toBe("value/too_large");
      await other.call(1, "add");
      expect(other.received.at(-1)).toMatchObject({ tag: "ActionResponse", val: { output: 1 } });
    },
  );

  it("onDisconnect is logged, and no one else is told", async () => {
    const one = room({ onDisconnect: (c: Any) => void (c.state.n = "x".repeat(2_000_001)) });
    const [other, bad] = [await one.subject.connect(), await one.subject.connect()];
    await bad.hangUp();
    await other.call(1, "add");
    expect(other.received.at(-1)).toMatchObject({ tag: "ActionResponse", val: { output: 1 } });
    expect(one.log.some(({ level, entry }) => level === "error" && entry["msg"] === "onDisconnect failed")).toBe(true);
    expect(rows(one)).toHaveLength(1);
  });
});

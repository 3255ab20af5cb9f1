import { describe, expect, it } from "vitest";
import { actor, event, type ActorOptions } from "../../../src/actor/index.js";
import { single } from "../subject.js";

// oxlint-disable-next-line typescript/no-explicit-any
type Any = any;

function flooded(options: ActorOptions = {}) {
  const running = { now: 0, most: 0, begun: [] as number[] };
  let release: () => void = () => {};
  let gate = new Promise<void>((resolve) => (release = resolve));
  const made = single(
    actor({
      options,
      events: { news: event<string>() },
      actions: {
        hold: async (_c: Any, n: number, _body?: string) => {
          running.now += 1;
          running.most = Math.max(running.most, running.now);
          running.begun.push(n);
          await gate;
          running.now -= 1;
          return n;
        },
        tell: (c: Any, text: string) => c.broadcast("news", text),
      },
    } as Any),
  );
  return {
    ...made,
    running,
    release: () => {
      release();
      gate = Promise.resolve();
    },
  };
}

const answers = (socket: { received: Any[] }): Any[] =>
  socket.received.filter(({ tag }) => tag === "ActionResponse").map(({ val }) => val.output);
const errors = (socket: { received: Any[] }): Any[] =>
  socket.received.filter(({ tag }) => tag === "Error").map(({ val }) => [`${val.group}/${val.code}`, val.actionId]);

describe("calls of one connection that have no answer yet", () => {
  it("run 256 at a time; later ones wait their turn, and all are answered in order", async () => {
    const { subject, world, running, release } = flooded();
    const socket = await subject.connect();
    const all = Array.from({ length: 2_000 }, (_, n) => socket.call(n, "hold", n));
    await world.settle();
    expect([running.now, running.begun.length]).toEqual([256, 256]);
    release();
    await Promise.all(all);
    expect(running.most).toBe(256);
    expect(running.begun).toEqual(Array.from({ length: 2_000 }, (_, n) => n));
    expect(answers(socket)).toHaveLength(2_000);
    expect(errors(socket)).toEqual([]);
  });

  it("are refused beyond 16 MiB, each by an error of its own, the connection stays, and there is room again later", async () => {
    const { subject, world, release, running } = flooded();
    const socket = await subject.connect();
    const body = "x".repeat(60_000);
    const all = Array.from({ length: 300 }, (_, n) => socket.call(n, "hold", n, body));
    await world.settle();
    const refused = errors(socket);
    expect(refused.map(([code]) => code)).toEqual(refused.map(() => "connection/overloaded"));
    // 279 frames of 60 kB fit.
    expect(refused.length).toBeGreaterThan(15);
    expect(refused.length).toBeLessThan(25);
    release();
    await Promise.all(all);
    expect(answers(socket)).toHaveLength(300 - refused.length);
    expect(running.begun).toHaveLength(300 - refused.length);
    expect(socket.end).toBeUndefined();
    await socket.call(999, "hold", 999, body);
    expect(answers(socket).at(-1)).toBe(999);
  });

  it("of any size: one alone is always taken", async () => {
    const { subject, world, release } = flooded({ maxConnectionCallBytes: 100, maxConnectionCalls: 1 });
    const socket = await subject.connect();
    const calls = [socket.call(1, "hold", 1, "x".repeat(500)), socket.call(2, "hold", 2)];
    await world.settle();
    expect(errors(socket)).toEqual([["connection/overloaded", 2n]]);
    release();
    await Promise.all(calls);
    expect(answers(socket)).toEqual([1]);
  });

  it("never begin when the connection has gone before their turn", async () => {
    const { subject, world, running, release } = flooded({ maxConnectionCalls: 2 });
    const socket = await subject.connect();
    for (let n = 0; n < 5; n += 1) void socket.call(n, "hold", n);
    await world.settle();
    await socket.hangUp();
    release();
    await world.settle();
    expect([running.begun, running.now]).toEqual([[0, 1], 0]);
  });

  it("leave other connections alone", async () => {
    const { subject, world, running, release } = flooded({ maxConnectionCalls: 2 });
    const [a, b] = [await subject.connect(), await subject.connect()];
    for (let n = 0; n < 5; n += 1) void a.call(n, "hold", n);
    void b.call(0, "hold", 100);
    await world.settle();
    expect(running.begun.toSorted((a, b) => a - b)).toEqual([0, 1, 100]);
    release();
    await world.settle();
    expect(running.begun).toHaveLength(6);
  });
});

describe("connections of an actor", () => {
  it("are refused beyond the limit, before any hook, and let in again when one has gone", async () => {
    let asked = 0;
    const { subject } = single(
      actor({
        options: { maxConnections: 2 },
        onBeforeConnect: () => void (asked += 1),
        onWebSocket: () => {},
        actions: { touch: () => "served" },
      }),
    );
    const first = await subject.connect();
    await subject.connect({ raw: true });
    const before = asked;
    for (const raw of [false, true])
      await expect(subject.connect({ raw })).rejects.toMatchObject({
        group: "connection",
        code: "too_many",
        statusCode: 429,
        metadata: { limit: 2 },
      });
    expect(asked).toBe(before);
    // Calls do not count as sockets.
    expect(await subject.call("touch")).toBe("served");
    await first.hangUp();
    await subject.connect();
    await subject.evict();
    await expect(subject.connect()).rejects.toMatchObject({ code: "too_many" });
  });
});

describe("what a client leaves unread", () => {
  const mebibyte = "x".repeat(1_000_000);

  async function listening(pings: boolean) {
    const made = flooded();
    const socket = await made.subject.connect({ pings });
    await socket.subscribe("news");
    return { ...made, socket };
  }

  it("closes it with 1013 once more than 8 MiB were sent for 10 s without a ping", async () => {
    const { world, subject, socket } = await listening(true);
    const tell = async (times: number): Promise<void> => {
      for (let n = 0; n < times; n += 1) await subject.call("tell", mebibyte);
    };
    await tell(9);
    await world.pass(9_999);
    await tell(1);
    expect(socket.end).toBeUndefined();
    await world.pass(1);
    await tell(1);
    await world.settle();
    expect(socket.end).toEqual({ code: 1013, reason: "connection.unread" });
  });

  it("is nothing while it pings, however much it is sent", async () => {
    const { world, subject, socket } = await listening(true);
    for (let n = 0; n < 40; n += 1) {
      await subject.call("tell", mebibyte);
      socket.lastPingAt = world.clock.now();
      await world.pass(5_000);
    }
    expect(socket.end).toBeUndefined();
    expect(socket.events).toHaveLength(40);
  });

  it("is nobody's matter where the client never said that it pings", async () => {
    const { world, subject, socket } = await listening(false);
    for (let n = 0; n < 20; n += 1) {
      await subject.call("tell", mebibyte);
      await world.pass(5_000);
    }
    expect(socket.end).toBeUndefined();
  });

  it("is known of a connection that was restored", async () => {
    const { world, subject, socket } = await listening(true);
    await subject.evict();
    for (let n = 0; n < 10; n += 1) await subject.call("tell", mebibyte);
    await world.pass(10_000);
    await subject.call("tell", mebibyte);
    await world.settle();
    expect(socket.end).toMatchObject({ code: 1013 });
  });
});

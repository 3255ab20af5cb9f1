import { afterEach, describe, expect, test, vi } from "vitest";
import { createBindingTransport, type ActorBinding } from "../../src/client/binding.js";
import { createClient, type ClientConfig, type ClientSocket } from "../../src/client/index.js";
import { resolveConfig } from "../../src/client/internal.js";
import { type Encoding, PING, wireCodec } from "../../src/protocol/index.js";
import { fakeSockets, outcome, settle } from "./fake-sockets.js";

/** As our server gives them: others do not know pings. */
const ID = `${"a".repeat(64)}-${"b".repeat(16)}`;
const INTERVAL_MS = 30_000;

async function connected({ encoding = "json" as Encoding, actorId = ID } = {}) {
  const world = fakeSockets({ encoding, pingIntervalMs: INTERVAL_MS });
  const connection = world.client.chat.getOrCreate("a").connect();
  await settle();
  world.socket.init(actorId);
  const log: string[] = [];
  connection.onStatusChange((status: string) => log.push(status));
  connection.onClose(() => log.push("close"));
  connection.onError(({ code }: { code: string }) => log.push(`error ${code}`));
  return Object.assign(world, { connection, log });
}

describe.each(["json", "cbor", "bare"] satisfies Encoding[])("an idle connection in %s", (encoding) => {
  test("pings after 30 s of silence, and stays while it is answered; nobody hears of it", async () => {
    const { connection, socket, pass, log } = await connected({ encoding });
    const heard: unknown[] = [];
    connection.on(PING, (...args: unknown[]) => heard.push(args));
    connection.on("pong", (...args: unknown[]) => heard.push(args));
    await pass(INTERVAL_MS - 1);
    expect(socket.sent).toEqual(["subscribe ping", "subscribe pong"]);
    for (let n = 1; n <= 3; n += 1) {
      await pass(1);
      expect(socket.sent.slice(2)).toEqual(Array.from({ length: n }, () => PING));
      await pass(4_000);
      socket.pong();
      await pass(INTERVAL_MS - 1);
    }
    expect([heard, log, socket.closed]).toEqual([[], [], undefined]);
  });

  test("whose pings are not answered is closed 10 s later, and made anew", async () => {
    const world = await connected({ encoding });
    const call = world.connection.say("lost");
    await world.pass(INTERVAL_MS + 9_999);
    expect([world.socket.sent.slice(1), world.socket.closed, world.log]).toEqual([[PING, PING], undefined, []]);
    await world.pass(1);
    expect([world.socket.closed, world.log]).toEqual(["4008 client.connection_lost", ["disconnected", "close"]]);
    await expect(call).rejects.toMatchObject({
      code: "connection_closed",
      cause: { group: "client", code: "connection_lost", statusCode: 503 },
    });
    const waiting = world.connection.say("waits");
    await world.pass(250);
    expect(world.sockets).toHaveLength(2);
    world.socket.init(ID);
    expect(world.log).toEqual(["disconnected", "close", "connecting", "connected"]);
    world.socket.answer(1, "there");
    expect(await outcome(waiting)).toBe("there");
    // The dead one's last words are nobody's.
    world.sockets[0]?.pong();
    world.sockets[0]?.event("news");
    await world.pass(INTERVAL_MS);
    expect([world.sockets[0]?.sent.slice(1), world.socket.sent.slice(1)]).toEqual([[PING, PING], [PING]]);
  });
});

describe("a connection", () => {
  test.each([0, 1, 7_000, 15_000, 29_999, 30_000, 31_000, 44_000, 59_999])(
    "whose last frame came after %d ms is given up 40 s after that frame, whatever the phase of the ping",
    async (phase) => {
      const world = await connected();
      for (let at = 0; at < phase;) {
        const step = Math.min(10_000, phase - at);
        await world.pass(step);
        world.socket.event("news");
        at += step;
      }
      await world.pass(INTERVAL_MS + 9_999);
      expect(world.socket.closed).toBe(undefined);
      await world.pass(1);
      expect(world.socket.closed).toBe("4008 client.connection_lost");
    },
  );

  test("does not ping while anything comes: events, answers, errors of calls", async () => {
    const { connection, socket, pass } = await connected();
    const call = connection.say("x").catch(() => {});
    for (const come of [
      () => socket.event("news"),
      () => socket.fail(0, "user", "no"),
      () => socket.event("unheard"),
    ]) {
      await pass(INTERVAL_MS - 1);
      come();
    }
    await call;
    expect(socket.sent).toEqual(['0 say ["x"]']);
  });

  test("that is held up is not lost: the answer to the first ping may be read after its time", async () => {
    const { socket, pass, log } = await connected();
    await pass(INTERVAL_MS + 5_000);
    socket.pong();
    await pass(INTERVAL_MS - 1);
    expect([socket.sent, log]).toEqual([[PING, PING], []]);
  });

  test("does not ping a server whose actors have other ids than ours", async () => {
    const { socket, pass, clock } = await connected({ actorId: "0190b0e5-7b5e-7000-8000-000000000000" });
    expect(clock.pendingTimers).toBe(0);
    await pass(10 * INTERVAL_MS);
    expect([socket.sent, socket.closed]).toEqual([[], undefined]);
  });

  test.each([0, INTERVAL_MS, INTERVAL_MS + 5_000])("that is disposed of after %d ms leaves no timer", async (ms) => {
    const { connection, pass, clock, socket } = await connected();
    await pass(ms);
    const sent = socket.sent.length;
    expect(clock.pendingTimers).toBe(1);
    await connection.dispose();
    expect(clock.pendingTimers).toBe(0);
    await pass(10 * INTERVAL_MS);
    expect(socket.sent).toHaveLength(sent);
  });
});

/** A connection with the real timers, on a socket that is open at once. */
function open(config: ClientConfig) {
  class Socket implements ClientSocket {
    binaryType = "";
    readyState = 1;
    send(): void {}
    close(): void {}
    addEventListener(type: string, listener: (event: never) => void): void {
      if (type !== "message") return;
      const frame = wireCodec("cbor").toClient.encode(
        { tag: "Init", val: { actorId: ID, connectionId: "c" } },
        { extended: true },
      ) as Uint8Array<ArrayBuffer>;
      queueMicrotask(() => listener({ data: frame.buffer } as never));
    }
  }
  const { setTimeout: start, clearTimeout: clear } = globalThis;
  const timers: [ms: unknown, timer: NodeJS.Timeout][] = [];
  const cleared: unknown[] = [];
  vi.stubGlobal("setTimeout", (action: () => void, ms?: number) => {
    const timer = start(action, ms);
    timers.push([ms, timer]);
    return timer;
  });
  vi.stubGlobal("clearTimeout", (timer: NodeJS.Timeout) => {
    cleared.push(timer);
    clear(timer);
  });
  return {
    connection: createClient<any>({ webSocket: Socket, ...config })
      .chat.getOrCreate("a")
      .connect(),
    timers,
    cleared,
  };
}

afterEach(() => vi.unstubAllGlobals());

describe("the interval", () => {
  test("is 30 s by default, and its timer holds no process up; that of an opening does", async () => {
    const { connection, timers, cleared } = open({});
    await connection.ready;
    await connection.dispose();
    expect(timers.map(([ms]) => ms)).toEqual([15_000, 30_000]);
    expect(cleared).toEqual(expect.arrayContaining(timers.map(([, timer]) => timer)));
    expect(timers.map(([, timer]) => timer.hasRef())).toEqual([true, false]);
  });

  test.each([
    [1_000, [15_000, 1_000]],
    [2 ** 31 - 1, [15_000, 2 ** 31 - 1]],
    [false, [15_000]],
  ] as const)("may be %s", async (pingInterval, ms) => {
    const { connection, timers } = open({ pingInterval });
    await connection.ready;
    await connection.dispose();
    expect(timers.map(([of]) => of)).toEqual(ms);
  });

  test.each([0, 999, NaN, Infinity, 2 ** 31, -1, "30000", null, true])("is refused if it is %s", (pingInterval) => {
    expect(() => resolveConfig({ pingInterval: pingInterval as number })).toThrow(
      expect.objectContaining({ group: "client", code: "invalid_ping_interval" }),
    );
  });

  test("is none over the binding: there the platform tells of every end", () => {
    expect(createBindingTransport({} as ActorBinding).pingIntervalMs).toBeUndefined();
  });
});

describe("a client that only listens", () => {
  const mebibyte = "x".repeat(1_048_576);

  test("pings after each mebibyte that it has received, from the message itself", async () => {
    const { socket, connection } = await connected();
    connection.on("news", () => {});
    socket.event("news", mebibyte.slice(2_000));
    expect(socket.sent).toEqual(["subscribe news"]);
    socket.event("news", "x".repeat(4_000));
    expect(socket.sent.slice(1)).toEqual([PING]);
    for (let n = 0; n < 3; n += 1) socket.event("news", mebibyte);
    expect(socket.sent.slice(1)).toEqual([PING, PING, PING, PING]);
  });

  test("pings no server of others", async () => {
    const { socket, connection } = await connected({ actorId: "actor-1" });
    connection.on("news", () => {});
    for (let n = 0; n < 3; n += 1) socket.event("news", mebibyte);
    expect(socket.sent).toEqual(["subscribe news"]);
  });
});

test("a client with many calls sends 256 of them, and each further one when one is answered", async () => {
  const { socket, connection } = await connected();
  const calls = Array.from({ length: 300 }, (_, n) => connection.say(n));
  await settle();
  expect(socket.sent).toHaveLength(256);
  for (let n = 0; n < 10; n += 1) socket.answer(n, n);
  expect(socket.sent).toHaveLength(266);
  expect(socket.sent.at(-1)).toBe("265 say [265]");
  for (let n = 10; n < 300; n += 1) socket.answer(n, n);
  expect(await Promise.all(calls)).toEqual(Array.from({ length: 300 }, (_, n) => n));
});

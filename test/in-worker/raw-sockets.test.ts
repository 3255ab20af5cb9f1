import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { actor, setup, UserError, type UniversalWebSocket } from "../../src/entry/index.js";
import { objectName } from "../../src/protocol/index.js";
import { TestSocket } from "./test-socket.js";
import { serve } from "../support/worker.js";

// `onWebSocket` on the real runtime: frames untouched, hibernation where the actor allows it, residence where not.

const { ACTORS } = env as unknown as { ACTORS: DurableObjectNamespace };
const worker = (exports as unknown as { default: { fetch(request: Request): Promise<Response> } }).default;
const idOf = (name: string, key: string): DurableObjectId => ACTORS.idFromName(objectName(name, [key]));

/** What happened, by key. */
const seen = new Map<string, string[]>();
const note = (c: { readonly key: string[] }, what: string): void =>
  void seen.set(c.key.join(), [...(seen.get(c.key.join()) ?? []), what]);

const onWebSocket = (
  c: { key: string[]; state: { n: number }; request?: Request; conn: { params: unknown } },
  socket: UniversalWebSocket,
): void => {
  const { pathname, search } = new URL(c.request?.url ?? "http://none");
  note(c, `open ${pathname}${search}`);
  if (c.request?.url.includes("refuse")) throw new UserError("No", { code: "no" });
  socket.addEventListener("message", async ({ data }) => {
    if (data === "end") return socket.close(4002, "as you wish");
    await scheduler.wait(0);
    c.state.n += 1;
    socket.send(typeof data === "string" ? `${c.state.n} ${data}` : data);
  });
  socket.addEventListener("close", ({ code, wasClean }) => note(c, `close ${code} ${wasClean}`));
};
const base = {
  state: { n: 0 },
  onWebSocket,
  onDisconnect: (c: { key: string[] }, _conn: unknown, end: { code: number }) => note(c, `gone ${end.code}`),
  actions: { n: (c: { state: { n: number } }) => c.state.n },
};
const resident = actor(base as never);
const sleeper = actor({
  ...base,
  options: { canHibernateWebSocket: (request: Request) => request.url.includes("sleep") },
} as never);
const silent = actor({ state: {} });
/** Sends a last word from onSleep; its sockets hibernate if their path says so. */
const drowsy = actor({
  state: { n: 0 },
  createVars: () => ({ sockets: new Set<UniversalWebSocket>() }),
  onWebSocket: (c, socket: UniversalWebSocket) => {
    c.vars.sockets.add(socket);
    note(c, "open");
    socket.addEventListener("message", async () => {
      socket.send("hears");
      await scheduler.wait(20);
      socket.send("heard");
    });
  },
  onDisconnect: (c, _conn, end) => note(c, `gone ${end.code}`),
  onSleep: async (c) => {
    note(c, "onSleep");
    await scheduler.wait(1);
    for (const socket of c.vars.sockets) socket.send("good night");
  },
  actions: { sleep: (c) => c.sleep() },
  options: { sleepTimeout: 3_600_000, canHibernateWebSocket: (request: Request) => request.url.includes("hibernates") },
});
const serveAll = (): void => serve(setup({ use: { resident, sleeper, silent, drowsy } }) as never);
serveAll();

async function open(
  name: string,
  key: string,
  path: string,
): Promise<{ socket: WebSocket; next(): Promise<unknown>; closed: Promise<{ code: number; reason: string }> }> {
  return openAt(
    `/gateway/${name}/websocket${path}${path.includes("?") ? "&" : "?"}rvt-namespace=default&rvt-method=getOrCreate&rvt-key=${key}`,
  );
}

async function openAt(path: string, protocols = ""): ReturnType<typeof open> {
  const response = await worker.fetch(
    new Request(`http://worker.test${path}`, {
      headers: { upgrade: "websocket", "sec-websocket-protocol": `rivet, rivet_encoding.bare${protocols}` },
    }),
  );
  const socket = response.webSocket as WebSocket;
  const frames: unknown[] = [];
  const waiting: ((frame: unknown) => void)[] = [];
  socket.binaryType = "arraybuffer";
  socket.addEventListener("message", ({ data }) => {
    const waiter = waiting.shift();
    if (waiter) waiter(data);
    else frames.push(data);
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.addEventListener("close", ({ code, reason }) => resolve({ code, reason })),
  );
  socket.accept();
  return {
    socket,
    closed,
    next: () => (frames.length > 0 ? Promise.resolve(frames.shift()) : new Promise((resolve) => waiting.push(resolve))),
  };
}

describe("a raw socket", () => {
  it("A39: reaches the handler with its path and query, and frames pass untouched, in order", async () => {
    const { socket, next, closed } = await open("resident", "a", "/sub/path?x=1");
    expect(seen.get("a")).toEqual(["open /websocket/sub/path?x=1"]);
    socket.send("one");
    socket.send(Uint8Array.of(1, 2, 3));
    expect(await next()).toBe("1 one");
    expect(new Uint8Array((await next()) as ArrayBuffer)).toEqual(Uint8Array.of(1, 2, 3));
    socket.send("end");
    expect(await closed).toEqual({ code: 4002, reason: "as you wish" });
    expect(seen.get("a")?.slice(1)).toEqual(["close 4002 true", "gone 4002"]);
  });

  it("may name its actor by subprotocols alone, and has a query of its own then", async () => {
    const created = await worker.fetch(
      new Request(
        "http://worker.test/gateway/resident/action/n?rvt-namespace=default&rvt-method=getOrCreate&rvt-key=by-id",
        { method: "POST", body: '{"args":[]}' },
      ),
    );
    expect(await created.json()).toEqual({ output: 0 });
    const {
      actors: [{ actor_id: id }],
    } = await (
      await worker.fetch(new Request("http://worker.test/actors?namespace=default&name=resident&key=by-id"))
    ).json<{ actors: [{ actor_id: string }] }>();
    const { socket, next } = await openAt("/websocket/sub?rvt-key=mine", `, rivet_target.actor, rivet_actor.${id}`);
    socket.send("one");
    expect([await next(), seen.get("by-id")?.at(-1)]).toEqual(["1 one", "open /websocket/sub?rvt-key=mine"]);
    socket.close(1000, "");
  });

  it("A40: is closed with the handler's error", async () => {
    const { closed } = await open("resident", "b", "/refuse");
    expect(await closed).toEqual({ code: 1011, reason: "user.no" });
  });

  it("opens and stays silent where there is no handler", async () => {
    const { socket } = await open("silent", "c", "");
    socket.send("hello?");
    expect(socket.readyState).toBe(WebSocket.OPEN);
    socket.close(1000, "bye");
  });

  it("stays open over evictions where it may hibernate; the handler is called again before its next frame", async () => {
    const { socket, next, closed } = await open("sleeper", "d", "/sleep?x=1");
    for (let n = 1; n <= 5; n += 1) {
      socket.send(`${n}`);
      expect(await next()).toBe(`${n} ${n}`);
      await evictDurableObject(ACTORS.get(idOf("sleeper", "d")));
    }
    socket.close(4001, "done");
    // Answered from within the close handler of the object, which has served the end by then.
    expect(await closed).toEqual({ code: 4001, reason: "done" });
    await evictDurableObject(ACTORS.get(idOf("sleeper", "d")));
    expect(seen.get("d")).toEqual([
      ...Array.from({ length: 6 }, () => "open /websocket/sleep?x=1"),
      "close 4001 true",
      "gone 4001",
    ]);
  });

  it('hears a "ping" like any other frame, also after eviction; a client of the protocol gets its pong beside it', async () => {
    const protocol = await TestSocket.open("sleeper", "ping");
    const pong = (): Promise<unknown> =>
      new Promise((resolve) =>
        protocol.socket.addEventListener("message", ({ data }) => resolve(data), { once: true }),
      );
    const ping = async (): Promise<unknown> => {
      const answer = pong();
      protocol.socket.send("ping");
      return answer;
    };
    expect(await ping()).toBe("pong");
    const { socket, next } = await open("sleeper", "ping", "/sleep");
    for (let n = 1; n <= 2; n += 1) {
      socket.send("ping");
      expect(await next()).toBe(`${n} ping`);
      expect(await ping()).toBe("pong");
      await evictDurableObject(ACTORS.get(idOf("sleeper", "ping")));
    }
    protocol.socket.close(1000, "");
    socket.close(1000, "");
  });

  it("is accepted for hibernation only where the actor says so", async () => {
    await open("sleeper", "e", "/sleep");
    await open("sleeper", "e", "/awake");
    expect(await runInDurableObject(ACTORS.get(idOf("sleeper", "e")), (_, ctx) => ctx.getWebSockets().length)).toBe(1);
  });
});

describe("a raw socket of an actor that goes to sleep", () => {
  const alarmOf = (key: string): Promise<number | null> =>
    runInDurableObject(ACTORS.get(idOf("drowsy", key)), (_, ctx) => ctx.storage.getAlarm());
  const action = (key: string, name: string): Promise<Response> =>
    worker.fetch(
      new Request(
        `http://worker.test/gateway/drowsy/action/${name}?rvt-namespace=default&rvt-method=get&rvt-key=${key}`,
        { method: "POST", body: '{"args":[]}', headers: { "content-type": "application/json" } },
      ),
    );

  it("A42: keeps it awake if it cannot hibernate; told to sleep, it is sent what onSleep sends, and ended (A56)", async () => {
    const { next, closed } = await open("drowsy", "bound", "/stays");
    expect(await alarmOf("bound"), "no idle deadline").toBe(null);
    await action("bound", "sleep");
    expect(await next()).toBe("good night");
    expect(await closed).toMatchObject({ code: 1001, reason: "actor.sleeping" });
    // The call that asks is a connection of its own.
    expect(seen.get("bound")?.filter((each) => each !== "gone 1000")).toEqual(["open", "onSleep", "gone 1001"]);
  });

  it("A55: lets it finish the message that it serves, stays open if it can hibernate, and is served anew afterwards", async () => {
    const { socket, next } = await open("drowsy", "free", "/hibernates");
    expect(await alarmOf("free")).not.toBe(null);
    socket.send("one");
    expect(await next()).toBe("hears");
    await action("free", "sleep");
    expect([await next(), await next()]).toEqual(["heard", "good night"]);
    socket.send("two");
    expect([await next(), await next()]).toEqual(["hears", "heard"]);
    expect(seen.get("free")?.filter((each) => each !== "gone 1000")).toEqual(["open", "onSleep", "open"]);
  });
});

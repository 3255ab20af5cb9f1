import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { actor, event, setup, UserError } from "../../src/entry/index.js";
import { objectName } from "../../src/protocol/index.js";
import { TestSocket } from "./test-socket.js";
import { serve } from "../support/worker.js";

// Connections end to end on the real runtime: the router lets a socket through to its object, hooks, events, hibernation.

const worker = (exports as unknown as { default: { fetch(request: Request): Promise<Response> } }).default;
const { ACTORS } = env as unknown as { ACTORS: DurableObjectNamespace };
const stubOf = (key: string): DurableObjectStub => ACTORS.get(ACTORS.idFromName(objectName("room", [key])));

/** What the hooks did, by key. */
const seen = new Map<string, unknown[]>();
const note = (c: { readonly key: string[] }, ...what: unknown[]): void =>
  void seen.set(c.key.join(), [...(seen.get(c.key.join()) ?? []), ...what]);

const room = actor({
  state: { lines: 0, present: [] as string[] },
  events: {
    line: event<[who: string, text: string]>(),
    secret: event<string>({ canSubscribe: () => false }),
    tick: event<number>(),
  },
  onBeforeConnect: (c, params: { name?: string } | undefined) => {
    note(c, "before");
    if (params?.name === "mallory") throw new UserError("Not you", { code: "unwelcome" });
    if (params?.name === "trudy")
      throw new UserError("Nor you", { code: "é".repeat(100), metadata: { errorId: "no header\n" } });
  },
  createConnState: (_c, params: { name?: string } | undefined) => ({ name: params?.name ?? "nobody", said: 0 }),
  onConnect: (c, conn) => {
    note(c, `connect ${conn.state.name}`);
    c.state.present.push(conn.state.name);
    if (conn.isHibernatable) conn.send("tick", c.conns.size);
  },
  onDisconnect: (c, conn, end) => {
    note(c, `disconnect ${conn.state.name} ${end.code}`);
    c.state.present = c.state.present.filter((name) => name !== conn.state.name);
  },
  actions: {
    say: (c, text: string) => {
      c.conn.state.said += 1;
      c.state.lines += 1;
      c.broadcast("line", c.conn.state.name, text);
      return c.conn.state.said;
    },
    who: (c) => [...c.conns.values()].map((conn) => conn.state.name).toSorted(),
    present: (c) => c.state.present,
    leave: (c) => void c.conn.disconnect("goodbye"),
    tick: (c, n: number) => c.broadcast("tick", n),
  },
});
const told = (c: { key: string[]; request?: Request | undefined }, hook: string): void =>
  note(
    c,
    `${hook} ${c.request?.method} ${new URL(c.request?.url ?? "http://none").pathname} ${c.request?.headers.get("x-mine")}`,
  );
/** Notes the request that its hooks are shown. */
const shown = actor({
  onBeforeConnect: (c) => told(c, "onBeforeConnect"),
  createConnState: (c) => void told(c, "createConnState"),
  onConnect: (c) => told(c, "onConnect"),
  actions: { nothing: () => {} },
});
serve(setup({ use: { room, shown } }));

describe("connections on workerd", () => {
  it("lets a socket in, answers its actions and sends it the events it subscribed to", async () => {
    const alice = await TestSocket.open("room", "talk", { params: { name: "alice" } });
    const bob = await TestSocket.open("room", "talk", { params: { name: "bob" }, encoding: "bare" });
    expect(await alice.event()).toEqual(["tick", 1]);
    expect(await bob.event()).toEqual(["tick", 2]);
    alice.subscribe("line");
    expect(await alice.call("say", "hello")).toBe(1);
    expect(await alice.event()).toEqual(["line", "alice", "hello"]);
    expect(await bob.call("who")).toEqual(["alice", "bob"]);
    expect(bob.unread).toEqual([]);
  });

  it("refuses with the hook's error and a close that says it", async () => {
    const mallory = await TestSocket.dial("room", "door", { params: { name: "mallory" } });
    expect(await mallory.next()).toMatchObject({
      tag: "Error",
      val: { group: "user", code: "unwelcome", message: "Not you", actionId: null },
    });
    expect(await mallory.closed).toEqual({ code: 1011, reason: "user.unwelcome" });
    expect(seen.get("door")).toEqual(["before"]);
  });

  it("is let in where subprotocols alone name the actor, and told what is missing in them", async () => {
    const { val } = (await (await TestSocket.dial("room", "routed")).next()) as { val: { actorId: string } };
    const dial = (path: string, ...more: string[]): Promise<TestSocket> =>
      TestSocket.dial("", "", { path, protocols: ["rivet", "rivet_encoding.json", "rivet_target.actor", ...more] });
    const routed = await dial("/connect", `rivet_actor.${val.actorId}`);
    expect(await routed.next()).toMatchObject({ tag: "Init", val: { actorId: val.actorId } });
    expect(await routed.call("present")).toEqual(["nobody", "nobody"]);
    for (const [id, error] of [
      [undefined, "guard.missing_actor"],
      ["x", "actor.invalid_id"],
      [val.actorId.replace(/.$/, (digit) => (digit === "0" ? "1" : "0")), "actor.not_found"],
    ] as const) {
      expect(await (await dial("/connect", ...(id === undefined ? [] : [`rivet_actor.${id}`]))).closed).toEqual({
        code: 1011,
        reason: error,
      });
    }
    expect(
      await (
        await TestSocket.dial("", "", { path: "/connect", protocols: ["rivet", "rivet_target.other"] })
      ).closed,
    ).toEqual({ code: 1011, reason: "guard.no_route" });
    // The Worker's own paths, as far as we know.
    await expect(TestSocket.dial("", "", { path: "/connect", protocols: ["rivet"] })).rejects.toThrow(
      "No socket: 404 Not found",
    );
    await expect(
      TestSocket.dial("", "", { path: "/connected", protocols: ["rivet", "rivet_target.actor"] }),
    ).rejects.toThrow("No socket: 404 Not found");
  });

  it.each(["json", "cbor", "bare"] as const)(
    "refuses in %s with an error whose code no close has room for, and no header",
    async (encoding) => {
      const trudy = await TestSocket.dial("room", "door", { params: { name: "trudy" }, encoding });
      expect(await trudy.next()).toMatchObject({ tag: "Error", val: { group: "user", code: "é".repeat(100) } });
      expect(await trudy.closed).toEqual({ code: 1011, reason: `user.${"é".repeat(59)}` });
      const response = await worker.fetch(
        new Request(
          "http://worker.test/gateway/room/action/who?rvt-namespace=default&rvt-method=getOrCreate&rvt-key=door",
          {
            method: "POST",
            body: '{"args":[]}',
            headers: { "x-rivet-conn-params": '{"name":"trudy"}' },
          },
        ),
      );
      expect([response.status, response.headers.get("x-rivet-ray-id")]).toEqual([400, null]);
      expect(await response.json()).toMatchObject({ code: "é".repeat(100), metadata: { errorId: "no header\n" } });
    },
  );

  it("shows its hooks the request behind a socket and behind a call over HTTP (F42)", async () => {
    const expected = (method: string, path: string): string[] =>
      ["onBeforeConnect", "createConnState", "onConnect"].map((hook) => `${hook} ${method} ${path} yes`);
    await TestSocket.open("shown", "F42", { headers: { "x-mine": "yes" } });
    expect(seen.get("F42")).toEqual(expected("GET", "/gateway/shown/connect"));
    seen.clear();
    const url = "http://worker.test/gateway/shown/action/nothing?rvt-namespace=default&rvt-method=get&rvt-key=F42";
    expect(
      (await worker.fetch(new Request(url, { method: "POST", body: "{}", headers: { "x-mine": "yes" } }))).status,
    ).toBe(200);
    expect(seen.get("F42")).toEqual(expected("POST", "/gateway/shown/action/nothing"));
  });

  it("keeps state, params and subscriptions over evictions, with no hook", async () => {
    const alice = await TestSocket.open("room", "sleepy", { params: { name: "alice" }, encoding: "cbor" });
    expect(await alice.event()).toEqual(["tick", 1]);
    alice.subscribe("line");
    for (let n = 1; n <= 5; n += 1) {
      expect(await alice.call("say", `${n}`)).toBe(n);
      await evictDurableObject(stubOf("sleepy"));
    }
    for (let n = 1; n <= 5; n += 1) expect(await alice.event()).toEqual(["line", "alice", `${n}`]);
    expect(seen.get("sleepy")).toEqual(["before", "connect alice"]);
    expect(await runInDurableObject(stubOf("sleepy"), (_, state) => state.storage.getAlarm())).toBeNull();
  });

  it("tells onDisconnect how a connection ended, and forgets it", async () => {
    const alice = await TestSocket.open("room", "exit", { params: { name: "alice" } });
    const bob = await TestSocket.open("room", "exit", { params: { name: "bob" } });
    alice.socket.close(4001, "bye");
    expect(await alice.closed).toEqual({ code: 4001, reason: "bye" });
    expect(await bob.call("who")).toEqual(["bob"]);
    expect(await bob.call("present")).toEqual(["bob"]);
    expect(seen.get("exit")).toEqual(["before", "connect alice", "before", "connect bob", "disconnect alice 4001"]);
    void bob.call("leave").catch(() => {});
    expect(await bob.closed).toEqual({ code: 1000, reason: "goodbye" });
  });
});

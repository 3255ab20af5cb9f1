import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, expect, it, vi } from "vitest";
import { createClient } from "rivetkit/client";
import { objectName } from "../../src/protocol/index.js";
import { serve } from "../support/worker.js";
import { registry } from "./rivetkit-apps/registry.js";
import { procedures } from "./rivetkit-apps/trpc.js";
import { workerFetch, WorkerSocket } from "./worker-socket.js";

// What RivetKit's example apps do, in programs of our own under its package's name: each type-checks, bundles, starts and
// works as it stands. One server has them all.

const { ACTORS } = env as unknown as { ACTORS: DurableObjectNamespace };
const client = createClient<typeof registry>({
  endpoint: "http://example.test",
  fetch: workerFetch,
  webSocket: WorkerSocket,
});

beforeAll(() => serve(registry));
afterEach(() => client.dispose());

const alarm = (name: string, ...key: string[]): Promise<boolean> =>
  runDurableObjectAlarm(ACTORS.get(ACTORS.idFromName(objectName(name, key))));

it("hello-world: counts, and tells who listens", async () => {
  const connection = client.counter.getOrCreate("hello").connect();
  const counts: number[] = [];
  connection.on("newCount", (count) => counts.push(count));
  expect(await connection.increment(3)).toBe(3);
  expect(await client.counter.getOrCreate("hello").increment(2)).toBe(5);
  await vi.waitFor(() => expect(counts).toEqual([3, 5]));
});

it("chat-room: says, remembers, and knows who is there", async () => {
  const room = client.chatRoom.getOrCreate("lobby");
  const ann = room.connect({ name: "ann" });
  const present: string[][] = [];
  const lines: string[] = [];
  ann.on("present", (names) => present.push(names));
  ann.on("line", ({ sender, text }) => lines.push(`${sender}: ${text}`));
  await ann.ready;
  const bob = room.connect({ name: "bob" });
  await bob.say("hello");
  await vi.waitFor(() => expect(lines).toEqual(["bob: hello"]));
  expect(present.at(-1)).toEqual(["ann", "bob"]);
  await bob.dispose();
  await vi.waitFor(() => expect(present.at(-1)).toEqual(["ann"]));
  expect(await room.history()).toMatchObject([{ sender: "bob", text: "hello" }]);
  expect(await room.bytes()).toBe(5);
});

it("scheduling: runs an action at its time, lists what is planned, and has jobs", async () => {
  const reminders = client.reminders.getOrCreate("mine");
  const id = await reminders.remind("tea", 3_600_000);
  expect(await reminders.planned()).toMatchObject([{ action: "trigger", args: [id] }]);
  const soon = await reminders.remind("now", 0);
  await alarm("reminders", "mine");
  await vi.waitFor(async () => expect(await reminders.get(soon)).toMatchObject({ done: true }));
  expect(await reminders.get(id)).toMatchObject({ done: false });
  await reminders.daily();
});

it("ai-agent: streams into a message that is in its state, step by step", async () => {
  const agent = client.agent.getOrCreate("assistant");
  const connection = agent.connect();
  const tokens: string[] = [];
  connection.on("token", (_index, token) => tokens.push(token));
  await connection.ready;
  await agent.send("prompts", { text: "hi" });
  await vi.waitFor(async () =>
    expect(await agent.messages()).toEqual([
      { role: "user", content: "hi", status: "done" },
      { role: "assistant", content: "You said hi ", status: "done" },
    ]),
  );
  expect(tokens.join("")).toBe("You said hi ");
});

it("per-tenant-database: drizzle's tables, builders and migrations, each tenant's own", async () => {
  const [acme, other] = [client.companyDatabase.getOrCreate("acme"), client.companyDatabase.getOrCreate("other")];
  expect(await acme.hire("Bob", 2_000)).toEqual({ id: 1, name: "Bob", salary: 2_000 });
  await acme.hire("Ann", 3_000);
  expect(await acme.list()).toEqual([
    { name: "Ann", salary: 3_000 },
    { name: "Bob", salary: 2_000 },
  ]);
  expect(await acme.total()).toBe(5_000);
  expect(await other.list()).toEqual([]);
  await expect(acme.hire("Ann", 1)).rejects.toThrow();
});

it("cursors: keeps each connection's place in its state, and finds all of them in the map", async () => {
  const room = client.cursorRoom.getOrCreate("board");
  const [ann, bob] = [room.connect(), room.connect()];
  await ann.move("ann", 1, 2);
  await bob.move("bob", 3, 4);
  await bob.label("l1", "here");
  const { cursors, labels } = await ann.room();
  expect(
    Object.values(cursors)
      .map(({ userId }) => userId)
      .toSorted(),
  ).toEqual(["ann", "bob"]);
  expect(labels).toEqual([{ id: "l1", text: "here" }]);
});

it("cursors-raw-websocket: speaks a protocol of its own over a socket", async () => {
  const room = client.rawCursorRoom.getOrCreate("raw");
  const socket = await room.webSocket("/cursors?sessionId=s1");
  const heard: unknown[] = [];
  socket.addEventListener("message", ({ data }) => void heard.push(JSON.parse(data as string)));
  await vi.waitFor(() => expect(heard).toEqual([{ type: "init", sessions: ["s1"] }]));
  socket.send(JSON.stringify({ x: 5, y: 6 }));
  await vi.waitFor(() => expect(heard.at(-1)).toEqual({ type: "moved", session: "s1", x: 5, y: 6 }));
  expect(await room.moves()).toBe(1);
  socket.close();
});

it("cross-actor-actions: one actor asks another, whose refusal reaches the first one's caller", async () => {
  await client.inventory.getOrCreate("main").fill("apple", 3);
  const cart = client.checkout.getOrCreate("cart");
  expect(await cart.add("apple", 2)).toBe(1);
  await expect(cart.add("apple", 2)).rejects.toMatchObject({
    group: "user",
    code: "out_of_stock",
    metadata: { product: "apple" },
  });
  expect(await cart.items()).toEqual([{ product: "apple", count: 2 }]);
  expect(await cart.pay()).toBe("paid");
});

it("raw-fetch-handler: answers requests, whichever way they are given", async () => {
  const handle = client.rawCounter.getOrCreate("http");
  expect(await (await handle.fetch("/increment", { method: "POST", body: "2" })).json()).toEqual({ count: 2 });
  expect(
    await (await handle.fetch("/increment", new Request("http://ignored/", { method: "POST", body: "3" }))).json(),
  ).toEqual({ count: 5 });
  expect(await (await handle.fetch("count")).json()).toEqual({ count: 5 });
  expect((await handle.fetch("/nothing")).status).toBe(404);
});

it("multiplayer-game-patterns: brings players together, makes their match, and lets nobody else in", async () => {
  const maker = client.matchmaker.getOrCreate("ranked");
  const assigned: string[] = [];
  const connection = maker.connect();
  connection.on("assigned", ({ match }) => assigned.push(match));
  await connection.ready;
  expect(await maker.send("join", { player: "ann", mode: "duo" }, { wait: true, timeout: 5_000 })).toEqual({
    status: "completed",
    response: { match: null },
  });
  expect(await maker.waiting("duo")).toBe(1);
  expect(await maker.send("join", { player: "bob", mode: "duo" }, { wait: true, timeout: 5_000 })).toEqual({
    status: "completed",
    response: { match: "ann-bob" },
  });
  await vi.waitFor(() => expect(assigned).toEqual(["ann-bob"]));
  const game = client.match.get("ann-bob").connect({ player: "ann" });
  expect(await game.hit("bob")).toBe(1);
  const stranger = client.match.get("ann-bob").connect({ player: "eve" });
  await expect(stranger.hit("ann")).rejects.toMatchObject({ code: "not_in_match" });
});

it("kitchen-sink: a run handler, migrations, values by key, a state of connections that nobody declared", async () => {
  const sink = client.kitchenSink.getOrCreate("all");
  await vi.waitFor(async () => expect(await sink.state()).toMatchObject({ wakes: 1, ran: true }));
  expect([await sink.see("kv"), await sink.see("sql"), await sink.see("log")]).toEqual([1, 1, 1]);
  const connection = sink.connect();
  expect(await connection.mark("x")).toEqual({ what: "x" });
  expect((await sink.state()).seen).toEqual(["x"]);
  await expect(sink.see("fridge" as never)).rejects.toThrow();
});

it("trpc: a server's own procedures reach the actors of their Worker without an endpoint", async () => {
  expect(await procedures.increment({ name: "trpc", by: 4 })).toBe(4);
  expect(await procedures.get({ name: "trpc" })).toBe(4);
  expect(await client.counter.getOrCreate("trpc").getCount()).toBe(4);
});

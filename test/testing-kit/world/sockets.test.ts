import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { actor, event, queue, setup, UserError } from "../../../src/entry/index.js";
import { testWorld } from "../../../src/entry/testing.js";
import { workflow } from "../../../src/entry/workflow.js";

const room = actor({
  state: { members: 0 },
  events: { said: event<[who: string, text: string]>() },
  queues: { jobs: queue<string>() },
  options: { actionTimeout: 3_600_000 },
  onBeforeConnect: (_c, params: { token?: string } | undefined) => {
    if (params?.token === "bad") throw new UserError("no entry", { code: "no_entry" });
  },
  onConnect: (c) => void (c.state.members += 1),
  onDisconnect: (c) => void (c.state.members -= 1),
  onWebSocket: (_c, socket) => {
    socket.addEventListener("message", ({ data }: { data: unknown }) => socket.send(data as string));
  },
  actions: {
    say: (c, text: string) => c.broadcast("said", "ada", text),
    members: (c) => c.state.members,
    slow: async (c) => (await c.queue.next({ names: ["jobs"], timeout: 600_000 })) ?? "late",
  },
});

const reader = actor({
  state: {},
  options: { actionTimeout: 3_600_000 },
  actions: {
    join: async (c) => {
      const connection = c.client<typeof registry>().room.getOrCreate(["r"]).connect();
      await connection.ready;
      return connection.slow();
    },
  },
});

const approval = actor({
  state: {},
  queues: { approvals: queue<string, string>() },
  run: workflow(async (ctx) => {
    const message = await ctx.queue.next("wait", { names: ["approvals"], completable: true });
    await ctx.sleep("think", 600_000);
    await message?.complete(`${message.body}: yes`);
  }),
  actions: {},
});

const registry = setup({ use: { room, reader, approval } });

describe.each(["json", "cbor", "bare"] as const)("a connection of the world's client, in %s", (encoding) => {
  test("opens, hears events, calls and ends", async () => {
    await using world = await testWorld(registry, { encoding });
    const lobby = world.client.room.getOrCreate(["lobby"]);
    const connection = lobby.connect();
    const heard: unknown[] = [];
    connection.on("said", (...args) => heard.push(args));
    await connection.ready;
    expect(await connection.members()).toBe(1);
    await connection.say("hello");
    await world.idle();
    expect(heard).toEqual([["ada", "hello"]]);
    await connection.dispose();
    await world.idle();
    // A call is a connection of its own.
    expect(await lobby.members()).toBe(1);
  });

  test("is refused with the reason", async () => {
    await using world = await testWorld(registry, { encoding });
    const connection = world.client.room.getOrCreate(["lobby"]).connect({ token: "bad" });
    await expect(connection.ready).rejects.toMatchObject({ code: "no_entry" });
  });

  test("lets time skip while a call of it waits", async () => {
    await using world = await testWorld(registry, { encoding });
    const connection = world.client.room.getOrCreate(["lobby"]).connect();
    const before = world.now();
    expect(await connection.slow()).toBe("late");
    expect(world.now() - before).toBe(600_000);
  });

  test("survives the actor's crash: it connects again, after its backoff", async () => {
    await using world = await testWorld(registry, { encoding });
    const lobby = world.client.room.getOrCreate(["lobby"]);
    const connection = lobby.connect();
    await connection.ready;
    world.crash(lobby);
    await world.advance("1 minute");
    expect(connection.connStatus).toBe("connected");
    expect(await connection.members()).toBe(1);
  });

  test("carries the reply to a message that takes longer than a call", async () => {
    await using world = await testWorld(registry, { encoding });
    const reply = await world.client.approval
      .getOrCreate(["a"])
      .send("approvals", "go", { wait: true, timeout: 900_000 });
    expect(reply).toEqual({ status: "completed", response: "go: yes" });
  });
});

test("user code may connect to another actor, and time passes while it waits for that", async () => {
  await using world = await testWorld(registry);
  expect(await world.client.reader.getOrCreate(["a"]).join()).toBe("late");
});

test("a raw socket carries what each side sends", async () => {
  await using world = await testWorld(registry);
  const socket = await world.client.room.getOrCreate(["lobby"]).webSocket("chat");
  await once(socket as unknown as EventTarget, "open");
  const heard: unknown[] = [];
  socket.addEventListener("message", ({ data }) => heard.push(typeof data === "string" ? data : new Uint8Array(data)));
  socket.send("ping");
  socket.send(Uint8Array.of(1, 2));
  await world.idle();
  expect(heard).toEqual(["ping", Uint8Array.of(1, 2)]);
  const closed = once(socket as unknown as EventTarget, "close");
  socket.close(4000, "enough");
  expect((await closed)[0]).toMatchObject({ code: 4000, reason: "enough" });
});

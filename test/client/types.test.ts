import { describe, expectTypeOf, test } from "vitest";
import { loadedCodec } from "./fake-sockets.js";
import { actor, queue, setup } from "../../src/actor/index.js";
import { createClientWithTransport } from "../../src/client/binding.js";
import { createClient, type ActorTransport } from "../../src/client/index.js";

const counter = actor({
  state: { count: 0, result: null as "sold" | null },
  queues: { jobs: queue<{ v: number }, { ok: boolean }>() },
  actions: {
    increment: (c, by: number) => (c.state.count += by),
    getState: (c) => c.state,
    users: { add: async (_c, name: string, ..._more: number[]) => name.length > 0 },
  },
});
const registry = setup({ use: { counter } });
const nothing: ActorTransport = {
  action: async () => undefined,
  send: async () => ({ status: "completed" }),
  resolve: async () => "id",
  create: async () => "id",
  gatewayUrl: async () => "url",
  fetch: async () => new Response(),
  openSocket: async () => {
    throw new Error("no sockets here");
  },
  codec: loadedCodec("json"),
  pingIntervalMs: undefined,
  place: "nowhere",
};

describe("a typed client", () => {
  const client = createClientWithTransport<typeof registry>(nothing);
  const handle = client.counter.getOrCreate(["a"]);

  test("knows actions, their arguments and results", () => {
    expectTypeOf(handle.increment).parameters.toEqualTypeOf<[by: number]>();
    expectTypeOf(handle.increment(1)).toEqualTypeOf<Promise<number>>();
    expectTypeOf(handle.getState()).resolves.toHaveProperty("result").toEqualTypeOf<"sold" | null>();
    expectTypeOf(handle.users.add).parameters.toEqualTypeOf<[name: string, ...more: number[]]>();
    expectTypeOf(handle.users.add("x")).toEqualTypeOf<Promise<boolean>>();
    // @ts-expect-error no such action
    void handle.nothing;
    // @ts-expect-error no such actor
    void client.nobody;
  });

  test("knows queues, their bodies and replies", () => {
    expectTypeOf(handle.send("jobs", { v: 1 })).toEqualTypeOf<Promise<void>>();
    expectTypeOf(handle.send("jobs", { v: 1 }, { wait: true })).resolves.toMatchTypeOf<{
      status: "completed" | "timedOut";
      response?: { ok: boolean };
    }>();
    // @ts-expect-error no such queue
    void handle.send("other", 1);
    // @ts-expect-error a body of the wrong type
    void handle.send("jobs", { v: "1" });
  });

  test("gives the same handles by name", () => {
    expectTypeOf(client.get("counter", "a").increment(1)).toEqualTypeOf<Promise<number>>();
    expectTypeOf(client.create("counter")).resolves.toEqualTypeOf<Awaited<ReturnType<typeof client.counter.create>>>();
    // @ts-expect-error no such actor
    void client.get("nobody");
  });
});

test("a client without a registry type takes any name, and gives any result; of `any` it is any", () => {
  expectTypeOf(createClient()["room"]!.get("a")["say"]).toBeAny();
  expectTypeOf(createClient<any>()).toBeAny();
  void createClientWithTransport(nothing).whatever.getOrCreate(["x"]).compute(1);
});

import { describe, expect, it } from "vitest";
import { actor, queue, setup } from "../../src/actor/index.js";
import { createBindingTransport, createClientWithTransport } from "../../src/client/binding.js";
import { createClient } from "../../src/client/index.js";
import { UserError } from "../../src/protocol/index.js";
import { createActorCaller, createMessageSender, createRouter } from "../../src/router/index.js";
import { testWorld } from "../support/test-world.js";
import { WorldObjects } from "./world-objects.js";

// What an actor's callbacks know of who calls, and whom they can call, with the real client and router in between.

// oxlint-disable-next-line typescript/no-explicit-any -- callbacks of all kinds share one signature here
type Context = any;

/** Real actors behind the real router, and a client over each way. */
function served(use: Record<string, ReturnType<typeof actor>>) {
  const world = testWorld(setup({ use: use as never }));
  const objects = new WorldObjects(world);
  const names = { actorNames: Object.keys(use) };
  const router = createRouter(names);
  const call = createActorCaller(objects, names);
  const fetch = async (url: string, init: RequestInit): Promise<Response> =>
    (await router(new Request(url, init), objects)) ?? new Response(null, { status: 404 });
  const noSockets = (): Promise<never> => Promise.reject(new Error("There are no sockets here"));
  return {
    fetch,
    clients: {
      HTTP: createClient({ fetch }) as Context,
      "the binding": createClientWithTransport(
        createBindingTransport({
          call,
          send: createMessageSender(call, noSockets),
          openSocket: noSockets,
          fetch: noSockets,
        }),
      ) as Context,
    },
  };
}

describe("c.key", () => {
  const { clients } = served({ subject: actor({ actions: { key: (c) => c.key } }) as never });

  it.each(Object.entries(clients))(
    "is a list over %s: of the one part that a text is, of none where no key was given (B1)",
    async (_way, client) => {
      expect(await client.subject.getOrCreate("x").key()).toEqual(["x"]);
      expect(await client.subject.getOrCreate(["x"]).key()).toEqual(["x"]);
      expect(await client.subject.getOrCreate(["x", "y"]).key()).toEqual(["x", "y"]);
      expect(await client.subject.getOrCreate().key()).toEqual([]);
      expect(await client.subject.getOrCreate([]).key()).toEqual([]);
    },
  );
});

describe("the caller's request and connection", () => {
  const seen: unknown[] = [];
  const look = (what: string, c: Context): void =>
    void seen.push([
      what,
      typeof c.conn?.id,
      c.request?.method,
      c.request?.headers.get("x-mine"),
      c.request?.headers.get("x-rivet-token"),
    ]);
  const subject = actor({
    queues: {
      jobs: queue({
        canPublish: (c) => {
          look("canPublish", c);
          return typeof c.conn.id === "string" && c.conn.id.length > 0;
        },
      }),
    },
    onBeforeConnect: (c) => look("onBeforeConnect", c),
    createConnState: (c) => look("createConnState", c) as unknown,
    onConnect: (c) => look("onConnect", c),
    actions: { act: (c) => look("action", c) },
  });
  const { clients, fetch } = served({ subject: subject as never });

  it("are there in each callback that runs for it over HTTP, as it was sent, without what is ours", async () => {
    seen.splice(0);
    for (const [path, body] of [
      ["action/act", '{"args":[]}'],
      ["queue/jobs", '{"body":1}'],
    ] as const) {
      const url = `http://worker.test/gateway/subject/${path}?rvt-namespace=default&rvt-method=getOrCreate&rvt-key=x`;
      const response = await fetch(url, {
        method: "POST",
        body,
        headers: { "x-mine": "yes", "x-rivet-token": "hush", "content-type": "application/json" },
      });
      expect([path, response.status]).toEqual([path, 200]);
    }
    const known = (hook: string, conn: string): unknown[] => [hook, conn, "POST", "yes", null];
    const connecting = [
      known("onBeforeConnect", "undefined"),
      known("createConnState", "undefined"),
      known("onConnect", "string"),
    ];
    expect(seen).toEqual([...connecting, known("action", "string"), ...connecting, known("canPublish", "string")]);
  });

  it("is a connection without a request for a caller inside the Worker; canPublish knows it by its id (C23)", async () => {
    seen.splice(0);
    await clients["the binding"].subject.getOrCreate("y").send("jobs", 1);
    expect(seen.at(-1)).toEqual(["canPublish", "string", undefined, undefined, undefined]);
  });
});

describe("c.client()", () => {
  it("calls another actor's actions from an action, and its errors arrive with group, code and metadata (B33)", async () => {
    const { clients } = served({
      caller: actor({
        actions: {
          relay: (c, text: string) => c.client().callee.getOrCreate("k").answer(text),
          refused: (c, action: string) =>
            c
              .client()
              .callee.getOrCreate("k")
              [action]()
              .catch((error: Context) => [error.group, error.code, error.message, error.metadata]),
          missing: (c) =>
            c
              .client()
              .callee.get("nobody")
              .answer()
              .catch((error: Context) => [error.group, error.code]),
        },
      }) as never,
      callee: actor({
        actions: {
          answer: (c, text: string) => `${c.key.join()} heard ${text}`,
          refuse: () => {
            throw new UserError("Sold out", { code: "sold_out", metadata: { left: 0 } });
          },
          fail: () => {
            throw new Error("the password is hunter2");
          },
        },
      }) as never,
    });
    const caller = clients.HTTP.caller.getOrCreate("k");
    expect(await caller.relay("hello")).toBe("k heard hello");
    expect(await caller.refused("refuse")).toEqual(["user", "sold_out", "Sold out", { left: 0 }]);
    expect(await caller.refused("fail")).toMatchObject([
      "rivetkit",
      "internal_error",
      "An internal error occurred",
      { errorId: expect.any(String) },
    ]);
    expect((await caller.refused("nothing")).slice(0, 2)).toEqual(["actor", "action_not_found"]);
    expect(await caller.missing()).toEqual(["actor", "not_found"]);
  });
});

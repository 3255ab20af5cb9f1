// The reply to a failed call: whether it is masked, its log id, and whether to retry.
import { describe, expect, test } from "vitest";
import { actor, queue, setup, UserError } from "../../../src/entry/index.js";
import { actorRestarting, ActorError } from "../../../src/entry/errors.js";
import {
  encodeValue,
  ENVELOPE_VERSION,
  type Creation,
  type ErrorData,
  type CallOperation,
} from "../../../src/protocol/index.js";
import { testWorld } from "../../support/test-world.js";

const thrown = new Map<string, unknown>([
  ["internal", new Error("the password is hunter2")],
  ["masked", new ActorError("actor", "panicked", "the password is hunter2", { metadata: { password: "hunter2" } })],
  ["user", new UserError("sold out", { metadata: { left: 0 } })],
  [
    "starting",
    new ActorError("actor", "starting", "another actor's", { metadata: { retryable: true, phase: "wake" } }),
  ],
  ["unavailable", new ActorError("guard", "service_unavailable", "another actor's")],
  ["overloaded", new ActorError("actor", "overloaded", "another actor's", { metadata: { retryable: false } })],
  ["restarting", actorRestarting()],
  ["busy", new ActorError("shop", "busy", "come back", { statusCode: 503, public: true, metadata: [1] })],
  ["odd", new ActorError("actor", "destroying", "odd", { metadata: "text" })],
]);

const failing = actor({
  state: { n: 0 },
  queues: { work: queue<number>() },
  options: { maxQueueMessageSize: 100 },
  actions: {
    fail: (_c, what: string) => {
      throw thrown.get(what);
    },
  },
});
const sleepy = actor({
  state: {},
  createVars: () => {
    throw thrown.get("starting");
  },
  actions: { x: () => 1 },
});

function setUp() {
  const logged: Record<string, unknown>[] = [];
  const world = testWorld(setup({ use: { failing, sleepy } }), {
    onLog: (level, entry) => void (level === "error" && logged.push(entry as Record<string, unknown>)),
  });
  const call = async (
    operation: CallOperation,
    name = "failing",
    creation: Creation = { mode: "getOrCreate" },
  ): Promise<ErrorData & { status: number }> => {
    const reply = await world
      .actor(name, ["a"])
      .deliver({ v: ENVELOPE_VERSION, address: { name, key: ["a"] }, creation, operation });
    if (reply.ok) throw new Error("The call succeeded.");
    return { ...reply.error, status: reply.status };
  };
  const fail = (what: string): Promise<ErrorData & { status: number }> =>
    call({ kind: "action", name: "fail", args: encodeValue([what]) });
  return { world, logged, call, fail };
}

describe("a call that fails", () => {
  test.each([
    ["internal", "rivetkit/internal_error"],
    ["masked", "actor/panicked"],
  ])("with an error of the server's own (%s) shows nothing but an id, under which it is logged", async (what, name) => {
    const { fail, logged } = setUp();
    const error = await fail(what);
    expect([`${error.group}/${error.code}`, error.status, error.message]).toEqual([
      name,
      500,
      "An internal error occurred",
    ]);
    const { errorId } = error.metadata as { errorId: string };
    expect(errorId).toMatch(/^[0-9a-f]{16}$/);
    expect(error.metadata).toEqual({ errorId });
    expect(JSON.stringify(error)).not.toContain("hunter2");
    expect(logged).toMatchObject([{ errorId, stack: expect.stringContaining("hunter2") }]);
    expect(((await fail(what)).metadata as { errorId: string }).errorId).not.toBe(errorId);
  });

  test("with the user's error passes it whole, and logs nothing", async () => {
    const { fail, logged } = setUp();
    expect(await fail("user")).toMatchObject({
      group: "user",
      message: "sold out",
      metadata: { left: 0 },
      status: 400,
    });
    expect((await fail("user")).metadata).toEqual({ left: 0 });
    expect(logged).toEqual([]);
  });

  test("names its actor", async () => {
    const { fail, world } = setUp();
    const { actor: named } = await fail("user");
    const reply = await world.actor("failing", ["a"]).send({ mode: "get" }, { kind: "resolve" });
    expect(named).toEqual({ actorId: reply.ok && reply.actorId, generation: 1, key: "a" });
  });
});

describe("a 503", () => {
  test.each<[string, unknown]>([
    ["starting", { retryable: false, phase: "wake" }],
    ["unavailable", { retryable: false }],
    ["overloaded", { retryable: false }],
    ["restarting", { retryable: true }],
    ["busy", [1]],
    ["odd", "text"],
  ])("that an action throws (%s) has the metadata %j: the action has run", async (what, metadata) => {
    expect(await setUp().fail(what)).toMatchObject({ status: 503, metadata });
  });

  test("of a start that fails may be tried again: nothing of the call has run", async () => {
    const { call } = setUp();
    const error = await call({ kind: "action", name: "x", args: encodeValue([]) }, "sleepy");
    expect(error).toMatchObject({
      group: "actor",
      code: "starting",
      status: 503,
      metadata: { retryable: true, phase: "wake" },
    });
  });
});

describe("a call that no instance would serve", () => {
  test.each<[string, CallOperation]>([
    ["404 actor/action_not_found", { kind: "action", name: "nothing", args: encodeValue([]) }],
    ["404 actor/action_not_found", { kind: "action", name: "constructor", args: encodeValue([]) }],
    ["404 queue/not_declared", { kind: "send", queue: "nothing", body: encodeValue(1) }],
    ["404 queue/not_declared", { kind: "send", queue: "toString", body: encodeValue(1) }],
    ["413 queue/message_too_large", { kind: "send", queue: "work", body: encodeValue("x".repeat(100)) }],
  ])("is answered %s, and creates none", async (name, operation) => {
    const { call, world } = setUp();
    const { status, group, code } = await call(operation);
    expect(`${status} ${group}/${code}`).toBe(name);
    expect([world.actor("failing", ["a"]).store.commits, world.actor("failing", ["a"]).store.keys]).toEqual([0, []]);
    await world.actor("failing", ["a"]).send({ mode: "create" }, { kind: "resolve" });
    const again = await call(operation);
    expect(`${again.status} ${again.group}/${again.code}`).toBe(name);
  });
});

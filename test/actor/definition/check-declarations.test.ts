import { describe, expect, it } from "vitest";
import { actor, event, queue, type StandardSchema } from "../../../src/actor/index.js";

// oxlint-disable-next-line typescript/no-explicit-any -- configurations that the types forbid
const anyActor = actor as (config: any) => object;
const schema: StandardSchema = { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } };
/** As some libraries make them. */
const callable = Object.assign(() => {}, schema);

describe("declared queues", () => {
  it("may be a token, a schema, or schemas with an access rule", () => {
    const queues = {
      a: queue(),
      b: schema,
      c: callable,
      d: { message: schema },
      e: { message: schema, complete: callable, canPublish: () => true },
      f: queue({ canPublish: async () => false }),
      g: {},
    };
    expect(() => anyActor({ queues })).not.toThrow();
  });

  it.each([
    ["no object", [1], /"queues" must be an object/],
    ["a name without a declaration", { jobs: null }, /queues\.jobs must be queue<Message, Reply>\(\)/],
    ["a text", { jobs: "message" }, /queues\.jobs must be/],
    ["a key that it does not know", { jobs: { canPublsh: () => true } }, /queues\.jobs: unknown key "canPublsh"/],
    ["an event's key", { jobs: { schema } }, /queues\.jobs: unknown key "schema"/],
    ["a message schema that is none", { jobs: { message: {} } }, /queues\.jobs: "message" must be a Standard Schema/],
    [
      "a completion schema that is none",
      { jobs: { complete: () => true } },
      /queues\.jobs: "complete" must be a Standard Schema/,
    ],
    [
      "an access rule that is no function",
      { jobs: { canPublish: true } },
      /queues\.jobs: "canPublish" must be a function/,
    ],
  ])("are refused with %s", (_, queues, message) => {
    expect(() => anyActor({ queues })).toThrow(message);
    expect(() => anyActor({ queues })).toThrow(TypeError);
  });
});

describe("declared events", () => {
  it("may be a token, a schema, or a schema with an access rule", () => {
    expect(() =>
      anyActor({
        events: { a: event(), b: schema, c: event({ schema, canSubscribe: () => true }), d: { schema: callable } },
      }),
    ).not.toThrow();
  });

  it.each([
    ["a name without a declaration", { tick: undefined }, /events\.tick must be event<Payload>\(\)/],
    ["a queue's key", { tick: { message: schema } }, /events\.tick: unknown key "message"/],
    ["a schema that is none", { tick: { schema: "string" } }, /events\.tick: "schema" must be a Standard Schema/],
    [
      "an access rule that is no function",
      { tick: { canSubscribe: {} } },
      /events\.tick: "canSubscribe" must be a function/,
    ],
  ])("are refused with %s", (_, events, message) => {
    expect(() => anyActor({ events })).toThrow(message);
  });
});

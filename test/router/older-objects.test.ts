import { describe, expect, test } from "vitest";
import { actor, setup } from "../../src/actor/index.js";
import {
  decodeValue,
  encodeValue,
  wireCodec,
  type ActionCall,
  type CallEnvelope,
  type ReplyEnvelope,
} from "../../src/protocol/index.js";
import { createRouter, type ActorNamespace } from "../../src/router/index.js";
import { testWorld } from "../support/test-world.js";
import { FakeObjects, fail, succeed, type Answer } from "./fake-objects.js";
import { postAction, routerOver } from "./post-action.js";
import { WorldObjects } from "./world-objects.js";

// While a release is rolled out, a new Worker meets objects of the release before, and an old Worker new ones.

/** Objects of envelope version 1: a call that is no envelope is refused before anything is done. */
class OlderObjects extends FakeObjects {
  isOlder = true;
  /** What came, in order: "message" or "envelope". */
  readonly seen: string[] = [];

  override get(...given: Parameters<FakeObjects["get"]>): ReturnType<ActorNamespace["get"]> {
    const stub = super.get(...given);
    return {
      ...stub,
      call: async (sent: CallEnvelope | ActionCall): Promise<ReplyEnvelope> => {
        this.seen.push(Array.isArray(sent) ? "message" : "envelope");
        if (!this.isOlder) return stub.call(sent);
        return { ...(Array.isArray(sent) ? fail("actor", "invalid_request", 400) : await stub.call(sent)), v: 1 };
      },
    };
  }
}

const ECHO: Answer = ({ operation }) => succeed(operation.kind === "action" ? decodeValue(operation.args) : undefined);

describe("a Worker that calls an action of an older object", () => {
  test.each(["json", "cbor", "bare"] as const)("repeats it in an envelope, in %s: it runs once", async (encoding) => {
    const objects = new OlderObjects(ECHO);
    const codec = wireCodec(encoding);
    const response = await routerOver(objects)(
      "/gateway/counter/action/add?rvt-namespace=default&rvt-method=getOrCreate&rvt-key=a",
      {
        method: "POST",
        headers: { "x-rivet-encoding": encoding },
        body: codec.actionRequest.encode({ args: [1, "é"] }),
      },
    );
    expect(codec.actionResponse.decode(new Uint8Array(await response.arrayBuffer()))).toEqual({ output: [1, "é"] });
    expect([objects.seen, objects.calls.length]).toEqual([["message", "envelope"], 1]);
  });

  test("sends it envelopes from then on, and others messages", async () => {
    const objects = new OlderObjects(ECHO);
    const send = routerOver(objects);
    await postAction(send, '{"args":[1]}');
    await postAction(send, '{"args":[2]}');
    expect(objects.seen).toEqual(["message", "envelope", "envelope"]);
    await send("/gateway/counter/action/add?rvt-namespace=default&rvt-method=get&rvt-key=b", { method: "POST" });
    expect(objects.seen.slice(3)).toEqual(["message", "envelope"]);
  });

  test("sends it messages again once it has answered as a newer one", async () => {
    const objects = new OlderObjects(ECHO);
    const send = routerOver(objects);
    await postAction(send, '{"args":[1]}');
    objects.isOlder = false;
    for (const arg of [2, 3])
      expect(await (await postAction(send, `{"args":[${arg}]}`)).json()).toEqual({ output: [arg] });
    expect(objects.seen).toEqual(["message", "envelope", "envelope", "message"]);
  });

  test("does not repeat an action that fails as the refusal reads", async () => {
    const refusal = fail("actor", "invalid_request", 400);
    for (const isOlder of [true, false]) {
      const objects = new OlderObjects(() => refusal);
      objects.isOlder = isOlder;
      expect((await postAction(routerOver(objects), "")).status).toBe(400);
      expect(objects.calls).toHaveLength(1);
    }
  });

  test("tells the caller of a message that cannot be read", async () => {
    const objects = new OlderObjects(ECHO);
    expect((await postAction(routerOver(objects), '{"args":1}')).status).toBe(400);
    expect(objects.calls).toEqual([]);
  });
});

test("an object answers the envelopes of an older Worker", async () => {
  let runs = 0;
  const counter = actor({ state: {}, actions: { add: (_c, by: number) => (runs += by) } });
  const subject = testWorld(setup({ use: { counter } as never })).actor("counter", ["a"]);
  const reply = await subject.deliver({
    v: 1,
    address: { name: "counter", key: ["a"] },
    creation: { mode: "getOrCreate" },
    operation: { kind: "action", name: "add", args: encodeValue([2]) },
  });
  expect([reply.ok && reply.output && decodeValue(reply.output), runs]).toEqual([2, 2]);
});

describe("an object that gets a caller's own message", () => {
  function served() {
    const counter = actor({ state: { n: 0 }, actions: { add: (c, by: number) => (c.state.n += by) } });
    const world = testWorld(setup({ use: { counter } as never }));
    const router = createRouter({ actorNames: ["counter"], newErrorId: () => "error-1" });
    const send = (path: string, init?: RequestInit): Promise<Response> =>
      router(new Request(`http://localhost${path}`, init), new WorldObjects(world)) as Promise<Response>;
    return { world, send, subject: world.actor("counter", ["a"]) };
  }

  test.each(["{", "[]", '{"args":1}', '{"args":["$Date",{}]}', `{"args":[${"[".repeat(65)}${"]".repeat(65)}]}`])(
    "%j creates no actor, and names none that is there",
    async (body) => {
      const { send, subject } = served();
      const refused = await postAction(send, body);
      expect(refused.status).toBe(400);
      expect(subject.store.rows).toBe(0);
      expect(await (await postAction(send, '{"args":[1]}')).json()).toEqual({ output: 1 });
      const answers = [await (await postAction(send, body)).json(), await refused.json()];
      expect(answers[0]).toEqual(answers[1]);
      expect(answers[0]).not.toHaveProperty("actor");
    },
  );

  test("of an encoding it does not know refuses it", async () => {
    const { subject } = served();
    const call = [2, "counter", ["a"], undefined, "getOrCreate", undefined, "add", "xml", false, new Uint8Array()];
    const reply = await subject.deliver([...call, undefined, "POST", "http://localhost/", []] as unknown as ActionCall);
    expect(reply).toMatchObject({ ok: false, v: 2, error: { group: "actor", code: "invalid_request" } });
  });
});

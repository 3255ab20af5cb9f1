import { describe, expect, it } from "vitest";
import { actor, event, setup } from "../../../src/actor/index.js";
import { UserError, wireCodec, type Encoding, type ToClient } from "../../../src/protocol/index.js";
import { testWorld } from "../../support/test-world.js";
import { single, type Single } from "../subject.js";

// What a client sends through its socket: valid frames, and every kind of invalid one.

function talker(more: object = {}): Single {
  return single(
    actor({
      state: { n: 0 },
      events: { news: event() },
      actions: {
        add: (c, by: number) => (c.state.n += by),
        echo: (_c, ...args: unknown[]) => args,
        refuse: (c) => {
          c.state.n = -1;
          throw new UserError("No", { code: "no", metadata: { why: "because" } });
        },
        break: () => {
          throw new Error("secret");
        },
        large: () => "x".repeat(1_048_577),
        custom: () => new (class Custom {})(),
        slow: (c) => one.world.clock.delay(100).then(() => c.state.n),
      },
      ...more,
    }),
  );
}
let one = talker();

const ENCODINGS: Encoding[] = ["json", "cbor", "bare"];
const answers = (received: readonly ToClient[]): unknown[] =>
  received.flatMap((frame) => (frame.tag === "ActionResponse" ? [[frame.val.id, frame.val.output]] : []));
const errors = (received: readonly ToClient[]): unknown[] =>
  received.flatMap((frame) =>
    frame.tag === "Error" ? [[frame.val.actionId, `${frame.val.group}/${frame.val.code}`]] : [],
  );

describe.each(ENCODINGS)("a client that speaks %s", (encoding) => {
  it("has its actions answered, whatever values they carry", async () => {
    one = talker();
    const socket = await one.subject.connect({ encoding });
    const values = [
      undefined,
      null,
      -0,
      1n,
      new Date(5),
      new Map([[1, new Set([2])]]),
      Uint8Array.of(1),
      ["$x", 1],
      { __proto__: null, a: [] },
    ];
    await socket.call(7, "echo", ...values);
    expect(answers(socket.received)).toEqual([[7n, values]]);
  });

  it("is told the errors of its actions, by their id, and stays", async () => {
    one = talker();
    const socket = await one.subject.connect({ encoding });
    for (const [id, name] of ["refuse", "break", "nothing", "constructor", "large", "custom"].entries())
      await socket.call(id, name);
    await socket.call(9, "add", 2);
    expect(errors(socket.received)).toEqual([
      [0n, "user/no"],
      [1n, "rivetkit/internal_error"],
      [2n, "actor/action_not_found"],
      [3n, "actor/action_not_found"],
      [4n, "message/outgoing_too_long"],
      [5n, "value/not_serializable"],
    ]);
    const [refused, broken] = socket.received
      .filter(({ tag }) => tag === "Error")
      .map(({ val }) => val as { message: string; metadata?: unknown });
    expect(refused).toMatchObject({ message: "No", metadata: { why: "because" } });
    expect(String(broken?.message)).not.toContain("secret");
    expect(answers(socket.received)).toEqual([[9n, 1]]);
    expect(socket.end).toBeUndefined();
  });

  it("is ended by a frame that is none, and told why; others stay", async () => {
    one = talker();
    const wrongKind = encoding === "json" ? Uint8Array.of(0xff, 0xfe) : "{}";
    const other = await one.subject.connect({ encoding });
    for (const frame of [
      wrongKind,
      encoding === "json" ? "{" : Uint8Array.of(9),
      encoding === "json" ? "[]" : new Uint8Array(),
    ]) {
      const socket = await one.subject.connect({ encoding });
      await socket.sayRaw(frame);
      await one.world.settle();
      expect(socket.received.at(-1)).toMatchObject({
        tag: "Error",
        val: { group: "actor", code: "invalid_request", actionId: null },
      });
      expect(socket.end).toEqual({ code: 1011, reason: "actor.invalid_request" });
    }
    await other.call(1, "add", 1);
    expect(answers(other.received)).toEqual([[1n, 1]]);
  });

  it("is ended by a frame that is too long, which is not looked at", async () => {
    one = talker();
    const socket = await one.subject.connect({ encoding });
    await socket.call(1, "add", "x".repeat(65_536));
    await one.world.settle();
    expect(socket.end).toEqual({ code: 1011, reason: "message.incoming_too_long" });
    expect(await one.subject.call("add", 1)).toBe(1);
  });
});

describe("frames of one connection", () => {
  it("are taken in order, also where a subscription has to be thought about", async () => {
    const order: string[] = [];
    const free: (() => void)[] = [];
    one = talker({
      events: {
        slow: event({
          canSubscribe: () =>
            new Promise<boolean>((resolve) => free.push(() => (order.push("allowed"), resolve(true)))),
        }),
      },
      actions: { note: (c: { broadcast(name: string): void }) => (order.push("action"), c.broadcast("slow")) },
    });
    const socket = await one.subject.connect();
    const subscribed = socket.subscribe("slow");
    const called = socket.call(1, "note");
    await one.world.settle();
    expect(order).toEqual([]);
    free[0]?.();
    await Promise.all([subscribed, called]);
    expect(order).toEqual(["allowed", "action"]);
    expect(socket.events).toEqual([["slow"]]);
  });

  it("are begun without waiting for the actions before them", async () => {
    one = talker();
    const socket = await one.subject.connect();
    const slow = socket.call(1, "slow");
    await socket.call(2, "add", 5);
    await one.world.pass(100);
    await slow;
    expect(answers(socket.received)).toEqual([
      [2n, 5],
      [1n, 5],
    ]);
  });

  it("that come after the end of the connection do nothing", async () => {
    one = talker();
    const socket = await one.subject.connect();
    const bad = socket.sayRaw("nonsense");
    const after = socket.call(1, "add", 5);
    await Promise.all([bad, after]);
    expect(await one.subject.call("add", 0)).toBe(0);
  });

  it("say so when canSubscribe throws, or says neither yes nor no; a secret stays one", async () => {
    one = talker({
      events: {
        thrown: event({
          canSubscribe: () => {
            throw new Error("secret");
          },
        }),
        refused: event({
          canSubscribe: () => {
            throw new UserError("Not today", { code: "closed" });
          },
        }),
        neither: event({ canSubscribe: (() => "yes") as never }),
      },
    });
    for (const [name, reason] of [
      ["thrown", "rivetkit.internal_error"],
      ["refused", "user.closed"],
      ["neither", "rivetkit.internal_error"],
    ] as const) {
      const socket = await one.subject.connect();
      await socket.subscribe(name);
      await one.world.settle();
      expect(socket.end, name).toEqual({ code: 1011, reason });
      expect(JSON.stringify(socket.received.map(({ val }) => ({ ...val, actionId: 0 })))).not.toContain("secret");
    }
  });

  it("end their connection when canSubscribe hangs; another one is served meanwhile", async () => {
    one = talker({ events: { never: event({ canSubscribe: () => new Promise<boolean>(() => {}) }) } });
    const [stuck, other] = [await one.subject.connect(), await one.subject.connect()];
    const subscribed = stuck.subscribe("never");
    await other.call(1, "add", 3);
    expect(answers(other.received)).toEqual([[1n, 3]]);
    await one.world.pass(5_000);
    await subscribed;
    expect(stuck.end).toEqual({ code: 1011, reason: "actor.callback_timed_out" });
    expect(other.end).toBeUndefined();
  });

  it("may not subscribe to more than can be remembered", async () => {
    one = single(actor({ actions: { all: (c) => c.broadcast("0".repeat(100)) } }));
    const socket = await one.subject.connect();
    for (let n = 0; n < 40; n += 1) await socket.subscribe(`${n}`.repeat(100).slice(0, 100));
    expect(
      errors(socket.received).every((error) => `${(error as string[])[1]}` === "event/too_many_subscriptions"),
    ).toBe(true);
    expect(errors(socket.received).length).toBeGreaterThan(0);
    await socket.subscribe("0".repeat(100));
    await one.subject.evict();
    await one.subject.call("all");
    await one.world.settle();
    expect(socket.events).toHaveLength(1);
    expect((socket.attachment as Uint8Array).byteLength).toBeLessThan(16_000);
  });
});

describe("a frame that wakes its actor", () => {
  it("is answered with the error of a start that fails, and the socket is let go", async () => {
    let fails = false;
    const world = testWorld(
      setup({
        use: {
          a: actor({
            onWake: () => {
              if (fails) throw new UserError("Not yet", { code: "not_yet" });
            },
            actions: { hi: () => "hi" },
          }),
        },
      }),
    );
    const subject = world.actor("a");
    const socket = await subject.connect();
    await subject.evict();
    fails = true;
    await socket.call(1, "hi");
    await world.settle();
    expect(socket.end).toEqual({ code: 1011, reason: "user.not_yet" });
  });

  it("of an actor that is gone ends its socket", async () => {
    one = single(actor({ actions: { end: (c) => c.destroy() } }));
    const socket = await one.subject.connect();
    const late = wireCodec("json").toServer.encode({ tag: "ActionRequest", val: { id: 1n, name: "end", args: [] } });
    await one.subject.call("end");
    await one.world.settle();
    expect(socket.end).toEqual({ code: 1011, reason: "actor.destroyed" });
    await socket.sayRaw(late as string);
    expect(one.subject.store.dump().size).toBe(0);
  });
});

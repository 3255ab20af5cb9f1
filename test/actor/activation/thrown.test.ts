// Thrown values that cannot be printed are handled like any other error.
import { describe, expect, it } from "vitest";
import { actor, workflow } from "../../../src/actor/index.js";
import { ActorError, encodeValue, UserError } from "../../../src/protocol/index.js";
import { single } from "../subject.js";

const revoked = Proxy.revocable({}, {});
revoked.revoke();
const unreadable = (property: string): Error =>
  Object.defineProperty(new Error("x"), property, {
    get: () => {
      throw new Error("a getter that throws");
    },
  });

const illegible: [string, unknown][] = [
  ["an object without a prototype", Object.create(null)],
  ["an error whose stack cannot be read", unreadable("stack")],
  ["an error whose message cannot be read", unreadable("message")],
  [
    "an error whose `public` cannot be read",
    Object.defineProperty(new ActorError("user", "x", "x"), "public", { get: () => JSON.parse("{") as never }),
  ],
  ["a revoked proxy", revoked.proxy],
];

describe.each(illegible)("%s", (_, thrown) => {
  const fail = (): never => {
    throw thrown;
  };

  it("thrown by an action is answered as data", async () => {
    const { subject } = single(actor({ actions: { fail } }));
    const reply = await subject.send({ mode: "getOrCreate" }, { kind: "action", name: "fail", args: encodeValue([]) });
    expect(reply).toMatchObject({ ok: false, status: 500, error: { code: "internal_error" } });
  });

  it("thrown by background work is logged, and holds no lease", async () => {
    const { world, subject, log } = single(
      actor({
        run: async () => {
          await world.clock.delay(500);
          fail();
        },
        actions: {
          plan: (c) => c.schedule.after(1_000, "fail"),
          keep: (c) => void c.keepAwake(Promise.reject(thrown)).catch(() => {}),
          fail,
        },
      }),
    );
    await subject.call("plan");
    await subject.call("keep");
    await world.passUntilQuiet();
    expect(subject.store.keys).toEqual(["a"]);
    expect(subject.store.alarmAt).toBe(null);
    const failures = log.filter(({ level }) => level === "error").map(({ entry }) => entry["msg"]);
    expect(failures).toEqual([
      "A keepAwake promise failed",
      "The run handler failed",
      'Scheduled action "fail" failed',
    ]);
  });

  it("thrown by onDestroy does not keep the actor", async () => {
    let ends = 0;
    const { world, subject } = single(
      actor({
        onDestroy: () => {
          ends += 1;
          fail();
        },
        actions: { destroy: (c) => c.destroy() },
      }),
    );
    await subject.call("destroy");
    await world.passUntilQuiet();
    expect([ends, subject.store.keys, subject.store.alarmAt]).toEqual([1, [], null]);
  });

  it("thrown by onError stops no later event", async () => {
    const told: string[] = [];
    const { world, subject } = single(
      actor({
        run: workflow(
          async (ctx) => {
            for (const name of ["a", "b"]) {
              await ctx.tryStep({ name, maxRetries: 0, run: () => Promise.reject(new Error(name)) });
              await ctx.sleep(`after ${name}`, 1_000);
            }
          },
          {
            onError: (_c, event) => {
              told.push(event.step?.stepName ?? "");
              fail();
            },
          },
        ),
        actions: { touch: () => {} },
      }),
    );
    await subject.call("touch");
    await world.passUntilQuiet();
    expect(told).toEqual(["a", "b"]);
    expect([subject.store.keys.filter((key) => key.startsWith("f/")), subject.holdsLease]).toEqual([[], false]);
  });
});

it("an event with more than a row can hold is told with its texts only", async () => {
  const told: unknown[] = [];
  const { world, subject } = single(
    actor({
      run: workflow(
        (ctx) =>
          ctx.step({
            name: "fails",
            maxRetries: 0,
            run: () => Promise.reject(Object.assign(new Error("too much"), { body: "x".repeat(2_000_001) })),
          }),
        { onError: (_c, event) => void told.push(event.step ?? event.workflow) },
      ),
      actions: { touch: () => {} },
    }),
  );
  await subject.call("touch");
  await world.passUntilQuiet();
  expect(told[0]).toMatchObject({ stepName: "fails", error: { name: "Error", message: "too much" } });
  expect(subject.crashes).toBe(0);
});

class Money {
  readonly amount = 1;
}

it.each<[string, unknown]>([
  ["a class instance", { price: new Money() }],
  ["a promise", { later: Promise.resolve() }],
  ["a symbol", Symbol("s")],
  ["more than a value may hold", "x".repeat(2_000_001)],
])("a UserError with %s in its metadata is answered without it", async (_, metadata) => {
  const { subject } = single(
    actor({
      actions: {
        fail: () => {
          throw new UserError("sold out", { metadata });
        },
      },
    }),
  );
  const reply = await subject.send({ mode: "getOrCreate" }, { kind: "action", name: "fail", args: encodeValue([]) });
  expect(reply).toMatchObject({
    ok: false,
    status: 400,
    error: { group: "user", code: "user_error", message: "sold out" },
  });
  expect(reply.ok || reply.error.metadata).toBe(undefined);
});

it("a UserError with a part of the state in its metadata carries a copy", async () => {
  const { subject } = single(
    actor({
      state: { left: { apples: 2 } },
      actions: {
        fail: (c) => {
          throw new UserError("sold out", { metadata: c.state.left });
        },
      },
    }),
  );
  const reply = await subject.send({ mode: "getOrCreate" }, { kind: "action", name: "fail", args: encodeValue([]) });
  if (reply.ok) throw new Error("The call succeeded.");
  expect(structuredClone(reply.error.metadata)).toEqual({ apples: 2 });
});

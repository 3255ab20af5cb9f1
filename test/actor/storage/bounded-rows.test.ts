import { expect, it } from "vitest";
import { actor, workflow, type AnyActorDefinition } from "../../../src/actor/index.js";
import { encodeValue, UserError } from "../../../src/protocol/index.js";
import { CriticalError } from "../../../src/workflow/index.js";
import { single, type Single } from "../subject.js";

// Whatever user code throws, returns or requests, the row that stores it is within its limit, so that no commit fails.

// oxlint-disable-next-line typescript/no-explicit-any -- contexts of actions, hooks and steps share one signature here
type Any = any;

function nested(levels: number): unknown {
  let value: unknown = "inside";
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

function failing(thrown: () => unknown, config: object = {}): Single {
  return single(
    actor({
      state: { told: 0 },
      run: workflow(
        (async (ctx: Any) => {
          await ctx.rollbackCheckpoint("begin");
          await ctx.step({
            name: "paid",
            run: () => 1,
            rollback: () => {
              throw thrown();
            },
          });
          const { body } = await ctx.queue.next("order", { names: ["orders"] });
          await ctx.step({
            name: "fails",
            maxRetries: 1,
            run: () => {
              throw body === "unused"
                ? thrown()
                : Object.assign(thrown() as object, body === undefined ? {} : { metadata: { order: body } });
            },
          });
        }) as never,
        { onError: (c: Any) => (c.state.told += 1) } as never,
      ),
      actions: {
        get: (c: Any) => c.state.told,
        status: (c: Any) => c.workflow.status(),
        job: () => {
          throw thrown();
        },
        every: (c: Any) => c.cron.every({ name: "j", interval: 5_000, action: "job" }),
        history: (c: Any) => c.cron.history("j"),
      },
      ...config,
    } as never) as AnyActorDefinition,
  );
}

async function order({ subject, world }: Single, body: unknown): Promise<void> {
  await subject.send({ mode: "getOrCreate" }, { kind: "send", queue: "orders", body: encodeValue(body) });
  await world.pass(60_000);
}

it("stores, tells and replays a step's error that carries what came over the wire", async () => {
  const order64 = nested(64);
  const it = failing(() => new UserError("no order"));
  await order(it, order64);
  expect(it.subject.crashes).toBe(0);
  const status = await it.subject.call("status");
  expect(status).toMatchObject({ status: "failed" });
  it.subject.crash();
  expect(await it.subject.call("status")).toEqual(status);
  expect(it.log.filter(({ level }) => level === "error").map(({ entry }) => entry["msg"])).not.toContain(
    "The activation is lost; the next event starts anew",
  );
});

const hostile: readonly (readonly [string, () => unknown])[] = [
  ["metadata of 256 levels", () => new UserError("deep", { metadata: nested(256) })],
  [
    "metadata of 250 levels below a cause of causes",
    () =>
      new CriticalError("deep", {
        cause: new Error("1", { cause: new Error("2", { cause: new UserError("3", { metadata: nested(250) }) }) }),
      }),
  ],
  [
    "a group and a code of three million characters",
    () => Object.assign(new UserError("long"), { group: "g".repeat(3_000_000), code: "c".repeat(3_000_000) }),
  ],
  [
    "a message and a name of three million characters",
    () => Object.assign(new Error("m".repeat(3_000_000)), { name: "n".repeat(3_000_000) }),
  ],
  [
    "metadata that changes once it was looked at",
    () => {
      const metadata: Record<string, unknown> = { a: 1 };
      queueMicrotask(() => (metadata["self"] = metadata));
      return new UserError("changes", { metadata });
    },
  ],
  [
    "metadata with __proto__ as a key",
    () => new UserError("proto", { metadata: JSON.parse('{"__proto__": {"destroyed": true}}') }),
  ],
  [
    "own properties of three million characters",
    () => Object.assign(new Error("own"), { detail: "d".repeat(3_000_000) }),
  ],
];

it.each(hostile)(
  "keeps the activation through a step, a rollback handler and a recurring job that throw %s",
  async (_, thrown) => {
    const it = failing(thrown);
    await it.subject.call("every");
    await order(it, "unused");
    expect(await it.subject.call("status")).toMatchObject({ status: "failed" });
    expect((await it.subject.call("history")) as unknown[]).not.toEqual([]);
    expect(await it.subject.call("get")).toBeGreaterThan(0);
    expect(it.subject.crashes).toBe(0);
    it.subject.crash();
    expect(await it.subject.call("status")).toMatchObject({ status: "failed" });
  },
);

it("keeps the activation when a workflow fails with what many branches failed with", async () => {
  const it = single(
    actor({
      run: workflow((async (ctx: Any) => {
        const branches = Object.fromEntries(
          Array.from({ length: 400 }, (_, at) => [
            `b${at}`,
            { run: () => Promise.reject(new UserError("m".repeat(9_000), { metadata: { at: "x".repeat(5_000) } })) },
          ]),
        );
        await ctx.join("all", branches);
      }) as never),
      actions: { status: (c: Any) => c.workflow.status() },
    } as never) as AnyActorDefinition,
  );
  await it.subject.call("status");
  await it.world.pass(10_000);
  expect(await it.subject.call("status")).toMatchObject({ status: "failed" });
  expect(it.subject.crashes).toBe(0);
});

it("keeps the activation when joins fail in joins, forty deep", async () => {
  const deep = (ctx: Any, left: number): Promise<unknown> =>
    left === 0
      ? Promise.reject(new UserError("deep", { metadata: nested(64) }))
      : ctx.join("j", { b: { run: (branch: Any) => deep(branch, left - 1) } });
  const it = single(
    actor({
      run: workflow(((ctx: Any) => deep(ctx, 40)) as never),
      actions: { status: (c: Any) => c.workflow.status() },
    } as never) as AnyActorDefinition,
  );
  await it.subject.call("status");
  await it.world.pass(10_000);
  expect(await it.subject.call("status")).toMatchObject({ status: "failed" });
  expect(it.subject.crashes).toBe(0);
});

it("refuses a connection whose params a schema has made too deep to be remembered", async () => {
  const it = single(
    actor({
      connParamsSchema: { "~standard": { version: 1, vendor: "test", validate: () => ({ value: nested(256) }) } },
      onConnect: () => {},
      onDisconnect: () => {},
      actions: { get: () => 1 },
    } as never) as AnyActorDefinition,
  );
  await expect(it.subject.connect({ params: "any" })).rejects.toMatchObject({
    group: "value",
    code: "not_serializable",
  });
  expect(it.subject.crashes).toBe(0);
});

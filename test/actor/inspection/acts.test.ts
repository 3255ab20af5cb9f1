import { describe, expect, it } from "vitest";
import {
  actor,
  objectInspector,
  queue,
  recordHistory,
  setup,
  workflow,
  type AnyActorDefinition,
} from "../../../src/actor/index.js";
import { encodeValue } from "../../../src/protocol/index.js";
import type { WorldActor, WorldOptions } from "../../../src/testing/index.js";
import { testWorld } from "../../support/test-world.js";
import { single } from "../subject.js";
import { inspect } from "./inspect.js";

const HOUR_MS = 3_600_000;
const by = "ada";
const inspector = objectInspector(recordHistory);

/** An order that pays when it is told to, and whose start and step fail as the test says. */
function order(options: Partial<WorldOptions> = {}) {
  const ran: string[] = [];
  const fails = { onWake: false, charge: false };
  const definition = actor({
    state: { total: 12n, note: "" },
    queues: {
      payments: queue<unknown>(),
      strict: {
        message: {
          "~standard": {
            version: 1,
            vendor: "test",
            validate: (value: unknown) =>
              typeof value === "string" ? { value } : { issues: [{ message: "a text, please" }] },
          },
        } as never,
      },
    },
    onWake: () => {
      ran.push("onWake");
      if (fails.onWake) throw new Error("no wake");
    },
    onStateChange: (_c, state) => void ran.push(`onStateChange ${state.total}`),
    run: workflow(async (ctx) => {
      const payment = await ctx.queue.next("payment", { names: ["payments"] });
      await ctx.step({
        name: "charge",
        maxRetries: 0,
        run: () => {
          ran.push("charge");
          if (fails.charge) throw new Error("502");
          return payment.body;
        },
      });
    }),
    actions: {
      get: (c) => c.state.total,
      add: (c) => (c.state.total += 1n),
      status: (c) => c.workflow.status().status,
    },
    options: { maxQueueSize: 3 },
  });
  return { ...single(definition as unknown as AnyActorDefinition, { inspector, ...options }), ran, fails };
}

const edit = (total: bigint, ifMatch: string) =>
  ({ about: "setState", value: encodeValue({ total, note: "" }), ifMatch, by }) as const;
const hashOf = async (subject: WorldActor): Promise<string> =>
  String((await inspect(subject, { about: "state" }))["hash"]);
const auditOf = async (subject: WorldActor): Promise<unknown> => (await inspect(subject, { about: "audit" }))["items"];

/** The id of the step in the history. */
async function stepOf(subject: WorldActor): Promise<string> {
  const { items } = await inspect<{ items: { id: string; kind: string }[] }>(subject, { about: "history" });
  return items.find(({ kind }) => kind === "step")?.id ?? "none";
}

describe("an edit of the state", () => {
  it.each(["in memory", "asleep"])("of an actor %s is stored, seen by its code, told and audited", async (where) => {
    const { world, subject, ran } = order();
    await subject.call("get");
    await world.settle();
    if (where === "asleep") await subject.evict();
    ran.splice(0);
    const hash = await hashOf(subject);
    const answer = await inspect(subject, edit(50n, hash));
    await world.settle();
    expect(ran).toEqual(where === "asleep" ? ["onWake", "onStateChange 50"] : ["onStateChange 50"]);
    expect(await subject.call("get")).toBe(50n);
    subject.crash();
    expect(await subject.call("get")).toBe(50n);
    expect(await hashOf(subject)).toBe(answer["hash"]);
    expect(await auditOf(subject)).toEqual([
      { at: expect.any(Number) as unknown, act: "setState", by, detail: { from: hash } },
    ]);
  });

  it("is refused if the state is no longer the one that was seen", async () => {
    const { subject, world } = order();
    await subject.call("get");
    const hash = await hashOf(subject);
    await subject.call("add");
    for (const where of ["in memory", "asleep"]) {
      if (where === "asleep") await subject.evict();
      await expect(inspect(subject, edit(50n, hash))).rejects.toMatchObject({
        group: "inspector",
        code: "state_changed",
        statusCode: 412,
        metadata: { hash: await hashOf(subject) },
      });
    }
    expect(await subject.call("get")).toBe(13n);
    expect(await auditOf(subject)).toEqual([]);
    await inspect(subject, edit(50n, "*"));
    await world.settle();
    expect(await subject.call("get")).toBe(50n);
  });

  it("that nothing can store is refused, and changes nothing", async () => {
    const { subject } = order();
    await subject.call("get");
    const large = { ...edit(1n, "*"), value: encodeValue("x".repeat(2_050_000), { limitBytes: 3_000_000 }) };
    for (const where of ["in memory", "asleep"]) {
      if (where === "asleep") await subject.evict();
      await expect(inspect(subject, large)).rejects.toMatchObject({ code: "too_large" });
    }
    expect(await subject.call("get")).toBe(12n);
    expect(await auditOf(subject)).toEqual([]);
  });

  it("mends an actor whose start fails because of its state", async () => {
    const { subject, log } = single(
      actor({
        state: { ok: false },
        onWake: (c) => {
          if (c.state.ok) return;
          throw new Error("not ok");
        },
        onCreate: (c) => void (c.state.ok = true),
        actions: { get: (c) => c.state.ok, break: (c) => void (c.state.ok = false) },
      }),
      { inspector },
    );
    await subject.call("break");
    await subject.evict();
    await expect(subject.call("get")).rejects.toMatchObject({ code: "internal_error" });
    log.splice(0);
    await inspect(subject, { about: "setState", value: encodeValue({ ok: true }), ifMatch: "*", by });
    expect(await subject.call("get")).toBe(true);
    expect(log.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("of an actor without a state, or whose class is gone, is refused with a sentence", async () => {
    const without = single(actor({ actions: { touch: () => {} } }), { inspector });
    await without.subject.call("touch");
    await expect(inspect(without.subject, edit(1n, "*"))).rejects.toMatchObject({
      code: "state_not_enabled",
      message: expect.stringContaining("State not enabled") as unknown,
    });
    const { world, subject } = order();
    await subject.call("get");
    const before = [...subject.store.dump()];
    world.deploy(setup({ use: { other: actor({ actions: {} }) } }));
    await expect(inspect(subject, edit(1n, "*"))).rejects.toMatchObject({
      code: "not_registered",
      message: expect.stringContaining("subject") as unknown,
    });
    expect([...subject.store.dump()]).toEqual(before);
  });

  it.each(["in memory", "asleep"])(
    "of an actor %s is there with its line in the audit, or not at all",
    async (where) => {
      let crashes = 0;
      for (let at = 1; at <= 6; at += 1) {
        for (const fault of ["crash-before", "crash-after"] as const) {
          let commits = Infinity;
          const { world, subject } = order({ fault: () => ((commits -= 1) === 0 ? fault : undefined) });
          await subject.call("get");
          await world.settle();
          if (where === "asleep") await subject.evict();
          commits = at;
          await inspect(subject, edit(50n, "*")).catch(() => {});
          await world.settle();
          commits = Infinity;
          crashes += subject.crashes;
          const audit = (await auditOf(subject)) as unknown[];
          expect([at, fault, await subject.call("get")]).toEqual([at, fault, audit.length === 1 ? 50n : 12n]);
        }
      }
      expect(crashes).toBeGreaterThan(1);
    },
  );
});

describe("an operator's message", () => {
  it.each(["in memory", "asleep"])("to an actor %s is received by its workflow", async (where) => {
    const { world, subject } = order();
    await subject.call("get");
    await world.settle();
    if (where === "asleep") await subject.evict();
    const sent = await inspect(subject, { about: "send", queue: "payments", value: encodeValue({ cents: 5n }), by });
    expect(sent).toMatchObject({ id: "1", queue: "payments" });
    await world.settle();
    expect(await subject.call("status")).toBe("completed");
    const id = await stepOf(subject);
    expect(await inspect(subject, { about: "entry", id })).toMatchObject({ value: { cents: 5n } });
    expect(await auditOf(subject)).toMatchObject([{ act: "send", by, detail: { queue: "payments" } }]);
  });

  it.each(["in memory", "asleep"])("is checked as any other, also by an actor %s", async (where) => {
    const { world, subject } = order();
    await subject.call("get");
    await world.settle();
    const send = (name: string, body: unknown) =>
      inspect(subject, { about: "send", queue: name, value: encodeValue(body), by });
    for (let i = 0; i < 3; i += 1) await send("strict", "a text");
    if (where === "asleep") await subject.evict();
    await expect(send("strict", 5)).rejects.toMatchObject({ code: "validation_error" });
    await expect(send("payments", "x".repeat(70_000))).rejects.toMatchObject({ code: "message_too_large" });
    await expect(send("payments", "one more")).rejects.toMatchObject({ code: "full" });
    expect(await inspect(subject, { about: "queue" })).toMatchObject({ size: 3 });
    expect(await auditOf(subject)).toHaveLength(3);
  });

  it.each(["in memory", "asleep"])("can be deleted, one or all, of an actor %s", async (where) => {
    const { world, subject } = order();
    await subject.call("get");
    for (const name of ["strict", "other", "strict"])
      await inspect(subject, { about: "send", queue: name, value: encodeValue("a text"), by });
    await world.settle();
    if (where === "asleep") await subject.evict();
    const idsOf = async () =>
      ((await inspect(subject, { about: "queue" }))["items"] as { id: number }[]).map(({ id }) => id);
    expect(await inspect(subject, { about: "deleteMessage", id: "1", by })).toEqual({});
    await expect(inspect(subject, { about: "deleteMessage", id: "1", by })).rejects.toMatchObject({
      code: "not_found",
    });
    expect(await idsOf()).toEqual([2, 3]);
    expect(await inspect(subject, { about: "drain", queue: "other", by })).toEqual({ deleted: 1 });
    expect(await idsOf()).toEqual([3]);
    expect(await inspect(subject, { about: "drain", by })).toEqual({ deleted: 1 });
    expect(await idsOf()).toEqual([]);
    subject.crash();
    expect(await idsOf()).toEqual([]);
  });

  it("that the workflow holds is not deleted", async () => {
    const { world, subject } = single(
      actor({
        run: workflow(async (ctx) => {
          const [held] = await ctx.queue.nextBatch("held", { names: ["work"], completable: true });
          await ctx.sleep("hour", HOUR_MS);
          await held?.complete?.();
        }),
        actions: { touch: () => {} },
      }) as unknown as AnyActorDefinition,
      { inspector },
    );
    await subject.call("touch");
    await inspect(subject, { about: "send", queue: "work", value: encodeValue(1), by });
    await world.settle();
    await subject.evict();
    await expect(inspect(subject, { about: "deleteMessage", id: "1", by })).rejects.toMatchObject({
      code: "not_found",
    });
    expect(await inspect(subject, { about: "drain", by })).toEqual({ deleted: 0 });
    expect(await inspect(subject, { about: "queue" })).toMatchObject({ size: 1 });
  });
});

describe("control of a workflow", () => {
  /** A failed order. */
  async function failed() {
    const made = order();
    made.fails.charge = true;
    await made.subject.call("get");
    await inspect(made.subject, { about: "send", queue: "payments", value: encodeValue(5), by });
    await made.world.settle();
    expect(await made.subject.call("status")).toBe("failed");
    made.fails.charge = false;
    return made;
  }

  it.each(["in memory", "asleep"])("recovers one of an actor %s", async (where) => {
    const { world, subject } = await failed();
    if (where === "asleep") await subject.evict();
    expect(await inspect(subject, { about: "recover", by })).toEqual({ status: "running" });
    await world.settle();
    expect(await subject.call("status")).toBe("completed");
    expect(await auditOf(subject)).toMatchObject([{ act: "recover", by }, { act: "send" }]);
  });

  it("recovers one whose actor does not start yet: it goes on once it does", async () => {
    const { world, subject, fails } = await failed();
    await subject.evict();
    fails.onWake = true;
    expect(await inspect(subject, { about: "recover", by })).toEqual({ status: "running" });
    await world.settle();
    expect(await inspect(subject, { about: "summary" })).toMatchObject({ workflow: { status: "running" } });
    fails.onWake = false;
    await world.pass(HOUR_MS);
    expect(await inspect(subject, { about: "summary" })).toMatchObject({ workflow: { status: "completed" } });
  });

  it.each(["in memory", "asleep"])("replays one of an actor %s from a step, or from its start", async (where) => {
    const { world, subject, ran } = await failed();
    await inspect(subject, { about: "recover", by });
    await world.settle();
    if (where === "asleep") await subject.evict();
    ran.splice(0);
    const id = await stepOf(subject);
    await inspect(subject, { about: "replayFrom", id, by });
    await world.settle();
    expect(ran.filter((each) => each === "charge")).toHaveLength(1);
    if (where === "asleep") await subject.evict();
    await inspect(subject, { about: "replayFrom", by });
    await world.settle();
    expect(await subject.call("status")).toBe("completed");
    await expect(inspect(subject, { about: "replayFrom", id: "99", by })).rejects.toMatchObject({
      code: "step_not_found",
    });
    expect(await auditOf(subject)).toMatchObject([
      { act: "replayFrom", detail: {} },
      { act: "replayFrom", detail: { entry: id } },
      { act: "recover" },
      { act: "send" },
    ]);
  });

  it.each(["in memory", "asleep"])("cancels one of an actor %s", async (where) => {
    const { world, subject } = order();
    await subject.call("get");
    await world.settle();
    if (where === "asleep") await subject.evict();
    expect(await inspect(subject, { about: "cancel", by })).toEqual({ status: "cancelled" });
    await world.settle();
    expect(await subject.call("status")).toBe("cancelled");
    subject.crash();
    expect(await subject.call("status")).toBe("cancelled");
  });

  it("of an actor without a workflow is refused", async () => {
    const { subject } = single(actor({ actions: { touch: () => {} } }), { inspector });
    await subject.call("touch");
    for (const about of ["recover", "replayFrom", "cancel"] as const)
      await expect(inspect(subject, { about, by })).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("every act", () => {
  it("creates no actor", async () => {
    const { subject } = order();
    const acts = [
      edit(1n, "*"),
      { about: "send", queue: "payments", value: encodeValue(1), by },
      { about: "drain", by },
      { about: "recover", by },
    ] as const;
    for (const act of acts) await expect(inspect(subject, act)).rejects.toMatchObject({ code: "not_found" });
    expect([...subject.store.dump()]).toEqual([]);
  });

  it("is kept in the audit, of which there are the last twenty", async () => {
    const { subject } = order();
    await subject.call("get");
    for (let n = 0; n < 25; n += 1) await inspect(subject, { ...edit(BigInt(n), "*"), by: `ada ${n}` });
    const lines = (await auditOf(subject)) as { by: string }[];
    expect(lines.map((line) => line.by)).toEqual(Array.from({ length: 20 }, (_, back) => `ada ${24 - back}`));
  });

  it("leaves what an activation was cut off at to the start that follows (ALARM-13)", async () => {
    let hangs = false;
    const never = (): Promise<never> => new Promise(() => {});
    const { world, subject } = single(
      actor({
        state: { n: 1 },
        createVars: () => (hangs ? never() : {}),
        run: workflow(async (ctx) => {
          await ctx.sleep("hour", HOUR_MS);
        }),
        actions: { begin: async (c) => void (await c.schedule.after(1, "slow")), slow: () => never() },
      }) as unknown as AnyActorDefinition,
      { inspector },
    );
    await subject.call("begin");
    await world.pass(500);
    subject.crash();
    expect(subject.holdsLease).toBe(true);
    // Its time is the alarm's alone, and the end of the workflow moves the alarm.
    expect(subject.store.keys).not.toContain("l");
    hangs = true;
    await inspect(subject, { about: "cancel", by });
    await world.settle();
    expect(subject.store.keys).toContain("l");
    expect(subject.holdsLease).toBe(true);
  });

  it("is refused while the actor is of a newer format", async () => {
    const definition = actor({ state: { n: 1 }, actions: { touch: () => {} } }) as unknown as AnyActorDefinition;
    const world = testWorld(setup({ use: { subject: definition } }), { inspector, newestFormat: 0 });
    const made = single(definition);
    await made.subject.call("touch");
    const subject = world.actor("subject", ["k"]);
    subject.store.activate().commit({ puts: new Map(made.subject.store.dump()), deletes: new Set() });
    await subject.store.outputGate();
    await expect(inspect(subject, { about: "drain", by })).rejects.toMatchObject({ code: "newer_format" });
  });
});

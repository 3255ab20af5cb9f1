import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import {
  actor,
  db,
  objectInspector,
  recordHistory,
  queue,
  setup,
  workflow,
  type AnyActorDefinition,
} from "../../../src/actor/index.js";
import { decodeValue, encodeValue, type InspectQuestion } from "../../../src/protocol/index.js";
import type { WorldActor } from "../../../src/testing/index.js";
import { testWorld } from "../../support/test-world.js";
import { single } from "../subject.js";
import { inspect } from "./inspect.js";

const HOUR_MS = 3_600_000;
const QUESTIONS: readonly InspectQuestion[] = [
  { about: "summary" },
  { about: "state" },
  { about: "history" },
  { about: "queue" },
  { about: "schedules" },
  { about: "connections" },
  { about: "kv" },
  { about: "tables" },
  { about: "schema" },
];

/** An order with something of everything; its hooks fail while `fails` says so. */
function order() {
  const ran: string[] = [];
  const fails = { onWake: false };
  const definition = actor({
    state: { total: 12n, lines: new Map([["tea", 2]]) },
    queues: { payments: queue<unknown>() },
    connState: { seat: 1 },
    db: db({
      onMigrate: async (c) => {
        ran.push("onMigrate");
        await c.execute("CREATE TABLE IF NOT EXISTS lines (name TEXT, picture BLOB)");
      },
    }),
    onWake: () => {
      ran.push("onWake");
      if (fails.onWake) throw new Error("no wake");
    },
    run: workflow(async (ctx) => {
      ran.push("workflow");
      await ctx.step("charge", () => ({ id: 7n, at: new Date(5) }));
      await ctx.sleep("cool-off", HOUR_MS);
    }),
    actions: {
      fill: async (c) => {
        ran.push("fill");
        await c.queue.send("payments", { cents: 100n });
        await c.schedule.after(HOUR_MS, "fill");
        await c.cron.every({ name: "hourly", interval: HOUR_MS, action: "fill", args: [1] });
        await c.kv.put("colour", "red");
        await c.kv.put(new Uint8Array([255]), new Uint8Array([254, 1]));
        await c.db.execute("INSERT INTO lines VALUES (?, ?)", "tea", new Uint8Array([1, 2]));
      },
    },
  });
  const made = single(definition as unknown as AnyActorDefinition, {
    inspector: objectInspector(recordHistory),
    openDatabase: () => new DatabaseSync(":memory:"),
  });
  return { ...made, ran, fails };
}

/** What is stored of an actor, and when it wakes. */
function storedOf(subject: WorldActor): unknown {
  return [[...subject.store.dump()], subject.store.alarmAt];
}

async function write(subject: WorldActor, puts: Map<string, Uint8Array<ArrayBuffer>>): Promise<void> {
  subject.store.activate().commit({ puts, deletes: new Set() });
  await subject.store.outputGate();
}

/** The record of an actor, as a release before the first would have written it. */
function formerly(record: Uint8Array | undefined): Uint8Array<ArrayBuffer> {
  return encodeValue({ ...(decodeValue(record ?? new Uint8Array()) as object), format: 0 });
}

describe("a look at an actor", () => {
  it("shows what is stored and runs, starts, writes and creates nothing (INSPECT-1)", async () => {
    const { world, subject, ran } = order();
    for (const question of QUESTIONS) {
      await expect(inspect(subject, question)).rejects.toMatchObject({ group: "actor", code: "not_found" });
    }
    expect(storedOf(subject)).toEqual([[], null]);
    await subject.call("fill");
    const socket = await subject.connect({ params: { token: "x" } });
    await world.settle();
    await subject.evict();
    const before = storedOf(subject);
    ran.splice(0);

    const summary = await inspect(subject, { about: "summary" });
    expect(summary).toMatchObject({
      name: "subject",
      key: ["k"],
      isRegistered: true,
      actions: ["fill"],
      workflow: { status: "running" },
      queueSize: 1,
      schedules: 2,
      connections: 1,
      tables: 1,
    });
    expect(await inspect(subject, { about: "state" })).toMatchObject({
      isEnabled: true,
      state: { total: 12n, lines: new Map([["tea", 2]]) },
      hash: expect.stringMatching(/^[\da-f]{16}$/) as unknown,
    });
    expect(await inspect(subject, { about: "schedules" })).toMatchObject({
      items: expect.arrayContaining([
        expect.objectContaining({ action: "fill", args: [] }),
        expect.objectContaining({
          id: "hourly",
          args: [1],
          cadence: expect.objectContaining({ kind: "every" }) as unknown,
        }),
      ]) as unknown,
    });
    expect(await inspect(subject, { about: "connections" })).toMatchObject({
      items: [{ kind: "socket", params: { token: "x" }, state: { seat: 1 }, events: [], isHibernatable: true }],
    });
    expect(await inspect(subject, { about: "kv" })).toEqual({
      items: [
        { key: "colour", value: "red", size: 3 },
        { key: new Uint8Array([255]), value: new Uint8Array([254, 1]), size: 2 },
      ],
    });
    expect(await inspect(subject, { about: "tables" })).toMatchObject({ items: [{ name: "lines", type: "table" }] });
    expect(await inspect(subject, { about: "rows", table: "lines" })).toMatchObject({
      columns: ["name", "picture"],
      rows: [["tea", new Uint8Array([1, 2])]],
    });

    expect(ran).toEqual([]);
    expect(storedOf(subject)).toEqual(before);
    expect(socket.isOpen).toBe(true);
  });

  it("shows the history in pages without values, and one entry's value on demand", async () => {
    const { world, subject } = order();
    await subject.call("fill");
    await world.settle();
    const first = await inspect<{ items: { id: string }[]; next: string }>(subject, {
      about: "history",
      limit: 1,
    });
    expect(first).toMatchObject({
      status: { status: "running", parkedOn: { activities: [{ kind: "sleep", location: ["cool-off"] }] } },
      items: [{ kind: "step", location: ["charge"], status: "completed" }],
    });
    expect(first.items[0]).not.toHaveProperty("value");
    const second = await inspect(subject, { about: "history", from: first.next });
    expect(second).toMatchObject({ items: [{ kind: "sleep", location: ["cool-off"], status: "pending" }] });
    expect(second).not.toHaveProperty("next");
    const id = first.items[0]?.id ?? "";
    expect(await inspect(subject, { about: "entry", id })).toMatchObject({ value: { id: 7n, at: new Date(5) } });
    await expect(inspect(subject, { about: "entry", id: "nope" })).rejects.toMatchObject({ code: "step_not_found" });
  });

  it("shows the queue in pages without bodies, and one message's body on demand", async () => {
    const { subject } = order();
    for (let i = 0; i < 3; i += 1) await subject.call("fill");
    const page = await inspect<{ items: { id: number }[] }>(subject, { about: "queue", limit: 2 });
    expect(page).toMatchObject({
      size: 3,
      maxSize: 1_000,
      items: [{ queue: "payments" }, {}],
      next: expect.any(String) as unknown,
    });
    expect(page.items[0]).not.toHaveProperty("body");
    const id = String(page.items[0]?.id);
    expect(await inspect(subject, { about: "message", id })).toMatchObject({
      queue: "payments",
      body: { cents: 100n },
    });
    for (const missing of ["99", "-1", "x"])
      await expect(inspect(subject, { about: "message", id: missing })).rejects.toMatchObject({ code: "not_found" });
  });

  it("works for an actor whose onWake throws", async () => {
    const { subject, fails, ran } = order();
    await subject.call("fill");
    fails.onWake = true;
    subject.crash();
    await expect(subject.call("fill")).rejects.toMatchObject({ code: "internal_error" });
    ran.splice(0);
    for (const question of QUESTIONS) expect(await inspect(subject, question)).toBeTruthy();
    expect(ran).toEqual([]);
  });

  it("does not wait for a start that goes on, nor end it", async () => {
    let wake = (): void => {};
    const { subject } = single(
      actor({
        state: { n: 1 },
        createVars: () => new Promise((resolve) => (wake = () => resolve({}))),
        actions: { get: (c) => c.state.n },
      }),
      { inspector: objectInspector(recordHistory) },
    );
    const created = subject.call("get");
    await new Promise(setImmediate);
    wake();
    await created;
    subject.crash();
    const called = subject.call("get");
    await new Promise(setImmediate);
    expect(await inspect(subject, { about: "state" })).toMatchObject({ state: { n: 1 } });
    wake();
    expect(await called).toBe(1);
  });

  it("shows what the activation in memory has committed, and disturbs it in nothing", async () => {
    const { subject } = single(actor({ state: { n: 0 }, actions: { add: (c) => (c.state.n += 1) } }), {
      inspector: objectInspector(recordHistory),
    });
    const hashes = new Set<unknown>();
    for (let n = 1; n <= 3; n += 1) {
      expect(await subject.call("add")).toBe(n);
      const { state, hash } = await inspect(subject, { about: "state" });
      expect(state).toEqual({ n });
      hashes.add(hash);
    }
    expect(hashes.size).toBe(3);
    expect(subject.crashes).toBe(0);
  });

  it("says what a workflow waits for: in memory which step runs, asleep what is stored", async () => {
    let end = (): void => {};
    const definition = actor({
      run: workflow(async (ctx) => {
        await ctx.step("charge", () => new Promise<void>((resolve) => (end = resolve)));
        await ctx.queue.next("payment", { names: ["payments"] });
      }),
      actions: { touch: () => {} },
    }) as unknown as AnyActorDefinition;
    const { world, subject } = single(definition, { inspector: objectInspector(recordHistory) });
    await subject.call("touch");
    const now = async (): Promise<unknown> => (await inspect(subject, { about: "summary" }))["workflow"];
    const kindsOf = (workflow: unknown): unknown =>
      (workflow as { parkedOn?: { activities: { kind: string }[] } }).parkedOn?.activities.map(({ kind }) => kind);
    expect(kindsOf(await now())).toEqual(["running"]);
    // Cut off, it is about to begin again, and waits for nothing.
    subject.crash();
    expect(kindsOf(await now())).toBeUndefined();
    expect(await inspect(subject, { about: "summary" })).toMatchObject({ isAwake: false });
    await subject.call("touch");
    await world.settle();
    end();
    await world.settle();
    for (const where of ["in memory", "asleep"]) {
      if (where === "asleep") await subject.evict();
      expect([where, kindsOf(await now())]).toEqual([where, ["message"]]);
    }
  });

  it("shows a workflow that diverged, and one whose class is gone", async () => {
    const asWas = actor({
      run: workflow(async (ctx) => {
        await ctx.step("charge", () => 1);
        await ctx.sleep("cool-off", HOUR_MS);
      }),
      actions: { touch: () => {} },
    }) as unknown as AnyActorDefinition;
    const changed = actor({
      run: workflow(async (ctx) => {
        await ctx.sleep("charge", HOUR_MS);
      }),
      actions: { touch: () => {} },
    }) as unknown as AnyActorDefinition;
    const world = testWorld(setup({ use: { subject: asWas } }), { inspector: objectInspector(recordHistory) });
    const subject = world.actor("subject", ["k"]);
    await subject.call("touch");
    await world.settle();
    world.deploy(setup({ use: { subject: changed } }));
    await world.pass(HOUR_MS);
    const status = { status: "diverged", error: { name: "HistoryDivergedError" } };
    expect(await inspect(subject, { about: "summary" })).toMatchObject({ isRegistered: true, workflow: status });
    expect(await inspect(subject, { about: "history" })).toMatchObject({
      status,
      items: [{ kind: "step" }, { kind: "sleep" }],
    });

    world.deploy(setup({ use: { other: changed } }));
    expect(await inspect(subject, { about: "summary" })).toMatchObject({ isRegistered: false, actions: [] });
    expect(await inspect(subject, { about: "history" })).toMatchObject({ items: [{}, {}] });
    // Without the engine the workflow's rows cannot be read, and everything else can.
    world.deploy(setup({ use: { other: actor({ actions: {} }) } }));
    expect(await inspect(subject, { about: "summary" })).toMatchObject({ isRegistered: false });
    await expect(inspect(subject, { about: "history" })).rejects.toMatchObject({ code: "not_deployed" });
  });

  it("says so of a newer format, and shows an older one as its upgrade would leave it, without writing that", async () => {
    const definition = actor({ state: { n: 1 }, actions: { touch: () => {} } }) as unknown as AnyActorDefinition;
    const stored = single(definition);
    await stored.subject.call("touch");
    const rows = new Map(stored.subject.store.dump());

    const older = testWorld(setup({ use: { subject: definition } }), {
      inspector: objectInspector(recordHistory),
      newestFormat: 0,
    });
    await write(older.actor("subject", ["k"]), rows);
    await expect(inspect(older.actor("subject", ["k"]), { about: "summary" })).rejects.toMatchObject({
      code: "newer_format",
    });
    const past = testWorld(setup({ use: { subject: definition } }), {
      inspector: objectInspector(recordHistory),
      upgrades: [(upgraded) => upgraded.put("s", encodeValue({ n: 2 }))],
    });
    const subject = past.actor("subject", ["k"]);
    await write(subject, new Map([...rows, ["a", formerly(rows.get("a"))]]));
    const before = storedOf(subject);
    expect(await inspect(subject, { about: "state" })).toMatchObject({ state: { n: 2 } });
    expect(await inspect(subject, { about: "summary" })).toMatchObject({ storageFormat: 1 });
    expect(storedOf(subject)).toEqual(before);
  });

  it("shows pages of many and of large values, a few of them in memory at a time", async () => {
    const { subject } = single(
      actor({
        db: db({ onMigrate: async (c) => void (await c.execute("CREATE TABLE IF NOT EXISTS t (n INTEGER, big)")) }),
        actions: {
          fill: async (c) => {
            for (let n = 0; n < 40; n += 1) {
              await c.kv.put(`key ${String(n).padStart(2, "0")}`, "x".repeat(n === 0 ? 100_000 : n));
              await c.db.execute(
                "INSERT INTO t VALUES (?, ?)",
                n,
                n === 0 ? new Uint8Array(5_000) : "y".repeat(n * 200),
              );
            }
          },
        },
      }) as unknown as AnyActorDefinition,
      { inspector: objectInspector(recordHistory), openDatabase: () => new DatabaseSync(":memory:") },
    );
    await subject.call("fill");
    for (const limit of [1, 16, 17, 32, 39, 40, 41, 1_000]) {
      const keys: unknown[] = [];
      const numbers: unknown[] = [];
      for (let from: string | undefined = ""; from !== undefined;) {
        const page: Record<string, unknown> = await inspect(subject, { about: "kv", from, limit });
        const items = page["items"] as { key: string }[];
        expect(items.length).toBeLessThanOrEqual(limit);
        keys.push(...items.map(({ key }) => key));
        from = page["next"] as string | undefined;
      }
      for (let from: string | undefined = "0"; from !== undefined;) {
        const page: Record<string, unknown> = await inspect(subject, { about: "rows", table: "t", from, limit });
        const rows = page["rows"] as unknown[][];
        expect(rows.length).toBeLessThanOrEqual(limit);
        numbers.push(...rows.map(([n]) => n));
        from = page["next"] as string | undefined;
      }
      expect([limit, keys]).toEqual([limit, Array.from({ length: 40 }, (_, n) => `key ${String(n).padStart(2, "0")}`)]);
      expect([limit, numbers]).toEqual([limit, Array.from({ length: 40 }, (_, n) => n)]);
    }
    expect(await inspect(subject, { about: "kv", limit: 1 })).toMatchObject({
      items: [{ value: "x".repeat(4_096), size: 100_000 }],
    });
    const { rows } = await inspect<{ rows: unknown[][] }>(subject, { about: "rows", table: "t" });
    expect(rows[0]?.[1]).toMatchObject({ size: 5_000 });
    expect(rows[20]?.[1]).toBe("y".repeat(4_000));
    expect(rows[21]?.[1]).toEqual({ size: 4_200, start: "y".repeat(4_096) });
  });

  it("names the damaged row to the operator", async () => {
    const { subject } = order();
    await subject.call("fill");
    subject.crash();
    await write(subject, new Map([["m/1", encodeValue("what?")]]));
    await expect(inspect(subject, { about: "queue" })).rejects.toMatchObject({
      group: "storage",
      code: "corrupt",
      message: "Message 1 cannot be read",
    });
  });

  it.each([{ limit: 0 }, { limit: 1.5 }, { limit: 5_000 }, { from: "-1" }, { from: "x" }])(
    "refuses the page %j",
    async (page) => {
      const { subject } = order();
      await subject.call("fill");
      for (const about of ["history", "queue", "kv"] as const)
        await expect(inspect(subject, { about, ...page })).rejects.toMatchObject({ code: "invalid_request" });
      const rows = { about: "rows", table: "lines", ...page } as const;
      await expect(inspect(subject, rows)).rejects.toMatchObject({ code: "invalid_request" });
    },
  );

  it.each(["no", 'lines"; DROP TABLE lines; --', "sqlite_master"])("knows no table %j", async (table) => {
    const { subject } = order();
    await subject.call("fill");
    await expect(inspect(subject, { about: "rows", table })).rejects.toMatchObject({ code: "not_found" });
    expect(await inspect(subject, { about: "tables" })).toMatchObject({ items: [{ name: "lines" }] });
  });

  it("is refused without the inspector, and starts nothing then", async () => {
    const { subject, log } = single(actor({ onWake: () => Promise.reject(new Error("started")), actions: {} }));
    await expect(inspect(subject, { about: "summary" })).rejects.toMatchObject({ code: "unsupported" });
    expect(log.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("of an unknown question is refused", async () => {
    const { subject } = order();
    await subject.call("fill");
    await expect(inspect(subject, { about: "secrets" } as never)).rejects.toMatchObject({ code: "unsupported" });
  });
});

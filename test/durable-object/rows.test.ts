import { afterAll, describe, expect, it } from "vitest";
import { db } from "../../src/entry/db.js";
import { actor, queue, setup } from "../../src/entry/index.js";
import { Loop, workflow } from "../../src/entry/workflow.js";
import { serve } from "../support/worker.js";
import { clock, TestObject } from "./test-object.js";

// What each operation costs in billed rows: the difference of `select total_changes()`, which counts key-value puts and
// deletes, and the alarm's writes, counted where they are made. The budget is that of docs/internals/commit.md.

const HOUR_MS = 3_600_000;
let release: () => void = () => {};
const held = new Promise<void>((resolve) => (release = resolve));
let endWork: () => void = () => {};

serve(
  setup({
    use: {
      plain: actor({
        state: { n: 0, list: [] as number[] },
        queues: { in: queue<number>() },
        actions: {
          read: (c) => c.state.n,
          add: (c) => {
            c.state.n += 1;
          },
          addAndWait: async (c) => {
            c.state.n += 1;
            await scheduler.wait(0);
          },
          many: (c) => {
            for (let i = 0; i < 1_000; i += 1) c.state.list.push(i);
          },
          same: (c) => {
            c.state.n += 1;
            c.state.n -= 1;
          },
          schedule: (c) => c.schedule.after(HOUR_MS, "read"),
          every: (c, action: string) => c.cron.every({ name: "job", interval: HOUR_MS, action }),
          work: (c) => void c.keepAwake(new Promise<void>((resolve) => (endWork = resolve))),
        },
      }),
      data: actor({
        state: { n: 0 },
        db: db({
          onMigrate: async (sql) =>
            void (await sql.execute("create table if not exists t (id integer primary key, x)")),
        }),
        actions: {
          read: async (c) => [await c.db.execute("select * from t"), await c.kv.list()],
          put: (c) => c.kv.put("k", String((c.state.n += 0))),
          both: async (c) => {
            c.state.n += 1;
            await c.kv.batchPut([
              ["a", String(c.state.n)],
              ["b", String(c.state.n)],
            ]);
          },
          nothing: async (c) => (await c.kv.delete("never"), await c.kv.deleteRange("x", "y")),
          insert: (c) => c.db.execute("insert into t (x) values (1)"),
          transaction: (c) =>
            c.db.transaction(
              async (tx) => (
                await tx.execute("insert into t (x) values (2)"),
                await scheduler.wait(0),
                await tx.execute("insert into t (x) values (3)")
              ),
            ),
          undone: (c) =>
            c.db
              .transaction(
                async (tx) => (await tx.execute("insert into t (x) values (4)"), Promise.reject(new Error("no"))),
              )
              .catch(() => {}),
        },
      }),
      steps: actor({
        state: { n: 0 },
        run: workflow(async (ctx) => {
          const message = await ctx.queue.next("how many");
          const { count, change, ephemeral } = message.body as { count: number; change: boolean; ephemeral: boolean };
          for (let i = 0; i < count; i += 1) {
            await ctx.step({
              name: `step-${i}`,
              ephemeral,
              run: async (step) => {
                await scheduler.wait(0);
                if (change) step.state.n += 1;
              },
            });
          }
          await ctx.queue.next("end");
        }),
        actions: { read: (c) => c.state.n },
      }),
      sleeps: actor({
        state: { n: 0 },
        run: workflow(async (ctx) => {
          for (let i = 0; i < 8; i += 1) await ctx.sleep(`sleep-${i}`, HOUR_MS);
          await ctx.queue.next("end");
        }),
        actions: { read: (c) => c.state.n },
      }),
      loops: actor({
        state: { n: 0 },
        run: workflow(async (ctx) => {
          await ctx.loop({
            name: "rounds",
            run: async (round) => {
              const message = await round.queue.next("take");
              if (message.body === "stop") return Loop.break();
              await round.step("keep", async (step) => {
                if (message.body === "hold") await held;
                step.state.n += 1;
              });
              return undefined;
            },
          });
        }),
        actions: { read: (c) => c.state.n },
      }),
    },
  }),
);

interface Cost {
  readonly rows: number;
  readonly alarms: number;
}
const table: { operation: string; rows: number; alarms: number; budget: string }[] = [];

/** What happens in the object while `what` does, its work after it included. */
async function cost(object: TestObject, what: () => Promise<unknown>): Promise<Cost> {
  const instance = await object.inside((ctx) => ctx);
  const before = await object.writes();
  await what();
  await object.settle();
  const after = await object.writes();
  // The counts are an instance's own.
  expect(await object.inside((ctx) => ctx === instance)).toBe(true);
  return { rows: after.rows - before.rows, alarms: after.alarms - before.alarms };
}

function note(operation: string, { rows, alarms }: Cost, budget: string): void {
  table.push({ operation, rows, alarms, budget });
}

const per = (count: number, many: Cost, one: Cost): Cost => ({
  rows: (many.rows - one.rows) / count,
  alarms: (many.alarms - one.alarms) / count,
});

afterAll(() => {
  const line = (cells: readonly string[]): string =>
    `  ${(cells[0] ?? "").padEnd(52)} ${cells
      .slice(1, 4)
      .map((cell) => cell.padStart(7))
      .join(" ")}  ${cells[4]}`;
  const lines = table.map(({ operation, rows, alarms, budget }) =>
    line([operation, String(rows), String(alarms), String(rows + alarms), budget]),
  );
  console.log([line(["billed rows of", "rows", "alarms", "sum", "budget"]), ...lines].join("\n"));
});

describe("the platform's count", () => {
  it("has a put, an overwrite, a delete and each alarm write as one row, and nothing else", async () => {
    const counts = await new TestObject("plain", "count").inside(async ({ storage }) => {
      const changes = (): number => [...storage.sql.exec<{ n: number }>("select total_changes() as n")][0]?.n ?? 0;
      const of = async (write: () => unknown): Promise<number> => {
        const before = changes();
        await write();
        return changes() - before;
      };
      return {
        put: await of(() => storage.kv.put("k", new Uint8Array([1]))),
        overwrite: await of(() => storage.kv.put("k", new Uint8Array([2]))),
        read: await of(() => storage.kv.get("k")),
        list: await of(() => [...storage.kv.list()]),
        delete: await of(() => storage.kv.delete("k")),
        setAlarm: await of(() => storage.setAlarm(clock.now() + HOUR_MS)),
        deleteAlarm: await of(() => storage.deleteAlarm()),
        sync: await of(() => storage.sync()),
      };
    });
    expect(counts).toEqual({ put: 1, overwrite: 1, read: 0, list: 0, delete: 1, setAlarm: 1, deleteAlarm: 1, sync: 0 });
  });
});

describe("values by key, and SQL", () => {
  it("cost a row for each value, and what SQLite writes; reads, waking with a migration and the transaction itself cost none", async () => {
    const object = new TestObject("data", "data");
    await object.call("read");
    const calls: [action: string, what: string, rows: number][] = [
      ["read", "read of SQL and values by key", 0],
      ["put", "put of a value by key", 1],
      ["both", "state and two values by key", 3],
      ["nothing", "delete of what is not there", 0],
      ["insert", "SQL: a row inserted", 1],
      ["transaction", "SQL: two rows in a transaction", 2],
      ["undone", "SQL: a row in a transaction that is undone", 1],
    ];
    for (const [action, what, rows] of calls) {
      const found = await cost(object, () => object.call(action));
      note(what, found, String(rows));
      expect([what, found]).toEqual([what, { rows, alarms: 0 }]);
    }
    await object.evict();
    // `writes` enters the object, which starts the actor only when it is called.
    const woken = await cost(object, () => object.call("read"));
    note("wake with a migration that has nothing to do", woken, "0");
    expect(woken).toEqual({ rows: 0, alarms: 0 });
  });
});

describe("an actor without a workflow", () => {
  it("costs two rows to create: its record and its state", async () => {
    const object = new TestObject("plain", "create");
    const created = await cost(object, () => object.call("read"));
    note("create, with state", created, "2");
    expect(created).toEqual({ rows: 2, alarms: 0 });
  });

  it("costs no more if the call that creates it changes the state, at once or before it waits", async () => {
    const adding = await cost(new TestObject("plain", "create by add"), () =>
      new TestObject("plain", "create by add").call("add"),
    );
    const awaiting = await cost(new TestObject("plain", "create by wait"), () =>
      new TestObject("plain", "create by wait").call("addAndWait"),
    );
    note("create, with state that the first call changes", adding, "2");
    expect([adding, awaiting]).toEqual([
      { rows: 2, alarms: 0 },
      { rows: 2, alarms: 0 },
    ]);
  });

  it("costs nothing to read, and one row for an action that changes state, however often it changes it", async () => {
    const object = new TestObject("plain", "actions");
    await object.call("read");
    const read = await cost(object, () => object.call("read"));
    const change = await cost(object, () => object.call("add"));
    const thousand = await cost(object, () => object.call("many"));
    const same = await cost(object, () => object.call("same"));
    note("action that reads", read, "0");
    note("action that changes state", change, "1");
    note("action with 1,000 changes of state", thousand, "1");
    note("action that changes state and changes it back", same, "0");
    expect([read, change, thousand, same]).toEqual([
      { rows: 0, alarms: 0 },
      { rows: 1, alarms: 0 },
      { rows: 1, alarms: 0 },
      { rows: 0, alarms: 0 },
    ]);
  });

  it("costs nothing to wake", async () => {
    const object = new TestObject("plain", "wake");
    await object.call("add");
    await object.evict();
    const wake = await cost(object, () => object.call("read"));
    note("wake by a read", wake, "0");
    expect(wake).toEqual({ rows: 0, alarms: 0 });
  });

  it("costs one row for a message, and writes no alarm for a hundred of them", async () => {
    const object = new TestObject("plain", "queue");
    await object.call("read");
    const one = await cost(object, () => object.enqueue("in", 1));
    const many = await cost(object, () => Promise.all(Array.from({ length: 99 }, (_, i) => object.enqueue("in", i))));
    note("send to a queue that nobody reads", one, "1");
    expect(one).toEqual({ rows: 1, alarms: 0 });
    expect(many).toEqual({ rows: 99, alarms: 0 });
  });

  it("costs a row and an alarm for the first schedule, and a row alone for a later one", async () => {
    const object = new TestObject("plain", "schedule");
    await object.call("read");
    const first = await cost(object, () => object.call("schedule"));
    const second = await cost(object, () => object.call("schedule"));
    note("schedule an action, first", first, "2");
    note("schedule an action later than another", second, "1");
    expect([first, second]).toEqual([
      { rows: 1, alarms: 1 },
      { rows: 1, alarms: 0 },
    ]);
  });

  it("costs a row and an alarm for a recurring job, nothing to register it again, and two rows and two alarms a run", async () => {
    const object = new TestObject("plain", "recurring");
    await object.call("read");
    const first = await cost(object, () => object.call("every", "read"));
    const again = await cost(object, () => object.call("every", "read"));
    note("register a recurring job", first, "2");
    note("register it again", again, "0");
    expect([first, again]).toEqual([
      { rows: 1, alarms: 1 },
      { rows: 0, alarms: 0 },
    ]);
    const run = async (): Promise<Cost> => {
      clock.moveTo((await object.alarmAt()) ?? 0);
      const { rows, alarms } = await cost(object, () => object.alarm());
      // The platform takes the alarm away for nothing; the test helper writes to do so.
      return { rows, alarms: alarms - 1 };
    };
    const runs = [await run(), await run(), await run()];
    note("run of a recurring job", runs[0] as Cost, "2 + 2");
    for (const each of runs) expect(each).toEqual({ rows: 2, alarms: 2 });
  });
});

describe("a workflow", () => {
  const LEASE_AND_ALARM = 2;

  /** The cost of a burst of `count` steps, set off by a message to a parked workflow. */
  async function burst(
    key: string,
    count: number,
    options: { change?: boolean; ephemeral?: boolean } = {},
  ): Promise<Cost> {
    const object = new TestObject("steps", key);
    await object.call("read");
    await object.settle();
    return cost(object, () =>
      object.enqueue("go", { count, change: options.change ?? false, ephemeral: options.ephemeral ?? false }),
    );
  }

  it("costs nothing while it is parked: reads, and an alarm that comes for nothing but its own writing", async () => {
    const object = new TestObject("sleeps", "parked");
    await object.call("read");
    await object.settle();
    const reads = await cost(object, async () => {
      for (let i = 0; i < 10; i += 1) await object.call("read");
    });
    note("10 reads of a parked actor", reads, "0");
    expect(reads).toEqual({ rows: 0, alarms: 0 });
    const forNothing = await cost(object, () => object.alarm());
    // The test's own deleteAlarm, and the alarm that takes its place.
    expect(forNothing).toEqual({ rows: 0, alarms: 2 });
  });

  it("costs one row a step, and one more if the step changed state; nothing before it starts", async () => {
    const [one, many] = [await burst("one step", 1), await burst("eleven steps", 11)];
    const [oneChange, manyChanges] = [
      await burst("one change", 1, { change: true }),
      await burst("eleven changes", 11, { change: true }),
    ];
    const step = per(10, many, one);
    const change = per(10, manyChanges, oneChange);
    note("durable step", step, "1");
    note("durable step that changes state", change, "2");
    expect(step).toEqual({ rows: 1, alarms: 0 });
    expect(change).toEqual({ rows: 2, alarms: 0 });
  });

  it("costs one row for an ephemeral step, written with what comes next", async () => {
    const ephemeral = per(
      10,
      await burst("eleven ephemeral", 11, { ephemeral: true }),
      await burst("one ephemeral", 1, { ephemeral: true }),
    );
    note("ephemeral step", ephemeral, "1");
    expect(ephemeral).toEqual({ rows: 1, alarms: 0 });
  });

  it("costs two rows of lease and alarm for a burst of under a second: the alarm is the lease, then that of a parked actor", async () => {
    const steps = await burst("burst", 5);
    // Less the message, taken at once, and the steps.
    const overhead = { rows: steps.rows - 1 - 5, alarms: steps.alarms };
    note("lease and alarm of a burst of work", overhead, "2");
    expect(overhead.rows + overhead.alarms).toBe(LEASE_AND_ALARM);
    expect(overhead).toEqual({ rows: 0, alarms: 2 });
  });

  it("costs up to three alarms more in a burst of one to ten seconds, then one every ten seconds", async () => {
    const object = new TestObject("plain", "long burst");
    await object.call("read");
    const extended: number[] = [];
    const whole = await cost(object, async () => {
      await object.call("work");
      const startedAt = clock.now();
      for (let at = await object.alarmAt(); at !== null && at < startedAt + 60_000; at = await object.alarmAt()) {
        clock.moveTo(at);
        await object.alarm();
        extended.push(Math.floor((at - startedAt) / 1_000));
      }
      await object.inside(() => endWork());
    });
    note("alarms of a burst of a minute", whole, "2 + 3 + 5");
    // The clock runs on: on a busy machine they are fewer.
    expect(extended.filter((second) => second < 10).length).toBeLessThanOrEqual(3);
    expect(extended.length).toBeLessThanOrEqual(3 + 5);
    // The test takes each alarm away by a write of its own.
    expect(whole).toEqual({ rows: 0, alarms: 2 + 2 * extended.length });
  });

  it("costs two rows a sleep, entry and alarm, and none for its end; beside them the alarm that is the lease of the wake", async () => {
    const object = new TestObject("sleeps", "woken");
    await object.call("read");
    await object.settle();
    const wake = async (): Promise<Cost> => {
      clock.moveTo((await object.alarmAt()) ?? 0);
      const { rows, alarms } = await cost(object, () => object.alarm());
      // The platform takes the alarm away for nothing; the test helper writes to do so.
      return { rows, alarms: alarms - 1 };
    };
    const wakes = [await wake(), await wake(), await wake()];
    note("wake from a sleep and the next sleep", wakes[0] as Cost, "4");
    // Entry 1, alarm 1; the lease's alarm 1.
    for (const each of wakes) expect(each).toEqual({ rows: 1, alarms: 2 });
  });

  it("costs one row for a message that is taken at once: the entry that records it", async () => {
    const object = new TestObject("steps", "take");
    await object.call("read");
    await object.settle();
    const first = await cost(object, () => object.enqueue("go", { count: 0, change: false, ephemeral: false }));
    note("send and take, a burst of its own", first, "1 + 2");
    expect(first).toEqual({ rows: 1, alarms: LEASE_AND_ALARM });
  });

  it("costs four rows and two of lease and alarm for a queue-driven iteration that is a burst of its own", async () => {
    const object = new TestObject("loops", "one by one");
    await object.call("read");
    await object.settle();
    const rounds = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i += 1) {
        await object.enqueue("in", i);
        await object.settle();
      }
    };
    // Until the rows of pruned iterations are overwritten: after forty, of which the last twenty are kept.
    await rounds(60);
    const each = per(60, await cost(object, () => rounds(60)), { rows: 0, alarms: 0 });
    note("queue-driven iteration, a burst each", each, "4 + 2");
    expect(each).toEqual({ rows: 4, alarms: 2 });
  });

  it("costs six rows for a queue-driven iteration among many in one burst", async () => {
    const object = new TestObject("loops", "many");
    await object.enqueue("in", "hold");
    const enqueue = (count: number) => Promise.all(Array.from({ length: count }, (_, i) => object.enqueue("in", i)));
    // The sends that come while the first step runs: the iterations are then one burst.
    await enqueue(140);
    const before = await object.writes();
    release();
    await object.settle();
    const after = await object.writes();
    expect(await object.call("read")).toBe(141);
    // Of each iteration the message's end, its entry, the step, the state and the position (of the first, the last three).
    // Both entries of the 120 that are pruned are overwritten: the record says once that rows may be.
    expect(after.rows - before.rows).toBe(3 + 140 * 5 + 1);
    expect(after.alarms - before.alarms).toBe(1);
    note("queue-driven iteration of a long burst", { rows: 1 + 5, alarms: 0 }, "6");
  });

  it("costs nothing once it has ended: no lease, no alarm, and reads for nothing", async () => {
    const object = new TestObject("loops", "ended");
    await object.enqueue("in", "stop");
    await object.settle();
    expect(await object.alarmAt()).toBe(null);
    expect(await object.holdsLease()).toBe(false);
    const reads = await cost(object, () => object.call("read"));
    note("read of a finished actor", reads, "0");
    expect(reads).toEqual({ rows: 0, alarms: 0 });
  });
});

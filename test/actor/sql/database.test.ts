import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import {
  actor,
  databaseProvider,
  db,
  workflow,
  type ActorKv,
  type DatabaseProvider,
  type RawAccess,
  type SqlExecutor,
  type SqlSession,
} from "../../../src/actor/index.js";
import type { WorldOptions } from "../../../src/testing/index.js";
import { single, type Single } from "../subject.js";

// The actor's database in the memory world: crashes at every commit, and what the platform's limits hide. The same on the
// real storage: test/durable-object/database.test.ts.

const openDatabase = (): DatabaseSync => new DatabaseSync(":memory:");
const TABLE = "create table if not exists t (x)";
const migrated = db({ onMigrate: (client) => client.execute(TABLE).then(() => {}) });
const readAll = async (sql: SqlExecutor): Promise<unknown[]> =>
  (await sql.execute("select x from t order by rowid")).map(({ x }) => x);

const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "no error",
    (error: { group?: string; code?: string; message: string }) =>
      error.group ? `${error.group}/${error.code}` : error.message,
  );

type Context = { readonly db: RawAccess; readonly kv: ActorKv; state: { n: number } };

/** An actor whose action is what the test says. */
function subjectOf(
  options: Partial<WorldOptions> = {},
  provider: DatabaseProvider<RawAccess> = migrated,
): Single & { run<T>(body: (c: Context) => T): Promise<Awaited<T>> } {
  let body: (c: Context) => unknown = () => {};
  const made = single(actor({ state: { n: 0 }, db: provider, actions: { run: (c) => body(c) } }), {
    openDatabase,
    ...options,
  });
  return {
    ...made,
    run: async (next) => {
      body = next;
      return (await made.subject.call("run")) as never;
    },
  };
}

type SyncClient = Pick<SqlSession, "run" | "transaction"> & Pick<RawAccess, "execute">;
const synchronous = databaseProvider<SyncClient>({
  createClient: ({ run, transaction, raw: { execute } }) => ({ run, transaction, execute }),
  onMigrate: (client) => void client.run(TABLE, []),
});
const insertSync = (sql: Pick<SqlSession, "run">, value: string): unknown =>
  sql.run("insert into t values (?)", [value]);

describe("a provider of one's own", () => {
  type Owned = RawAccess & { readonly owner: string };
  const owned = (onMigrate: boolean): DatabaseProvider<Owned> => ({
    createClient: async ({ raw, actorId }) => {
      await raw.execute(TABLE);
      return { ...raw, owner: actorId };
    },
    ...(onMigrate && {
      onMigrate: async (client) => void (await client.execute("insert into t values (?)", client.owner.length)),
    }),
  });

  for (const onMigrate of [false, true]) {
    it(`may make its client asynchronously, ${onMigrate ? "with" : "without"} a migration; callbacks and steps share it`, async () => {
      const { subject } = single(
        actor({
          db: databaseProvider(owned(onMigrate)),
          run: workflow(async (ctx) => {
            await ctx.step("write", (step) =>
              step.db.execute("insert into t values (?)", step.db.owner === step.actorId ? "own" : "?"),
            );
          }),
          actions: { owner: (c) => [c.db.owner, c.actorId], read: (c) => readAll(c.db) },
        }),
        { openDatabase },
      );
      const [owner, actorId] = (await subject.call("owner")) as string[];
      expect(owner).toBe(actorId);
      const made = onMigrate ? [actorId?.length] : [];
      expect(await subject.call("read")).toEqual([...made, "own"]);
      // A start that finds the actor makes another client.
      subject.crash();
      expect(await subject.call("read")).toEqual([...made, "own", ...made]);
    });
  }

  it("fails the start with what it rejects with, and the next event tries again", async () => {
    let isUp = false;
    const provider: DatabaseProvider<RawAccess> = {
      createClient: async ({ raw }) => (isUp ? raw : Promise.reject(new Error("not yet"))),
    };
    const { subject } = single(
      actor({ db: databaseProvider(provider), actions: { read: (c) => c.db.execute("select 1 as one") } }),
      { openDatabase },
    );
    await expect(subject.call("read")).rejects.toMatchObject({ code: "internal_error" });
    isUp = true;
    expect(await subject.call("read")).toEqual([{ one: 1 }]);
  });
});

describe("a crash before or after any commit", () => {
  /** Runs `play` once undisturbed and then with each crash; gives what is left each time. */
  async function everywhere<T>(
    play: (options: Partial<WorldOptions>) => Promise<T>,
  ): Promise<{ undisturbed: T; disturbed: T[] }> {
    let commits = 0;
    const undisturbed = await play({ onCommit: () => void (commits += 1) });
    const disturbed: T[] = [];
    for (let at = 1; at <= commits; at += 1) {
      for (const fault of ["crash-before", "crash-after"] as const)
        disturbed.push(await play({ fault: (_actor, commit) => (commit === at ? fault : undefined) }));
    }
    expect(commits).toBeGreaterThan(3);
    return { undisturbed, disturbed };
  }

  it("leaves the statements of an action together with its state", async () => {
    const play = async (options: Partial<WorldOptions>): Promise<unknown> => {
      const subject = subjectOf(options);
      for (let i = 0; i < 4; i += 1) {
        await subject
          .run(async (c) => {
            c.state.n += 1;
            await c.db.execute("insert into t values (?)", c.state.n);
          })
          .catch(() => {});
      }
      const [n, rows] = await subject.run(async (c) => [c.state.n, await readAll(c.db)] as const);
      expect(rows).toEqual(Array.from({ length: n }, (_, i) => i + 1));
      return n;
    };
    const { undisturbed, disturbed } = await everywhere(play);
    expect([undisturbed, Math.min(...(disturbed as number[])) >= 3]).toEqual([4, true]);
  });

  it("leaves the statements after a step's last await done once, in steps, loops and joins", async () => {
    const play = async (options: Partial<WorldOptions>): Promise<unknown> => {
      const insert = (value: string) => async (step: { db: RawAccess; state: { n: number } }) => {
        await Promise.resolve();
        step.state.n += 1;
        await step.db.execute("insert into t values (?)", value);
        await step.db.execute("update t set x = x || '.' where x = ?", value);
      };
      const { world, subject } = single(
        actor({
          state: { n: 0 },
          db: migrated,
          run: workflow(async (ctx) => {
            await ctx.step("first", insert("first"));
            await ctx.step({
              name: "ephemeral",
              ephemeral: true,
              run: (step) => void step.db.execute("insert into t values ('ephemeral')"),
            });
            await ctx.sleep("pause", 1_000);
            await ctx.join("both", {
              a: { run: (branch) => branch.step("a", insert("a")) },
              b: { run: (branch) => branch.step("b", insert("b")) },
            });
            await ctx.step({
              name: "retried",
              retryBackoffBase: 100,
              run: async (step) => (step.attempt === 1 ? Promise.reject(new Error("again")) : insert("retried")(step)),
            });
          }),
          actions: { look: async (c) => [c.workflow.status().status, c.state.n, (await readAll(c.db)).sort()] },
        }),
        { openDatabase, ...options },
      );
      await subject.call("look").catch(() => {});
      await subject.call("look").catch(() => {});
      await world.passUntilQuiet();
      return subject.call("look");
    };
    const { undisturbed, disturbed } = await everywhere(play);
    expect(undisturbed).toEqual(["completed", 4, ["a.", "b.", "ephemeral", "first.", "retried."]]);
    expect(disturbed.filter((each) => JSON.stringify(each) !== JSON.stringify(undisturbed))).toEqual([]);
  });

  it("leaves a transaction whole or not at all, and of a creation everything or nothing", async () => {
    const play = async (options: Partial<WorldOptions>): Promise<unknown> => {
      let attempts = 0;
      const { world, subject } = single(
        actor({
          createState: async (c) => {
            attempts += 1;
            await c.db.execute("insert into t values (?)", `created ${attempts}`);
            return { attempt: attempts };
          },
          db: migrated,
          onCreate: (c) => c.db.transaction((tx) => tx.execute("insert into t values ('hook')")),
          actions: {
            transfer: (c) =>
              c.db.transaction(async (tx) => {
                await tx.execute("insert into t values ('one')");
                await world.turn();
                await tx.execute("insert into t values ('two')");
              }),
            write: (c) => c.kv.put("k", "v"),
            look: async (c) => ({ attempt: c.state.attempt, rows: await readAll(c.db) }),
          },
        }),
        { openDatabase, ...options },
      );
      for (let i = 0; i < 3; i += 1) {
        const transfer = subject.call("transfer").catch(() => {});
        await subject.call("write").catch(() => {});
        await transfer;
      }
      const { attempt, rows } = (await subject.call("look")) as { attempt: number; rows: string[] };
      expect(rows.slice(0, 2)).toEqual([`created ${attempt}`, "hook"]);
      const rest = rows.slice(2);
      expect(rest).toEqual(Array.from({ length: rest.length }, (_, i) => (i % 2 === 0 ? "one" : "two")));
      return rest.length;
    };
    const { undisturbed } = await everywhere(play);
    expect(undisturbed).toBe(6);
  });

  it("leaves nested transactions whole or not at all, wherever the process dies", async () => {
    const play = async (options: Partial<WorldOptions>): Promise<unknown> => {
      const { world, subject } = single(
        actor({
          db: synchronous,
          actions: {
            transfer: (c) =>
              c.db.transaction(async (tx) => {
                insertSync(tx, "one");
                await tx.transaction(async (inner) => {
                  insertSync(inner, "two");
                  await world.turn();
                });
                await codeOf(
                  tx.transaction(
                    async (inner) => (insertSync(inner, "never"), await world.turn(), Promise.reject(new Error("no"))),
                  ),
                );
                insertSync(tx, "three");
              }),
            write: (c) => c.kv.put("k", "v"),
            look: (c) => readAll(c.db),
          },
        }),
        { openDatabase, ...options },
      );
      for (let i = 0; i < 2; i += 1) {
        const transfer = subject.call("transfer").catch(() => {});
        await subject.call("write").catch(() => {});
        await transfer;
        await subject.call("write").catch(() => {});
      }
      const rows = (await subject.call("look")) as string[];
      expect(rows).toEqual(Array.from({ length: rows.length }, (_, i) => ["one", "two", "three"][i % 3]));
      return rows.length;
    };
    const { undisturbed } = await everywhere(play);
    expect(undisturbed).toBe(6);
  });
});

describe("a migration of an actor that exists", () => {
  it("sees and lists its own writes to c.kv over what is stored, and is one commit with them", async () => {
    let isNew = true;
    let seen: unknown;
    let fails = true;
    const { subject } = single(
      actor({
        db: migrated,
        onMigrate: async (c) => {
          if (isNew) return;
          await c.kv.batchDelete(["k1", "k3"]);
          await c.kv.put("k2", "changed");
          await c.kv.put("k25", "new");
          seen = [
            await c.kv.list(),
            await c.kv.list("", { limit: 2 }),
            await c.kv.list("", { limit: 2, reverse: true }),
            await c.kv.get("k1"),
          ];
          if (fails) throw new Error("no");
        },
        actions: { list: (c) => c.kv.list(), fill: (c) => c.kv.batchPut([1, 2, 3, 4, 5].map((i) => [`k${i}`, "old"])) },
      }),
      { openDatabase },
    );
    await subject.call("fill");
    isNew = false;
    subject.crash();
    expect(await codeOf(subject.call("list"))).toBe("rivetkit/internal_error");
    const after = [
      ["k2", "changed"],
      ["k25", "new"],
      ["k4", "old"],
      ["k5", "old"],
    ];
    expect(seen).toEqual([after, after.slice(0, 2), [after[3], after[2]], null]);
    isNew = true;
    expect(await subject.call("list")).toEqual([1, 2, 3, 4, 5].map((i) => [`k${i}`, "old"]));
    isNew = fails = false;
    subject.crash();
    expect(await subject.call("list")).toEqual(after);
    isNew = true;
    subject.crash();
    expect(await subject.call("list")).toEqual(after);
  });

  it("leaves an actor that has something to do its wake when it fails, and goes on when it is mended", async () => {
    let fails = false;
    const { world, subject } = single(
      actor({
        state: { n: 0 },
        db: db({
          onMigrate: (client) => (fails ? Promise.reject(new Error("no")) : client.execute(TABLE).then(() => {})),
        }),
        run: workflow(async (ctx) => {
          await ctx.sleep("pause", 60_000);
          await ctx.step("s", async (step) => void (await step.db.execute("insert into t values ('done')")));
        }),
        actions: { rows: (c) => readAll(c.db) },
      }),
      { openDatabase },
    );
    await subject.call("rows");
    fails = true;
    subject.crash();
    await world.pass(10 * 60_000);
    expect(subject.store.alarmAt).not.toBeNull();
    fails = false;
    await world.pass(10 * 60_000);
    expect([await subject.call("rows"), subject.store.alarmAt]).toEqual([["done"], null]);
  });

  it("runs the provider's before the actor's, at every start", async () => {
    const order: unknown[] = [];
    const { subject } = single(
      actor({
        db: db({ onMigrate: () => void order.push("provider") }),
        onMigrate: (_c, isNew) => void order.push(isNew),
        onWake: () => void order.push("wake"),
        actions: { run: () => {} },
      }),
      { openDatabase },
    );
    await subject.call("run");
    subject.crash();
    await subject.call("run");
    expect(order).toEqual(["provider", true, "wake", "provider", false, "wake"]);
  });
});

describe("sessions for synchronous drivers", () => {
  it("end a nested transaction with the outer one's timeout, whichever is open, and store nothing of either", async () => {
    const late: Pick<SqlSession, "run">[] = [];
    const { world, subject } = single(
      actor({
        db: synchronous,
        actions: {
          nest: (c) =>
            codeOf(
              c.db.transaction(async (tx) => {
                late.push(tx);
                insertSync(tx, "outer");
                await world.clock.delay(20_000);
                await tx.transaction(async (inner) => {
                  late.push(inner);
                  insertSync(inner, "inner");
                  await new Promise(() => {});
                });
              }),
            ),
          look: (c) => readAll(c.db),
        },
      }),
      { openDatabase },
    );
    const running = subject.call("nest");
    await world.pass(25_000);
    expect(await running).toBe("sqlite/transaction_timed_out");
    expect(await Promise.all(late.map((tx) => codeOf((async () => insertSync(tx, "late"))())))).toEqual(
      Array(2).fill("sqlite/transaction_timed_out"),
    );
    expect(await subject.call("look")).toEqual([]);
  });
});

describe("transactions", () => {
  it("that time out take what waits behind them along: nothing of it runs, and what comes later does", async () => {
    const subject = subjectOf();
    const running = subject.run((c) => {
      const stuck = codeOf(c.db.transaction(() => new Promise(() => {}), { timeout: 1_000 }));
      const behind = [
        c.db.execute("insert into t values ('statement')"),
        c.db.transaction((tx) => tx.execute("insert into t values ('transaction')")),
        c.db.execute("insert into t values ('last')"),
      ];
      return Promise.all([stuck, ...behind.map(codeOf)]);
    });
    await subject.world.pass(1_000);
    expect(await running).toEqual(Array(4).fill("sqlite/transaction_timed_out"));
    await subject.run((c) => c.db.transaction((tx) => tx.execute("insert into t values ('later')")));
    expect(await subject.run((c) => readAll(c.db))).toEqual(["later"]);
  });

  it("end after 25 seconds at most, whatever they ask for", async () => {
    const subject = subjectOf();
    const running = subject.run((c) => codeOf(c.db.transaction(() => new Promise(() => {}), { timeout: 60_000 })));
    await subject.world.pass(25_000);
    expect(await running).toBe("sqlite/transaction_timed_out");
    expect(subject.subject.timersHeld).toBe(0);
  });

  it("do not come between the statements of one turn: a step that had to wait for one is not torn by the next", async () => {
    const pause = {
      run: (branch: StepBranch) =>
        branch.step("pause", (step) => step.db.transaction(() => made.world.clock.delay(10))),
    };
    const write = async (step: Context): Promise<void> => {
      await step.db.execute("insert into t values ('first')");
      step.state.n += 1;
      await step.db.execute("insert into t values ('second')");
    };
    type StepBranch = { step(name: string, run: (step: Context) => unknown): Promise<unknown> };
    const made: Single = single(
      actor({
        state: { n: 0 },
        db: migrated,
        run: workflow(async (ctx) => {
          // The statements of the second wait for the transaction of the first, and the one of the third waits for them.
          await ctx.join("all", {
            first: pause as never,
            second: { run: (branch) => branch.step("write", write as never) },
            third: pause as never,
          });
        }),
        actions: { look: async (c) => [c.workflow.status().status, c.state.n, await readAll(c.db)] },
      }),
      { openDatabase },
    );
    const looks = made.subject.call("look").catch(() => {});
    await made.world.pass(15);
    made.subject.crash();
    await Promise.race([looks, made.world.turn()]);
    await made.world.pass(60_000);
    expect(await made.subject.call("look")).toEqual(["completed", 1, ["first", "second"]]);
  });

  it("end with their activation", async () => {
    const subject = subjectOf();
    let code: Promise<string> | undefined;
    let inner: Promise<string> | undefined;
    await subject.run(async (c) => {
      code = codeOf(
        c.db.transaction(async (tx) => {
          await tx.execute("insert into t values (1)");
          (c as unknown as { destroy(): void }).destroy();
          await new Promise<void>((resolve) => setImmediate(resolve));
          inner = codeOf(tx.execute("insert into t values (2)"));
        }),
      );
      await new Promise<void>((resolve) => setImmediate(resolve));
    });
    await subject.world.settle();
    expect([await code, await inner]).toEqual(["sqlite/transaction_interrupted", "actor/destroyed"]);
    expect(await subject.run((c) => readAll(c.db))).toEqual([]);
  });

  it("say so when the storage is full", async () => {
    const full = "insert into u values (zeroblob(100000)), (zeroblob(100001))";
    const subject = subjectOf(
      { openDatabase: smallDatabase },
      db({ onMigrate: (client) => client.execute("create table if not exists u (x unique)").then(() => {}) }),
    );
    expect(
      await subject.run(async (c) => [
        await codeOf(c.db.execute(full)),
        await codeOf(c.db.transaction((tx) => tx.execute(full))),
        await c.db.execute("select * from u"),
      ]),
    ).toEqual(["storage/full", "storage/full", []]);
  });

  it("are lost with the object, and with what else its turn wrote, when a full storage makes SQLite undo everything", async () => {
    const subject = subjectOf({ openDatabase: smallDatabase });
    await subject.run((c) => void (c.state.n = 1));
    const lost = subject.run(async (c) => {
      await c.kv.put("k", "v");
      await c.db.execute("insert into t values (zeroblob(100000))");
    });
    expect(await Promise.race([codeOf(lost), subject.subject.died().then(() => "died")])).toBe("died");
    expect(await subject.run(async (c) => [c.state.n, await c.kv.list(), await readAll(c.db)])).toEqual([1, [], []]);
  });
});

function smallDatabase(): DatabaseSync {
  const database = openDatabase();
  database.exec("pragma max_page_count = 4");
  return database;
}

describe("a database", () => {
  it("needs a store that has SQL", async () => {
    const { subject } = single(actor({ db: migrated, actions: { run: () => {} } }));
    expect(await codeOf(subject.call("run"))).toBe("feature/unsupported");
    expect(subject.store.keys).toEqual([]);
  });

  it("is refused to code of an activation that has ended, and of a step's attempt", async () => {
    const kept: RawAccess[] = [];
    const { world, subject } = single(
      actor({
        db: migrated,
        run: workflow(async (ctx) => {
          await ctx.step("s", (step) => void kept.push(step.db));
        }),
        actions: { keep: (c) => void kept.push(c.db), rows: (c) => readAll(c.db) },
      }),
      { openDatabase },
    );
    await subject.call("keep");
    await world.settle();
    const [step, callback] = kept.length === 2 ? (kept[0] === kept[1] ? [] : kept) : [];
    const insert = (client: RawAccess | undefined): Promise<string> =>
      codeOf((client as RawAccess).execute("insert into t values (1)"));
    const codes = [await insert(step), await insert(callback)].sort();
    expect(codes).toEqual(["no error", "workflow/step_ended"]);
    await world.settle();
    subject.crash();
    await subject.call("rows");
    expect(await insert(callback)).not.toBe("no error");
    expect(await subject.call("rows")).toEqual([1]);
  });

  it("may have a client of one's own, on synchronous statements", async () => {
    const provider: DatabaseProvider<{ add(value: number): number; both(): void }> = {
      createClient: ({ run, atomically }) => ({
        add: (value) => Number(run("insert into t values (?) returning x", [value]).rows[0]?.[0]),
        both: () =>
          atomically(() => {
            run("insert into t values (8)", []);
            run("insert into t values (1), (2); insert into nowhere values (1)", []);
          }),
      }),
    };
    let both = "";
    const { subject } = single(
      actor({
        db: databaseProvider(provider),
        onCreate: (c) => void c.db.add(0),
        onMigrate: (c) => void (c.db as unknown as { raw: undefined }).raw,
        actions: {
          run: (c) => {
            try {
              c.db.both();
            } catch (error) {
              both = (error as { code: string }).code;
            }
            return c.db.add(7);
          },
        },
      }),
      {
        openDatabase: () => {
          const database = openDatabase();
          database.exec(TABLE);
          return database;
        },
      },
    );
    expect([await subject.call("run"), both]).toEqual([7, "statement_failed"]);
  });
});

describe("events of a migration", () => {
  it.each([false, true])("leave once it is stored, and not at all if it fails (%s)", async (fails) => {
    let changes = 0;
    const made = single(
      actor({
        state: { n: 0 },
        db: migrated,
        onMigrate: async (context, isNew) => {
          if (isNew) return;
          // Its type has neither: JavaScript may try all the same.
          // oxlint-disable-next-line typescript/no-explicit-any -- as above
          const c = context as any;
          c.state.n += 1;
          c.broadcast("n", c.state.n);
          for (const conn of c.conns.values()) conn.send("you", c.state.n);
          await made.world.clock.delay(5);
          changes = socket.events.length;
          if (fails) throw new Error("no");
        },
        actions: { n: (c) => c.state.n },
      }),
      { openDatabase },
    );
    const socket = await made.subject.connect();
    await socket.subscribe("n");
    await made.subject.evict();
    const called = made.subject.call("n").catch(() => "failed");
    await made.world.pass(5);
    expect(await called).toBe(fails ? "failed" : 1);
    expect([changes, socket.events]).toEqual([
      0,
      fails
        ? []
        : [
            ["n", 1],
            ["you", 1],
          ],
    ]);
  });
});

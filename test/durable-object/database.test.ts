import { describe, expect, it } from "vitest";
import { db, type RawAccess, type SqlExecutor } from "../../src/entry/db.js";
import { actor, queue, setup, UserError } from "../../src/entry/index.js";
import { workflow } from "../../src/entry/workflow.js";
import { serve } from "../support/worker.js";
import { failureOf, objectOf, resultOf, TestObject } from "./test-object.js";

// SQL of user code on the real storage: what is stored together, what a crash leaves, and what it cannot reach.

type Run = (c: { db: RawAccess; name: string; key: string[]; state: { n: number } }) => unknown;
/** What the next call of `run` does, or a hook, by object key. */
const jobs = new Map<string, Run>();
const hooks = new Map<string, Run>();
const migrating = new Map<string, Run>();
let migration: (db: RawAccess) => void | Promise<void> = () => {};
let keys = 0;

const TABLE = "create table if not exists t (x)";
const readAll = async (sql: SqlExecutor): Promise<unknown[]> =>
  (await sql.execute("select x from t order by rowid")).map(({ x }) => x);
const nextTurn = (): Promise<void> => scheduler.wait(0);

function job(of: Map<string, Run>): (c: object) => unknown {
  return (c) => of.get((c as { key: string[] }).key.join("/"))?.(c as never);
}

serve(
  setup({
    use: {
      plain: actor({
        state: { n: 0 },
        db: db({ onMigrate: (client) => client.execute(TABLE).then(() => {}) }),
        actions: { run: (c) => job(jobs)(c), rows: (c) => readAll(c.db), getState: (c) => c.state },
      }),
      hooked: actor({
        createState: async (c) => {
          await job(hooks)(c);
          return { n: 0 };
        },
        db: db({ onMigrate: (client) => migration(client) }),
        onMigrate: (c, isNew) => (isNew ? undefined : job(migrating)(c)),
        queues: { q: queue<number>() },
        actions: {
          rows: (c) => readAll(c.db),
          getState: (c) => c.state,
          run: (c) => job(jobs)(c),
          queued: async (c) => (await c.queue.nextBatch({ count: 9, timeout: 0 })).map(({ body }) => body),
        },
      }),
      hasty: actor({
        db: db({ onMigrate: (client) => migration(client) }),
        onMigrate: (c) => job(hooks)(c),
        options: { onMigrateTimeout: 50 },
        actions: { rows: (c) => readAll(c.db) },
      }),
      flow: actor({
        state: { n: 0 },
        db: db({ onMigrate: (client) => client.execute(TABLE).then(() => {}) }),
        run: workflow(async (ctx) => {
          await ctx.step("write", (step) => job(jobs)(step) as Promise<void>);
          job(hooks)(ctx);
          await ctx.step("after", () => {});
        }),
        actions: { rows: (c) => readAll(c.db), status: (c) => c.workflow.status().status, getState: (c) => c.state },
      }),
      none: actor({ actions: { run: (c) => (c.db as RawAccess).execute("select 1") } }),
    },
  }) as never,
);

function subject(name: string): TestObject {
  keys += 1;
  return new TestObject(name, `${name}-${keys}`);
}

/** Runs code in an action of a new actor. */
async function inAction<T>(run: (c: Parameters<Run>[0]) => T): Promise<Awaited<T>> {
  const object = subject("plain");
  jobs.set(object.key.join("/"), run);
  return resultOf(await object.action("run")) as Awaited<T>;
}

const codeOf = async (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "no error",
    (error: { group?: string; code?: string; message: string }) => `${error.group}/${error.code}`,
  );

/** The user's tables as SQL sees them, without the platform's own. */
const tablesOf = (object: TestObject): Promise<string[]> =>
  object.inside((ctx) =>
    ctx.storage.sql
      .exec<{ name: string }>(
        "select name from sqlite_master where name not like '\\_cf%' escape '\\' and name not like 'sqlite%'",
      )
      .toArray()
      .map(({ name }) => name),
  );

describe("execute", () => {
  it("gives rows as objects, the last statement's, in text, number, null and Uint8Array", async () => {
    const rows = await inAction(async ({ db: sql }) => [
      await sql.execute("select 1 as a; select 'x' as b, 1.5 as c, null as d, x'0102' as e"),
      await sql.execute("insert into t values (?), (?) returning x", 1, "two"),
      await sql.execute("select x from t where x = :x or x = $y", { x: "two", y: 3 }),
      await sql.execute("-- nothing\n;"),
      await sql.execute("select 1 as one; -- and a comment after it"),
      await sql.execute('select 1 as "__proto__"'),
    ]);
    expect(rows).toEqual([
      [{ b: "x", c: 1.5, d: null, e: new Uint8Array([1, 2]) }],
      [{ x: 1 }, { x: "two" }],
      [{ x: "two" }],
      [],
      [{ one: 1 }],
      [JSON.parse('{"__proto__":1}')],
    ]);
  });

  it("stores what it is given, and refuses what the platform would change in silence", async () => {
    const bytes = new Uint8Array([9, 1, 2, 9]).subarray(1, 3);
    const results = await inAction(async ({ db: sql }) => {
      const store = async (value: unknown): Promise<unknown> => {
        await sql.execute("delete from t");
        await sql.execute("insert into t values (?)", value as never);
        return (await sql.execute("select x, typeof(x) as type from t"))[0];
      };
      const of = (value: unknown): Promise<unknown> => store(value).catch((error) => `${error.group}/${error.code}`);
      const given = [
        5,
        -0,
        Infinity,
        "a\0b",
        "\ufeffé",
        null,
        true,
        false,
        12n,
        bytes,
        NaN,
        2n ** 53n,
        "\ud800",
        undefined,
        new Date(0),
        [1],
        Symbol("s"),
        () => 1,
      ];
      return Promise.all(given.map((value, i) => (i === 0 ? of(value) : undefined))).then(async () => {
        const all: unknown[] = [];
        for (const value of given) all.push(await of(value));
        return all;
      });
    });
    const refused = "sqlite/invalid_parameter";
    expect(results).toEqual([
      { x: 5, type: "integer" },
      { x: -0, type: "real" },
      { x: Infinity, type: "real" },
      { x: "a\0b", type: "text" },
      { x: "\ufeffé", type: "text" },
      { x: null, type: "null" },
      { x: 1, type: "integer" },
      { x: 0, type: "integer" },
      { x: 12, type: "integer" },
      { x: new Uint8Array([1, 2]), type: "blob" },
      refused,
      { x: 2 ** 53, type: "integer" },
      ...Array(6).fill(refused),
    ]);
  });

  it("takes integers for integers, and for no type of column that they are not of", async () => {
    const results = await inAction(async ({ db: sql }) => {
      await sql.execute(
        "create table typed (id integer primary key, t text, r real, u); create index by_t on typed (t)",
      );
      await sql.execute(
        "insert into typed values (?1, ?2, ?1, ?1), (:b, :b, 0.5, 'x')".replaceAll(":b", "?3"),
        1,
        5,
        2,
      );
      const [plan] = await sql.execute<{ detail: string }>("explain query plan select id from typed where t = ?", 5);
      return [
        await sql.execute(
          "select id, t, r, u, typeof(t) as tt, typeof(r) as tr, typeof(u) as tu from typed where t = ?",
          5,
        ),
        await sql.execute(
          "select ?/2 as half, ?/2 as exact, -? as minus, typeof(:c) as kind".replace(":c", "?"),
          5,
          5.5,
          3,
          7,
        ),
        await sql.execute("select id from typed where id in (?, ?) order by id limit ? offset ?", 2, 1, 5, 1),
        await sql.execute("select u from typed where id = :id", { id: 1 }),
        await sql.execute("select cast(? as text) as digits", 9_007_199_254_740_993n),
        plan?.detail.includes("by_t"),
        await sql.execute("select ?", 2n ** 63n).catch(({ code }) => code),
      ];
    });
    expect(results).toEqual([
      [{ id: 1, t: "5", r: 1, u: 1, tt: "text", tr: "real", tu: "integer" }],
      [{ half: 2, exact: 2.75, minus: -3, kind: "integer" }],
      [{ id: 2 }],
      [{ u: 1 }],
      [{ digits: "9007199254740993" }],
      true,
      "invalid_parameter",
    ]);
  });

  it("reads integers beyond 2^53 rounded, and all their digits as text", async () => {
    const sql =
      "select 9007199254740993 as rounded, cast(9007199254740993 as text) as digits, cast('9007199254740993' as integer) - 1 as exact";
    expect(await inAction(({ db: { execute } }) => execute(sql))).toEqual([
      { rounded: 9007199254740992, digits: "9007199254740993", exact: 9007199254740992 },
    ]);
  });

  it.each([
    ["sqlite/duplicate_column", "insert into t values (1) returning x, x", []],
    [
      "sqlite/constraint_failed",
      "create table u (x unique); insert into t values (1); insert into u values (1), (1)",
      [],
    ],
    ["sqlite/statement_failed", "insert into t values (1); select nothing from nowhere", []],
    ["sqlite/statement_failed", "insert into t values (1); select ? as a, ? as b", []],
    ["sqlite/invalid_parameter", "insert into t values (?); select 1", [1]],
    ["sqlite/invalid_parameter", "insert into t values (:a)", [{ b: 1 }]],
    ["sqlite/invalid_parameter", "insert into t values (:a)", [{ a: 1, b: 1 }]],
    ["sqlite/invalid_parameter", "insert into t values (:a), (?)", [{ a: 1 }]],
    ["sqlite/invalid_sql", "insert into t values (1); select '\0'", []],
    ["value/too_large", "insert into t values (?)", ["é".repeat(1_000_001)]],
    ["value/too_large", "insert into t values (?)", [new Uint8Array(2_000_001)]],
    ["sqlite/manual_transaction", "insert into t values (1); begin", []],
    ["sqlite/manual_transaction", "insert into t values (1); insert or rollback into t values (2)", []],
  ])("refuses with %s, and has changed nothing then: %s", async (code, sql, parameters) => {
    const [found, rows] = await inAction(
      async (c) => [await codeOf(c.db.execute(sql, ...(parameters as []))), await readAll(c.db)] as const,
    );
    expect([found, rows]).toEqual([code, []]);
  });

  it("has no parameter for text, and no other type, in two million bytes", async () => {
    expect(
      await inAction(async ({ db: sql }) => {
        await sql.execute("insert into t values (?)", "é".repeat(1_000_000));
        return (await sql.execute("select length(x) as n from t"))[0];
      }),
    ).toEqual({ n: 1_000_000 });
  });

  it("is refused after close, until the next start", async () => {
    const object = subject("plain");
    jobs.set(object.key.join("/"), async ({ db: sql }) => {
      await sql.close();
      return codeOf(sql.execute("select 1"));
    });
    expect(await object.call("run")).toBe("sqlite/closed");
    await object.evict();
    expect(await object.call("rows")).toEqual([]);
  });

  it("fails with actor/database_not_configured without one (B3)", async () => {
    expect(failureOf(await subject("none").action("run"))).toMatchObject({
      code: "actor/database_not_configured",
      status: 500,
    });
  });
});

describe("a crash", () => {
  it("takes the statements of its turn with it and leaves earlier ones, in an action", async () => {
    const object = subject("plain");
    jobs.set(object.key.join("/"), async (c) => {
      await c.db.execute("insert into t values ('early')");
      await nextTurn();
      c.state.n += 1;
      await c.db.execute("insert into t values ('late')");
      await c.db.execute("insert into t values ('late too')");
      objectOf(c.name, c.key).die();
    });
    await object.action("run").catch(() => {});
    expect([await object.call("rows"), await object.call("getState")]).toEqual([["early"], { n: 0 }]);
  });

  it("or an eviction loses nothing that code wrote after its event had ended", async () => {
    const object = subject("plain");
    jobs.set(object.key.join("/"), (c) => {
      setTimeout(() => {
        void c.db.execute("insert into t values ('late')");
        void (c as unknown as { kv: { put(key: string, value: string): Promise<void> } }).kv.put("k", "v");
      }, 20);
    });
    await object.call("run");
    // Nothing awaits the write: what is seen of it from inside may be unconfirmed.
    while ((await object.inside((ctx) => ctx.storage.kv.get("u/6b"))) === undefined) await scheduler.wait(1);
    await object.evict();
    expect(await object.call("rows")).toEqual(["late"]);
  });

  it("leaves the statements after a step's last await and its result together, or neither", async () => {
    for (const place of ["in the step", "after the step", "nowhere"]) {
      const object = subject("flow");
      const key = object.key.join("/");
      let runs = 0;
      jobs.set(key, async (step) => {
        runs += 1;
        await step.db.execute("insert into t values (?)", `early ${runs}`);
        await nextTurn();
        step.state.n += 1;
        await step.db.execute("insert into t values (?)", `late ${runs}`);
        if (place === "in the step" && runs === 1) objectOf(step.name, step.key).die();
      });
      let isFirst = true;
      hooks.set(key, (ctx) => {
        const diesHere = place === "after the step" && isFirst;
        isFirst = false;
        if (diesHere) objectOf(ctx.name, ctx.key).die();
      });
      await object.action("status").catch(() => {});
      await object.runAlarms();
      const rows = place === "nowhere" ? ["early 1", "late 1"] : ["early 1", "early 2", "late 2"];
      expect([place, await object.call("status"), await object.call("rows"), await object.call("getState")]).toEqual([
        place,
        "completed",
        rows,
        { n: 1 },
      ]);
    }
  });
});

describe("a transaction", () => {
  it("is committed when its work resolves, and gives its result", async () => {
    const result = await inAction(async (c) => [
      await c.db.transaction(async (tx) => {
        await tx.execute("insert into t values (1)");
        await nextTurn();
        return (await tx.execute("insert into t values (2) returning x"))[0];
      }),
      await readAll(c.db),
    ]);
    expect(result).toEqual([{ x: 2 }, [1, 2]]);
  });

  it("is undone when its work throws, and rethrows the same error (B30)", async () => {
    const error = new UserError("no", { code: "mine" });
    const result = await inAction(async (c) => {
      const caught = await c.db
        .transaction(async (tx) => {
          await tx.execute("insert into t values (1); create table other (x)");
          await nextTurn();
          throw error;
        })
        .catch((thrown: unknown) => thrown);
      return [caught === error, await readAll(c.db), await codeOf(c.db.execute("select * from other"))];
    });
    expect(result).toEqual([true, [], "sqlite/statement_failed"]);
  });

  it("is undone when a statement of it fails and nobody catches that; goes on when somebody does", async () => {
    const result = await inAction(async (c) => [
      await codeOf(
        c.db.transaction(
          async (tx) => (await tx.execute("insert into t values (1)"), tx.execute("insert into nowhere values (1)")),
        ),
      ),
      await codeOf(
        c.db.transaction(
          async (tx) => (
            await tx.execute("insert into t values (2)"),
            tx.execute("insert into nowhere values (1)").catch(() => {})
          ),
        ),
      ),
      await readAll(c.db),
    ]);
    expect(result).toEqual(["sqlite/statement_failed", "no error", [2]]);
  });

  it("lets statements and transactions that come later wait, in order of call", async () => {
    const result = await inAction(async (c) => {
      const insert =
        (value: string) =>
        async (tx: SqlExecutor): Promise<void> => {
          await nextTurn();
          await tx.execute("insert into t values (?)", value);
        };
      await Promise.all([
        c.db.transaction(insert("one")),
        c.db.execute("insert into t values ('two')"),
        c.db.transaction(async (tx) => (await insert("never")(tx), Promise.reject(new Error("no")))).catch(() => {}),
        c.db.transaction(insert("three")),
        c.db.execute("insert into t values ('four')"),
      ]);
      return readAll(c.db);
    });
    expect(result).toEqual(["one", "two", "three", "four"]);
  });

  it("lets 128 wait, and refuses more with sqlite/transaction_queue_full", async () => {
    const codes = await inAction((c) =>
      Promise.all(
        Array.from({ length: 131 }, (_, i) =>
          codeOf(c.db.transaction((tx) => tx.execute("insert into t values (?)", i))),
        ),
      ),
    );
    expect(codes).toEqual([...Array(129).fill("no error"), ...Array(2).fill("sqlite/transaction_queue_full")]);
  });

  it("is undone after its timeout, also when its work waits for a statement outside of it; later uses of tx are refused", async () => {
    const object = subject("plain");
    let late: Promise<string> | undefined;
    jobs.set(object.key.join("/"), async (c) => {
      const first = await codeOf(
        c.db.transaction(
          async (tx) => {
            await tx.execute("insert into t values (1)");
            await c.db
              .execute("insert into t values ('outside')")
              .then(() => (late = codeOf(tx.execute("insert into t values ('late')"))));
          },
          { timeout: 20 },
        ),
      );
      return [first, await readAll(c.db), await late];
    });
    expect(await object.call("run")).toEqual(["sqlite/transaction_timed_out", [], undefined]);
  });

  it.each([0, -1, NaN, "1"])("refuses the timeout %s", async (timeout) => {
    expect(await inAction((c) => codeOf(c.db.transaction(async () => {}, { timeout: timeout as number })))).toBe(
      "sqlite/invalid_timeout",
    );
  });

  it("refuses its tx when it has ended", async () => {
    const code = await inAction(async (c) => {
      let kept: SqlExecutor | undefined;
      await c.db.transaction(async (tx) => void (kept = tx));
      return codeOf((kept as SqlExecutor).execute("insert into t values (1)"));
    });
    expect(code).toBe("sqlite/transaction_ended");
  });

  it("leaves nothing when the object dies before its end", async () => {
    const object = subject("plain");
    jobs.set(object.key.join("/"), (c) =>
      c.db.transaction(async (tx) => {
        await tx.execute("insert into t values (1)");
        await nextTurn();
        await tx.execute("insert into t values (2)");
        await nextTurn();
        objectOf(c.name, c.key).die();
      }),
    );
    await object.action("run").catch(() => {});
    expect(await object.call("rows")).toEqual([]);
  });

  it("never takes a commit of the actor along: it is undone, the commit stays", async () => {
    const object = subject("plain");
    const order: unknown[] = [];
    jobs.set(object.key.join("/"), async (c) => {
      const code = await codeOf(
        c.db.transaction(async (tx) => {
          await tx.execute("insert into t values ('undone')");
          c.state.n = 7;
          await (c as unknown as { saveState(options: object): Promise<void> }).saveState({ immediate: true });
          order.push(await codeOf(tx.execute("insert into t values ('too late')")));
          await nextTurn();
          order.push(await codeOf(tx.execute("insert into t values ('too late')")));
          throw new Error("of the work");
        }),
      );
      order.push(code);
      await c.db.execute("insert into t values ('after')");
    });
    await object.call("run");
    const code = "sqlite/transaction_interrupted";
    expect([order, await object.call("rows"), await object.call("getState")]).toEqual([
      [code, code],
      ["after"],
      { n: 7 },
    ]);
    await object.evict();
    expect([await object.call("rows"), await object.call("getState")]).toEqual([["after"], { n: 7 }]);
  });

  it("goes on when only the state changes: that is committed when it has ended, whatever its end", async () => {
    for (const end of ["resolves", "rejects"]) {
      const object = subject("plain");
      jobs.set(object.key.join("/"), (c) =>
        c.db
          .transaction(async (tx) => {
            await tx.execute("insert into t values (1)");
            c.state.n = 3;
            await scheduler.wait(20);
            await tx.execute("insert into t values (2)");
            if (end === "rejects") throw new Error("no");
          })
          .catch(() => {}),
      );
      await object.call("run");
      await object.evict();
      expect([await object.call("rows"), await object.call("getState")]).toEqual([
        end === "resolves" ? [1, 2] : [],
        { n: 3 },
      ]);
    }
  });

  it("is undone before a call to another actor leaves: that would not wait for it", async () => {
    const object = subject("plain");
    const other = subject("plain");
    jobs.set(object.key.join("/"), async (c) => {
      const { plain } = (
        c as unknown as { client(): { plain: { getOrCreate(key: string[]): { getState(): Promise<unknown> } } } }
      ).client();
      let answer: Promise<unknown> | undefined;
      const code = await codeOf(
        c.db.transaction(async (tx) => {
          await tx.execute("insert into t values (1)");
          await (answer = plain.getOrCreate([...other.key]).getState());
        }),
      );
      return [code, await answer];
    });
    expect([await object.call("run"), await object.call("rows")]).toEqual([
      ["sqlite/transaction_interrupted", { n: 0 }],
      [],
    ]);
  });

  it("that breaks a deferred constraint is lost with its object, and nothing else is", async () => {
    const object = subject("plain");
    jobs.set(object.key.join("/"), async (c) => {
      await c.db.execute(
        "create table p (id integer primary key); create table q (p references p (id) deferrable initially deferred)",
      );
      c.state.n = 1;
    });
    await object.call("run");
    jobs.set(object.key.join("/"), (c) => c.db.transaction((tx) => tx.execute("insert into q values (99)")));
    await expect(object.call("run")).rejects.toThrow();
    jobs.set(object.key.join("/"), (c) => c.db.execute("select * from q"));
    expect([await object.call("run"), await object.call("getState")]).toEqual([[], { n: 1 }]);
  });
});

describe("a creation", () => {
  const create = async (c: Parameters<Run>[0]): Promise<void> => {
    await c.db.execute("insert into t values ('first')");
    await nextTurn();
    await c.db.transaction((tx) => tx.execute("insert into t values ('second')"));
    await nextTurn();
  };
  const nothing = async (object: TestObject): Promise<unknown> => [
    await tablesOf(object),
    await object.keys(),
    await object.alarmAt(),
  ];

  it("leaves no table behind when a hook throws, and all of them when none does", async () => {
    migration = async (client) => {
      await client.execute(TABLE);
      await nextTurn();
    };
    const object = subject("hooked");
    hooks.set(object.key.join("/"), async (c) => (await create(c), Promise.reject(new UserError("no"))));
    expect(failureOf(await object.action("rows"))).toMatchObject({ code: "user/user_error" });
    expect(await nothing(object)).toEqual([[], [], null]);
    hooks.set(object.key.join("/"), create);
    expect(await object.call("rows")).toEqual(["first", "second"]);
  });

  it("leaves nothing when the object dies anywhere in it", async () => {
    for (const place of ["migration", "first", "second", "end"]) {
      const object = subject("hooked");
      const die = (at: string): void => {
        if (at === place) objectOf(object.name, object.key).die();
      };
      migration = async (client) => {
        await client.execute(TABLE);
        await nextTurn();
        die("migration");
      };
      hooks.set(object.key.join("/"), async (c) => {
        await c.db.execute("insert into t values ('first')");
        await nextTurn();
        die("first");
        await c.db.transaction((tx) => tx.execute("insert into t values ('second')"));
        await nextTurn();
        die("second");
        await c.db.execute("insert into t values ('third')");
        die("end");
      });
      await object.action("rows").catch(() => {});
      expect([place, await nothing(object)]).toEqual([place, [[], [], null]]);
    }
  });

  it("leaves nothing after a hook's timeout, and refuses what that hook does later", async () => {
    migration = (client) => client.execute(TABLE).then(() => {});
    const object = subject("hasty");
    let late: Promise<string> | undefined;
    let go = (): void => {};
    hooks.set(object.key.join("/"), async (c) => {
      const write = async (): Promise<void> => {
        await c.db.execute("insert into t values ('in time')");
        await new Promise<void>((resolve) => (go = resolve));
        await c.db.execute("insert into t values ('late')");
      };
      // On a busy machine it may be late before it has begun: refused as well.
      await (late = codeOf(write()));
    });
    expect(failureOf(await object.action("rows"))).toMatchObject({
      code: "actor/callback_timed_out",
      metadata: { callback_name: "onMigrate" },
    });
    await object.inside(() => go());
    expect([await late, await nothing(object)]).toEqual(["actor/callback_timed_out", [[], [], null]]);
  });
});

describe("a migration of an actor that exists", () => {
  const made = async (): Promise<TestObject> => {
    migration = (client) => client.execute(TABLE).then(() => {});
    const object = subject("hooked");
    await object.call("rows");
    await object.evict();
    return object;
  };
  const migrate = async (
    c: Parameters<Run>[0] & { queue?: { send(name: string, body: number): Promise<void> } },
  ): Promise<void> => {
    await c.db.execute("insert into t values ('migrated')");
    c.state.n += 1;
    await c.queue?.send("q", 1);
    await nextTurn();
    await c.db.execute("insert into t values ('more')");
  };

  it("is one commit: tables, state and messages, when it has ended (A13)", async () => {
    const object = await made();
    migrating.set(object.key.join("/"), migrate);
    expect([await object.call("rows"), await object.call("getState"), await object.call("queued")]).toEqual([
      ["migrated", "more"],
      { n: 1 },
      [1],
    ]);
  });

  it.each(["the provider's throws", "the actor's throws", "the object dies"])(
    "changes nothing when %s, and the start fails (A13)",
    async (how) => {
      const object = await made();
      migration = async (client) => {
        await client.execute("insert into t values ('by the provider')");
        await nextTurn();
        if (how === "the provider's throws") throw new Error("no");
      };
      migrating.set(object.key.join("/"), async (c) => {
        await migrate(c);
        if (how === "the actor's throws") throw new Error("no");
        if (how === "the object dies") objectOf(object.name, object.key).die();
      });
      expect(
        await object.action("rows").then(
          ({ ok }) => ok,
          () => false,
        ),
      ).toBe(false);
      migration = () => {};
      migrating.clear();
      expect([await object.call("rows"), await object.call("getState"), await object.call("queued")]).toEqual([
        [],
        { n: 0 },
        [],
      ]);
    },
  );
});

describe("the database of an actor", () => {
  it("shows nothing of what the runtime stores, and cannot change it", async () => {
    const object = subject("plain");
    await object.call("rows");
    jobs.set(object.key.join("/"), async ({ db: sql }) => {
      const attempts = [
        "select * from _cf_KV",
        'select * from "_cf_KV"',
        "select * from main._cf_KV",
        "delete from _cf_KV",
        "drop table _cf_KV",
        "update _cf_KV set value = null",
        "create view v as select * from _cf_KV; select * from v",
        "alter table t rename to _cf_KV",
        "create table _cf_KV (x)",
        "pragma writable_schema = 1",
        "create trigger tr after insert on t begin delete from _cf_KV; end; insert into t values (1)",
        "attach ':memory:' as m",
        "vacuum",
      ];
      const codes: string[] = [];
      for (const attempt of attempts) codes.push(await codeOf(sql.execute(attempt)));
      return codes;
    });
    expect(await object.call("run")).toEqual(Array(13).fill("sqlite/statement_failed"));
    await object.evict();
    expect([await object.call("rows"), await object.call("getState")]).toEqual([[], { n: 0 }]);
  });

  it("is deleted with the actor", async () => {
    const object = subject("plain");
    jobs.set(object.key.join("/"), async (c) => {
      await c.db.execute("insert into t values (1); create table other (x); create view v as select * from t");
      (c as unknown as { destroy(): void }).destroy();
    });
    await object.call("run");
    expect([await tablesOf(object), await object.keys()]).toEqual([[], []]);
    expect(await object.call("rows")).toEqual([]);
  });
});

// An actor's database, in every context and in none of the workflow's.
import {
  actor,
  setup,
  type ActorKv,
  type ActionContextOf,
  type CreateContextOf,
  type CreateStateContextOf,
  type MigrateContextOf,
} from "perdure";
import { createClient } from "perdure/client";
import { databaseProvider, db, type DatabaseProvider, type RawAccess, type SqlExecutor } from "perdure/db";
import { workflow, type WorkflowStepContextOf } from "perdure/workflow";
import { exactly } from "./exactly.js";

interface Note {
  id: number;
  text: string;
}

export const notes = actor({
  db: db({
    onMigrate: async (client) => {
      exactly<RawAccess>()(client);
      await client.execute("create table if not exists notes (id integer primary key, text text)");
    },
  }),
  createState: async (c, input: { first: string }) => {
    exactly<RawAccess>()(c.db);
    await c.db.execute("insert into notes (text) values (?)", input.first);
    return { count: 1 };
  },
  createVars: (c) => {
    exactly<RawAccess>()(c.db);
    return { seen: 0 };
  },
  onMigrate: (c, isNew) => {
    exactly<RawAccess>()(c.db);
    exactly<boolean>()(isNew);
  },
  onCreate: (c) => exactly<RawAccess>()(c.db),
  onWake: (c) => exactly<RawAccess>()(c.db),
  onConnect: (c) => exactly<RawAccess>()(c.db),
  onDestroy: (c) => exactly<RawAccess>()(c.db),
  actions: {
    add: async (c, text: string) => {
      exactly<RawAccess>()(c.db);
      exactly<{ count: number }>()(c.state);
      exactly<Record<string, unknown>[]>()(await c.db.execute("select 1"));
      exactly<Note[]>()(await c.db.execute<Note>("insert into notes (text) values (:text) returning *", { text }));
      await c.db.execute("select ?, ?, ?, ?, ?, ?", 1, "x", 1n, null, true, new Uint8Array());
      // What is no SQL value is refused at run time: helpers pass on what they have.
      await c.db.execute("select ?", {} as unknown);
      exactly<number>()(
        await c.db.transaction(
          async (tx) => {
            exactly<SqlExecutor>()(tx);
            // @ts-expect-error a transaction has no transaction
            void tx.transaction;
            return (await tx.execute<Note>("select * from notes")).length;
          },
          { timeout: 1_000 },
        ),
      );
      return text;
    },
  },
});

// beside a workflow
export const flow = actor({
  state: { n: 0 },
  db: db(),
  run: workflow(async (ctx) => {
    // @ts-expect-error only in steps
    void ctx.db;
    await ctx.step("s", async (step) => {
      exactly<RawAccess>()(step.db);
      exactly<{ n: number }>()(step.state);
      // @ts-expect-error the key-value store is not for steps
      void step.kv;
    });
  }),
});

// without one
export const plain = actor({
  actions: {
    run: (c) => {
      // @ts-expect-error there is no database
      void c.db.execute("select 1");
    },
  },
});

// values by key
export const valued = actor({
  onCreate: (c) => exactly<ActorKv>()(c.kv),
  actions: {
    run: async (c) => {
      exactly<string | null>()(await c.kv.get("k"));
      exactly<Uint8Array | null>()(await c.kv.get(new Uint8Array(), { type: "binary" }));
      exactly<ArrayBuffer | null>()(await c.kv.get("k", { type: "arrayBuffer" }));
      exactly<[key: string, value: string][]>()(await c.kv.list());
      exactly<[key: Uint8Array, value: ArrayBuffer][]>()(
        await c.kv.listPrefix("p", { keyType: "binary", type: "arrayBuffer", reverse: true, limit: 3 }),
      );
      exactly<(Uint8Array | null)[]>()(await c.kv.batchGet(["a", new Uint8Array()]));
      await c.kv.batchPut([
        ["a", "b"],
        [new Uint8Array(), new Uint8Array()],
      ]);
      // @ts-expect-error no value
      await c.kv.put("k", { any: 1 });
      // @ts-expect-error no such type
      await c.kv.get("k", { type: "json" });
    },
  },
});

// helpers, and clients of one's own
export const helper = async (
  c: ActionContextOf<typeof notes>,
  step: WorkflowStepContextOf<typeof flow>,
): Promise<void> => {
  await c.db.execute("select 1");
  await step.db.execute("select 1");
};
export type Contexts = [
  CreateStateContextOf<typeof notes>["db"],
  CreateContextOf<typeof notes>["db"],
  MigrateContextOf<typeof notes>["db"],
];
exactly<Contexts>()([] as unknown as [RawAccess, RawAccess, RawAccess]);

const counting: DatabaseProvider<{ count(table: string): number }> = {
  createClient: ({ run }) => ({ count: (table) => Number(run(`select count(*) from ${table}`, []).rows[0]?.[0]) }),
};
export const counted = actor({ db: databaseProvider(counting), actions: { count: (c) => c.db.count("notes") } });
export const named = actor({
  db: databaseProvider({
    createClient: async ({ actorId }) => ({ owner: actorId }),
    onMigrate: (client) => void exactly<string>()(client.owner),
  }),
  actions: { owner: (c) => exactly<string>()(c.db.owner) },
});

const client = createClient<typeof registry>("http://localhost:6420");
const registry = setup({ use: { notes, counted } });
export const calls = async (): Promise<void> => {
  exactly<string>()(await client.notes.getOrCreate(["a"], { createWithInput: { first: "x" } }).add("text"));
  exactly<number>()(await client.counted.getOrCreate(["a"]).count());
};

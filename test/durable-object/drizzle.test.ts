import { asc, eq, relations, sql } from "drizzle-orm";
import { blob, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { describe, expect, it } from "vitest";
import { db, type DrizzleDatabase, type DrizzleMigrations } from "../../src/entry/db/drizzle.js";
import { actor, setup } from "../../src/entry/index.js";
import { workflow } from "../../src/entry/workflow.js";
import { serve } from "../support/worker.js";
import { failureOf, objectOf, resultOf, TestObject } from "./test-object.js";

const authors = sqliteTable("authors", { id: integer("id").primaryKey(), name: text("name").notNull().unique() });
const notes = sqliteTable("notes", {
  id: integer("id").primaryKey(),
  authorId: integer("author_id")
    .notNull()
    .references(() => authors.id),
  text: text("text").notNull(),
  pinned: integer("pinned", { mode: "boolean" }).notNull().default(false),
  writtenAt: integer("written_at", { mode: "timestamp_ms" }),
  data: blob("data", { mode: "buffer" }),
});
const schema = {
  authors,
  notes,
  noteRelations: relations(notes, ({ one }) => ({
    author: one(authors, { fields: [notes.authorId], references: [authors.id] }),
  })),
};
type Client = DrizzleDatabase<typeof schema>;

const first = {
  journal: { entries: [{ idx: 0, when: 1, tag: "0000_first", breakpoints: true }] },
  migrations: {
    m0000:
      "CREATE TABLE `authors` (`id` integer PRIMARY KEY NOT NULL, `name` text NOT NULL);\n--> " +
      "statement-breakpoint\nCREATE UNIQUE INDEX `authors_name_unique` ON `authors` (`name`);\n--> " +
      "statement-breakpoint\nCREATE TABLE `notes` (`id` integer PRIMARY KEY NOT NULL, `author_id` integer " +
      "NOT NULL REFERENCES `authors`(`id`), `text` text NOT NULL, `written_at` integer, `data` blob);",
  },
};
const second = {
  journal: { entries: [...first.journal.entries, { idx: 1, when: 2, tag: "0001_second", breakpoints: false }] },
  migrations: {
    ...first.migrations,
    m0001:
      "ALTER TABLE `notes` ADD `pinned` integer DEFAULT false NOT NULL;\nUPDATE `notes` SET `text` = `text` || '!';",
  },
};
const broken = {
  journal: { entries: [...second.journal.entries, { idx: 2, when: 3, tag: "0002_broken", breakpoints: true }] },
  migrations: { ...second.migrations, m0002: "DELETE FROM `notes`;\n--> statement-breakpoint\nCREATE TABLE" },
};

type Run = (c: { db: Client; name: string; key: string[] }) => unknown;
const jobs = new Map<string, Run>();
const run = (c: object): unknown => jobs.get((c as { key: string[] }).key.join("/"))?.(c as never);
let keys = 0;

function deploy(migrations: DrizzleMigrations): void {
  const database = db({ schema, migrations });
  serve(
    setup({
      use: {
        notebook: actor({ db: database, actions: { run: (c) => run(c) } }),
        flow: actor({
          db: database,
          run: workflow(async (ctx) => {
            await ctx.step("write", (step) => run(step) as Promise<void>);
          }),
          actions: {
            names: (c) =>
              c.db
                .select({ name: authors.name })
                .from(authors)
                .orderBy(asc(authors.id))
                .all()
                .map(({ name }) => name),
            status: (c) => c.workflow.status().status,
          },
        }),
      },
    }) as never,
  );
}

function subject(name: string): TestObject {
  keys += 1;
  return new TestObject(name, `${name}-${keys}`);
}
async function inAction<T>(object: TestObject, body: (c: Parameters<Run>[0]) => T): Promise<Awaited<T>> {
  jobs.set(object.key.join("/"), body);
  return resultOf(await object.action("run")) as Awaited<T>;
}

const raise = (message: string): never => {
  throw new Error(message);
};
const names = (sql: Pick<Client, "select">): string[] =>
  sql
    .select({ name: authors.name })
    .from(authors)
    .orderBy(asc(authors.id))
    .all()
    .map(({ name }) => name);

/** What it gives, or the code of what it throws. */
async function outcome(given: Promise<unknown> | (() => Promise<unknown>)): Promise<unknown> {
  try {
    return await (typeof given === "function" ? given() : given);
  } catch (error) {
    const { group, code, message, cause } = error as Error & {
      group?: string;
      code?: string;
      cause?: { group?: string; code?: string };
    };
    if (group) return `${group}/${code}`;
    return cause?.group ? `${cause.group}/${cause.code}` : message;
  }
}

describe("perdure/db/drizzle", () => {
  it("is a drizzle database on the actor's own, with execute beside it", async () => {
    deploy(second);
    const writtenAt = new Date(1_700_000_000_123);
    const result = await inAction(subject("notebook"), async (c) => {
      await c.db.insert(authors).values([{ name: "Ada" }, { name: "Grace" }]);
      const written = await c.db
        .insert(notes)
        .values({ authorId: 1, text: "one", pinned: true, writtenAt, data: Buffer.from([1, 2]) })
        .returning();
      c.db.insert(notes).values({ authorId: 2, text: "two" }).run();
      c.db
        .update(notes)
        .set({ text: sql`${notes.text} || '!'` })
        .where(eq(notes.id, 2))
        .run();
      return [
        written.map(({ data, ...note }) => ({ ...note, data: [...(data as Uint8Array)] })),
        await c.db.query.notes.findMany({
          columns: { text: true, pinned: true },
          with: { author: true },
          orderBy: asc(notes.id),
        }),
        c.db
          .select({ note: notes.text, name: authors.name })
          .from(notes)
          .innerJoin(authors, eq(notes.authorId, authors.id))
          .orderBy(asc(notes.id))
          .all(),
        c.db.select().from(authors).where(eq(authors.id, 9)).get() ?? "none",
        c.db.get(sql`select count(*) as n from notes`),
        await c.db.execute("select name from authors where id = ?", 2),
        await c.db.$count(notes),
      ];
    });
    expect(result).toEqual([
      [{ id: 1, authorId: 1, text: "one", pinned: true, writtenAt, data: [1, 2] }],
      [
        { text: "one", pinned: true, author: { id: 1, name: "Ada" } },
        { text: "two!", pinned: false, author: { id: 2, name: "Grace" } },
      ],
      [
        { note: "one", name: "Ada" },
        { note: "two!", name: "Grace" },
      ],
      "none",
      { n: 2 },
      [{ name: "Grace" }],
      2,
    ]);
  });

  it("runs each migration once, at the next start; one that fails changes nothing, and the start fails", async () => {
    deploy(first);
    const object = subject("notebook");
    await inAction(object, async (c) => {
      await c.db.execute(
        "insert into authors (name) values ('Ada'); insert into notes (author_id, text) values (1, 'kept')",
      );
    });
    const texts = (c: Parameters<Run>[0]): unknown => c.db.select({ text: notes.text }).from(notes).all();
    for (const start of [1, 2]) {
      deploy(second);
      await object.evict();
      expect([start, await inAction(object, texts)]).toEqual([start, [{ text: "kept!" }]]);
    }
    deploy(broken);
    await object.evict();
    expect(failureOf(await object.action("run"))).toMatchObject({ code: "rivetkit/internal_error", status: 500 });
    deploy(second);
    await object.evict();
    expect(await inAction(object, texts)).toEqual([{ text: "kept!" }]);
  });

  it("undoes a transaction that throws, also a nested one, and refuses a promise from a function that is not async", async () => {
    deploy(second);
    const result = await inAction(subject("notebook"), async (c) => {
      const codes: unknown[] = [];
      const attempt = (body: () => unknown): void => {
        try {
          codes.push(body());
        } catch (error) {
          // drizzle puts an error of its own around some.
          const { code, cause, message } = error as Error & { code?: string; cause?: { code?: string } };
          codes.push(code ?? cause?.code ?? message);
        }
      };
      attempt(() => c.db.transaction((tx) => (tx.insert(authors).values({ name: "undone" }).run(), tx.rollback())));
      attempt(() =>
        c.db.transaction((tx) => {
          tx.insert(authors).values({ name: "kept" }).run();
          try {
            tx.transaction((inner) => (inner.insert(authors).values({ name: "inner" }).run(), inner.rollback()));
          } catch {}
          return "done";
        }),
      );
      attempt(() =>
        c.db.transaction((tx) => Promise.resolve(tx.insert(authors).values({ name: "asynchronous" }).run())),
      );
      attempt(() => c.db.insert(authors).values({ name: "kept" }).run());
      attempt(() => c.db.run(sql.raw("insert or rollback into authors (name) values ('kept')")));
      attempt(() => c.db.run(sql`select ${new Date(0)}`));
      return [codes, c.db.select({ name: authors.name }).from(authors).all()];
    });
    expect(result).toEqual([
      ["Rollback", "done", "asynchronous_transaction", "constraint_failed", "manual_transaction", "invalid_parameter"],
      [{ name: "kept" }],
    ]);
  });

  it("undoes an asynchronous transaction that throws, and commits one that does not, over turns", async () => {
    deploy(second);
    const result = await inAction(subject("notebook"), async (c) => {
      const fill = (name: string, end: () => unknown): Promise<unknown> =>
        c.db.transaction(async (tx) => {
          await tx.insert(authors).values({ name: `${name} 1` });
          await scheduler.wait(1);
          await tx.insert(authors).values({ name: `${name} 2` });
          return [end(), tx.select().from(authors).all().length, (await tx.query.authors.findMany()).length];
        });
      const thrown = await outcome(fill("undone", () => raise("no")));
      const kept = await outcome(fill("kept", () => "done"));
      const rolledBack = await outcome(
        c.db.transaction(async (tx) => (await tx.insert(authors).values({ name: "rolled back" }), tx.rollback())),
      );
      return [thrown, kept, rolledBack, names(c.db)];
    });
    expect(result).toEqual(["no", ["done", 2, 2], "Rollback", ["kept 1", "kept 2"]]);
  });

  it("nests asynchronous transactions: an inner one is undone alone, and lets nothing between its statements", async () => {
    deploy(second);
    const result = await inAction(subject("notebook"), (c) =>
      c.db.transaction(async (tx) => {
        const seen: unknown[] = [];
        const inner = async (name: string, end: () => unknown): Promise<unknown> =>
          outcome(
            tx.transaction(async (nested) => {
              await nested.insert(authors).values({ name });
              await scheduler.wait(1);
              return end();
            }),
          );
        seen.push(await inner("inner kept", () => "done"), await inner("inner undone", () => raise("no")));
        const running = inner("inner alone", () => "alone");
        seen.push(await outcome(async () => tx.insert(authors).values({ name: "between" }).run()), await running);
        tx.transaction((nested) => nested.insert(authors).values({ name: "at once" }).run());
        seen.push(await outcome(async () => tx.transaction((nested) => nested.transaction(async () => {}))));
        await tx.insert(authors).values({ name: "outer" });
        return [seen, names(tx)];
      }),
    );
    expect(result).toEqual([
      ["done", "no", "sqlite/transaction_open", "alone", "sqlite/asynchronous_transaction"],
      ["inner kept", "inner alone", "at once", "outer"],
    ]);
  });

  it("undoes an outer transaction together with the inner ones it has ended, and one it has left running", async () => {
    deploy(second);
    const result = await inAction(subject("notebook"), async (c) => {
      let left: Promise<unknown> | undefined;
      const whole = await outcome(
        c.db.transaction(async (tx) => {
          await tx.transaction(async (nested) => void (await nested.insert(authors).values({ name: "inner" })));
          raise("no");
        }),
      );
      const running = await outcome(
        c.db.transaction(async (tx) => {
          const begun = new Promise<void>((resolve) => {
            left = outcome(
              tx.transaction(async (nested) => {
                await nested.insert(authors).values({ name: "left running" });
                resolve();
                await new Promise(() => {});
              }),
            );
          });
          await begun;
          return "done";
        }),
      );
      return [whole, running, await left, names(c.db)];
    });
    expect(result).toEqual(["no", "done", "sqlite/transaction_ended", []]);
  });

  it("refuses each handle of a transaction that has ended, and stores nothing by it", async () => {
    deploy(second);
    const result = await inAction(subject("notebook"), async (c) => {
      type Tx = Pick<Client, "insert" | "run">;
      const handles: Tx[] = [];
      const keep = (tx: Tx): void => void handles.push(tx);
      const prepared: { run(): unknown }[] = [];
      c.db.transaction(
        (tx) => (
          keep(tx),
          tx.transaction(keep),
          prepared.push(tx.insert(authors).values({ name: "prepared" }).prepare())
        ),
      );
      await outcome(async () => c.db.transaction((tx) => (keep(tx), raise("no"))));
      await outcome(async () =>
        c.db.transaction(
          (tx) => (keep(tx), Promise.resolve().then(() => void tx.insert(authors).values({ name: "later" }).run())),
        ),
      );
      await c.db.transaction(async (tx) => {
        keep(tx);
        await tx.transaction(async (nested) => keep(nested));
        tx.transaction(keep);
      });
      await outcome(c.db.transaction(async (tx) => (keep(tx), raise("no"))));
      const codes = await Promise.all(
        handles.map((tx) => outcome(async () => tx.insert(authors).values({ name: "late" }).run())),
      );
      codes.push(await outcome(async () => prepared[0]?.run()));
      return [codes, names(c.db)];
    });
    expect(result).toEqual([[...Array(7).fill("sqlite/transaction_ended"), "no", "sqlite/transaction_ended"], []]);
  });

  it.each(["alone", "nested"])("undoes an asynchronous transaction before a commit of the actor; %s", async (how) => {
    deploy(second);
    const object = subject("notebook");
    type Store = {
      readonly kv: { put(key: string, value: string): Promise<void>; get(key: string): Promise<unknown> };
    };
    jobs.set(object.key.join("/"), async (c) => {
      const work = async (tx: Pick<Client, "insert">): Promise<void> => {
        await tx.insert(authors).values({ name: "interrupted" });
        await (c as unknown as Store).kv.put("key", "kept");
      };
      return outcome(
        c.db.transaction(
          how === "nested" ? async (tx) => tx.transaction(async (inner) => work(inner)) : async (tx) => work(tx),
        ),
      );
    });
    const tried = await object.action("run").then(
      (answer) => (answer.ok ? resultOf(answer) : failureOf(answer).code),
      () => "lost",
    );
    const after = await inAction(object, async (c) => [
      names(c.db),
      (await (c as unknown as Store).kv.get("key")) ?? "none",
    ]);
    expect([tried, after]).toEqual(["sqlite/transaction_interrupted", [[], "kept"]]);
  });

  it("commits a step's queries after its last await together with its result, or not at all; refuses those of an ended step", async () => {
    deploy(second);
    const object = subject("flow");
    let runs = 0;
    let kept: Client | undefined;
    jobs.set(object.key.join("/"), async (step) => {
      runs += 1;
      kept = step.db;
      step.db
        .insert(authors)
        .values({ name: `early ${runs}` })
        .run();
      await scheduler.wait(0);
      await step.db.insert(authors).values({ name: `late ${runs}` });
      if (runs === 1) objectOf(step.name, step.key).die();
    });
    await object.action("status").catch(() => {});
    await object.runAlarms();
    expect([await object.call("status"), await object.call("names")]).toEqual([
      "completed",
      ["early 1", "early 2", "late 2"],
    ]);
    expect(() => (kept as Client).insert(authors).values({ name: "too late" }).run()).toThrow(
      expect.objectContaining({ code: "step_ended" }),
    );
  });
});

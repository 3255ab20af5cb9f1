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
  authorId: integer("author_id").notNull().references(() => authors.id),
  text: text("text").notNull(),
  pinned: integer("pinned", { mode: "boolean" }).notNull().default(false),
  writtenAt: integer("written_at", { mode: "timestamp_ms" }),
  data: blob("data", { mode: "buffer" }),
});
const schema = { authors, notes, noteRelations: relations(notes, ({ one }) => ({ author: one(authors, { fields: [notes.authorId], references: [authors.id] }) })) };
type Client = DrizzleDatabase<typeof schema>;

const first = {
  journal: { entries: [{ idx: 0, when: 1, tag: "0000_first", breakpoints: true }] },
  migrations: {
    m0000: "CREATE TABLE `authors` (`id` integer PRIMARY KEY NOT NULL, `name` text NOT NULL);\n--> statement-breakpoint\nCREATE UNIQUE INDEX `authors_name_unique` ON `authors` (`name`);\n--> statement-breakpoint\nCREATE TABLE `notes` (`id` integer PRIMARY KEY NOT NULL, `author_id` integer NOT NULL REFERENCES `authors`(`id`), `text` text NOT NULL, `written_at` integer, `data` blob);",
  },
};
const second = {
  journal: { entries: [...first.journal.entries, { idx: 1, when: 2, tag: "0001_second", breakpoints: false }] },
  migrations: { ...first.migrations, m0001: "ALTER TABLE `notes` ADD `pinned` integer DEFAULT false NOT NULL;\nUPDATE `notes` SET `text` = `text` || '!';" },
};
const broken = { journal: { entries: [...second.journal.entries, { idx: 2, when: 3, tag: "0002_broken", breakpoints: true }] }, migrations: { ...second.migrations, m0002: "DELETE FROM `notes`;\n--> statement-breakpoint\nCREATE TABLE" } };

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
          actions: { names: (c) => c.db.select({ name: authors.name }).from(authors).orderBy(asc(authors.id)).all().map(({ name }) => name), status: (c) => c.workflow.status().status },
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

describe("perdure/db/drizzle", () => {
  it("is a drizzle database on the actor's own, with execute beside it", async () => {
    deploy(second);
    const writtenAt = new Date(1_700_000_000_123);
    const result = await inAction(subject("notebook"), async (c) => {
      await c.db.insert(authors).values([{ name: "Ada" }, { name: "Grace" }]);
      const written = await c.db.insert(notes).values({ authorId: 1, text: "one", pinned: true, writtenAt, data: Buffer.from([1, 2]) }).returning();
      c.db.insert(notes).values({ authorId: 2, text: "two" }).run();
      c.db.update(notes).set({ text: sql`${notes.text} || '!'` }).where(eq(notes.id, 2)).run();
      return [
        written.map(({ data, ...note }) => ({ ...note, data: [...(data as Uint8Array)] })),
        await c.db.query.notes.findMany({ columns: { text: true, pinned: true }, with: { author: true }, orderBy: asc(notes.id) }),
        c.db.select({ note: notes.text, name: authors.name }).from(notes).innerJoin(authors, eq(notes.authorId, authors.id)).orderBy(asc(notes.id)).all(),
        c.db.select().from(authors).where(eq(authors.id, 9)).get() ?? "none",
        c.db.get(sql`select count(*) as n from notes`),
        await c.db.execute("select name from authors where id = ?", 2),
        await c.db.$count(notes),
      ];
    });
    expect(result).toEqual([
      [{ id: 1, authorId: 1, text: "one", pinned: true, writtenAt, data: [1, 2] }],
      [{ text: "one", pinned: true, author: { id: 1, name: "Ada" } }, { text: "two!", pinned: false, author: { id: 2, name: "Grace" } }],
      [{ note: "one", name: "Ada" }, { note: "two!", name: "Grace" }],
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
      await c.db.execute("insert into authors (name) values ('Ada'); insert into notes (author_id, text) values (1, 'kept')");
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

  it("undoes a transaction that throws, also a nested one, and refuses one that is asynchronous", async () => {
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
      attempt(() => c.db.transaction(async (tx) => (tx.insert(authors).values({ name: "asynchronous" }).run(), tx.rollback())));
      attempt(() => c.db.insert(authors).values({ name: "kept" }).run());
      attempt(() => c.db.run(sql.raw("insert or rollback into authors (name) values ('kept')")));
      attempt(() => c.db.run(sql`select ${new Date(0)}`));
      return [codes, c.db.select({ name: authors.name }).from(authors).all()];
    });
    expect(result).toEqual([["Rollback", "done", "asynchronous_transaction", "constraint_failed", "manual_transaction", "invalid_parameter"], [{ name: "kept" }]]);
  });

  it("commits a step's queries after its last await together with its result, or not at all; refuses those of an ended step", async () => {
    deploy(second);
    const object = subject("flow");
    let runs = 0;
    let kept: Client | undefined;
    jobs.set(object.key.join("/"), async (step) => {
      runs += 1;
      kept = step.db;
      step.db.insert(authors).values({ name: `early ${runs}` }).run();
      await scheduler.wait(0);
      await step.db.insert(authors).values({ name: `late ${runs}` });
      if (runs === 1) objectOf(step.name, step.key).die();
    });
    await object.action("status").catch(() => {});
    await object.runAlarms();
    expect([await object.call("status"), await object.call("names")]).toEqual(["completed", ["early 1", "early 2", "late 2"]]);
    expect(() => (kept as Client).insert(authors).values({ name: "too late" }).run()).toThrow(expect.objectContaining({ code: "step_ended" }));
  });
});

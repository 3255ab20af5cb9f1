// A drizzle database, in an actor's contexts.
import { eq } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { actor } from "perdure";
import { db, defineConfig, type DrizzleDatabase } from "perdure/db/drizzle";
import { workflow } from "perdure/workflow";
import { exactly } from "./exactly.js";

const notes = sqliteTable("notes", {
  id: integer("id").primaryKey(),
  text: text("text").notNull(),
  done: integer("done", { mode: "boolean" }),
});
const schema = { notes };
const migrations = {
  journal: { entries: [{ idx: 0, when: 1, tag: "0000_first", breakpoints: true }] },
  migrations: { m0000: "create table notes (id integer primary key, text text not null, done integer)" },
};

export const notebook = actor({
  db: db({ schema, migrations, onMigrate: (client) => exactly<DrizzleDatabase<typeof schema>>()(client) }),
  state: { n: 0 },
  onCreate: (c) => exactly<DrizzleDatabase<typeof schema>>()(c.db),
  run: workflow(async (ctx) => {
    await ctx.step("s", async (step) => {
      exactly<{ text: string }[]>()(await step.db.select({ text: notes.text }).from(notes));
    });
  }),
  actions: {
    all: async (c) => {
      exactly<{ id: number; text: string; done: boolean | null }[]>()(
        c.db.select().from(notes).where(eq(notes.id, 1)).all(),
      );
      exactly<{ id: number; text: string; done: boolean | null } | undefined>()(await c.db.query.notes.findFirst());
      exactly<Record<string, unknown>[]>()(await c.db.execute("select 1"));
      exactly<number>()(c.db.transaction((tx) => tx.select().from(notes).all().length));
      // @ts-expect-error no such column
      c.db.insert(notes).values({ text: "x", other: 1 }).run();
    },
  },
});

export const plain = actor({ db: db(), actions: { run: (c) => exactly<DrizzleDatabase>()(c.db) } });

exactly<"sqlite">()(defineConfig({ schema: "./schema.ts", out: "./drizzle" }).dialect);

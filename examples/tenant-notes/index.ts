import { actor, event, queue, setup } from "perdure";
import { db, type SqlExecutor } from "perdure/db";
import { workflow } from "perdure/workflow";

export interface Note {
  id: number;
  text: string;
  writtenAt: number;
}

/** Each runs once for each tenant, at its next start. A new release adds to the end, and changes none that was deployed. */
const MIGRATIONS = [
  "create table notes (id integer primary key, text text not null, written_at integer not null)",
  `create virtual table note_words using fts5 (text, content = 'notes', content_rowid = 'id');
   insert into note_words (rowid, text) select id, text from notes;
   create trigger note_added after insert on notes begin
     insert into note_words (rowid, text) values (new.id, new.text);
   end;
   create trigger note_removed after delete on notes begin
     insert into note_words (note_words, rowid, text) values ('delete', old.id, old.text);
   end`,
];

/** If anything of it fails, all of it is undone, and the tenant's next call tries again. */
async function migrate(sql: SqlExecutor): Promise<void> {
  await sql.execute("create table if not exists migrations (id integer primary key)");
  const [last] = await sql.execute<{ done: number }>("select count(*) as done from migrations");
  for (let id = last?.done ?? 0; id < MIGRATIONS.length; id += 1) {
    await sql.execute(MIGRATIONS[id] ?? "");
    await sql.execute("insert into migrations values (?)", id);
  }
}

/** Notes of one tenant, in a database of its own: no query can reach another's, and `destroy` deletes all of it. */
export const tenantNotes = actor({
  state: { imported: 0 },
  db: db({ onMigrate: migrate }),
  events: { changed: event<[]>() },
  queues: { imports: queue<{ notebook: string }>() },
  run: workflow(async (ctx) => {
    await ctx.loop("import-loop", async (loopCtx) => {
      const { body } = await loopCtx.queue.next("wait-import");
      await loopCtx.step("import-notebook", async (step) => {
        const response = await fetch(`https://api.example.com/notebooks/${body.notebook}`);
        if (!response.ok) throw new Error(`notebooks/${body.notebook} answered ${response.status}`);
        const { texts } = (await response.json()) as { texts: string[] };
        // From here on nothing but statements is awaited: they, the state and the step's end are one commit, so that a crash
        // leaves all notes of the notebook or none.
        for (const text of texts) await insert(step.db, text);
        step.state.imported += texts.length;
        step.broadcast("changed");
      });
    });
  }),
  actions: {
    getState: (c) => c.state,
    add: async (c, text: string) => {
      const id = await insert(c.db, text);
      c.broadcast("changed");
      return id;
    },
    list: (c, limit = 20) =>
      c.db.execute<Note>("select id, text, written_at as writtenAt from notes order by id desc limit ?", limit),
    /** Notes that hold all of the words, or words that begin with them; the best first. */
    search: (c, words: string) => {
      const query = words
        .split(/\s+/)
        .filter(Boolean)
        .map((word) => `"${word.replaceAll('"', '""')}"*`)
        .join(" ");
      if (query === "") return [];
      return c.db.execute<Note>(
        `select notes.id, notes.text, written_at as writtenAt from note_words join notes on notes.id = note_words.rowid
         where note_words match ? order by rank limit 20`,
        query,
      );
    },
    /** Deletes all that match, or, if there are more than expected, none. */
    removeMatching: async (c, text: string, atMost: number) => {
      const count = await c.db.transaction(async (tx) => {
        const removed = await tx.execute("delete from notes where text like :text returning id", { text: `%${text}%` });
        if (removed.length > atMost) throw new Error(`${removed.length} notes match, not ${atMost}`);
        return removed.length;
      });
      c.broadcast("changed");
      return count;
    },
    destroy: (c) => c.destroy(),
  },
});

async function insert(sql: SqlExecutor, text: string): Promise<number> {
  const [row] = await sql.execute<{ id: number }>(
    "insert into notes (text, written_at) values (?, ?) returning id",
    text,
    Date.now(),
  );
  return row?.id ?? 0;
}

export const registry = setup({ use: { tenantNotes } });

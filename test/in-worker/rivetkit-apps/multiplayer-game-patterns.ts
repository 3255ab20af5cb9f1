// oxlint-disable import/no-cycle -- a type only, as apps have it
import { actor, event, queue, UserError, type ActionContextOf, type ActorContext } from "rivetkit";
import { db } from "rivetkit/db";
import { interval } from "rivetkit/utils";
import type { registry } from "./registry.js";

/** What a helper of SQL asks of a database. */
interface Sql {
  execute(sql: string, ...args: unknown[]): Promise<unknown[]>;
}
const waitingIn = async (sql: Sql, mode: unknown): Promise<number> =>
  (await sql.execute("SELECT id FROM waiting WHERE mode = ?", mode)).length;

/** Puts players together: SQL, a queue, a run handler, and actors that it makes. */
export const matchmaker = actor({
  db: db({
    onMigrate: async (sql) => {
      await sql.execute("CREATE TABLE IF NOT EXISTS waiting (id TEXT PRIMARY KEY, mode TEXT NOT NULL)");
    },
  }),
  events: { assigned: event<{ players: string[]; match: string }>() },
  queues: { join: queue<{ player: string; mode: string }, { match: string | null }>() },
  run: async (c) => {
    for await (const message of c.queue.iter({ names: ["join"], completable: true })) {
      const { player, mode } = message.body;
      await c.db.execute("INSERT OR IGNORE INTO waiting VALUES (?, ?)", player, mode);
      if ((await waitingIn(c.db, mode)) < 2) {
        await message.complete({ match: null });
        continue;
      }
      const rows = await c.db.execute<{ id: string }>("DELETE FROM waiting WHERE mode = ? RETURNING id", mode);
      const players = rows.map(({ id }) => id);
      const match = players.toSorted().join("-");
      await c.client<typeof registry>().match.create([match], { input: { players } });
      c.broadcast("assigned", { players, match });
      await message.complete({ match });
    }
  },
  actions: { waiting: (c, mode: string): Promise<number> => waitingIn(c.db, mode) },
});

/** One game, with a tick while somebody plays. */
export const match = actor({
  createState: (_c, input: { players: string[] }) => ({
    players: input.players,
    hits: {} as Record<string, number>,
    ticks: 0,
  }),
  events: { tick: event<number>() },
  onBeforeConnect: (c, params: { player: string } | undefined) => {
    if (params && !c.state.players.includes(params.player))
      throw new UserError("Not your match", { code: "not_in_match" });
  },
  run: async (c) => {
    const tick = interval(5);
    while (!c.aborted && c.state.ticks < 3) {
      await tick();
      c.state.ticks += 1;
      broadcastTick(c, c.state.ticks);
    }
  },
  actions: { hit: (c, player: string): number => hit(c, player) },
});

function hit(c: ActionContextOf<typeof match>, player: string): number {
  return (c.state.hits[player] = (c.state.hits[player] ?? 0) + 1);
}

function broadcastTick(c: ActorContext<any, any, any, any, any, any>, tick: number): void {
  c.broadcast("tick", tick);
}

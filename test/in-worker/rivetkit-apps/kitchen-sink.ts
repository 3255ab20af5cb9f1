import { actor, defineRunHandler, event, type RunConfig, type WakeContext } from "rivetkit";
import { db, type DatabaseProvider, type RawAccess } from "rivetkit/db";
import { getLogger } from "rivetkit/log";
import { migrations } from "rivetkit/unstable/migrations";
import { assertUnreachable, promiseWithResolvers, setLongTimeout } from "rivetkit/utils";

interface State {
  wakes: number;
  ran: boolean;
  seen: string[];
}
type Kind = "kv" | "sql" | "log";

const log = getLogger("kitchen");
const run: RunConfig["run"] = defineRunHandler(
  async (c) => {
    const { promise, resolve } = promiseWithResolvers<void>((reason) => log.warn({ msg: "not resolved", reason }));
    setLongTimeout(resolve, 1);
    await promise;
    (c.state as State).ran = true;
    await c.saveState({ immediate: true });
  },
  { name: "Kitchen", icon: "spoon" },
);

export const kitchenSink = actor({
  state: { wakes: 0, ran: false, seen: [] } as State,
  events: { seen: event<string>() },
  db: db({ onMigrate: migrations({ migrations: [{ version: 1, sql: "CREATE TABLE seen (kind TEXT, at INTEGER)" }] }) }),
  onWake: (c) => count(c),
  run: run as never,
  options: { actionTimeout: 5_000, noSleep: false },
  actions: {
    see: async (c, kind: Kind) => {
      switch (kind) {
        case "kv":
          await c.kv.put("seen/kv", "1");
          return (await c.kv.rawListPrefix("seen/")).length;
        case "sql":
          await c.db.execute("INSERT INTO seen VALUES (?, ?)", kind, Date.now());
          return (await c.db.execute("SELECT kind FROM seen")).length;
        case "log":
          c.log.child({ kind }).info("seen");
          return 1;
        default:
          return assertUnreachable(kind);
      }
    },
    mark: (c, what: string) => {
      c.conn.state = { what };
      c.state.seen.push(what);
      return c.conn.state;
    },
    state: (c) => c.state,
  },
});

function count(c: WakeContext<State, any, any, any, any, DatabaseProvider<RawAccess>>): void {
  c.state.wakes += 1;
}

import type { DrizzleConfig } from "drizzle-orm";
import { drizzle, type DrizzleSqliteDODatabase } from "drizzle-orm/durable-sqlite";
import { migrate } from "drizzle-orm/durable-sqlite/migrator";
import type { DatabaseAccess, DatabaseProvider, RawAccess } from "../actor/index.js";
import { storageOf } from "./drizzle-storage.js";
import { bindTransactions } from "./drizzle-transaction.js";

/** What `drizzle-kit generate` writes with the driver `durable-sqlite`: `import migrations from "./drizzle/migrations"`. */
export interface DrizzleMigrations {
  /** `meta/_journal.json`, as it was imported. */
  readonly journal: unknown;
  /** The texts of the `.sql` files, by `m0000`, `m0001`, … */
  readonly migrations: Readonly<Record<string, string>>;
}

export interface DrizzleDatabaseConfig<Schema extends Record<string, unknown>> extends Pick<
  DrizzleConfig<Schema>,
  "casing" | "logger"
> {
  /** The tables, for `c.db.query`. */
  readonly schema?: Schema;
  /** Those that an actor has not seen yet run at its next start. */
  readonly migrations?: DrizzleMigrations;
  /** After the migrations, at every start; undone with them if it throws. */
  readonly onMigrate?: (db: DrizzleDatabase<Schema>) => void | Promise<void>;
}

/** A drizzle database, and the plain `execute` and `close` of perdure/db. */
export type DrizzleDatabase<Schema extends Record<string, unknown> = Record<string, never>> =
  DrizzleSqliteDODatabase<Schema> & Pick<RawAccess, "execute" | "close">;

/**
 * SQL for an actor by drizzle: `actor({ db: db({ schema, migrations }), … })`, then `c.db.select().from(…)`. Needs the
 * package `drizzle-orm`.
 *
 * Its queries are synchronous and run in the turn of their call, awaited or not, so what is said of `execute` in perdure/db
 * holds for them. A transaction of a function that is not `async`, `c.db.transaction((tx) => …)`, is synchronous too, and
 * committed together with whatever else its turn changes. One of an `async` function takes its turns and commits on its own,
 * as `transaction` of perdure/db does; while it is open, use its `tx` only: queries on `c.db` are refused with
 * sqlite/transaction_open. Both nest.
 *
 * @throws TypeError for an unknown key
 */
export function db<Schema extends Record<string, unknown> = Record<string, never>>(
  config: DrizzleDatabaseConfig<Schema> = {},
): DatabaseProvider<DrizzleDatabase<Schema>> {
  const { schema, migrations, onMigrate, casing, logger, ...unknown } = config;
  const [key] = Object.keys(unknown);
  if (key !== undefined) throw new TypeError(`db(): unknown key "${key}"`);
  const options = { ...(schema && { schema }), ...(casing && { casing }), ...(logger !== undefined && { logger }) };
  return {
    createClient: (access) => createClient(access, options),
    ...((migrations || onMigrate) && {
      onMigrate: async (client) => {
        if (migrations) await migrate(client, migrations as Parameters<typeof migrate>[1]);
        await onMigrate?.(client);
      },
    }),
  };
}

function createClient<Schema extends Record<string, unknown>>(
  access: DatabaseAccess,
  options: DrizzleConfig<Schema>,
): DrizzleDatabase<Schema> {
  const { execute, close } = access.raw;
  const database = drizzle(storageOf(access), options);
  bindTransactions(database as never, access);
  return Object.assign(database, { execute, close });
}

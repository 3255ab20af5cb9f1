import type { DrizzleConfig } from "drizzle-orm";
import { drizzle, type DrizzleSqliteDODatabase } from "drizzle-orm/durable-sqlite";
import { migrate } from "drizzle-orm/durable-sqlite/migrator";
import { databaseProvider, type DatabaseAccess, type DatabaseProvider, type RawAccess } from "../actor/index.js";
import { storageOf } from "./drizzle-storage.js";
import { bindTransactions } from "./drizzle-transaction.js";

/**
 * The output of `drizzle-kit generate` with the driver `durable-sqlite`: `import migrations from
 * "./drizzle/migrations"`.
 */
export interface DrizzleMigrations {
  /** The imported `meta/_journal.json`. */
  readonly journal: unknown;
  /** The contents of the `.sql` files, by `m0000`, `m0001`, … */
  readonly migrations: Readonly<Record<string, string>>;
}

export interface DrizzleDatabaseConfig<Schema extends Record<string, unknown>> extends Pick<
  DrizzleConfig<Schema>,
  "casing" | "logger"
> {
  /** The tables, for `c.db.query`. */
  readonly schema?: Schema;
  /** Migrations. An actor runs those it has not run yet at its next start. */
  readonly migrations?: DrizzleMigrations;
  /** Runs after the migrations, at every start. If it throws, the migrations are undone too. */
  readonly onMigrate?: (db: DrizzleDatabase<Schema>) => void | Promise<void>;
}

/** A drizzle database with `execute` and `close` of perdure/db. */
export type DrizzleDatabase<Schema extends Record<string, unknown> = Record<string, never>> =
  DrizzleSqliteDODatabase<Schema> & Pick<RawAccess, "execute" | "close">;

/**
 * Gives an actor an SQL database through drizzle. Needs the package `drizzle-orm`.
 *
 * Queries are synchronous and run when they are called, awaited or not: they are committed as `execute` of perdure/db
 * describes. `c.db.transaction((tx) => …)` with a function that is not `async` is synchronous too, and committed
 * together with all other changes of its turn. With an `async` function it commits on its own, like `transaction` of
 * perdure/db; while it is open use only its `tx`, since queries on `c.db` are refused with `sqlite/transaction_open`.
 * Both nest.
 *
 * @example
 *     const library = actor({
 *       db: db({ schema: { books }, migrations }),
 *       actions: { all: (c) => c.db.select().from(books) },
 *     });
 * @throws TypeError when the configuration has an unknown key
 */
export function db<Schema extends Record<string, unknown> = Record<string, never>>(
  config: DrizzleDatabaseConfig<Schema> = {},
): DatabaseProvider<DrizzleDatabase<Schema>> {
  const { schema, migrations, onMigrate, casing, logger, ...unknown } = config;
  const [key] = Object.keys(unknown);
  if (key !== undefined) throw new TypeError(`db(): unknown key "${key}"`);
  const options = { ...(schema && { schema }), ...(casing && { casing }), ...(logger !== undefined && { logger }) };
  return databaseProvider<DrizzleDatabase<Schema>>({
    createClient: (access) => createClient(access, options),
    ...((migrations || onMigrate) && {
      onMigrate: async (client) => {
        if (migrations) await migrate(client, migrations as Parameters<typeof migrate>[1]);
        await onMigrate?.(client);
      },
    }),
  });
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

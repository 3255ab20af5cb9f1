import type { ExtractTablesWithRelations } from "drizzle-orm";
import { SQLiteDOSession, SQLiteDOTransaction, type DrizzleSqliteDODatabase } from "drizzle-orm/durable-sqlite";
import type { SqlSession } from "../actor/index.js";
import { storageOf } from "./drizzle-storage.js";

type Schema = Record<string, unknown>;
type Transaction = SQLiteDOTransaction<Schema, ExtractTablesWithRelations<Schema>>;
type Work = (tx: Transaction) => unknown;
type SessionArguments = ConstructorParameters<typeof SQLiteDOSession<Schema, ExtractTablesWithRelations<Schema>>>;

/** Members of drizzle's database that its types hide. */
interface Internals {
  readonly dialect: SessionArguments[1];
  readonly session: {
    readonly schema: SessionArguments[2];
    readonly logger: NonNullable<SessionArguments[3]>["logger"];
    transaction(work: Work): unknown;
  };
}

/**
 * Gives each transaction of a drizzle database its own session, and lets one of an `async` function span several turns.
 */
export function bindTransactions(database: DrizzleSqliteDODatabase<Schema>, sql: SqlSession): void {
  const { dialect, session } = database as unknown as Internals;
  const { schema, logger } = session;
  const begin = (outer: SqlSession, work: Work, depth: number): unknown => {
    const run = (inner: SqlSession): unknown => {
      const own = new SQLiteDOSession(storageOf(inner), dialect, schema, logger && { logger });
      const tx = new SQLiteDOTransaction("sync", dialect, own, schema, depth);
      tx.transaction = own.transaction = (nested: never) => begin(inner, nested, depth + 1) as never;
      return work(tx);
    };
    return isAsync(work) ? outer.transaction(async (inner) => run(inner)) : outer.atomically(run);
  };
  session.transaction = (work) => begin(sql, work, 0);
}

/** Whether a function is async, decided before its call, since the transaction must begin first. */
function isAsync(work: Work): boolean {
  return Object.prototype.toString.call(work) === "[object AsyncFunction]";
}

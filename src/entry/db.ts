/** `perdure/db`: SQL for an actor, on its own SQLite database. */
export { databaseProvider, db } from "../actor/index.js";
export type {
  AnyDatabaseProvider,
  DatabaseAccess,
  DatabaseConfig,
  DatabaseProvider,
  InferDatabaseClient,
  RawAccess,
  SqlExecutor,
  SqlParameters,
  SqlTable,
  SqlValue,
  TransactionOptions,
} from "../actor/index.js";

export { db } from "../actor/index.js";
export type { DatabaseAccess, DatabaseConfig, DatabaseProvider, RawAccess, SqlExecutor, SqlParameters, SqlTable, SqlValue, TransactionOptions } from "../actor/index.js";

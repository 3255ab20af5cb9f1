/** `perdure/db/drizzle`: SQL for an actor through drizzle, and drizzle's builders. */
export {
  alias,
  blob,
  check,
  db,
  defineConfig,
  foreignKey,
  index,
  integer,
  numeric,
  primaryKey,
  real,
  SQLiteTable,
  sqliteTable,
  sqliteTableCreator,
  sqliteView,
  text,
  unique,
  uniqueIndex,
} from "../../drizzle/index.js";
export type {
  DrizzleDatabase,
  DrizzleDatabaseConfig,
  DrizzleKitConfig,
  DrizzleMigrations,
} from "../../drizzle/index.js";

// What RivetKit's entry of the same name offers beside `db`: drizzle's own.
export {
  alias,
  blob,
  check,
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
} from "drizzle-orm/sqlite-core";

// drizzle's own builders, as RivetKit's entry of the same name exports them beside `db`.
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

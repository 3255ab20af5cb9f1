import { carryPart } from "../definition/part-carrier.js";
import type { DatabaseConfig, DatabaseProvider, RawAccess } from "../api/database-types.js";
import { DATABASE_PART } from "./database-part.js";

/**
 * SQL for an actor, on the SQLite database of its own object: `actor({ db: db({ onMigrate }), … })`, then `c.db.execute(…)`.
 *
 * Everything is deleted when the actor is destroyed. A new actor whose creation fails leaves no table behind.
 *
 * @throws TypeError when a key is unknown or `onMigrate` is not a function
 * @example
 *     const notes = actor({
 *       db: db({ onMigrate: (db) => db.execute("CREATE TABLE IF NOT EXISTS notes (text TEXT)") }),
 *       actions: { add: (c, text: string) => c.db.execute("INSERT INTO notes VALUES (?)", text) },
 *     });
 */
export function db(config: DatabaseConfig = {}): DatabaseProvider<RawAccess> {
  if (typeof config !== "object" || config === null) throw new TypeError("db() takes a configuration object");
  const { onMigrate, warnOnManualTransactions: _ignored, ...unknown } = config;
  const [key] = Object.keys(unknown);
  if (key !== undefined) throw new TypeError(`db(): unknown key "${key}"`);
  if (onMigrate !== undefined && typeof onMigrate !== "function")
    throw new TypeError('db(): "onMigrate" must be a function');
  return carryPart<DatabaseProvider<RawAccess>>(
    { createClient: ({ raw }) => raw, ...(onMigrate ? { onMigrate } : {}) },
    DATABASE_PART,
  );
}

import { ActorError, fieldOf } from "../../protocol/index.js";
import type { Part } from "../activation/part.js";
import type { DatabaseProvider } from "../api/database-types.js";
import { carryPart } from "../definition/part-carrier.js";
import { Database } from "./database.js";

/** The part behind `c.db`. Its tables belong to the user and share the storage with the actor's rows. */
export const DATABASE_PART: Part = {
  name: "db",
  /** @throws feature/unsupported if the store has no SQL */
  join(actor, carrier) {
    const { sql } = actor;
    if (!sql)
      throw new ActorError("feature", "unsupported", "This store has no SQL, and the actor has a database configured");
    const database = new Database(actor, sql, carrier as DatabaseProvider<unknown>);
    return {
      members: { db: () => database.client },
      stepMembers: { db: ({ guard, begin }) => database.createClient(guard, begin) },
      get writes() {
        return database.writes;
      },
      start: {
        hasMigration: database.hasMigration,
        migrate: () => database.migrate(),
        open: () => database.open(),
        together: (name, timeoutMs, work) => database.start(name, timeoutMs, work),
      },
      leaving: () => database.leaving(),
      idle: () => database.idle(),
    };
  },
};

/**
 * Makes your own database provider usable as `actor({ db })`.
 *
 * @throws TypeError when `createClient` is missing or a member is not a function
 * @example
 *     const notes = databaseProvider({
 *       createClient: ({ raw }) => ({ add: (text: string) => raw.execute("INSERT INTO notes VALUES (?)", text) }),
 *       onMigrate: (client) => …,
 *     });
 *     actor({ db: notes, actions: { add: (c, text: string) => c.db.add(text) } });
 */
export function databaseProvider<DB>(provider: DatabaseProvider<DB>): DatabaseProvider<DB> {
  if (typeof provider !== "object" || provider === null)
    throw new TypeError("databaseProvider() takes { createClient, onMigrate }");
  if (typeof fieldOf(provider, "createClient") !== "function")
    throw new TypeError('databaseProvider(): "createClient" must be a function');
  const onMigrate = fieldOf(provider, "onMigrate");
  if (onMigrate !== undefined && typeof onMigrate !== "function")
    throw new TypeError('databaseProvider(): "onMigrate" must be a function');
  const made: DatabaseProvider<DB> = {
    createClient: (access) => provider.createClient(access),
    ...(onMigrate === undefined ? {} : { onMigrate: (client) => provider.onMigrate?.(client) }),
  };
  return carryPart(made, DATABASE_PART);
}

import process from "node:process";
import type { SqliteDatabase } from "../../testing/index.js";

/**
 * Makes an empty database of Node's own SQLite, in memory. It is loaded when an actor first uses its database.
 *
 * @throws Error when this Node has none
 */
export function openNodeDatabase(load: (id: string) => unknown = loadBuiltin): SqliteDatabase {
  const sqlite = load("node:sqlite") as { readonly DatabaseSync: new (path: string) => SqliteDatabase } | undefined;
  if (sqlite) return new sqlite.DatabaseSync(":memory:");
  throw new Error(
    `Actors with a database need node:sqlite in a test world, which Node ${process.versions.node} does not have: use Node 22.13 or newer`,
  );
}

const loadBuiltin = (id: string): unknown => process.getBuiltinModule(id);

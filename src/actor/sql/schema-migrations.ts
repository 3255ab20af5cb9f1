import type { SqlExecutor } from "../api/database-types.js";

/** Where `migrations()` notes how far a schema has come, if nothing else is said. */
export const DEFAULT_MIGRATION_TABLE_NAME = "rivetkit_schema_version";

/** What a migration works on. */
export type MigrationDatabase = Pick<SqlExecutor, "execute">;

/** One step of a schema: SQL, or a function. */
export type Migration =
  | { readonly version: number; readonly sql: string; readonly up?: never }
  | { readonly version: number; readonly sql?: never; readonly up: (db: MigrationDatabase) => Promise<void> | void };

export interface MigrationsOptions {
  /** Another table to note the version in: for a second schema in one database. */
  readonly tableName?: string;
  /** Asked once, of a schema that is older than its table: which version it has. */
  readonly adopt?: (db: MigrationDatabase) => Promise<number> | number;
  /** Numbered 1, 2, 3, … */
  readonly migrations: readonly Migration[];
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * An `onMigrate` that runs those migrations that a database has not seen, in their order. Within an actor's start they are all
 * or nothing, together with the version.
 *
 * @throws TypeError for a ladder that is not numbered 1, 2, 3, …; at the start, an Error for a database that is newer than the ladder
 * @example
 *     actor({ db: db({ onMigrate: migrations({ migrations: [{ version: 1, sql: "CREATE TABLE notes (text TEXT)" }] }) }), actions: {} });
 */
export function migrations({
  tableName = DEFAULT_MIGRATION_TABLE_NAME,
  adopt,
  migrations: ladder,
}: MigrationsOptions): (db: MigrationDatabase) => Promise<void> {
  if (!NAME.test(tableName)) throw new TypeError(`migrations(): "${tableName}" is not a plain table name`);
  ladder.forEach(({ version, sql, up }, index) => {
    if (version !== index + 1) throw new TypeError(`migrations(): version ${version} stands where ${index + 1} must`);
    if (typeof sql !== "string" && typeof up !== "function")
      throw new TypeError(`migrations(): version ${version} needs "sql" or "up"`);
  });
  return async (db) => {
    await db.execute(
      `CREATE TABLE IF NOT EXISTS ${tableName} (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL)`,
    );
    const [noted] = await db.execute<{ version: number }>(`SELECT version FROM ${tableName}`);
    const from = noted?.version ?? (await adopt?.(db)) ?? 0;
    if (!Number.isSafeInteger(from) || from < 0)
      throw new Error(`migrations(): "adopt" gave ${String(from)}, which is no version`);
    if (from > ladder.length)
      throw new Error(
        `The database has version ${from} of its schema, and the code knows ${ladder.length}: it is older than what wrote it`,
      );
    for (const { sql, up } of ladder.slice(from)) await (up ? up(db) : db.execute(sql));
    if (noted?.version !== ladder.length)
      await db.execute(
        `INSERT INTO ${tableName} (id, version) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET version = excluded.version`,
        ladder.length,
      );
  };
}

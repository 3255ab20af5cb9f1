/** SQL as tests of the contract use it: one table, its values, and a commit of one row beside it. */
import type { Batch, SqlDatabase, StoreActivation } from "../actor/ports.js";

export const TABLE = "create table if not exists t (x)";

/** A commit of one row. */
export const one = (): Batch => ({ puts: new Map([["a", Uint8Array.of(1)]]), deletes: new Set() });

export function sqlOf({ sql }: StoreActivation): SqlDatabase {
  if (sql) return sql;
  throw new Error("The store has no SQL");
}

/** What the table holds, in the order of its inserts. */
export function valuesIn(sql: SqlDatabase): unknown[] {
  return sql.execute("select x from t order by rowid", []).rows.map(([x]) => x);
}

/** Whether it threw. */
export function failureOf(run: () => unknown): string {
  try {
    run();
    return "none";
  } catch {
    return "failed";
  }
}

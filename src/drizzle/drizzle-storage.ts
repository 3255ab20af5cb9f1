import type { SqlSession } from "../actor/index.js";

type Cell = null | number | string | Uint8Array;

/**
 * The part of an object's storage that drizzle uses, over the actor's database, so that its checks apply to drizzle
 * too.
 */
export function storageOf({ run, atomically }: SqlSession): DurableObjectStorage {
  const exec = (sql: string, ...parameters: unknown[]): object => {
    const { columns, rows } = run(sql, parameters);
    const objects = (): Record<string, Cell>[] =>
      rows.map((cells) => Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? null])));
    return { toArray: objects, next: () => objects().values().next(), raw: () => ({ toArray: () => rows }) };
  };
  return { sql: { exec }, transactionSync: atomically } as unknown as DurableObjectStorage;
}

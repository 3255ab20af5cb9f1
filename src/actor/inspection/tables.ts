import { ActorError } from "../../protocol/index.js";
import type { SqlCell } from "../ports.js";
import type { InspectedActor } from "./inspected-actor.js";
import { limitOf, numberFrom, ROWS_AT_A_TIME, SHOWN_BYTES } from "./paging.js";

const TABLES =
  "SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view') " +
  "AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '_cf_*' ORDER BY name";

/** A table or view, and the statement that made it. */
export interface InspectedTable {
  readonly name: string;
  readonly type: string;
  readonly sql: string;
}

export function tablesOf({ sql }: InspectedActor): { readonly items: readonly InspectedTable[] } {
  const { rows = [] } = sql?.execute(TABLES, []) ?? {};
  return { items: rows.map(([name, type, made]) => ({ name: String(name), type: String(type), sql: String(made) })) };
}

export function tableNames(actor: InspectedActor): string[] {
  return tablesOf(actor).items.map(({ name }) => name);
}

/** A table with what SQLite says of it, by the names of its pragmas. */
export interface InspectedSchema {
  readonly name: string;
  readonly type: string;
  readonly columns: readonly Readonly<Record<string, SqlCell>>[];
  readonly foreignKeys: readonly Readonly<Record<string, SqlCell>>[];
  /** How many rows it has. */
  readonly records: number;
}

export function schemaOf(actor: InspectedActor): { readonly items: readonly InspectedSchema[] } {
  const read = (sql: string): Readonly<Record<string, SqlCell>>[] => {
    const { columns = [], rows = [] } = actor.sql?.execute(sql, []) ?? {};
    return rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at] as SqlCell])));
  };
  const items = tablesOf(actor).items.map(({ name, type }): InspectedSchema => {
    const quoted = quote(name);
    return {
      name,
      type,
      columns: read(`PRAGMA table_info(${quoted})`),
      foreignKeys: read(`PRAGMA foreign_key_list(${quoted})`),
      records: Number(read(`SELECT COUNT(*) AS count FROM ${quoted}`)[0]?.["count"]),
    };
  });
  return { items };
}

export interface InspectedRows {
  readonly columns: readonly string[];
  /** A cell of more than 4,096 characters or bytes is shown as `{ size, start }`. */
  readonly rows: readonly (readonly unknown[])[];
  /** Where the next page begins. */
  readonly next?: string;
}

/** A page of a table's rows, in its own order; `from`: how many come before. @throws {inspector/not_found} when there is no such table */
export function rowsOf(
  actor: InspectedActor,
  asked: { readonly table: string; readonly from?: string; readonly limit?: number },
): InspectedRows {
  const [offset, limit] = [numberFrom(asked), limitOf(asked)];
  const { table } = asked;
  if (!actor.sql || !tableNames(actor).includes(table))
    throw new ActorError("inspector", "not_found", "The actor has no table of this name");
  const select = `SELECT * FROM ${quote(table)} LIMIT ? OFFSET ?`;
  const shown: unknown[][] = [];
  // A few at a time: a page of the largest rows would not fit in memory.
  for (;;) {
    const { columns, rows } = actor.sql.execute(select, [ROWS_AT_A_TIME, offset + shown.length]);
    for (const row of rows) {
      if (shown.length === limit) return { columns, rows: shown, next: String(offset + limit) };
      shown.push(row.map(clipped));
    }
    if (rows.length < ROWS_AT_A_TIME) return { columns, rows: shown };
  }
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The beginning of a long cell. */
function clipped(cell: SqlCell | ArrayBuffer): unknown {
  if (cell === null || typeof cell === "number") return cell;
  const size = typeof cell === "string" ? cell.length : cell.byteLength;
  return size > SHOWN_BYTES ? { size, start: cell.slice(0, SHOWN_BYTES) } : cell;
}

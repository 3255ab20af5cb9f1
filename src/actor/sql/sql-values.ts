/** Values on their way into SQL and back. What the platform would change silently is refused or corrected here. */
import { ActorError, describeValue, MAX_VALUE_BYTES, isWellFormed } from "../../protocol/index.js";
import type { SqlTable } from "../api/database-types.js";
import type { SqlCell, SqlResult } from "../ports.js";
import { withoutNames, type SqlStatement } from "./sql-text.js";

/** The platform's limit of parameters in one statement. The local runtime does not enforce it. */
const MAX_PARAMETERS = 100;
const encoder = new TextEncoder();

export interface BoundStatement {
  readonly text: string;
  readonly parameters: readonly SqlCell[];
}

/**
 * Statements with their parameters, positional or `[{ name: value }]`.
 * @throws sqlite/invalid_parameter, value/too_large
 */
export function bind(statements: readonly SqlStatement[], given: readonly unknown[]): BoundStatement[] {
  if (given.length === 0) return statements.map(({ text }) => ({ text, parameters: [] }));
  const [statement, ...others] = statements;
  if (!statement || others.length > 0)
    throw invalid(`Parameters are for one statement, and the text has ${statements.length}`);
  const [first] = given;
  if (given.length === 1 && isNamed(first)) return [bindNames(statement, first)];
  if (given.length > MAX_PARAMETERS) throw invalid(`A statement has at most ${MAX_PARAMETERS} parameters`);
  const cells = given.map((value, index) => toCell(value, `parameter ${index + 1}`));
  return [{ text: withIntegers(statement, cells), parameters: cells.map(toBinding) }];
}

function bindNames(statement: SqlStatement, given: Readonly<Record<string, unknown>>): BoundStatement {
  const { names } = withoutNames(statement);
  if (names.length > MAX_PARAMETERS) throw invalid(`A statement has at most ${MAX_PARAMETERS} parameters`);
  const wanted = new Set(names);
  for (const name of Object.keys(given))
    if (!wanted.has(name)) throw invalid(`The statement has no parameter "${name}"`);
  const parameters = names.map((name) => {
    if (!Object.hasOwn(given, name)) throw invalid(`The parameter "${name}" has no value`);
    return toCell(given[name], `parameter "${name}"`);
  });
  return { text: withIntegers(statement, parameters), parameters: parameters.map(toBinding) };
}

/** A parameter, with integers marked: the platform would bind them as floating-point numbers. */
type Cell = SqlCell | bigint;

function toBinding(cell: Cell): SqlCell {
  return typeof cell === "bigint" ? cell.toString() : cell;
}

/**
 * The platform binds each number as a REAL: `5` would be 5.0 in a column without a type, "5.0" in one of text, and 5/2 would be 2.5.
 * So integers are bound as strings and cast; the plus removes the affinity that a cast has and a parameter does not.
 */
function withIntegers({ text, parameters }: SqlStatement, cells: readonly Cell[]): string {
  let rewritten = "";
  let from = 0;
  let last = 0;
  for (const { start, end, name } of parameters) {
    const number = name === undefined ? Number(text.slice(start + 1, end)) : 0;
    last = number > 0 ? number : last + 1;
    const isInteger = typeof cells[last - 1] === "bigint";
    const parameter = name === undefined ? text.slice(start, end) : "?";
    rewritten += `${text.slice(from, start)}${isInteger ? `(+CAST(${parameter} AS INTEGER))` : parameter}`;
    from = end;
  }
  return rewritten + text.slice(from);
}

/** A value as the platform stores it. @throws {sqlite/invalid_parameter} {value/too_large} when it cannot be stored */
function toCell(value: unknown, what: string): Cell {
  switch (typeof value) {
    case "number":
      if (Number.isNaN(value)) throw invalid(`${what} is NaN, which SQL would store as NULL`);
      return Number.isSafeInteger(value) && !Object.is(value, -0) ? BigInt(value) : value;
    case "boolean":
      return value ? 1n : 0n;
    case "bigint":
      if (BigInt.asIntN(64, value) !== value)
        throw invalid(`${what} is beyond 64 bits, which is what SQLite's integers have`);
      return value;
    case "string":
      if (!isWellFormed(value)) throw invalid(`${what} has half a surrogate pair in it, which SQL would replace`);
      // A string has at most three bytes per UTF-16 unit.
      checkSize(value.length * 3 <= MAX_VALUE_BYTES ? 0 : encoder.encode(value).length, what);
      return value;
    case "object":
      if (value === null) return null;
      if (value instanceof Uint8Array) {
        checkSize(value.byteLength, what);
        return new Uint8Array(value);
      }
  }
  throw invalid(`${what} is ${describeValue(value)}; SQL takes number, string, bigint, boolean, null and Uint8Array`);
}

export function toTable({ columns, rows }: SqlResult): SqlTable {
  return {
    columns,
    rows: rows.map((cells) => cells.map((cell) => (cell instanceof ArrayBuffer ? new Uint8Array(cell) : cell))),
  };
}

/** Each row as an object. @throws {sqlite/duplicate_column} when one of two values would be lost */
export function toRows({ columns, rows }: SqlTable): Record<string, SqlCell>[] {
  const seen = new Set<string>();
  for (const column of columns) {
    if (seen.has(column)) {
      throw new ActorError(
        "sqlite",
        "duplicate_column",
        `Two columns of the result are called "${column}": give one of them another name with AS`,
      );
    }
    seen.add(column);
  }
  return rows.map((cells) => {
    const row: Record<string, SqlCell> = {};
    // Defined, not assigned: `__proto__` is a name like any other.
    columns.forEach((column, index) =>
      Object.defineProperty(row, column, {
        value: cells[index] ?? null,
        enumerable: true,
        configurable: true,
        writable: true,
      }),
    );
    return row;
  });
}

function isNamed(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function checkSize(sizeBytes: number, what: string): void {
  if (sizeBytes <= MAX_VALUE_BYTES) return;
  throw new ActorError(
    "value",
    "too_large",
    `The SQL ${what} has ${sizeBytes} bytes; one value has at most ${MAX_VALUE_BYTES}`,
    {
      metadata: { path: what, sizeBytes, limitBytes: MAX_VALUE_BYTES },
    },
  );
}

function invalid(message: string): ActorError {
  return new ActorError("sqlite", "invalid_parameter", message);
}

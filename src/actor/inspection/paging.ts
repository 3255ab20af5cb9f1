import { ActorError, ownField } from "../../protocol/index.js";

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
/** Rows in memory at a time while many are read. */
export const ROWS_AT_A_TIME = 16;
/** Bytes, or characters, of a value that a list shows. */
export const SHOWN_BYTES = 4_096;

/** A page of a list, and where the next one begins; without `next` it is the last. */
export interface ListPage<T> {
  readonly items: readonly T[];
  readonly next?: string;
}

/** How many a page may have. @throws {actor/invalid_request} when it is no whole number from 1 to 1,000 */
export function limitOf(asked: { readonly limit?: number }): number {
  const limit: unknown = ownField(asked, "limit") ?? DEFAULT_LIMIT;
  if (Number.isInteger(limit) && (limit as number) >= 1 && (limit as number) <= MAX_LIMIT) return limit as number;
  throw new ActorError("actor", "invalid_request", `"limit" must be a whole number from 1 to ${MAX_LIMIT}`);
}

/** Where a numbered list begins. @throws {actor/invalid_request} when it is no whole number */
export function numberFrom(asked: { readonly from?: string }): number {
  const from: unknown = ownField(asked, "from") ?? "0";
  if (typeof from === "string" && /^\d{1,15}$/.test(from)) return Number(from);
  throw new ActorError("actor", "invalid_request", '"from" must be a whole number');
}

/** The page of a sorted list that begins with the first item at or behind `from`. */
export function pageOf<T>(
  sorted: readonly T[],
  numberOf: (item: T) => number,
  asked: { readonly from?: string; readonly limit?: number },
): ListPage<T> {
  const [from, limit] = [numberFrom(asked), limitOf(asked)];
  const rest = sorted.filter((item) => numberOf(item) >= from);
  const next = rest[limit];
  return { items: rest.slice(0, limit), ...(next !== undefined && { next: String(numberOf(next)) }) };
}

import { rowOf, type Entry } from "./entry.js";
import type { Location } from "./location.js";

/** The storage format since which an entry may overwrite the row of another. */
export const OVERWRITTEN_FORMAT = 3;

/**
 * The rows of pruned entries. New entries overwrite them, since a delete is billed as a write is (FLOW-19). Until then a
 * start finds the pruned entries again: finished iterations, which nothing enters.
 */
export class VacantRows {
  #rows: { readonly row: number; readonly location: Location }[] = [];

  add(entry: Entry): void {
    this.#rows.push({ row: rowOf(entry), location: entry.location });
  }

  /** The row that a new entry overwrites, if there is one: the oldest. */
  take(): number | undefined {
    return this.#rows.shift()?.row;
  }

  /** Gives up the rows of entries at and below a location; they must be deleted. */
  giveUp(location: Location): number[] {
    if (this.#rows.length === 0) return [];
    const isBelow = (each: Location): boolean => location.every((segment, at) => each[at] === segment);
    const given = this.#rows.filter((each) => isBelow(each.location));
    if (given.length > 0) this.#rows = this.#rows.filter((each) => !isBelow(each.location));
    return given.map(({ row }) => row);
  }
}

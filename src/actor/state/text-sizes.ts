import type { Place } from "./place.js";

/**
 * Longer strings are estimated when assigned: code that builds one bit by bit would pay for all of it at every step.
 */
const LONG_TEXT = 256;
const MOST_BYTES_A_UNIT = 3;
const HEAD_BYTES = 8;

/**
 * Sizes of long strings in objects. Each counts as its largest possible size until the state is measured (VALUE-12).
 */
export class TextSizes {
  #counted = new Map<Place, Map<string, number>>();

  /** The bytes counted for the property `key`, which holds `old`. */
  counted(place: Place, key: string, old: unknown, sizeOf: (value: unknown) => number): number {
    if (typeof old !== "string") return sizeOf(old);
    return this.#counted.get(place)?.get(key) ?? this.least(old);
  }

  /** The bytes to count for a value. */
  estimate(value: unknown, sizeOf: (value: unknown) => number): number {
    return typeof value === "string" && value.length > LONG_TEXT
      ? value.length * MOST_BYTES_A_UNIT + HEAD_BYTES
      : sizeOf(value);
  }

  /** Records the bytes counted for a property. */
  count(place: Place, key: string, value: unknown, bytes: number): void {
    const slots = this.#counted.get(place);
    if (typeof value !== "string" || value.length <= LONG_TEXT) slots?.delete(key);
    else if (slots) slots.set(key, bytes);
    else this.#counted.set(place, new Map([[key, bytes]]));
  }

  /** Forgets the bytes counted for a property. */
  drop(place: Place, key: string): void {
    this.#counted.get(place)?.delete(key);
  }

  /** The fewest bytes a string can have been counted as. */
  least(text: string): number {
    return text.length + 1;
  }

  /** Call when the state has been measured. */
  forget(): void {
    if (this.#counted.size > 0) this.#counted = new Map();
  }
}

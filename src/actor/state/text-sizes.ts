import type { Place } from "./place.js";

/** Longer texts are not counted to the byte as they are assigned: code that builds one bit by bit would pay for all of it each time. */
const LONG_TEXT = 256;
const MOST_BYTES_A_UNIT = 3;
const HEAD_BYTES = 8;

/** Sizes of long texts in objects: counted as the most that they can have, until the state is measured again. */
export class TextSizes {
  #counted = new Map<Place, Map<string, number>>();

  /** How many bytes a slot of an object counts for that holds `old`. */
  counted(place: Place, key: string, old: unknown, sizeOf: (value: unknown) => number): number {
    if (typeof old !== "string") return sizeOf(old);
    return this.#counted.get(place)?.get(key) ?? this.least(old);
  }

  /** How many bytes a value is to count for. */
  estimate(value: unknown, sizeOf: (value: unknown) => number): number {
    return typeof value === "string" && value.length > LONG_TEXT
      ? value.length * MOST_BYTES_A_UNIT + HEAD_BYTES
      : sizeOf(value);
  }

  /** A slot of an object counts for so many bytes now. */
  count(place: Place, key: string, value: unknown, bytes: number): void {
    const slots = this.#counted.get(place);
    if (typeof value !== "string" || value.length <= LONG_TEXT) slots?.delete(key);
    else if (slots) slots.set(key, bytes);
    else this.#counted.set(place, new Map([[key, bytes]]));
  }

  /** What it counted for is not known any more. */
  drop(place: Place, key: string): void {
    this.#counted.get(place)?.delete(key);
  }

  /** The fewest bytes that a text can have been counted as. */
  least(text: string): number {
    return text.length + 1;
  }

  /** The state has been measured. */
  forget(): void {
    if (this.#counted.size > 0) this.#counted = new Map();
  }
}

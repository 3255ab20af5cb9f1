import { measure } from "../../protocol/index.js";
import { sizeOf } from "./plain-values.js";
import { MAX_COUNTED_BYTES, tooLarge, type Bounds } from "./refusals.js";
import { TextSizes } from "./text-sizes.js";

/**
 * The size of a state, counted statement by statement.
 *
 * Invariant: `bytes` is never less than the encoded size, except for object headers and for writes through user code's
 * own references. The margin between the users' limit and the stored limit covers both (VALUE-12).
 */
export class StateSize {
  readonly texts = new TextSizes();
  bytes: number;
  readonly #bounds: Bounds;

  constructor(bytes: number, bounds: Bounds) {
    this.bytes = bytes;
    this.#bounds = bounds;
  }

  /**
   * The bytes that the state grows by when a value of `bytes` is stored `times` times. `bytes` may overestimate unless
   * it is asked for the exact size.
   * @throws {value/too_large} when the state would exceed its limit
   */
  makeRoom(root: unknown, times: number, bytes: (isExact: boolean) => number, path: () => string): number {
    const { limitBytes } = this.#bounds;
    const estimate = times === 0 ? 0 : bytes(false) * times;
    if (estimate <= 0 || this.bytes + estimate <= limitBytes) return estimate;
    this.#measureExactly(root);
    const exact = bytes(true) * times;
    if (exact > 0 && this.bytes + exact > limitBytes) throw tooLarge(this.#bounds, path(), this.bytes + exact);
    return exact;
  }

  /** The size of removed values: their smallest possible size, unless `isExact`. */
  bytesOf(removed: readonly unknown[], isExact: boolean): number {
    let bytes = 0;
    for (const raw of removed) {
      try {
        bytes += typeof raw === "string" && !isExact ? this.texts.least(raw) : sizeOf(raw);
      } catch {
        // A write through user code's own reference may have no encoding.
      }
    }
    return bytes;
  }

  /** Call when the state has been encoded. */
  measuredAs(bytes: number): void {
    this.bytes = bytes;
    this.texts.forget();
  }

  #measureExactly(root: unknown): void {
    try {
      this.bytes = measure(root, 0, MAX_COUNTED_BYTES).bytes;
    } catch {
      // User code's own reference wrote a value that cannot be stored: the commit will report it.
    }
    this.texts.forget();
  }
}

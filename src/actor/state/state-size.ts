import { measure } from "../../protocol/index.js";
import { sizeOf } from "./plain-values.js";
import { MAX_COUNTED_BYTES, tooLarge, type Bounds } from "./refusals.js";
import { TextSizes } from "./text-sizes.js";

/**
 * How large a state is, as counted statement by statement.
 *
 * Invariant: `bytes` is never less than what will be encoded, but for heads of objects, and for what is written through
 * references: for these there is room between the limit of users and that of a row.
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
   * How many bytes the state grows by if it holds `times` what takes `bytes`, which may be more than it is unless it is to be exact.
   * @throws value/too_large
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

  /** What goes; at its least, unless it is to be exact. */
  bytesOf(removed: readonly unknown[], isExact: boolean): number {
    let bytes = 0;
    for (const raw of removed) {
      try {
        bytes += typeof raw === "string" && !isExact ? this.texts.least(raw) : sizeOf(raw);
      } catch {
        // What was written through a reference may have no encoding.
      }
    }
    return bytes;
  }

  /** The state has been encoded. */
  measuredAs(bytes: number): void {
    this.bytes = bytes;
    this.texts.forget();
  }

  #measureExactly(root: unknown): void {
    try {
      this.bytes = measure(root, 0, MAX_COUNTED_BYTES).bytes;
    } catch {
      // Something was written through a reference that cannot be stored: the commit will tell.
    }
    this.texts.forget();
  }
}

import { copyOf } from "./plain-values.js";
import { replaceMembers } from "./members.js";
import { Place } from "./place.js";

/**
 * Typed arrays and buffers, which user code gets without a view. Writes to them are not seen, so they are compared at
 * each commit. If their bytes were transferred away, they are restored as last stored (VALUE-11).
 */
export class LentBytes {
  readonly #lent = new Set<object>();
  readonly #lastBytes = new WeakMap<object, object>();
  readonly #onDetached: (place: Place) => void;

  constructor(onDetached: (place: Place) => void) {
    this.#onDetached = onDetached;
  }

  /** True while any are lent, and so may have changed. */
  get hasAny(): boolean {
    return this.#lent.size > 0;
  }

  add(raw: object): void {
    this.#lent.add(raw);
    if (!this.#lastBytes.has(raw) && !isDetached(raw)) this.#lastBytes.set(raw, copyOf(raw));
  }

  /**
   * Call before a commit. Replaces detached objects by copies as last stored, and forgets those that left the state.
   */
  restore(): void {
    for (const raw of this.#lent) {
      const place = Place.of(raw);
      if (!place || place.occurrences() === 0) this.#lent.delete(raw);
      else if (isDetached(raw)) this.#restoreAt(place);
    }
  }

  /** The object itself, or a copy as last stored if it is detached: it may have lost its bytes outside the state. */
  restored(raw: object): object {
    const last = this.#lastBytes.get(raw);
    return last && isDetached(raw) ? copyOf(last) : raw;
  }

  /** Call after a commit: remembers the bytes as stored. */
  stored(): void {
    for (const raw of this.#lent) this.#lastBytes.set(raw, copyOf(raw));
  }

  #restoreAt(place: Place): void {
    this.#onDetached(place);
    this.#lent.delete(place.raw);
    for (const parent of place.parents) {
      if (!(parent instanceof Place)) continue;
      replaceMembers(parent.raw, (member) => (member === place.raw ? this.restored(member) : member));
      place.leave(parent, place.countIn(parent));
    }
  }
}

function isDetached(raw: object): boolean {
  try {
    const buffer = ArrayBuffer.isView(raw) ? raw.buffer : (raw as ArrayBuffer);
    return new Uint8Array(buffer).length < 0;
  } catch {
    return true;
  }
}

import { copyOf } from "./plain-values.js";
import { replaceMembers } from "./members.js";
import { Place } from "./place.js";

/**
 * Typed arrays and buffers that user code has in hand as they are. They change without telling; and their bytes may be
 * taken away (`transfer`), after which what was stored of them last stands in their place.
 */
export class LentBytes {
  readonly #lent = new Set<object>();
  readonly #lastBytes = new WeakMap<object, object>();
  readonly #onDetached: (place: Place) => void;

  constructor(onDetached: (place: Place) => void) {
    this.#onDetached = onDetached;
  }

  /** Whether something that is lent may have changed. */
  get hasAny(): boolean {
    return this.#lent.size > 0;
  }

  add(raw: object): void {
    this.#lent.add(raw);
    if (!this.#lastBytes.has(raw) && !isDetached(raw)) this.#lastBytes.set(raw, copyOf(raw));
  }

  /** Before a commit: what has lost its bytes gets them back, in an object of the state's own; what has left the state is forgotten. */
  restore(): void {
    for (const raw of this.#lent) {
      const place = Place.of(raw);
      if (!place || place.occurrences() === 0) this.#lent.delete(raw);
      else if (isDetached(raw)) this.#restoreAt(place);
    }
  }

  /** What stands for a member of the state that may have lost its bytes while it was not part of it. */
  restored(raw: object): object {
    const last = this.#lastBytes.get(raw);
    return last && isDetached(raw) ? copyOf(last) : raw;
  }

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

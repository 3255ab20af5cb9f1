/** Copies remembered per object: a constant of a module may be put into the state again and again. */
const MAX_COPIES = 8;

/** Copies of objects that were handed in, so that searching the state for an original finds its copy. */
export class Copies {
  readonly #copies = new WeakMap<object, object[]>();

  add(original: object, copy: object): void {
    const known = this.#copies.get(original) ?? [];
    this.#copies.set(original, [copy, ...known.slice(0, MAX_COPIES - 1)]);
  }

  /** The copies of an object, newest first. */
  of(original: object): readonly object[] {
    return this.#copies.get(original) ?? [];
  }
}

/** So many are remembered of one object: a constant of a module may be handed in for ever. */
const MAX_COPIES = 8;

/** What was copied as it was handed in: whoever looks for it in the state finds its copy. */
export class Copies {
  readonly #copies = new WeakMap<object, object[]>();

  add(original: object, copy: object): void {
    const known = this.#copies.get(original) ?? [];
    this.#copies.set(original, [copy, ...known.slice(0, MAX_COPIES - 1)]);
  }

  /** Those of an object, the newest first. */
  of(original: object): readonly object[] {
    return this.#copies.get(original) ?? [];
  }
}

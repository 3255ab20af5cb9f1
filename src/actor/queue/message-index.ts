/** Ids of visible messages in order, overall and by queue name. Finds the first of any set of names in O(names). */
export class MessageIndex {
  readonly #all = new Map<number, string>();
  readonly #byName = new Map<string, Set<number>>();
  #highest = 0;
  /** True once an older message came back and is out of place. The next read sorts, once for all that came back. */
  #isUnordered = false;

  get size(): number {
    return this.#all.size;
  }

  nameOf(id: number): string | undefined {
    return this.#all.get(id);
  }

  add(id: number, name: string): void {
    let ids = this.#byName.get(name);
    if (!ids) this.#byName.set(name, (ids = new Set()));
    this.#isUnordered ||= id < this.#highest;
    this.#highest = Math.max(this.#highest, id);
    this.#all.set(id, name);
    ids.add(id);
  }

  delete(id: number): boolean {
    const name = this.#all.get(id);
    if (name === undefined) return false;
    this.#all.delete(id);
    const ids = this.#byName.get(name);
    ids?.delete(id);
    if (ids?.size === 0) this.#byName.delete(name);
    return true;
  }

  /** Ids of messages with one of the names, or with any, in ascending order. */
  *matching(names: readonly string[] | undefined): IterableIterator<number> {
    if (this.#isUnordered) this.#order();
    if (!names) {
      yield* this.#all.keys();
      return;
    }
    const heads = [...new Set(names)].flatMap((name) => {
      const iterator = this.#byName.get(name)?.values();
      const first = iterator?.next();
      return iterator && first && !first.done ? [{ iterator, id: first.value }] : [];
    });
    while (heads.length > 0) {
      heads.sort((a, b) => a.id - b.id);
      const head = heads[0];
      if (!head) return;
      yield head.id;
      const next = head.iterator.next();
      if (next.done) heads.shift();
      else head.id = next.value;
    }
  }

  #order(): void {
    const entries = [...this.#all].sort(([a], [b]) => a - b);
    this.#all.clear();
    this.#byName.clear();
    for (const [id, name] of entries) {
      this.#all.set(id, name);
      const ids = this.#byName.get(name);
      if (ids) ids.add(id);
      else this.#byName.set(name, new Set([id]));
    }
    this.#isUnordered = false;
  }
}

/**
 * Where an object stands in a state: in which others, and how often.
 *
 * Known of every object that user code has seen or handed in; of the others nothing is needed, since nobody can change
 * them or put them anywhere. After a commit each object stands in one place; until then it may stand in several.
 */
export class Place {
  /** The object itself, which user code sees through views. */
  readonly raw: object;
  readonly owner: PlaceOwner;
  /** The one that it has stood in longest; undefined: it is no part of the state. */
  #parent: Place | PlaceOwner | undefined;
  /** In how many slots of that one. */
  #count = 0;
  /** The one after that: most that move stand in two for a while, and need no table. */
  #second: Place | PlaceOwner | undefined;
  #secondCount = 0;
  /** Further ones, in the order in which it came there. */
  #others: Map<Place | PlaceOwner, number> | undefined;
  /** In an array that it already stood in, it came in front: the later slot is the older one. */
  isLastOlder = false;

  constructor(raw: object, owner: PlaceOwner) {
    this.raw = raw;
    this.owner = owner;
    places.set(raw, this);
  }

  static of(raw: object): Place | undefined {
    return places.get(raw);
  }

  get isShared(): boolean {
    return this.#count > 1 || this.#second !== undefined;
  }

  /** Whether it stands in anything, which may have been taken out. */
  get isPlaced(): boolean {
    return this.#parent !== undefined;
  }

  /** Oldest first. */
  get parents(): (Place | PlaceOwner)[] {
    if (this.#parent === undefined) return [];
    if (this.#second === undefined) return [this.#parent];
    return this.#others ? [this.#parent, this.#second, ...this.#others.keys()] : [this.#parent, this.#second];
  }

  countIn(parent: Place | PlaceOwner): number {
    if (this.#parent === parent) return this.#count;
    if (this.#second === parent) return this.#secondCount;
    return this.#others?.get(parent) ?? 0;
  }

  enter(parent: Place | PlaceOwner): void {
    if (this.#parent === undefined) {
      this.#parent = parent;
      this.#count = 1;
      return;
    }
    if (this.#parent === parent) this.#count += 1;
    else if (this.#second === undefined || this.#second === parent) {
      this.#second = parent;
      this.#secondCount += 1;
    } else {
      this.#others ??= new Map();
      this.#others.set(parent, (this.#others.get(parent) ?? 0) + 1);
    }
    this.owner.shared.add(this);
  }

  leave(parent: Place | PlaceOwner, slots = 1): void {
    if (this.#parent === parent) {
      this.#count -= slots;
      if (this.#count <= 0) {
        this.#parent = this.#second;
        this.#count = this.#secondCount;
        this.#nextBecomesSecond();
      }
    } else if (this.#second === parent) {
      this.#secondCount -= slots;
      if (this.#secondCount <= 0) this.#nextBecomesSecond();
    } else if (this.#others) {
      const left = (this.#others.get(parent) ?? 0) - slots;
      if (left > 0) this.#others.set(parent, left);
      else this.#others.delete(parent);
      if (this.#others.size === 0) this.#others = undefined;
    }
    if (!this.isShared) this.owner.shared.delete(this);
  }

  #nextBecomesSecond(): void {
    this.#second = undefined;
    this.#secondCount = 0;
    if (this.#others === undefined) return;
    const [next] = this.#others;
    if (next) [this.#second, this.#secondCount] = next;
    if (next) this.#others.delete(next[0]);
    if (this.#others.size === 0) this.#others = undefined;
  }

  /** Containers around it on the longest way down from the root; 0 for the root, also for the root of what was taken out. */
  depth(known?: Map<Place, number>): number {
    if (this.owner.shared.size === 0) {
      let depth = 0;
      for (let parent = this.#parent; parent instanceof Place; parent = parent.#parent) depth += 1;
      return depth;
    }
    const memo = known ?? new Map<Place, number>();
    const before = memo.get(this);
    if (before !== undefined) return before;
    let deepest = 0;
    for (const parent of this.parents) if (parent instanceof Place) deepest = Math.max(deepest, parent.depth(memo) + 1);
    memo.set(this, deepest);
    return deepest;
  }

  /** In how many places of the state it is stored; 0 if it was taken out. */
  occurrences(known?: Map<Place, number>): number {
    if (this.owner.shared.size === 0) {
      let top = this.#parent;
      while (top instanceof Place) top = top.#parent;
      return top === undefined ? 0 : 1;
    }
    const memo = known ?? new Map<Place, number>();
    const before = memo.get(this);
    if (before !== undefined) return before;
    let total = 0;
    for (const parent of this.parents)
      total += (parent instanceof Place ? parent.occurrences(memo) : 1) * this.countIn(parent);
    memo.set(this, total);
    return total;
  }

  /** Itself and all that it stands in. */
  ancestors(found = new Set<Place>()): Set<Place> {
    if (found.has(this)) return found;
    found.add(this);
    for (const parent of this.parents) if (parent instanceof Place) parent.ancestors(found);
    return found;
  }
}

/** The state that a place belongs to; also what its root stands in. */
export interface PlaceOwner {
  /** Those that stand in several places. */
  readonly shared: Set<Place>;
}

const places = new WeakMap<object, Place>();

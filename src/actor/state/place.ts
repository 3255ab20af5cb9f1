/**
 * The position of an object in a state: the containers it is in (its parents), and in how many slots of each.
 *
 * Every object that user code has seen or handed in has one. Others need none: nobody can change or move them. After a
 * commit an object has one parent and one slot; until then it may have several (VALUE-9).
 */
export class Place {
  /** The object behind the views. */
  readonly raw: object;
  readonly owner: PlaceOwner;
  /** The oldest parent; undefined if the object is in no container. */
  #parent: Place | PlaceOwner | undefined;
  /** Slots in the oldest parent. */
  #count = 0;
  /** The next oldest. An object that is moved mostly has two parents for a while, and needs no Map. */
  #second: Place | PlaceOwner | undefined;
  #secondCount = 0;
  /** Further parents, oldest first, with the slots in each. */
  #others: Map<Place | PlaceOwner, number> | undefined;
  /** True when the object was inserted before its existing slot of an array: the later slot is the older one. */
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

  /** Whether it is in a container, even one that was removed from the state. */
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

  /** Containers around it on the longest path from the root; 0 for the root, and for the top of a removed part. */
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

  /** How many times it will be stored, counted along every path from the root; 0 if it was removed from the state. */
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

  /** Itself and every container around it. */
  ancestors(found = new Set<Place>()): Set<Place> {
    if (found.has(this)) return found;
    found.add(this);
    for (const parent of this.parents) if (parent instanceof Place) parent.ancestors(found);
    return found;
  }
}

/** The state that a place belongs to, which is also the parent of its root. */
export interface PlaceOwner {
  /** The objects with several parents or slots. */
  readonly shared: Set<Place>;
}

const places = new WeakMap<object, Place>();

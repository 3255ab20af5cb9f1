/** Something due at a time (epoch ms); at the same time, the lower `seq` comes first. */
export interface Timed {
  readonly at: number;
  readonly seq: number;
}

/** Smaller heaps are not worth compacting. */
const LEAST = 64;

/** A binary heap of waits by due time, with lazy deletion: 10,000 branches may wait, and each turn asks for the first. */
export class WaitHeap<W extends Timed> {
  #heap: W[] = [];
  readonly #live = new Set<W>();

  add(wait: W): void {
    if (this.#live.has(wait)) return;
    this.#live.add(wait);
    this.#heap.push(wait);
    this.#rise(this.#heap.length - 1);
  }

  delete(wait: W): void {
    if (!this.#live.delete(wait) || this.#heap.length < LEAST || this.#heap.length < this.#live.size * 2) return;
    // A sorted array is a heap.
    this.#heap = [...this.#live].sort((a, b) => (isBefore(a, b) ? -1 : 1));
  }

  /** In no particular order. */
  get all(): W[] {
    return [...this.#live];
  }

  /** Times have changed. */
  reorder(): void {
    this.#heap = [...this.#live].sort((a, b) => (isBefore(a, b) ? -1 : 1));
  }

  clear(): void {
    this.#heap = [];
    this.#live.clear();
  }

  get first(): W | undefined {
    for (;;) {
      const top = this.#heap[0];
      if (top === undefined || this.#live.has(top)) return top;
      const last = this.#heap.pop() as W;
      if (this.#heap.length === 0) continue;
      this.#heap[0] = last;
      this.#sink();
    }
  }

  #rise(from: number): void {
    for (let at = from; at > 0;) {
      const parent = (at - 1) >> 1;
      if (!this.#swapIfBefore(at, parent)) return;
      at = parent;
    }
  }

  #sink(): void {
    for (let at = 0; ;) {
      const left = at * 2 + 1;
      const [a, b] = [this.#heap[left], this.#heap[left + 1]];
      if (a === undefined) return;
      const least = b !== undefined && isBefore(b, a) ? left + 1 : left;
      if (!this.#swapIfBefore(least, at)) return;
      at = least;
    }
  }

  #swapIfBefore(lower: number, upper: number): boolean {
    const [a, b] = [this.#heap[lower] as W, this.#heap[upper] as W];
    if (!isBefore(a, b)) return false;
    [this.#heap[upper], this.#heap[lower]] = [a, b];
    return true;
  }
}

function isBefore(a: Timed, b: Timed): boolean {
  return a.at < b.at || (a.at === b.at && a.seq < b.seq);
}

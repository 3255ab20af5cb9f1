import { isTerminal, type Entry, type EntryKind } from "./entry.js";
import type { Location, Segment } from "./location.js";

/** An operation of a scope as history knows it: what the code must meet, in this order (decision 12). */
export interface RecordedOperation {
  readonly name: string;
  /** Of a receive: how many receives of this name stand before it in the scope. */
  readonly ordinal: number;
  /** `try` for a scope that has entries but no entry of its own. */
  readonly kind: EntryKind | "try";
  readonly seq: number;
}

interface Node {
  readonly segment: Segment;
  readonly parent: Node | undefined;
  readonly children: Map<Segment, Node>;
  entry: Entry | undefined;
  /** Counter of the first entry at or below this node. */
  firstSeq: number;
  /** The highest `firstSeq` among this node's operations: an entry below it with a lower one was passed by. */
  latestSeq: number;
}

/**
 * All entries of an actor as a tree of names.
 *
 * Owns: lookup by location, the order of operations in a scope, which deadlines are still waited for.
 * Does not own: storage (the dirty set of the actor does), the meaning of an entry (its op does).
 */
export class History {
  readonly #root: Node = node("", undefined, 0);
  /** Entries that wait for a deadline, and some that were passed since. */
  readonly #waiting = new Set<Entry>();
  #size = 0;

  constructor(entries: Iterable<Entry> = []) {
    for (const entry of [...entries].sort((a, b) => a.seq - b.seq)) this.add(entry);
  }

  get size(): number {
    return this.#size;
  }

  find(location: Location): Entry | undefined {
    return this.#nodeAt(location)?.entry;
  }

  /** Adds an entry, or takes note of how one that is there already has changed. */
  add(entry: Entry): void {
    if (entry.dueAt !== undefined && !isTerminal(entry)) this.#waiting.add(entry);
    else this.#waiting.delete(entry);
    let at = this.#root;
    for (const segment of entry.location) {
      let next = at.children.get(segment);
      if (!next) {
        next = node(segment, at, entry.seq);
        at.children.set(segment, next);
        at.latestSeq = Math.max(at.latestSeq, entry.seq);
      }
      at = next;
    }
    if (at.entry === undefined) this.#size += 1;
    at.entry = entry;
    // A repeated receive hangs below the first of its name, but is an operation of the scope around both.
    if (entry.kind === "message" && typeof at.segment === "number" && at.parent?.parent) {
      at.parent.parent.latestSeq = Math.max(at.parent.parent.latestSeq, entry.seq);
    }
  }

  /** Takes away the entry at a location and everything below it; gives back what was there. */
  removeTree(location: Location): Entry[] {
    const top = this.#nodeAt(location);
    if (!top) return [];
    const removed = entriesBelow(top);
    this.#size -= removed.length;
    for (const entry of removed) this.#waiting.delete(entry);
    top.parent?.children.delete(top.segment);
    return removed;
  }

  *entries(): IterableIterator<Entry> {
    yield* entriesBelow(this.#root);
  }

  /** The operations recorded directly in a scope, in the order in which they were met. */
  operationsOf(scope: Location): RecordedOperation[] {
    const operations: RecordedOperation[] = [];
    for (const child of this.#nodeAt(scope)?.children.values() ?? []) {
      const name = String(child.segment);
      if (typeof child.segment === "number") continue;
      if (child.entry) operations.push({ name, ordinal: 0, kind: child.entry.kind, seq: child.entry.seq });
      else if (entriesBelow(child).length > 0) operations.push({ name, ordinal: 0, kind: "try", seq: child.firstSeq });
      if (child.entry?.kind !== "message") continue;
      for (const repeated of child.children.values()) {
        if (repeated.entry) {
          operations.push({ name, ordinal: Number(repeated.segment), kind: "message", seq: repeated.entry.seq });
        }
      }
    }
    return operations.sort((a, b) => a.seq - b.seq);
  }

  /** Names directly below a location, whether they have entries of their own or not (the branches of a join, say). */
  namesBelow(location: Location): Segment[] {
    return [...(this.#nodeAt(location)?.children.keys() ?? [])];
  }

  /**
   * True when something recorded later, or an ancestor that has ended, shows that the run has passed this entry.
   * That is how the end of a sleep costs no row.
   */
  isPassed(entry: Entry): boolean {
    for (let at = this.#nodeAt(entry.location); at?.parent; at = at.parent) {
      const parent: Node = at.parent;
      if (parent.entry) {
        if (isTerminal(parent.entry) && parent.entry.kind !== "message") return true;
        if (parent.entry.kind === "join" || parent.entry.kind === "race") continue;
        if (parent.entry.kind === "loop" && loopIteration(parent.entry) > Number(at.segment)) return true;
      }
      if (parent.latestSeq > entry.seq) return true;
    }
    return false;
  }

  /** True for places in different branches of one join or race. */
  areParallel(a: Location, b: Location): boolean {
    let at: Node | undefined = this.#root;
    for (let depth = 0; depth < Math.min(a.length, b.length) && at; depth += 1) {
      if (a[depth] !== b[depth]) return at.entry?.kind === "join" || at.entry?.kind === "race";
      at = at.children.get(a[depth] as Segment);
    }
    return false;
  }

  /** Entries at and below a location that wait for a deadline; they are waited for no more. */
  letGo(location: Location): Entry[] {
    const top = this.#nodeAt(location);
    return top ? entriesBelow(top).filter((entry) => this.#waiting.delete(entry)) : [];
  }

  /** The earliest deadline that an entry waits for, in epoch ms. */
  earliestDueAt(): number | undefined {
    let earliest: number | undefined;
    for (const entry of this.#waiting) {
      if (this.isPassed(entry)) this.#waiting.delete(entry);
      else if (entry.dueAt !== undefined && (earliest === undefined || entry.dueAt < earliest)) earliest = entry.dueAt;
    }
    return earliest;
  }

  /** The highest counter value that any entry carries. */
  highestSeq(): number {
    let highest = 0;
    for (const entry of this.entries()) highest = Math.max(highest, entry.seq, entry.rev, entry.completedSeq ?? 0);
    return highest;
  }

  #nodeAt(location: Location): Node | undefined {
    let at: Node | undefined = this.#root;
    for (const segment of location) {
      at = at.children.get(segment);
      if (!at) return undefined;
    }
    return at;
  }
}

function loopIteration(entry: Entry): number {
  const position = entry.data as { iteration?: number } | undefined;
  return position?.iteration ?? 0;
}

function node(segment: Segment, parent: Node | undefined, firstSeq: number): Node {
  return { segment, parent, children: new Map(), entry: undefined, firstSeq, latestSeq: 0 };
}

function entriesBelow(top: Node): Entry[] {
  const found: Entry[] = [];
  const open = [top];
  for (let at = open.pop(); at; at = open.pop()) {
    if (at.entry) found.push(at.entry);
    open.push(...at.children.values());
  }
  return found;
}

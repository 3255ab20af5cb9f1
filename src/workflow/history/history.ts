import { ownField } from "../../protocol/index.js";
import { isTerminal, makeEntry, type Entry, type EntryKind } from "./entry.js";
import { VacantRows } from "./vacant-rows.js";
import { WaitHeap, type Timed } from "./wait-heap.js";
import type { Location, Segment } from "./location.js";

/** Kinds with no place in the order of their scope: deploys may add and remove them. */
const UNORDERED: ReadonlySet<string> = new Set(["removed", "version_check", "branch_results"]);

/** A recorded operation of a scope: the code must meet these in order (FLOW-6). */
export interface RecordedOperation {
  readonly name: string;
  /** For a receive: the number of receives of this name before it in the scope. */
  readonly ordinal: number;
  /** `try` for a scope that has entries but no entry of its own. */
  readonly kind: EntryKind | "try";
  readonly seq: number;
  /** False: the code may call it anywhere in its scope, or not at all. */
  readonly isOrdered: boolean;
  /** A version gate of a release that ordered gates: it may be the only sign that the waits before it ended. */
  readonly endsOldWaits: boolean;
}

interface WaitingEntry extends Timed {
  readonly entry: Entry;
}

interface Node {
  readonly segment: Segment;
  readonly parent: Node | undefined;
  /** `LEAF` until it has one. */
  children: Map<Segment, Node>;
  entry: Entry | undefined;
  /** `seq` of the first ordered entry at or below this node; infinite without one. */
  first: number;
  /** The highest `first` among this node's operations: the run has passed an entry below it with a lower one. */
  latest: number;
  /** Something below was removed: both numbers must be recomputed. */
  isStale: boolean;
}

/**
 * All entries of an actor as a tree of names.
 *
 * Owns: lookup by location, the order of operations in a scope, which deadlines are still pending.
 * Does not own: storage (the actor's dirty set does), the meaning of an entry (its op does).
 */
export class History {
  readonly #root: Node = node("", undefined);
  /** Entries that wait for a deadline, and some that the run has passed since. */
  readonly #waiting = new Map<Entry, WaitingEntry>();
  readonly #byDeadline = new WaitHeap<WaitingEntry>();
  readonly vacant = new VacantRows();
  #size = 0;

  constructor(entries: Iterable<Entry> = []) {
    for (const entry of [...entries].sort((a, b) => a.seq - b.seq)) this.add(entry);
  }

  /** A history of its own with the same entries, to try changes on. */
  copy(): History {
    return new History(Array.from(this.entries(), (entry) => Object.assign(makeEntry(entry), entry)));
  }

  get size(): number {
    return this.#size;
  }

  find(location: Location): Entry | undefined {
    return this.#nodeAt(location)?.entry;
  }

  /** Adds an entry, or updates the indexes after an existing one has changed. Returns whether it was new. */
  add(entry: Entry): boolean {
    this.#wait(entry);
    let at = this.#root;
    for (const segment of entry.location) {
      let next = at.children.get(segment);
      if (!next) {
        if (at.children === LEAF) at.children = new Map();
        at.children.set(segment, (next = node(segment, at)));
      }
      at = next;
    }
    if (at.entry === undefined) this.#size += 1;
    const isNew = at.entry !== entry;
    at.entry = entry;
    if (!isOrdered(entry)) return isNew;
    for (let below = at; below.parent; below = below.parent) {
      below.first = Math.min(below.first, entry.seq);
      below.parent.latest = Math.max(below.parent.latest, latestOf(below));
    }
    return isNew;
  }

  /** Removes the entry at a location and everything below it; returns the removed entries. */
  removeTree(location: Location): Entry[] {
    const top = this.#nodeAt(location);
    if (!top) return [];
    const removed = entriesBelow(top);
    this.#size -= removed.length;
    for (const entry of removed) this.#stopWaiting(entry);
    let at = top;
    // Also removes ancestors that are now empty, such as a try block, which has no entry of its own.
    for (; at.parent && (at === top || (!at.entry && at.children.size === 0)); at = at.parent)
      at.parent.children.delete(at.segment);
    for (let stale: Node | undefined = at; stale; stale = stale.parent) {
      stale.isStale = true;
      // An ordered entry comes before those below it, so nothing changes above. Repeated receives do count further up.
      if (stale.entry && stale.entry.kind !== "message" && isOrdered(stale.entry)) break;
    }
    return removed;
  }

  *entries(): IterableIterator<Entry> {
    yield* entriesBelow(this.#root);
  }

  /** The entry at a location and all entries below it, in no particular order. */
  entriesAt(location: Location): Entry[] {
    const top = this.#nodeAt(location);
    return top ? entriesBelow(top) : [];
  }

  /** The operations recorded directly in a scope, in the order they were first met. */
  operationsOf(scope: Location): RecordedOperation[] {
    const operations: RecordedOperation[] = [];
    for (const child of this.#nodeAt(scope)?.children.values() ?? []) {
      if (typeof child.segment === "number") continue;
      operations.push(recorded(counted(child)));
      if (child.entry?.kind !== "message") continue;
      for (const repeated of child.children.values())
        if (repeated.entry) operations.push(recorded(repeated, child.segment));
    }
    return operations.sort((a, b) => a.seq - b.seq);
  }

  /** Names directly below a location, with or without an entry of their own (the branches of a join have none). */
  namesBelow(location: Location): Segment[] {
    return [...(this.#nodeAt(location)?.children.keys() ?? [])];
  }

  /**
   * True if a later entry, or an ancestor that has ended, shows that the run has passed this entry: so the end of a sleep
   * costs no row. Entries recorded before its last write do not count: it may have started over since.
   */
  isPassed(entry: Entry): boolean {
    for (let at = this.#nodeAt(entry.location); at?.parent; at = at.parent) {
      const parent: Node = at.parent;
      if (parent.entry) {
        if (isTerminal(parent.entry) && parent.entry.kind !== "message") return true;
        if (parent.entry.kind === "join" || parent.entry.kind === "race") continue;
        if (parent.entry.kind === "loop" && loopIteration(parent.entry) > Number(at.segment)) return true;
      }
      if (counted(parent).latest > entry.rev) return true;
    }
    return false;
  }

  /** True for locations in different branches of the same join or race. */
  areParallel(a: Location, b: Location): boolean {
    let at: Node | undefined = this.#root;
    for (let depth = 0; depth < Math.min(a.length, b.length) && at; depth += 1) {
      if (a[depth] !== b[depth]) return at.entry?.kind === "join" || at.entry?.kind === "race";
      at = at.children.get(a[depth] as Segment);
    }
    return false;
  }

  /** Stops waiting for the deadlines at and below a location; returns their entries. */
  letGo(location: Location): Entry[] {
    const top = this.#nodeAt(location);
    return top ? entriesBelow(top).filter((entry) => this.#stopWaiting(entry)) : [];
  }

  /** The entries that wait for a deadline, in no particular order. */
  *waiting(): IterableIterator<Entry> {
    for (const entry of this.#waiting.keys()) if (!this.isPassed(entry)) yield entry;
  }

  /** The earliest deadline that an entry waits for, in epoch ms. */
  earliestDueAt(): number | undefined {
    for (let first = this.#byDeadline.first; first; first = this.#byDeadline.first) {
      const { entry, at } = first;
      if (entry.dueAt === at && !this.isPassed(entry)) return at;
      this.#stopWaiting(entry);
      if (entry.dueAt !== at) this.#wait(entry);
    }
    return undefined;
  }

  #wait(entry: Entry): void {
    const { dueAt, seq } = entry;
    const known = this.#waiting.get(entry);
    const isWaiting = dueAt !== undefined && !isTerminal(entry);
    if (isWaiting && known?.at === dueAt) return;
    this.#stopWaiting(entry);
    if (!isWaiting) return;
    const waiting = { entry, at: dueAt, seq };
    this.#waiting.set(entry, waiting);
    this.#byDeadline.add(waiting);
  }

  #stopWaiting(entry: Entry): boolean {
    const waiting = this.#waiting.get(entry);
    if (!waiting) return false;
    this.#byDeadline.delete(waiting);
    return this.#waiting.delete(entry);
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

/** True for an entry with a place in the order of its scope. Rollback handlers, below a number at the root, have none. */
export function isOrdered(entry: Entry): boolean {
  return !UNORDERED.has(entry.kind) && typeof entry.location[0] !== "number";
}

/** Stays empty: most nodes are leaves, and a map of their own would be the largest part of them. */
const LEAF: Map<Segment, Node> = new Map();

function node(segment: Segment, parent: Node | undefined): Node {
  return {
    segment,
    parent,
    children: LEAF,
    entry: undefined,
    first: Number.POSITIVE_INFINITY,
    latest: 0,
    isStale: false,
  };
}

/** The node, its two numbers recomputed if stale. */
function counted(at: Node): Node {
  if (!at.isStale) return at;
  at.isStale = false;
  at.first = at.entry && isOrdered(at.entry) ? at.entry.seq : Number.POSITIVE_INFINITY;
  at.latest = 0;
  for (const child of at.children.values()) {
    at.first = Math.min(at.first, counted(child).first);
    at.latest = Math.max(at.latest, latestOf(child));
  }
  return at;
}

/** What a node adds to `latest` of its scope. Repeated receives are nodes below the first, but operations of the scope. */
function latestOf(child: Node): number {
  const own = Number.isFinite(child.first) ? child.first : 0;
  return child.entry?.kind === "message" ? Math.max(own, child.latest) : own;
}

function recorded(at: Node, repeatedName?: Segment): RecordedOperation {
  const ordered = Number.isFinite(at.first);
  // A `removed` entry may cover what a try block recorded.
  const kind = at.entry && !(at.entry.kind === "removed" && ordered) ? at.entry.kind : "try";
  const gates = ordered ? [] : entriesBelow(at).sort((a, b) => a.seq - b.seq);
  return {
    name: String(repeatedName ?? at.segment),
    ordinal: repeatedName === undefined ? 0 : Number(at.segment),
    kind,
    seq: ordered ? at.first : (gates[0]?.seq ?? 0),
    isOrdered: ordered,
    endsOldWaits: gates.some((gate) => UNORDERED.has(gate.kind) && !hasNoOrder(gate)),
  };
}

/** Marks the data of a gate recorded since gates have no place in the order of their scope. */
export const NO_ORDER = { unordered: true } as const;

function hasNoOrder(gate: Entry): boolean {
  return gate.data !== undefined && ownField(gate.data as { readonly unordered?: boolean }, "unordered") === true;
}

function entriesBelow(top: Node): Entry[] {
  const found: Entry[] = [];
  const open = [top];
  for (let at = open.pop(); at; at = open.pop()) {
    if (at.entry) found.push(at.entry);
    for (const child of at.children.values()) open.push(child);
  }
  return found;
}

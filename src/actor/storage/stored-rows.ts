import type { Deadlines } from "./deadlines.js";
import { DirtySet } from "./dirty-set.js";
import { decodeLease, type Lease } from "./lease.js";
import type { ListOptions, StoreActivation } from "../ports.js";
import { KEYS } from "./record.js";
import { Alarm } from "./alarm.js";

/** Rows in memory at a time while many are read. */
const ROWS_PER_PAGE = 16;

/** The rows of one activation, with the changes that the next commit will make, and the deadlines among them. */
export class StoredRows {
  readonly store: StoreActivation;
  readonly alarm: Alarm;
  protected readonly dirty = new DirtySet();

  /** `workflowDeadline` returns the earliest deadline of workflow entries, epoch ms. */
  constructor(store: StoreActivation, now: () => number, workflowDeadline: () => number | undefined) {
    this.store = store;
    this.alarm = new Alarm(this.dirty, now, workflowDeadline);
    const lease = store.get(KEYS.lease);
    this.alarm.load(store.list(KEYS.deadlines), lease && decodeLease(lease));
  }

  get isCurrent(): boolean {
    return this.store.isCurrent;
  }

  read(key: string): Uint8Array | undefined {
    const dirty = this.dirty.get(key);
    return dirty === undefined ? this.store.get(key) : (dirty ?? undefined);
  }

  list(prefix: string, options: ListOptions & { readonly limit: number }): [key: string, value: Uint8Array][] {
    return this.dirty.overlay(prefix, options, (stored) => this.store.list(prefix, stored));
  }

  /** All stored rows under a prefix, read at once: for rows that stay in memory anyway. */
  allStored(prefix: string): Iterable<readonly [key: string, bytes: Uint8Array]> {
    return this.store.list(prefix);
  }

  /** The stored rows under a prefix, without dirty ones. Reads a few at a time, since all may not fit in memory. */
  *storedRows(prefix: string): IterableIterator<readonly [key: string, bytes: Uint8Array]> {
    for (let start: string | undefined = prefix; start !== undefined;) {
      const page: (readonly [string, Uint8Array])[] = [...this.store.list(prefix, { start, limit: ROWS_PER_PAGE })];
      yield* page;
      const last = page.at(-1);
      start = last && page.length === ROWS_PER_PAGE ? `${last[0]}\0` : undefined;
    }
  }

  put(key: string, encode: () => Uint8Array<ArrayBuffer>): void {
    this.dirty.put(key, encode);
  }

  putNew(key: string, encode: () => Uint8Array<ArrayBuffer>): void {
    this.dirty.putNew(key, encode);
  }

  delete(key: string): void {
    this.dirty.delete(key);
  }

  get lease(): Lease | undefined {
    return this.alarm.lease;
  }

  holdLease(): void {
    this.alarm.holdLease();
  }

  get deadlines(): Deadlines {
    return this.alarm.deadlines;
  }

  deadlinesChanged(): void {
    this.alarm.markStale();
  }
}

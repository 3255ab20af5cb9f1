import type { Batch, ListOptions, StoreActivation } from "../ports.js";

/** Stored rows for reading. What an upgrade would commit stays in memory, so that looking changes nothing. */
export class UpgradedRows implements StoreActivation {
  readonly #store: StoreActivation;
  #upgraded: Batch | undefined;

  constructor(store: StoreActivation) {
    this.#store = store;
  }

  get isCurrent(): boolean {
    return this.#store.isCurrent;
  }

  get(key: string): Uint8Array | undefined {
    const { puts, deletes } = this.#upgraded ?? NOTHING;
    return puts.get(key) ?? (deletes.has(key) ? undefined : this.#store.get(key));
  }

  list(prefix: string, options: ListOptions = {}): Iterable<readonly [key: string, value: Uint8Array]> {
    if (!this.#upgraded) return this.#store.list(prefix, options);
    const { start = "", end, limit = Infinity, reverse = false } = options;
    const { puts, deletes } = this.#upgraded;
    const rows = new Map(this.#store.list(prefix));
    for (const key of deletes) rows.delete(key);
    for (const [key, bytes] of puts) if (key.startsWith(prefix)) rows.set(key, bytes);
    const sorted = [...rows]
      .filter(([key]) => key >= start && (end === undefined || key < end))
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return (reverse ? sorted.reverse() : sorted).slice(0, limit);
  }

  commit(batch: Batch): void {
    this.#upgraded = batch;
  }

  getAlarm(): Promise<number | null> {
    return this.#store.getAlarm();
  }

  sync(): Promise<void> {
    return this.#store.sync();
  }

  deleteAll(): Promise<void> {
    return Promise.reject(new Error("The inspector deletes nothing"));
  }
}

const NOTHING: Batch = { puts: new Map(), deletes: new Set() };

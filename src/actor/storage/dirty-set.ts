import type { ListOptions } from "../ports.js";

/**
 * The rows changed since the last commit, by storage key. There is one per activation, and every commit writes all of
 * it (COMMIT-1). Rows are encoded at the commit, so that one that changes often is encoded once.
 */
export class DirtySet {
  readonly #rows = new Map<string, (() => Uint8Array<ArrayBuffer>) | null>();
  /** Dirty rows that are not stored: nothing is written if they are deleted before the commit. */
  readonly #new = new Set<string>();

  get isEmpty(): boolean {
    return this.#rows.size === 0;
  }

  /** True if another row is dirty. */
  hasOther(key: string): boolean {
    return this.#rows.size > (this.#rows.has(key) ? 1 : 0);
  }

  put(key: string, encode: () => Uint8Array<ArrayBuffer>): void {
    this.#rows.set(key, encode);
  }

  /** Puts a row that is not stored. */
  putNew(key: string, encode: () => Uint8Array<ArrayBuffer>): void {
    this.#rows.set(key, encode);
    this.#new.add(key);
  }

  delete(key: string): void {
    if (this.#new.delete(key)) this.#rows.delete(key);
    else this.#rows.set(key, null);
  }

  /** The row to be written, null for one to be deleted, undefined for one that is not dirty. */
  get(key: string): Uint8Array<ArrayBuffer> | null | undefined {
    const encode = this.#rows.get(key);
    return encode ? encode() : encode;
  }

  /** Lists the stored rows, as `read` returns them, with the dirty rows applied. */
  overlay(
    prefix: string,
    options: ListOptions & { readonly limit: number },
    read: (options: ListOptions) => Iterable<readonly [string, Uint8Array]>,
  ): [key: string, value: Uint8Array][] {
    const { start = "", end, limit, reverse = false } = options;
    const dirty = [...this.#rows].filter(
      ([key]) => key.startsWith(prefix) && key >= start && (end === undefined || key < end),
    );
    // Reads more, since each dirty row may delete one of them.
    const rows = new Map<string, Uint8Array>(read({ ...options, limit: limit + dirty.length }));
    if (dirty.length === 0) return [...rows];
    for (const [key, encode] of dirty) {
      if (encode) rows.set(key, encode());
      else rows.delete(key);
    }
    const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
    return (reverse ? sorted.reverse() : sorted).slice(0, limit);
  }

  /** Encodes all dirty rows; they stay dirty until `clear`. */
  build(): { puts: Map<string, Uint8Array<ArrayBuffer>>; deletes: Set<string> } {
    const puts = new Map<string, Uint8Array<ArrayBuffer>>();
    const deletes = new Set<string>();
    for (const [key, encode] of this.#rows) {
      if (encode) puts.set(key, encoded(key, encode));
      else deletes.add(key);
    }
    return { puts, deletes };
  }

  clear(): void {
    this.#rows.clear();
    this.#new.clear();
  }
}

/** Values are encoded or measured before they become dirty, so an encoder that throws here is a fault of Perdure. */
function encoded(key: string, encode: () => Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  try {
    return encode();
  } catch (cause) {
    throw new Error(
      `The row "${key}" could not be encoded, which is a fault of Perdure: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

/** A key: a text (its UTF-8 bytes), or bytes. At most 2 KiB. */
export type KvKey = string | Uint8Array;
/** A value: a text (its UTF-8 bytes), or bytes. At most 128 KiB. */
export type KvValue = string | Uint8Array | ArrayBuffer;
/** As what a value is given: its text, its bytes as `ArrayBuffer`, or as `Uint8Array`. */
export type KvValueType = "text" | "arrayBuffer" | "binary";
export type KvValueOf<T extends KvValueType> = { text: string; arrayBuffer: ArrayBuffer; binary: Uint8Array }[T];
/** As what the keys of a list are given. */
export type KvKeyType = "text" | "binary";
export type KvKeyOf<K extends KvKeyType> = { text: string; binary: Uint8Array }[K];

export interface KvListOptions<T extends KvValueType = "text", K extends KvKeyType = "text"> {
  /** Of the values; default text. */
  readonly type?: T;
  /** Of the keys; default text. */
  readonly keyType?: K;
  /** From the last key to the first. */
  readonly reverse?: boolean;
  /** At most so many; default and most 16,384. */
  readonly limit?: number;
}

/**
 * `c.kv`: small values by key, in the actor's own storage. Keys are ordered by their bytes. A write is committed together with
 * whatever else the actor has changed, its state too, when the call returns; a promise of a write resolves then. One row each.
 *
 * @throws kv/invalid_key, kv/key_too_large (2 KiB), kv/invalid_value, kv/value_too_large (128 KiB), kv/invalid_option,
 * kv/too_many_keys (128 in one call), kv/batch_too_large (976 KiB in one call), kv/list_too_large (32 MiB); nothing is written
 * then
 */
export interface ActorKv {
  /** Null if there is none. */
  get<T extends KvValueType = "text">(key: KvKey, options?: { readonly type?: T }): Promise<KvValueOf<T> | null>;
  /** `type` is what the value must be, if given. */
  put(key: KvKey, value: KvValue, options?: { readonly type?: KvValueType }): Promise<void>;
  delete(key: KvKey): Promise<void>;
  /** Deletes all keys from `start` up to, but without, `end`; more than 16,384 in several commits. */
  deleteRange(start: KvKey, end: KvKey): Promise<void>;
  /** The values as bytes, in the order of the keys; null for each that there is none of. The same keys as those of `get`. */
  batchGet(keys: readonly KvKey[]): Promise<(Uint8Array | null)[]>;
  /** All of them in one commit. */
  batchPut(entries: readonly (readonly [key: KvKey, value: KvValue])[]): Promise<void>;
  /** All of them in one commit. */
  batchDelete(keys: readonly KvKey[]): Promise<void>;
  /** As `listPrefix`; without a prefix, from the first key on. */
  list<T extends KvValueType = "text", K extends KvKeyType = "text">(
    prefix?: KvKey,
    options?: KvListOptions<T, K>,
  ): Promise<[key: KvKeyOf<K>, value: KvValueOf<T>][]>;
  /** Keys that begin with the prefix, whole, with their values. */
  listPrefix<T extends KvValueType = "text", K extends KvKeyType = "text">(
    prefix: KvKey,
    options?: KvListOptions<T, K>,
  ): Promise<[key: KvKeyOf<K>, value: KvValueOf<T>][]>;
  /** As `listPrefix`, keys and values as bytes. */
  rawListPrefix(prefix: KvKey): Promise<[key: Uint8Array, value: Uint8Array][]>;
  /** Keys from `start` up to, but without, `end`. */
  listRange<T extends KvValueType = "text", K extends KvKeyType = "text">(
    start: KvKey,
    end: KvKey,
    options?: KvListOptions<T, K>,
  ): Promise<[key: KvKeyOf<K>, value: KvValueOf<T>][]>;
}

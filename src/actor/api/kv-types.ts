/** A key: a string (stored as UTF-8), or bytes. At most 2 KiB. */
export type KvKey = string | Uint8Array;
/** A value: a string (stored as UTF-8), or bytes. At most 128 KiB. */
export type KvValue = string | Uint8Array | ArrayBuffer;
/** The form of a value that is read: a string, an `ArrayBuffer`, or a `Uint8Array` (`binary`). */
export type KvValueType = "text" | "arrayBuffer" | "binary";
/** The type of a value in the form `T`. */
export type KvValueOf<T extends KvValueType> = { text: string; arrayBuffer: ArrayBuffer; binary: Uint8Array }[T];
/** The form of the keys in a list: strings, or `Uint8Array`s (`binary`). */
export type KvKeyType = "text" | "binary";
/** The type of a key in the form `K`. */
export type KvKeyOf<K extends KvKeyType> = { text: string; binary: Uint8Array }[K];

/** Options of `list`, `listPrefix` and `listRange`. */
export interface KvListOptions<T extends KvValueType = "text", K extends KvKeyType = "text"> {
  /** The form of the values. Default: `"text"`. */
  readonly type?: T;
  /** The form of the keys. Default: `"text"`. */
  readonly keyType?: K;
  /** Returns the last key first. Default: false. */
  readonly reverse?: boolean;
  /** The most entries to return, up to 16,384. Default: 16,384. */
  readonly limit?: number;
}

/**
 * `c.kv`: small values by key, in the actor's own storage. Keys are ordered by their bytes, and each value is one row.
 * A write is committed before its call returns, together with all other changes of the actor, state included. If a
 * method throws, nothing is written.
 *
 * @throws {kv/invalid_key} when a key is neither a string nor a `Uint8Array`
 * @throws {kv/key_too_large} when a key is larger than 2 KiB
 * @throws {kv/invalid_value} when a value is neither a string nor bytes, or does not match `type`
 * @throws {kv/value_too_large} when a value is larger than 128 KiB
 * @throws {kv/invalid_option} when an option is not valid
 * @throws {kv/too_many_keys} when one call has more than 128 keys
 * @throws {kv/batch_too_large} when one call writes more than 976 KiB
 * @throws {kv/list_too_large} when a list is larger than 32 MiB
 */
export interface ActorKv {
  /**
   * Returns the value of a key, or null if there is none.
   *
   * @example
   *     const device = await c.kv.get(`session/${user}`);
   */
  get<T extends KvValueType = "text">(key: KvKey, options?: { readonly type?: T }): Promise<KvValueOf<T> | null>;
  /**
   * Writes a value. `type`, if given, is the form the value must have.
   *
   * @example
   *     await c.kv.put(`session/${user}`, device);
   */
  put(key: KvKey, value: KvValue, options?: { readonly type?: KvValueType }): Promise<void>;
  /**
   * Deletes a key; does nothing if it does not exist.
   *
   * @example
   *     await c.kv.delete(`session/${user}`);
   */
  delete(key: KvKey): Promise<void>;
  /**
   * Deletes all keys from `start` up to, but not including, `end`. More than 16,384 keys take several commits.
   *
   * @example
   *     await c.kv.deleteRange("log/2026-01", "log/2026-02");
   */
  deleteRange(start: KvKey, end: KvKey): Promise<void>;
  /**
   * Returns the values of up to 128 keys as bytes, in the order of the keys; null where a key does not exist. A string
   * key means the same key as in `get`.
   *
   * @example
   *     const [ada, bob] = await c.kv.batchGet(["user/ada", "user/bob"]);
   */
  batchGet(keys: readonly KvKey[]): Promise<(Uint8Array | null)[]>;
  /**
   * Writes up to 128 values in one commit.
   *
   * @example
   *     await c.kv.batchPut([["user/ada", "admin"], ["user/bob", "guest"]]);
   */
  batchPut(entries: readonly (readonly [key: KvKey, value: KvValue])[]): Promise<void>;
  /**
   * Deletes up to 128 keys in one commit.
   *
   * @example
   *     await c.kv.batchDelete(["user/ada", "user/bob"]);
   */
  batchDelete(keys: readonly KvKey[]): Promise<void>;
  /**
   * Returns keys and values in key order, of all keys that begin with a prefix; of all keys without one.
   *
   * @example
   *     const newest = await c.kv.list("log/", { reverse: true, limit: 10 });
   */
  list<T extends KvValueType = "text", K extends KvKeyType = "text">(
    prefix?: KvKey,
    options?: KvListOptions<T, K>,
  ): Promise<[key: KvKeyOf<K>, value: KvValueOf<T>][]>;
  /**
   * Returns the keys that begin with a prefix, with their values, in key order. Keys keep the prefix.
   *
   * @example
   *     for (const [key, value] of await c.kv.listPrefix("session/")) c.log.info("session", { key, value });
   */
  listPrefix<T extends KvValueType = "text", K extends KvKeyType = "text">(
    prefix: KvKey,
    options?: KvListOptions<T, K>,
  ): Promise<[key: KvKeyOf<K>, value: KvValueOf<T>][]>;
  /** Like `listPrefix`, with keys and values as bytes. */
  rawListPrefix(prefix: KvKey): Promise<[key: Uint8Array, value: Uint8Array][]>;
  /**
   * Returns the keys from `start` up to, but not including, `end`, with their values, in key order.
   *
   * @example
   *     const january = await c.kv.listRange("log/2026-01", "log/2026-02");
   */
  listRange<T extends KvValueType = "text", K extends KvKeyType = "text">(
    start: KvKey,
    end: KvKey,
    options?: KvListOptions<T, K>,
  ): Promise<[key: KvKeyOf<K>, value: KvValueOf<T>][]>;
}

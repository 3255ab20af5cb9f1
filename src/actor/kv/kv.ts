import { ActorError, readOptions } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import { storageKey, userKey, userValue, valueBytes } from "./kv-codec.js";
import type {
  ActorKv,
  KvKey,
  KvKeyOf,
  KvKeyType,
  KvListOptions,
  KvValue,
  KvValueOf,
  KvValueType,
} from "../api/kv-types.js";
import type { ListOptions } from "../ports.js";
import { KEYS } from "../storage/record.js";

const MAX_BATCH_KEYS = 128;
const MAX_BATCH_BYTES = 976 * 1024;
const MAX_LISTED = 16_384;
const MAX_LISTED_BYTES = 32 * 1024 * 1024;
/** Values in memory at once beyond those that are returned. */
const CHUNK = MAX_BATCH_KEYS;

type Range = Pick<ListOptions, "start" | "end">;
type Rows = [key: string, value: Uint8Array][];

/**
 * `c.kv`, the user's values by key. They are rows with a prefix of their own in the one dirty set: a write is committed with
 * everything else that is dirty, state included, or not at all (COMMIT-1).
 */
export class Kv implements ActorKv {
  readonly #activation: ActorActivation;

  constructor(activation: ActorActivation) {
    this.#activation = activation;
  }

  async get<T extends KvValueType = "text">(key: KvKey, options?: { readonly type?: T }): Promise<KvValueOf<T> | null> {
    const type = checkType(readOptions("kv.get", options, ["type"], invalidOption).type);
    this.#check();
    const stored = this.#activation.read(storageKey(key));
    return stored === undefined ? null : userValue(stored, type);
  }

  async put(key: KvKey, value: KvValue, options?: { readonly type?: KvValueType }): Promise<void> {
    const { type } = readOptions("kv.put", options, ["type"], invalidOption);
    this.#write([[storageKey(key), valueBytes(value, type)]]);
  }

  async delete(key: KvKey): Promise<void> {
    this.#write([[storageKey(key), null]]);
  }

  async deleteRange(start: KvKey, end: KvKey): Promise<void> {
    const range = { start: storageKey(start), end: storageKey(end) };
    this.#check();
    for (;;) {
      const keys: string[] = [];
      // Chunks, since rows come with their values.
      for (let from: string = range.start; keys.length < MAX_LISTED; from = `${keys.at(-1)}0`) {
        const chunk = this.#read({ ...range, start: from }, CHUNK, false);
        for (const [key] of chunk) keys.push(key);
        if (chunk.length < CHUNK) break;
      }
      this.#write(keys.map((key) => [key, null]));
      if (keys.length < MAX_LISTED) return;
      await this.#activation.ports.yield();
      this.#check();
    }
  }

  async batchGet(keys: readonly KvKey[]): Promise<(Uint8Array | null)[]> {
    const wanted = checkBatch(keys).map(storageKey);
    this.#check();
    return wanted.map((key) => {
      const stored = this.#activation.read(key);
      return stored === undefined ? null : userValue(stored, "binary");
    });
  }

  async batchPut(entries: readonly (readonly [key: KvKey, value: KvValue])[]): Promise<void> {
    const rows = checkBatch(entries).map((entry) => {
      if (!Array.isArray(entry))
        throw new ActorError("kv", "invalid_value", "A batch must be an array of `[key, value]`");
      return [storageKey(entry[0] as KvKey), valueBytes(entry[1] as KvValue)] as const;
    });
    const bytes = rows.reduce(
      (sum, [key, value]) => sum + (key.length - KEYS.userValues.length) / 2 + value.byteLength,
      0,
    );
    if (bytes > MAX_BATCH_BYTES) {
      throw new ActorError(
        "kv",
        "batch_too_large",
        `The batch has ${bytes} bytes in keys and values, at most ${MAX_BATCH_BYTES} are allowed`,
      );
    }
    this.#write(rows);
  }

  async batchDelete(keys: readonly KvKey[]): Promise<void> {
    this.#write(checkBatch(keys).map((key) => [storageKey(key), null]));
  }

  list<T extends KvValueType = "text", K extends KvKeyType = "text">(
    prefix: KvKey = "",
    options: KvListOptions<T, K> = {},
  ): Promise<[KvKeyOf<K>, KvValueOf<T>][]> {
    return this.listPrefix(prefix, options);
  }

  rawListPrefix(prefix: KvKey): Promise<[key: Uint8Array, value: Uint8Array][]> {
    return this.listPrefix(prefix, { type: "binary", keyType: "binary" });
  }

  async listPrefix<T extends KvValueType = "text", K extends KvKeyType = "text">(
    prefix: KvKey,
    options: KvListOptions<T, K> = {},
  ): Promise<[KvKeyOf<K>, KvValueOf<T>][]> {
    const start = storageKey(prefix);
    // Sorts after every hexadecimal digit.
    return this.#list({ start, end: `${start}g` }, options);
  }

  async listRange<T extends KvValueType = "text", K extends KvKeyType = "text">(
    start: KvKey,
    end: KvKey,
    options: KvListOptions<T, K> = {},
  ): Promise<[KvKeyOf<K>, KvValueOf<T>][]> {
    return this.#list({ start: storageKey(start), end: storageKey(end) }, options);
  }

  #list<T extends KvValueType, K extends KvKeyType>(
    range: Range,
    options: KvListOptions<T, K>,
  ): [KvKeyOf<K>, KvValueOf<T>][] {
    const given = readOptions("kv.list", options, ["type", "keyType", "reverse", "limit"], invalidOption);
    const type = checkType(given.type);
    const { keyType = "text" as K, reverse = false, limit = MAX_LISTED } = given;
    if (keyType !== "text" && keyType !== "binary") throw invalidOption('`keyType` is "text" or "binary"');
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LISTED)
      throw invalidOption(`\`limit\` is a whole number from 1 to ${MAX_LISTED}`);
    this.#check();
    const found: [KvKeyOf<K>, KvValueOf<T>][] = [];
    let bytes = 0;
    let rest: Range = range;
    while (found.length < limit) {
      const wanted = Math.min(CHUNK, limit - found.length);
      const rows = this.#read(rest, wanted, reverse);
      for (const [key, value] of rows) {
        bytes += value.byteLength;
        if (bytes > MAX_LISTED_BYTES)
          throw new ActorError(
            "kv",
            "list_too_large",
            `The list has more than ${MAX_LISTED_BYTES} bytes: ask for less of it with \`limit\``,
          );
        found.push([userKey(key, keyType), userValue(value, type)]);
      }
      const last = rows.at(-1)?.[0];
      if (rows.length < wanted || last === undefined) break;
      // "0" is the first string after the empty one.
      rest = reverse ? { ...range, end: last } : { ...range, start: `${last}0` };
    }
    return found;
  }

  /** Rows, including those that wait for a commit. */
  #read({ start = KEYS.userValues, end = `${KEYS.userValues}g` }: Range, limit: number, reverse: boolean): Rows {
    return start < end ? this.#activation.list(KEYS.userValues, { start, end, limit, reverse }) : [];
  }

  #write(rows: readonly (readonly [key: string, value: Uint8Array<ArrayBuffer> | null])[]): void {
    this.#check();
    for (const [key, value] of rows) {
      if (value) this.#activation.put(key, () => value);
      else if (this.#activation.read(key) !== undefined) this.#activation.delete(key);
    }
    this.#activation.commitOrThrow();
    this.#activation.confirm();
  }

  #check(): void {
    this.#activation.abortSignal.throwIfAborted();
  }
}

function checkBatch<T>(items: readonly T[]): readonly T[] {
  if (!Array.isArray(items)) throw new ActorError("kv", "invalid_key", "A batch must be an array");
  if (items.length > MAX_BATCH_KEYS)
    throw new ActorError(
      "kv",
      "too_many_keys",
      `A batch has at most ${MAX_BATCH_KEYS} keys, this one has ${items.length}`,
    );
  return items;
}

function checkType<T extends KvValueType>(type: T = "text" as T): T {
  if (type !== "text" && type !== "arrayBuffer" && type !== "binary")
    throw invalidOption('`type` is "text", "arrayBuffer" or "binary"');
  return type;
}

function invalidOption(message: string): ActorError {
  return new ActorError("kv", "invalid_option", message);
}

/** Keys and values of `c.kv`, as users pass them and as they are stored. */
import { ActorError, isWellFormed } from "../../protocol/index.js";
import type { KvKey, KvKeyOf, KvKeyType, KvValue, KvValueOf, KvValueType } from "../api/kv-types.js";
import { KEYS } from "../storage/record.js";

export const MAX_KV_KEY_BYTES = 2_048;
export const MAX_KV_VALUE_BYTES = 131_072;

const encoder = new TextEncoder();
// `ignoreBOM` means "leave it in".
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The storage key of a user's key: hexadecimal, which sorts as the bytes do. @throws {kv/invalid_key} {kv/key_too_large} */
export function storageKey(key: KvKey): string {
  const bytes = typeof key === "string" && isWellFormed(key) ? encoder.encode(key) : key;
  if (!(bytes instanceof Uint8Array))
    throw new ActorError("kv", "invalid_key", "A key must be a well-formed string or a Uint8Array");
  if (bytes.byteLength > MAX_KV_KEY_BYTES) {
    throw new ActorError(
      "kv",
      "key_too_large",
      `The key has ${bytes.byteLength} bytes, at most ${MAX_KV_KEY_BYTES} are allowed`,
    );
  }
  let text: string = KEYS.userValues;
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
}

/** @throws {kv/invalid_key} when `text` is asked for and the key is not a string */
export function userKey<K extends KvKeyType>(storageKey: string, type: K): KvKeyOf<K> {
  const digits = storageKey.slice(KEYS.userValues.length);
  const bytes = new Uint8Array(digits.length / 2);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16);
  if (type === "binary") return bytes as KvKeyOf<K>;
  return textOf(
    bytes,
    () => new ActorError("kv", "invalid_key", 'A key of the list is not a string: ask for `keyType: "binary"`'),
  ) as KvKeyOf<K>;
}

/** A copy of the value's bytes. @throws {kv/invalid_value} {kv/value_too_large} */
export function valueBytes(value: KvValue, type?: KvValueType): Uint8Array<ArrayBuffer> {
  const isText = typeof value === "string";
  const found: KvValueType | undefined = isText
    ? "text"
    : value instanceof ArrayBuffer
      ? "arrayBuffer"
      : value instanceof Uint8Array
        ? "binary"
        : undefined;
  if (found === undefined || (isText && !isWellFormed(value))) {
    throw new ActorError("kv", "invalid_value", "A value must be a well-formed string, an ArrayBuffer or a Uint8Array");
  }
  if (type !== undefined && type !== found)
    throw new ActorError("kv", "invalid_value", `The value is ${found}, and \`type\` says ${type}`);
  // A view of an ArrayBuffer is not a copy.
  const bytes = new Uint8Array(
    isText ? encoder.encode(value) : value instanceof ArrayBuffer ? new Uint8Array(value) : value,
  );
  if (bytes.byteLength > MAX_KV_VALUE_BYTES) {
    throw new ActorError(
      "kv",
      "value_too_large",
      `The value has ${bytes.byteLength} bytes, at most ${MAX_KV_VALUE_BYTES} are allowed`,
    );
  }
  return bytes;
}

/** @throws {kv/invalid_value} when `text` is asked for and the value is not a string */
export function userValue<T extends KvValueType>(stored: Uint8Array, type: T): KvValueOf<T> {
  const bytes = new Uint8Array(stored);
  if (type === "binary") return bytes as KvValueOf<T>;
  if (type === "arrayBuffer") return bytes.buffer as KvValueOf<T>;
  return textOf(
    bytes,
    () => new ActorError("kv", "invalid_value", 'The value is not a string: ask for `type: "binary"`'),
  ) as KvValueOf<T>;
}

function textOf(bytes: Uint8Array, problem: () => ActorError): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw problem();
  }
}

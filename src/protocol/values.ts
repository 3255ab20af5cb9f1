import { decodeCbor, encodeCbor } from "./cbor.js";
import { NATIVE, OVER_LIMIT, type CborDialect } from "./cbor-lower.js";
import { ActorError } from "./errors.js";
import { checkValue, notSerializable } from "./value-check.js";
import { MAX_COUNTED_BYTES, measureValue } from "./value-size.js";

/** Encoded bytes that one stored value may have (decision 29). */
export const MAX_VALUE_BYTES = 2_000_000;

/** Encoded bytes that cross a wire at once: what the platform carries. */
const MAX_WIRE_BYTES = 32 * 1024 * 1024;

/** How to encode, and what an error calls the value. */
export interface EncodeValueOptions {
  /** What the value is, for messages: "the result of step `charge`". */
  what?: string;
  /** The most bytes it may take; `MAX_VALUE_BYTES` by default. */
  limitBytes?: number;
}

/**
 * The bytes of `value`, in a buffer of their own. They hold JSON values, undefined, bigint, Date, Map, Set, RegExp,
 * Error, ArrayBuffer, typed arrays, DataView, NaN, infinities and -0, nested freely. Shared references are written
 * twice; holes of an array become undefined; symbol keys, `lastIndex`, stacks and an array's extra properties are left.
 * Throws `value/not_serializable` (400, metadata `{path, found}`) or `value/too_large` (413, `{path, sizeBytes,
 * limitBytes}`, the path of the largest member).
 */
export function encodeValue(value: unknown, options: EncodeValueOptions = {}): Uint8Array<ArrayBuffer> {
  return encodeWithin(value, NATIVE, options.limitBytes ?? MAX_VALUE_BYTES, options.what);
}

/**
 * The value that `encodeValue` made `bytes` of, new at each call and sharing no memory with them. Throws
 * `encoding/invalid` (400) on anything else.
 */
export function decodeValue(bytes: Uint8Array): unknown {
  return decodeCbor(bytes, false);
}

/** Encodes for a wire. Throws `value/not_serializable` (400) or `value/too_large` (413, over 32 MiB). */
export function encodeInDialect(value: unknown, dialect: CborDialect): Uint8Array<ArrayBuffer> {
  return encodeWithin(value, dialect, MAX_WIRE_BYTES, undefined);
}

function encodeWithin(value: unknown, dialect: CborDialect, limitBytes: number, what: string | undefined): Uint8Array<ArrayBuffer> {
  try {
    return encodeCbor(value, dialect, limitBytes);
  } catch (error) {
    throw encodingFailure(error, value, what, limitBytes);
  }
}

/** Says what is wrong with a value that could not be encoded: the encoder itself keeps no path, to be fast. */
function encodingFailure(error: unknown, value: unknown, what: string | undefined, limitBytes: number): ActorError {
  try {
    checkValue(value);
  } catch (reason) {
    if (ActorError.isActorError(reason)) return named(reason, what);
    throw reason;
  }
  if (error === OVER_LIMIT) return named(tooLarge(value, limitBytes), what);
  return named(notSerializable("$", "value that changes while it is read"), what);
}

function tooLarge(value: unknown, limitBytes: number): ActorError {
  const { path, sizeBytes } = measureValue(value);
  const size = sizeBytes < MAX_COUNTED_BYTES ? `${sizeBytes}` : `over ${sizeBytes}`;
  const message = `Value is too large: ${size} bytes, the limit is ${limitBytes}. Its largest member is ${path}`;
  return new ActorError("value", "too_large", message, { metadata: { path, sizeBytes, limitBytes } });
}

function named(error: ActorError, what: string | undefined): ActorError {
  if (what === undefined) return error;
  return new ActorError(error.group, error.code, `${error.message} (in ${what})`, { metadata: error.metadata });
}

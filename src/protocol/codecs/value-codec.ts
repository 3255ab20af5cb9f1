import { decodeCbor } from "../cbor/decoder.js";
import { encodeCbor, NATIVE, type CborDialect, type EncodingLimits } from "../cbor/encoder.js";
import { Measuring, type Measure } from "../cbor/measure.js";
import { encodingFailure } from "./encoding-failure.js";
import { MAX_DECODED_DEPTH, MAX_STORED_DEPTH, MAX_VALUE_BYTES, MAX_WIRE_BYTES, OWN_LIMITS } from "../limits.js";
import { ownField } from "../own.js";

/** How to encode, and what an error calls the value. */
export interface EncodeValueOptions {
  /** What the value is, for messages: "the result of step `charge`". */
  what?: string;
  /** The most bytes it may take; `MAX_VALUE_BYTES` by default. */
  limitBytes?: number;
}

/** What an error calls the value that was measured. */
export interface MeasureOptions {
  /** What the value is, for messages. */
  readonly what?: string | undefined;
  /** How the path to the value is written: "state.items[3]"; "$" by default. */
  readonly rootPath?: string;
}

/**
 * The bytes of `value`, in a buffer of their own. They hold JSON values, undefined, bigint, Date, Map, Set, RegExp,
 * Error, ArrayBuffer, typed arrays, DataView, NaN, infinities and -0, nested freely. Shared references are written
 * twice; holes of an array become undefined; symbol keys, `lastIndex`, stacks and an array's extra properties are left.
 * Throws `value/not_serializable` (400, metadata `{path, found}`) or `value/too_large` (413, `{path, sizeBytes,
 * limitBytes}`, the path of the largest member).
 */
export function encodeValue(value: unknown, options: EncodeValueOptions = {}): Uint8Array<ArrayBuffer> {
  const limits = { bytes: ownField(options, "limitBytes") ?? MAX_VALUE_BYTES, depth: MAX_STORED_DEPTH };
  return encodeWithin(value, NATIVE, limits, ownField(options, "what"));
}

/**
 * The value that `encodeValue` made `bytes` of, new at each call and sharing no memory with them. Throws
 * `encoding/invalid` (400) on anything else.
 */
export function decodeValue(bytes: Uint8Array): unknown {
  return decodeCbor(bytes, { revive: false, limits: OWN_LIMITS, bareLevels: 0 });
}

/**
 * A row, record or envelope of our own: `decodeValue`, but plain objects have no prototype, so that a field that is
 * missing is undefined whatever anybody wrote to `Object.prototype`. Only those within `levels` containers, itself
 * included: users' values, which lie deeper, keep theirs. Read arrays by destructuring, which stops at their ends.
 */
export function decodeRow(bytes: Uint8Array, levels = 1): unknown {
  return decodeCbor(bytes, { revive: false, limits: OWN_LIMITS, bareLevels: levels });
}

/**
 * How large `value` is, which will stand `depth` containers deep, in arrays, objects and the like: what `encodeValue`
 * would write of it, without writing. What is measured can be encoded there, unless it changes. Throws
 * `value/not_serializable` (400, also if it would be nested deeper than 256 levels) or `value/too_large` (413, beyond
 * `budget` bytes), with metadata as `encodeValue`.
 */
export function measure(value: unknown, depth = 0, budget = MAX_VALUE_BYTES, options: MeasureOptions = {}): Measure {
  try {
    return Measuring.run(value, depth, budget);
  } catch (error) {
    throw encodingFailure(error, value, { depth, maxDepth: MAX_STORED_DEPTH, limitBytes: budget, ...options });
  }
}

/**
 * Encodes for a wire, on which a value stands in a message. Throws `value/not_serializable` (400) or `value/too_large`
 * (413, over 32 MiB).
 */
export function encodeInDialect(value: unknown, dialect: CborDialect): Uint8Array<ArrayBuffer> {
  return encodeWithin(value, dialect, { bytes: MAX_WIRE_BYTES, depth: MAX_DECODED_DEPTH }, undefined);
}

function encodeWithin(
  value: unknown,
  dialect: CborDialect,
  limits: EncodingLimits,
  what: string | undefined,
): Uint8Array<ArrayBuffer> {
  try {
    return encodeCbor(value, dialect, limits);
  } catch (error) {
    throw encodingFailure(error, value, { depth: 0, maxDepth: limits.depth, limitBytes: limits.bytes, what });
  }
}

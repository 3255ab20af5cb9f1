import { decodeCbor } from "../cbor/decoder.js";
import { encodeCbor, NATIVE, type CborDialect, type EncodingLimits } from "../cbor/encoder.js";
import { Measuring, type Measure } from "../cbor/measure.js";
import { encodingFailure } from "./encoding-failure.js";
import { MAX_DECODED_DEPTH, MAX_STORED_DEPTH, MAX_VALUE_BYTES, MAX_WIRE_BYTES, OWN_LIMITS } from "../limits.js";
import { ownField } from "../own.js";
import type { SizeOf } from "./value-size.js";

/** Options of `encodeValue`. */
export interface EncodeValueOptions {
  /** What the value is, for error messages: "the result of step `charge`". */
  what?: string;
  /** The most bytes it may take; default `MAX_VALUE_BYTES`. */
  limitBytes?: number;
}

/** Options of `measure`. */
export interface MeasureOptions {
  /** What the value is, for error messages. */
  readonly what?: string | undefined;
  /** The path to the value in error messages, such as "state.items[3]"; default "$". */
  readonly rootPath?: string;
}

/**
 * Encodes a value for storage. Supports JSON values, undefined, bigint, Date, Map, Set, RegExp, Error, ArrayBuffer, typed
 * arrays, DataView, NaN, infinities and -0, nested freely. Shared references are written twice; holes of an array become
 * undefined; symbol keys, `lastIndex`, stacks and an array's extra properties are dropped.
 *
 * @throws {value/not_serializable} when something in it cannot be encoded; metadata `{path, found}`
 * @throws {value/too_large} when it exceeds `limitBytes`; metadata `{path, sizeBytes, limitBytes}`, path of the largest member
 */
export function encodeValue(value: unknown, options: EncodeValueOptions = {}): Uint8Array<ArrayBuffer> {
  const limits = { bytes: ownField(options, "limitBytes") ?? MAX_VALUE_BYTES, depth: MAX_STORED_DEPTH };
  return encodeWithin(value, NATIVE, limits, ownField(options, "what"));
}

/**
 * Decodes what `encodeValue` returned. The value is new at each call and shares no memory with `bytes`.
 *
 * @throws {encoding/invalid} when the bytes are malformed
 */
export function decodeValue(bytes: Uint8Array): unknown {
  return decodeCbor(bytes, { revive: false, limits: OWN_LIMITS, bareLevels: 0 });
}

/**
 * Decodes a row, record or envelope of our own. Like `decodeValue`, but plain objects in the outermost `levels` containers
 * have no prototype: a missing field is undefined whatever was assigned to `Object.prototype`. User values lie deeper and
 * keep theirs. Read arrays by destructuring, which stops at their end.
 */
export function decodeRow(bytes: Uint8Array, levels = 1): unknown {
  return decodeCbor(bytes, { revive: false, limits: OWN_LIMITS, bareLevels: levels });
}

/**
 * Measures what `encodeValue` would write for a value that will lie `depth` containers deep. A measured value can be encoded
 * there unless it changes. Errors have metadata as in `encodeValue`.
 *
 * @throws {value/not_serializable} when it cannot be encoded, or would be nested deeper than 256 levels
 * @throws {value/too_large} when it exceeds `budget` bytes
 */
export function measure(value: unknown, depth = 0, budget = MAX_VALUE_BYTES, options: MeasureOptions = {}): Measure {
  try {
    return Measuring.run(value, depth, budget);
  } catch (error) {
    throw encodingFailure(error, value, {
      depth,
      maxDepth: MAX_STORED_DEPTH,
      limitBytes: budget,
      sizeOf: sizesOnce(),
      ...options,
    });
  }
}

/**
 * Encodes a message for the wire.
 *
 * @throws {value/not_serializable} when something in it cannot be encoded
 * @throws {value/too_large} when it exceeds 32 MiB
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
    throw encodingFailure(error, value, {
      depth: 0,
      maxDepth: limits.depth,
      limitBytes: limits.bytes,
      sizeOf: sizesOnce(),
      what,
    });
  }
}

/** Measures shared parts once. */
function sizesOnce(): SizeOf {
  const measuring = new Measuring(MAX_DECODED_DEPTH, new Map());
  return (value, most) => measuring.sizeOf(value, most);
}

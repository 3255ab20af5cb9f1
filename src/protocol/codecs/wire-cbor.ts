import { decodeCbor } from "../cbor/decoder.js";
import { NATIVE } from "../cbor/encoder.js";
import { OWN_LIMITS } from "../limits.js";
import { ownField } from "../own.js";
import { encodeInDialect } from "./value-codec.js";

/** Who reads the encoded bytes. */
export interface WireOptions {
  /** The reader is our own, so every value keeps its type. Otherwise only what RivetKit's clients understand is written. */
  extended?: boolean;
}

/**
 * Encodes CBOR whose reader revives `["$Tag", …]` pairs: responses in `cbor`, every payload of `bare`, `rvt-input` and REST
 * input. A user's look-alike pairs are escaped. Everything else is native CBOR, except what cbor-x does not support
 * (ArrayBuffer) or RivetKit's clients do not look into (Set); to them, -0 is 0.
 *
 * @throws {value/not_serializable} when something in it cannot be encoded
 * @throws {value/too_large} when it exceeds 32 MiB
 */
export function encodeTaggedCbor(value: unknown, options: WireOptions = {}): Uint8Array<ArrayBuffer> {
  return encodeInDialect(value, { escaped: true, portable: !(ownField(options, "extended") ?? false) });
}

/**
 * Decodes tagged CBOR, ours or a RivetKit client's.
 *
 * @throws {encoding/invalid} when it is malformed or exceeds `limits`
 */
export function decodeTaggedCbor(bytes: Uint8Array, limits = OWN_LIMITS): unknown {
  return decodeCbor(bytes, { revive: true, limits, bareLevels: 0 });
}

/** Encodes CBOR as `cbor` clients send requests: no tagged pairs, nothing escaped. Throws like `encodeTaggedCbor`. */
export function encodePlainCbor(value: unknown): Uint8Array<ArrayBuffer> {
  return encodeInDialect(value, NATIVE);
}

/**
 * Decodes a `cbor` request. A pair that looks tagged is an ordinary array.
 *
 * @throws {encoding/invalid} when it is malformed or exceeds `limits`
 */
export function decodePlainCbor(bytes: Uint8Array, limits = OWN_LIMITS): unknown {
  return decodeCbor(bytes, { revive: false, limits, bareLevels: 0 });
}

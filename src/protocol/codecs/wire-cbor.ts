import { decodeCbor } from "../cbor/decoder.js";
import { NATIVE } from "../cbor/encoder.js";
import { OWN_LIMITS } from "../limits.js";
import { ownField } from "../own.js";
import { encodeInDialect } from "./value-codec.js";

/** Who reads what is written. */
export interface WireOptions {
  /** The reader is our own, so that every value keeps its kind. Otherwise nothing is written that the published clients do not know. */
  extended?: boolean;
}

/**
 * CBOR whose reader revives `["$Tag", …]` pairs: responses in `cbor`, and every payload of `bare`, `rvt-input` and REST
 * input. A user's own look-alikes are escaped; everything else is native CBOR, but for what cbor-x does not know
 * (ArrayBuffer) or the published clients do not look into (Set); to them, -0 is 0. Throws `value/not_serializable` or `value/too_large`.
 */
export function encodeTaggedCbor(value: unknown, options: WireOptions = {}): Uint8Array<ArrayBuffer> {
  return encodeInDialect(value, { escaped: true, portable: !(ownField(options, "extended") ?? false) });
}

/** The value of tagged CBOR, ours or a published client's. Throws `encoding/invalid` (400). */
export function decodeTaggedCbor(bytes: Uint8Array, limits = OWN_LIMITS): unknown {
  return decodeCbor(bytes, { revive: true, limits, bareLevels: 0 });
}

/** CBOR as the `cbor` clients send requests: no tagged pairs, nothing escaped. Throws as `encodeTaggedCbor`. */
export function encodePlainCbor(value: unknown): Uint8Array<ArrayBuffer> {
  return encodeInDialect(value, NATIVE);
}

/** The value of a `cbor` request. A pair that looks tagged is a pair. Throws `encoding/invalid` (400). */
export function decodePlainCbor(bytes: Uint8Array, limits = OWN_LIMITS): unknown {
  return decodeCbor(bytes, { revive: false, limits, bareLevels: 0 });
}

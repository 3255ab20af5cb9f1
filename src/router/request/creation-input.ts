import {
  ActorError,
  callerLimits,
  decodeTaggedCbor,
  encodeInput,
  isBeyondLimit,
  parseBase64,
} from "../../protocol/index.js";

/**
 * The input of a creation, which URLs and REST bodies carry as base64 of CBOR. It is decoded and encoded again, so that
 * the object gets bytes of the storage codec.
 *
 * @throws {guard/query_invalid_params} when it is not base64 of CBOR; the message names `where`
 * @throws {encoding/invalid} when it is nested too deeply
 * @throws {actor/input_too_large} when it is too large
 */
export function readInput(base64: string, where: string): Uint8Array {
  let value: unknown;
  try {
    value = decodeTaggedCbor(parseBase64(base64), callerLimits(0));
  } catch (error) {
    if (isBeyondLimit(error)) throw error;
    throw new ActorError("guard", "query_invalid_params", `${where} is not base64 of CBOR.`);
  }
  return encodeInput(value);
}

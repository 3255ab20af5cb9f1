import {
  ActorError,
  callerLimits,
  decodeTaggedCbor,
  encodeInput,
  isBeyondLimit,
  parseBase64,
} from "../../protocol/index.js";

/**
 * The input of a creation, which travels in URLs and REST bodies as base64 of CBOR. It is read and written anew, so that
 * the object gets its own codec's bytes. Throws `guard/query_invalid_params` (400) naming `where`, `encoding/invalid` (400)
 * if it is nested too deeply, `actor/input_too_large` (413).
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

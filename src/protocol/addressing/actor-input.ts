import { ActorError } from "../errors/errors.js";
import { encodeValue } from "../codecs/value-codec.js";

/**
 * Encoded bytes that the input of a new actor may have. More than a stored value: it is given to
 * `createState` and `onCreate`, and not stored.
 */
export const MAX_INPUT_BYTES = 4 * 1024 * 1024;

/**
 * The input of a creation in the storage codec. Throws `actor/input_too_large` (413, `{path, sizeBytes, limitBytes}`), or
 * `value/not_serializable` (400).
 */
export function encodeInput(input: unknown): Uint8Array<ArrayBuffer> {
  try {
    return encodeValue(input, { what: "the input", limitBytes: MAX_INPUT_BYTES });
  } catch (error) {
    if (!ActorError.isActorError(error) || error.code !== "too_large") throw error;
    throw new ActorError("actor", "input_too_large", error.message, { metadata: error.metadata });
  }
}

import { ActorError } from "../errors/errors.js";
import { encodeValue } from "../codecs/value-codec.js";

/**
 * Encoded bytes of a new actor's input. More than a stored value may have: the input is passed to `createState` and
 * `onCreate`, not stored.
 */
export const MAX_INPUT_BYTES = 4 * 1024 * 1024;

/**
 * Encodes a new actor's input with the storage codec.
 *
 * @throws {actor/input_too_large} when it exceeds `MAX_INPUT_BYTES`; metadata `{path, sizeBytes, limitBytes}`
 * @throws {value/not_serializable} when it cannot be encoded
 */
export function encodeInput(input: unknown): Uint8Array<ArrayBuffer> {
  try {
    return encodeValue(input, { what: "the input", limitBytes: MAX_INPUT_BYTES });
  } catch (error) {
    if (!ActorError.isActorError(error) || error.code !== "too_large") throw error;
    throw new ActorError("actor", "input_too_large", error.message, { metadata: error.metadata });
  }
}

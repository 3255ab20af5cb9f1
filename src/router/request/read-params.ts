import {
  ActorError,
  callerLimits,
  decodeJson,
  decodePlainJson,
  encodeValue,
  isBeyondLimit,
  MAX_CONNECTION_PARAMS_BYTES,
  utf8Length,
} from "../../protocol/index.js";
import { isOwnClient } from "./wire-encoding.js";

/**
 * Connection params from `x-rivet-conn-params`, as bytes of the storage codec; undefined without the header.
 *
 * @throws {request/too_large} when they are larger than 4 KiB
 * @throws {actor/invalid_request} when they are not JSON
 * @throws {encoding/invalid} when they are nested too deeply
 */
export function readConnParams(headers: Headers): Uint8Array | undefined {
  const text = headers.get("x-rivet-conn-params");
  return text === null ? undefined : paramsFromJson(text, isOwnClient(headers));
}

/** Like `readConnParams`, from the params' JSON. RivetKit's clients write it without tags. Throws the same errors. */
export function paramsFromJson(text: string, isExtended: boolean): Uint8Array {
  if (utf8Length(text) > MAX_CONNECTION_PARAMS_BYTES) throw paramsTooLarge();
  let params: unknown;
  try {
    params = isExtended ? decodeJson(text, callerLimits(0)) : decodePlainJson(text, callerLimits(0));
  } catch (error) {
    if (isBeyondLimit(error)) throw error;
    throw new ActorError("actor", "invalid_request", "The connection params are not JSON.");
  }
  return encodeValue(params, { what: "the connection params" });
}

export function paramsTooLarge(): ActorError {
  const message = `Connection params have at most ${MAX_CONNECTION_PARAMS_BYTES} bytes.`;
  return new ActorError("request", "too_large", message, { metadata: { limitBytes: MAX_CONNECTION_PARAMS_BYTES } });
}

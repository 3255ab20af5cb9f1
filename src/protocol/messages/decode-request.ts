import { decodeJson } from "../codecs/json.js";
import { ActorError } from "../errors/errors.js";
import { isBeyondLimit } from "../errors/malformed.js";
import type { MessageCodec, WireCodec } from "./codec.js";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/**
 * Decodes the message in a request's body.
 *
 * @throws {encoding/invalid} when the body cannot be decoded
 * @throws {actor/invalid_request} when it is JSON of another shape; the message says what was expected
 */
export function decodeRequest<T>(codec: WireCodec, messages: MessageCodec<T>, body: Uint8Array, expected: string): T {
  try {
    return messages.decode(body);
  } catch (cause) {
    if (isBeyondLimit(cause) || codec.encoding !== "json" || !isJson(body)) throw cause;
    throw new ActorError("actor", "invalid_request", expected, { cause });
  }
}

function isJson(body: Uint8Array): boolean {
  try {
    decodeJson(textOf(body));
    return true;
  } catch {
    return false;
  }
}

/**
 * The string of UTF-8 bytes.
 *
 * @throws {encoding/invalid} when they are not UTF-8
 */
export function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new ActorError("encoding", "invalid", "The message is not UTF-8.");
  }
}

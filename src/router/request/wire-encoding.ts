import {
  ActorError,
  decodeJson,
  isEncoding,
  isBeyondLimit,
  wireCodec,
  type MessageCodec,
  type WireCodec,
} from "../../protocol/index.js";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/** Whether the caller is Perdure's client, which decodes every tag, so that every kind of value may be sent to it. */
export function isOwnClient(headers: Headers): boolean {
  return headers.get("x-perdure-json") === "1";
}

/**
 * The codec of `x-rivet-encoding`; JSON without it.
 *
 * @throws {encoding/unsupported} when the encoding is unknown
 */
export function wireCodecOf(headers: Headers): WireCodec {
  const encoding = headers.get("x-rivet-encoding") ?? "json";
  if (!isEncoding(encoding)) throw new ActorError("encoding", "unsupported", "x-rivet-encoding is json, cbor or bare.");
  return wireCodec(encoding);
}

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

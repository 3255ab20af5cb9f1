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

/** Whether the caller is our own client: it revives every tag, so that every kind of value may be sent to it. */
export function isOwnClient(headers: Headers): boolean {
  return headers.get("x-perdure-json") === "1";
}

/** The encoding that `x-rivet-encoding` asks for; JSON without it. Throws `encoding/unsupported` (400). */
export function wireCodecOf(headers: Headers): WireCodec {
  const encoding = headers.get("x-rivet-encoding") ?? "json";
  if (!isEncoding(encoding)) throw new ActorError("encoding", "unsupported", "x-rivet-encoding is json, cbor or bare.");
  return wireCodec(encoding);
}

/**
 * The message in a request's body. Throws `encoding/invalid` (400), or `actor/invalid_request` (400), with the shape that
 * was expected, for JSON of another one.
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

/** The text of UTF-8 bytes. Throws `encoding/invalid` (400). */
export function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new ActorError("encoding", "invalid", "The message is not UTF-8.");
  }
}

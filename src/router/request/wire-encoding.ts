import { ActorError, isEncoding, wireCodec, type WireCodec } from "../../protocol/index.js";

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

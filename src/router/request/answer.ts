import { ActorError, type WireCodec } from "../../protocol/index.js";

/** What an actor answers to a call, in the caller's encoding. Throws `message/outgoing_too_long` (413) beyond the limit. */
export function answer(
  bytes: string | Uint8Array<ArrayBuffer>,
  codec: WireCodec,
  actorId: string,
  limitBytes: number,
): Response {
  const size = typeof bytes === "string" ? new TextEncoder().encode(bytes).byteLength : bytes.byteLength;
  if (size > limitBytes)
    throw new ActorError("message", "outgoing_too_long", `The answer has more than ${limitBytes} bytes.`, {
      metadata: { limitBytes },
    });
  return new Response(bytes, { headers: { "content-type": codec.contentType, "x-rivet-actor": actorId } });
}

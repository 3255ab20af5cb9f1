import { ActorError, type WireCodec } from "../../protocol/index.js";

/**
 * The response to a call, in the caller's encoding.
 *
 * @throws {message/outgoing_too_long} when it is larger than `limitBytes`
 */
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

import { ActorError, type WireCodec } from "../../protocol/index.js";

const utf8 = new TextEncoder();

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
  if (sizeOf(bytes, limitBytes) > limitBytes)
    throw new ActorError("message", "outgoing_too_long", `The answer has more than ${limitBytes} bytes.`, {
      metadata: { limitBytes },
    });
  return new Response(bytes, { headers: { "content-type": codec.contentType, "x-rivet-actor": actorId } });
}

/** The bytes of a message; of a text that is shorter than the limit in any case, its length. */
function sizeOf(message: string | Uint8Array, limitBytes: number): number {
  if (typeof message !== "string") return message.byteLength;
  return message.length * 3 <= limitBytes ? message.length : utf8.encode(message).byteLength;
}

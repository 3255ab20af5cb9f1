import { decodePlainCbor, decodeTaggedCbor, encodePlainCbor, encodeTaggedCbor } from "../codecs/wire-cbor.js";
import type { ReadLimits } from "../limits.js";
import {
  ACTION_LIMITS,
  binaryFrames,
  FRAME_LIMITS,
  forgiving,
  forgivingFrames,
  inBody,
  SEND_LIMITS,
  timed,
  withoutAbsent,
  type MessageCodec,
  type Shape,
  type WireCodec,
} from "./codec.js";
import {
  asActionRequest,
  asActionResponse,
  asErrorData,
  asQueueSendRequest,
  asQueueSendResponse,
  asResolveResponse,
  asToClient,
  asToServer,
} from "./message-shapes.js";
import type { ToClient, ToServer } from "./messages.js";

const cborToServer: MessageCodec<ToServer> = {
  encode: (message) => encodePlainCbor(inBody(message)),
  decode: (bytes) => asToServer(decodePlainCbor(bytes, FRAME_LIMITS)),
};

const cborToClient: MessageCodec<ToClient> = {
  encode: (message, options) => encodeTaggedCbor(inBody(message), options),
  decode: (bytes) => asToClient(decodeTaggedCbor(bytes)),
};

// For an input, which is CBOR beside messages in any encoding.
export { encodeTaggedCbor };

/** The messages in CBOR. */
export const cborCodec: WireCodec = {
  encoding: "cbor",
  contentType: "application/octet-stream",
  actionRequest: cborRequest(asActionRequest, ACTION_LIMITS),
  actionResponse: cborResponse(asActionResponse),
  queueSendRequest: timed(cborRequest(asQueueSendRequest, SEND_LIMITS)),
  queueSendResponse: cborResponse(asQueueSendResponse),
  resolveResponse: cborResponse(asResolveResponse),
  error: forgiving(cborResponse(asErrorData)),
  toServer: binaryFrames(cborToServer),
  toClient: forgivingFrames(binaryFrames(cborToClient)),
};

function cborRequest<T extends object>(shape: Shape<T>, limits: ReadLimits): MessageCodec<T> {
  return {
    encode: (message) => encodePlainCbor(withoutAbsent(message)),
    decode: (bytes) => shape(decodePlainCbor(bytes, limits)),
  };
}

function cborResponse<T extends object>(shape: Shape<T>): MessageCodec<T> {
  return {
    encode: (message, options) => encodeTaggedCbor(withoutAbsent(message), options),
    decode: (bytes) => shape(decodeTaggedCbor(bytes)),
  };
}

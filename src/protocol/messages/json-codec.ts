import { decodeJson, encodeJson } from "../codecs/json.js";
import { malformed } from "../errors/malformed.js";
import { OWN_LIMITS, type ReadLimits } from "../limits.js";
import { copyOfBytes } from "../values/typed-arrays.js";
import {
  ACTION_LIMITS,
  bytesOf,
  FRAME_LIMITS,
  forgiving,
  forgivingFrames,
  inBody,
  SEND_LIMITS,
  timed,
  withoutAbsent,
  type FrameCodec,
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

const utf8Encoder = new TextEncoder();
const utf8Decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/** The messages in JSON. */
export const jsonCodec: WireCodec = {
  encoding: "json",
  contentType: "application/json",
  actionRequest: jsonRequest(asActionRequest, ACTION_LIMITS),
  actionResponse: jsonMessage(asActionResponse),
  queueSendRequest: timed(jsonRequest(asQueueSendRequest, SEND_LIMITS)),
  queueSendResponse: jsonMessage(asQueueSendResponse),
  resolveResponse: jsonMessage(asResolveResponse),
  error: forgiving(jsonMessage(asErrorData)),
  toServer: jsonFrames(asToServer, FRAME_LIMITS),
  toClient: forgivingFrames(jsonFrames(asToClient, OWN_LIMITS)),
};

function jsonMessage<T extends object>(shape: Shape<T>): MessageCodec<T> {
  return {
    encode: (message, options) => copyOfBytes(utf8Encoder.encode(encodeJson(withoutAbsent(message), options))),
    decode: (bytes) => shape(decodeJson(textOf(bytes))),
  };
}

/** A request without a body has no fields: `curl -X POST …/action/tick`. */
function jsonRequest<T extends object>(shape: Shape<T>, limits: ReadLimits): MessageCodec<T> {
  const codec = jsonMessage(shape);
  return {
    encode: codec.encode,
    decode: (bytes) => shape(bytes.length === 0 ? {} : decodeJson(textOf(bytes), limits)),
  };
}

function jsonFrames<T extends ToServer | ToClient>(shape: Shape<T>, limits: ReadLimits): FrameCodec<T> {
  return {
    encode: (message, options) => encodeJson(inBody(message), options),
    decode: (frame) => shape(decodeJson(typeof frame === "string" ? frame : textOf(bytesOf(frame)), limits)),
  };
}

function textOf(bytes: Uint8Array): string {
  try {
    return utf8Decoder.decode(bytes);
  } catch {
    throw malformed("it is not UTF-8");
  }
}

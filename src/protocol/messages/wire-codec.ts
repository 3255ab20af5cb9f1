import {
  bareActionRequest,
  bareActionResponse,
  bareError,
  bareQueueSendRequest,
  bareQueueSendResponse,
  bareResolveResponse,
  bareToClient,
  bareToServer,
  type MessageCodec,
} from "./bare-messages.js";
import { malformed } from "../errors/malformed.js";
import { ActorError, type ErrorData } from "../errors/errors.js";
import { decodeJson, encodeJson } from "../codecs/json.js";
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
import type {
  ActionRequest,
  ActionResponse,
  Encoding,
  QueueSendRequest,
  QueueSendResponse,
  ResolveResponse,
  ToClient,
  ToServer,
} from "./messages.js";
import { callerLimits, OWN_LIMITS, type ReadLimits } from "../limits.js";
import { copyOfBytes } from "../values/typed-arrays.js";
import {
  decodePlainCbor,
  decodeTaggedCbor,
  encodePlainCbor,
  encodeTaggedCbor,
  type WireOptions,
} from "../codecs/wire-cbor.js";
import { ownField } from "../own.js";

/** A frame of a connection: a string in `json`, bytes in the other encodings. */
export type Frame = string | Uint8Array<ArrayBuffer>;

/** Encodes and decodes the frames of one direction. `decode` accepts strings and bytes, and throws `encoding/invalid`. */
export interface FrameCodec<T> {
  encode(message: T, options?: WireOptions): Frame;
  decode(frame: string | Uint8Array | ArrayBuffer): T;
}

/**
 * The codecs of all messages in one encoding; client and server use the same ones. `encode` throws `value/not_serializable`
 * or `value/too_large`, but not for errors: it drops their metadata instead. `decode` throws only `encoding/invalid`.
 */
export interface WireCodec {
  readonly encoding: Encoding;
  readonly contentType: "application/json" | "application/octet-stream";
  readonly actionRequest: MessageCodec<ActionRequest>;
  readonly actionResponse: MessageCodec<ActionResponse>;
  readonly queueSendRequest: MessageCodec<QueueSendRequest>;
  readonly queueSendResponse: MessageCodec<QueueSendResponse>;
  readonly resolveResponse: MessageCodec<ResolveResponse>;
  readonly error: MessageCodec<ErrorData>;
  readonly toServer: FrameCodec<ToServer>;
  readonly toClient: FrameCodec<ToClient>;
}

/** A caller's values lie inside messages: `{args: [value]}`, `{body: value}`, `{body: {val: {args: [value]}}}`. */
const ACTION_LIMITS = callerLimits(2);
const SEND_LIMITS = callerLimits(1);
const FRAME_LIMITS = callerLimits(4);

type Shape<T> = (value: unknown) => T;

const utf8Encoder = new TextEncoder();
const utf8Decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

const cborToServer: MessageCodec<ToServer> = {
  encode: (message) => encodePlainCbor(inBody(message)),
  decode: (bytes) => asToServer(decodePlainCbor(bytes, FRAME_LIMITS)),
};

const cborToClient: MessageCodec<ToClient> = {
  encode: (message, options) => encodeTaggedCbor(inBody(message), options),
  decode: (bytes) => asToClient(decodeTaggedCbor(bytes)),
};

const WIRE: Readonly<Record<Encoding, WireCodec>> = {
  json: {
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
  },
  cbor: {
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
  },
  bare: {
    encoding: "bare",
    contentType: "application/octet-stream",
    actionRequest: bareActionRequest,
    actionResponse: bareActionResponse,
    queueSendRequest: timed(bareQueueSendRequest),
    queueSendResponse: bareQueueSendResponse,
    resolveResponse: bareResolveResponse,
    error: forgiving(bareError),
    toServer: binaryFrames(bareToServer),
    toClient: forgivingFrames(binaryFrames(bareToClient)),
  },
};

/** The codecs of an encoding. */
export function wireCodec(encoding: Encoding): WireCodec {
  return WIRE[encoding];
}

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

function jsonFrames<T extends ToServer | ToClient>(shape: Shape<T>, limits: ReadLimits): FrameCodec<T> {
  return {
    encode: (message, options) => encodeJson(inBody(message), options),
    decode: (frame) => shape(decodeJson(typeof frame === "string" ? frame : textOf(bytesOf(frame)), limits)),
  };
}

function binaryFrames<T>(codec: MessageCodec<T>): FrameCodec<T> {
  return {
    encode: codec.encode,
    decode(frame) {
      if (typeof frame === "string") throw malformed("a text frame instead of a binary one");
      return codec.decode(bytesOf(frame));
    },
  };
}

/** Encodes an error without its metadata if that cannot be encoded. */
function forgiving(codec: MessageCodec<ErrorData>): MessageCodec<ErrorData> {
  return {
    encode(data, options) {
      try {
        return codec.encode(data, options);
      } catch {
        return codec.encode({ ...data, metadata: undefined }, options);
      }
    },
    decode: codec.decode,
  };
}

function forgivingFrames(codec: FrameCodec<ToClient>): FrameCodec<ToClient> {
  return {
    encode(message, options) {
      if (message.tag !== "Error") return codec.encode(message, options);
      try {
        return codec.encode(message, options);
      } catch {
        return codec.encode({ tag: "Error", val: { ...message.val, metadata: undefined } }, options);
      }
    },
    decode: codec.decode,
  };
}

/** Rejects a timeout that some encoding cannot carry, in all of them alike. */
function timed(codec: MessageCodec<QueueSendRequest>): MessageCodec<QueueSendRequest> {
  return {
    encode(request, options) {
      const timeout = ownField(request, "timeout");
      if (timeout !== undefined && !(timeout >= 0 && timeout <= Number.MAX_SAFE_INTEGER)) {
        throw new ActorError("request", "invalid", `A timeout must be a number of ms, not ${timeout}`);
      }
      return codec.encode(request, options);
    },
    decode: codec.decode,
  };
}

function inBody(message: ToServer | ToClient): object {
  return { body: { tag: message.tag, val: withoutAbsent(message.val) } };
}

/** Drops absent fields. A user's value that is undefined stays: it has an encoding. */
function withoutAbsent(message: object): object {
  return Object.fromEntries(
    Object.entries(message).filter(([name, value]) => value !== undefined || name === "output" || name === "body"),
  );
}

function bytesOf(frame: Uint8Array | ArrayBuffer): Uint8Array {
  return frame instanceof Uint8Array ? frame : new Uint8Array(frame);
}

function textOf(bytes: Uint8Array): string {
  try {
    return utf8Decoder.decode(bytes);
  } catch {
    throw malformed("it is not UTF-8");
  }
}

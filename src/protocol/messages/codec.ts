import { malformed } from "../errors/malformed.js";
import { ActorError, type ErrorData } from "../errors/errors.js";
import type { WireOptions } from "../codecs/wire-cbor.js";
import { callerLimits, type ReadLimits } from "../limits.js";
import { ownField } from "../own.js";
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

/** Encodes and decodes one kind of message. `decode` throws only `encoding/invalid`. */
export interface MessageCodec<T> {
  encode(message: T, options?: WireOptions): Uint8Array<ArrayBuffer>;
  decode(bytes: Uint8Array): T;
}

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
export const ACTION_LIMITS: ReadLimits = callerLimits(2);
export const SEND_LIMITS: ReadLimits = callerLimits(1);
export const FRAME_LIMITS: ReadLimits = callerLimits(4);

/** Validates a decoded value as a message. */
export type Shape<T> = (value: unknown) => T;

export function binaryFrames<T>(codec: MessageCodec<T>): FrameCodec<T> {
  return {
    encode: codec.encode,
    decode(frame) {
      if (typeof frame === "string") throw malformed("a text frame instead of a binary one");
      return codec.decode(bytesOf(frame));
    },
  };
}

/** Encodes an error without its metadata if that cannot be encoded. */
export function forgiving(codec: MessageCodec<ErrorData>): MessageCodec<ErrorData> {
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

export function forgivingFrames(codec: FrameCodec<ToClient>): FrameCodec<ToClient> {
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
export function timed(codec: MessageCodec<QueueSendRequest>): MessageCodec<QueueSendRequest> {
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

export function inBody(message: ToServer | ToClient): object {
  return { body: { tag: message.tag, val: withoutAbsent(message.val) } };
}

/** Drops absent fields. A user's value that is undefined stays: it has an encoding. */
export function withoutAbsent(message: object): object {
  return Object.fromEntries(
    Object.entries(message).filter(([name, value]) => value !== undefined || name === "output" || name === "body"),
  );
}

export function bytesOf(frame: Uint8Array | ArrayBuffer): Uint8Array {
  return frame instanceof Uint8Array ? frame : new Uint8Array(frame);
}

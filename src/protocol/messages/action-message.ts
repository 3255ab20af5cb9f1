import { encodeJson } from "../codecs/json.js";
import { decodeRequest } from "./decode-request.js";
import type { Encoding } from "./messages.js";
import type { Frame } from "./codec.js";
import { wireCodec } from "./wire-codec.js";

/** The caller of an action over HTTP, as its message tells it. */
export interface ActionReader {
  readonly encoding: Encoding;
  /** Every kind of value may be sent to it. */
  readonly extended: boolean;
}

/** An action's arguments as their caller sent them. */
export interface ActionMessage extends ActionReader {
  readonly body: Uint8Array;
}

/**
 * The arguments in an action's message.
 *
 * @throws {encoding/invalid} when it cannot be decoded
 * @throws {actor/invalid_request} when it is JSON of another shape
 */
export function decodeArguments({ encoding, body }: ActionMessage): unknown[] {
  const codec = wireCodec(encoding);
  return decodeRequest(codec, codec.actionRequest, body, 'The body of an action call is {"args": […]}.').args;
}

/** Encodes an action's result for its caller. Throws the errors of the codec. */
export function encodeAnswer(output: unknown, { encoding, extended }: ActionReader): Frame {
  return encoding === "json"
    ? encodeJson({ output }, { extended })
    : wireCodec(encoding).actionResponse.encode({ output }, { extended });
}

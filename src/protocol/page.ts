/**
 * What a page takes of the protocol: nothing of it reaches CBOR, which a page loads on demand. Bundlers that split code go by
 * what a file imports, used or not, so this is no part of `index.ts`.
 */
export { parseActorId } from "./addressing/actor-id.js";
export { checkActorName, formatJsonKey, formatRestKey, normalizeKey } from "./addressing/actor-key.js";
export { backoffMs } from "./backoff.js";
export { decodeJson, encodeJson } from "./codecs/json.js";
export { ActorError, fromErrorData, RivetError, UserError } from "./errors/errors.js";
export type { ActorErrorOptions, ErrorData } from "./errors/errors.js";
export { saysNotRun } from "./errors/not-run.js";
export { MAX_CONNECTION_PARAMS_BYTES } from "./limits.js";
export { jsonCodec } from "./messages/json-codec.js";
export type { Frame, WireCodec } from "./messages/codec.js";
export { isEncoding } from "./messages/messages.js";
export type { Encoding, ToClient, ToServer } from "./messages/messages.js";
export { PING, PONG } from "./messages/ping.js";
export { formatSubprotocols } from "./messages/subprotocols.js";
export { MAX_SEND_WAIT_MS, readOptions } from "./options.js";
export { has, own, ownField } from "./own.js";
export { utf8Length } from "./utf8-length.js";
export { formatBase64, formatBase64Url } from "./values/base64.js";

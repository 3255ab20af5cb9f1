export { formatActorId, parseActorId } from "./actor-id.js";
export type { ActorIdParts } from "./actor-id.js";
export { encodeInput, MAX_INPUT_BYTES } from "./actor-input.js";
export {
  checkActorName,
  checkKey,
  formatJsonKey,
  formatLegacyKey,
  formatRestKey,
  MAX_ACTOR_NAME_BYTES,
  MAX_KEY_BYTES,
  MAX_KEY_PART_BYTES,
  normalizeKey,
  objectName,
  parseJsonKey,
  parseLegacyKey,
  parseObjectName,
  parseRestKey,
} from "./actor-key.js";
export type { ActorKey } from "./actor-key.js";
export { formatBase64, formatBase64Url, parseBase64 } from "./base64.js";
export type { MessageCodec } from "./bare-messages.js";
export { sendableCloseCode, sendableCloseReason } from "./close-frame.js";
export { wireCodec } from "./encoding.js";
export { ANSWER_HEADER, ENVELOPE_HEADER, formatEnvelopeHeader, formatRefusalHeader, parseEnvelopeHeader, REFUSAL_HEADER } from "./envelope-header.js";
export type { Frame, FrameCodec, WireCodec } from "./encoding.js";
export { errorCodeInfo } from "./error-codes.js";
export type { ErrorCodeInfo } from "./error-codes.js";
export {
  ActorError,
  fromErrorData,
  INTERNAL_ERROR_CODE,
  INTERNAL_ERROR_DESCRIPTION,
  RivetError,
  toErrorData,
  USER_ERROR_CODE,
  UserError,
} from "./errors.js";
export type { ActorErrorOptions, ErrorActor, ErrorData, UserErrorOptions } from "./errors.js";
export {
  actorNotFound,
  actorRestarting,
  actorStopping,
  forbiddenError,
  internalError,
  invalidEncoding,
  invalidRequest,
  isActorAbortedError,
  isRivetErrorCode,
  isRivetErrorLike,
  toRivetError,
  unauthorizedError,
  unsupportedFeature,
} from "./named-errors.js";
export type { ActorRestartingOptions, ErrorFallback, RivetErrorLike } from "./named-errors.js";
export { decodeJson, decodePlainJson, encodeJson, fromJsonTree, toJsonTree } from "./json.js";
export type { JsonOptions } from "./json.js";
export { MAX_SEND_WAIT_MS, readOptions } from "./options.js";
export { isBeyondLimit } from "./malformed.js";
export { isEncoding } from "./messages.js";
export type {
  ActionRequest,
  ActionResponse,
  Encoding,
  QueueSendRequest,
  QueueSendResponse,
  ResolveResponse,
  ToClient,
  ToClientError,
  ToServer,
} from "./messages.js";
export { fieldOf, has, own, ownField } from "./own.js";
export { PING, PONG } from "./ping.js";
export { formatSubprotocols, parseSubprotocols, SOCKET_PROTOCOL } from "./subprotocols.js";
export type { SocketOpening } from "./subprotocols.js";
export { headBytes, isShortInteger } from "./cbor/heads.js";
export { TAG } from "./cbor/tags.js";
export { textBytes } from "./cbor/text-size.js";
export { checkValue, notSerializable } from "./value-check.js";
export { describeValue, kindOf } from "./value-kinds.js";
export type { ValueKind } from "./value-kinds.js";
export { propertyPath } from "./value-members.js";
export { decodeRow, decodeValue, encodeValue, measure } from "./values.js";
export type { EncodeValueOptions, MeasureOptions } from "./values.js";
export type { Measure } from "./cbor/measure.js";
export { ENVELOPE_VERSION, NEWEST_STORAGE_FORMAT, PACKAGE_VERSION, STORAGE_FORMAT } from "./version.js";
export { callerLimits, MAX_DECODED_DEPTH, MAX_ROW_BYTES, MAX_STORED_DEPTH, MAX_VALUE_BYTES, MAX_WIRE_DEPTH } from "./limits.js";
export type { ActorAddress, CallEnvelope, CallLink, Creation, Operation, ReplyEnvelope } from "./envelope.js";
export { decodePlainCbor, decodeTaggedCbor, encodePlainCbor, encodeTaggedCbor } from "./wire-cbor.js";
export type { WireOptions } from "./wire-cbor.js";
export { LOG_LEVELS, type LogLevel } from "./log-levels.js";
export { toUint8Array } from "./to-uint8-array.js";

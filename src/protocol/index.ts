export { formatActorId, parseActorId } from "./addressing/actor-id.js";
export type { ActorIdParts } from "./addressing/actor-id.js";
export { encodeInput, MAX_INPUT_BYTES } from "./addressing/actor-input.js";
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
} from "./addressing/actor-key.js";
export type { ActorKey } from "./addressing/actor-key.js";
export { formatActionCall, readActionCall } from "./addressing/action-call.js";
export type { ActionCall, OutsideAction } from "./addressing/action-call.js";
export { backoffMs } from "./backoff.js";
export type { Backoff } from "./backoff.js";
export { formatBase64, formatBase64Url, parseBase64 } from "./values/base64.js";
export { sendableCloseCode, sendableCloseReason } from "./messages/close-frame.js";
export { decodeArguments, encodeAnswer } from "./messages/action-message.js";
export type { ActionMessage, ActionReader } from "./messages/action-message.js";
export { decodeRequest, textOf } from "./messages/decode-request.js";
export { BareReader, BareWriter } from "./messages/bare.js";
export { wireCodec } from "./messages/wire-codec.js";
export {
  ANSWER_HEADER,
  ENVELOPE_HEADER,
  formatEnvelopeHeader,
  formatRefusalHeader,
  parseEnvelopeHeader,
  REFUSAL_HEADER,
} from "./addressing/envelope-header.js";
export { jsonCodec } from "./messages/json-codec.js";
export type { Frame, FrameCodec, MessageCodec, WireCodec } from "./messages/codec.js";
export {
  ActorError,
  fromErrorData,
  INTERNAL_ERROR_CODE,
  INTERNAL_ERROR_DESCRIPTION,
  RivetError,
  toErrorData,
  USER_ERROR_CODE,
  UserError,
} from "./errors/errors.js";
export type { ActorErrorOptions, ErrorActor, ErrorData, UserErrorOptions } from "./errors/errors.js";
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
} from "./errors/named-errors.js";
export type { ActorRestartingOptions, ErrorFallback, RivetErrorLike } from "./errors/named-errors.js";
export { decodeJson, decodePlainJson, encodeJson, fromJsonTree, toJsonTree } from "./codecs/json.js";
export type { JsonOptions } from "./codecs/json.js";
export { MAX_SEND_WAIT_MS, readOptions } from "./options.js";
export { isBeyondLimit } from "./errors/malformed.js";
export { saysNotRun } from "./errors/not-run.js";
export { sameBytes } from "./same-bytes.js";
export { isWellFormed } from "./well-formed.js";
export { isEncoding } from "./messages/messages.js";
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
} from "./messages/messages.js";
export { fieldOf, has, own, ownField } from "./own.js";
export { PING, PONG } from "./messages/ping.js";
export { formatSubprotocols, parseSubprotocols, SOCKET_PROTOCOL } from "./messages/subprotocols.js";
export type { SubprotocolFields } from "./messages/subprotocols.js";
export { headBytes, isShortInteger } from "./cbor/heads.js";
export { TAG } from "./cbor/tags.js";
export { textBytes } from "./cbor/text-size.js";
export { utf8Length } from "./utf8-length.js";
export { checkValue, notSerializable } from "./values/value-check.js";
export { describeValue, kindOf } from "./values/value-kinds.js";
export type { ValueKind } from "./values/value-kinds.js";
export { propertyPath } from "./values/value-members.js";
export { decodeForWorkflow, isDecodedForWorkflow } from "./codecs/decoded-values.js";
export { Effects } from "./effects.js";
export { isThenable } from "./thenable.js";
export { decodeRow, decodeValue, encodeValue, measure } from "./codecs/value-codec.js";
export type { EncodeValueOptions, MeasureOptions } from "./codecs/value-codec.js";
export type { Measure } from "./cbor/measure.js";
export { ENVELOPE_VERSION, NEWEST_STORAGE_FORMAT, PACKAGE_VERSION, STORAGE_FORMAT } from "./version.js";
export {
  callerLimits,
  DUE_PER_PASS,
  MAX_CONNECTION_PARAMS_BYTES,
  MAX_DECODED_DEPTH,
  MAX_INTERRUPTIONS,
  MAX_ROW_BYTES,
  MAX_STORED_DEPTH,
  MAX_UNCHECKED_BYTES,
  MAX_VALUE_BYTES,
  MAX_WIRE_DEPTH,
} from "./limits.js";
export type {
  ActorAddress,
  CallEnvelope,
  CallLink,
  Creation,
  CallOperation,
  ReplyEnvelope,
} from "./addressing/envelope.js";
export type { InspectQuestion } from "./addressing/inspect-question.js";
export { decodeTaggedCbor, encodeTaggedCbor } from "./codecs/wire-cbor.js";
export type { WireOptions } from "./codecs/wire-cbor.js";
export { LOG_LEVELS, type LogLevel } from "./log-levels.js";
export { toUint8Array } from "./values/to-uint8-array.js";
export { assertUnreachable } from "./errors/assert-unreachable.js";
export { missingModule } from "./errors/missing-module.js";
export { stringifyError } from "./errors/stringify-error.js";

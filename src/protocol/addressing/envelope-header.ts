import { formatBase64Url, parseBase64 } from "../values/base64.js";
import type { CallEnvelope } from "./envelope.js";
import { ActorError } from "../errors/errors.js";
import type { ErrorData } from "../errors/errors.js";
import { decodeValue, encodeValue } from "../codecs/value-codec.js";

/** The header with the envelope of a call that reaches its object as a request, such as an upgrade. Only the router sets it. */
export const ENVELOPE_HEADER = "x-perdure-envelope";

/** Marks a raw response as made by the actor's own code, and holds the actor's id. A response without it is our rejection. */
export const ANSWER_HEADER = "x-perdure-answer";

/** Holds the error of a HEAD request, whose body HTTP drops. */
export const REFUSAL_HEADER = "x-perdure-refusal";
const MAX_REFUSAL_BYTES = 4096;

/** Formats an error for `REFUSAL_HEADER`; one that is too long loses its metadata and the end of its message. */
export function formatRefusalHeader({ metadata, ...data }: ErrorData): string {
  const whole = encodeValue({ ...data, ...(metadata !== undefined && { metadata }) });
  if (whole.byteLength <= MAX_REFUSAL_BYTES) return formatBase64Url(whole);
  const { group, code, message, actor } = data;
  return formatBase64Url(
    encodeValue({
      ...(actor && { actor }),
      group: group.slice(0, 200),
      code: code.slice(0, 200),
      message: message.slice(0, 200),
    }),
  );
}

/** Formats an envelope without its request, which carries the header. */
export function formatEnvelopeHeader(envelope: Omit<CallEnvelope, "request">): string {
  return formatBase64Url(encodeValue({ ...envelope }, { what: "the envelope" }));
}

/** @throws {actor/invalid_request} when the header is missing */
export function parseEnvelopeHeader(text: string | null): Omit<CallEnvelope, "request"> {
  const bytes = text === null ? undefined : parseBase64(text);
  if (bytes === undefined) throw new ActorError("actor", "invalid_request", "The request has no envelope");
  return decodeValue(bytes) as CallEnvelope;
}

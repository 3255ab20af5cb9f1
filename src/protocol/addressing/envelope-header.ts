import { formatBase64Url, parseBase64 } from "../values/base64.js";
import type { CallEnvelope } from "./envelope.js";
import { ActorError } from "../errors/errors.js";
import type { ErrorData } from "../errors/errors.js";
import { decodeValue, encodeValue } from "../codecs/value-codec.js";

/** Carries the envelope of what reaches an object as a request: an upgrade, say. Whoever routes sets it; no caller can. */
export const ENVELOPE_HEADER = "x-perdure-envelope";

/** Stands on what an actor's own code answered to a raw request, and holds the actor's id. What lacks it is a refusal of ours. */
export const ANSWER_HEADER = "x-perdure-answer";

/** Holds the refusal of a HEAD request, whose body HTTP drops. */
export const REFUSAL_HEADER = "x-perdure-refusal";
const MAX_REFUSAL_BYTES = 4096;

/** An error for that header; what is too long for it loses metadata, then its text's end. */
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

/** The envelope without the request: that one carries it. */
export function formatEnvelopeHeader(envelope: Omit<CallEnvelope, "request">): string {
  return formatBase64Url(encodeValue({ ...envelope }, { what: "the envelope" }));
}

/** @throws actor/invalid_request */
export function parseEnvelopeHeader(text: string | null): Omit<CallEnvelope, "request"> {
  const bytes = text === null ? undefined : parseBase64(text);
  if (bytes === undefined) throw new ActorError("actor", "invalid_request", "The request comes without an envelope");
  return decodeValue(bytes) as CallEnvelope;
}

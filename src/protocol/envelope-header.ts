import { formatBase64Url, parseBase64 } from "./base64.js";
import type { CallEnvelope } from "./envelope.js";
import { ActorError } from "./errors.js";
import { decodeValue, encodeValue } from "./values.js";

/** Carries the envelope of what reaches an object as a request: an upgrade, say. Whoever routes sets it; no caller can. */
export const ENVELOPE_HEADER = "x-perdure-envelope";

/** Stands on what an actor's own code answered to a raw request, and holds the actor's id. What lacks it is a refusal of ours. */
export const ANSWER_HEADER = "x-perdure-answer";

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

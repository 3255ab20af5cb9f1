import type { ObjectEvents } from "../actor/index.js";
import { ANSWER_HEADER, ENVELOPE_HEADER } from "../protocol/index.js";
import { refusal, serveByEnvelope } from "./enveloped-request.js";

/** Answers a raw request with the actor's Response, marked as such, or with a refusal. */
export function serveRawRequest(request: Request, events: ObjectEvents): Promise<Response> {
  return serveByEnvelope(request, async (envelope) => {
    const reply = await events.request(envelope, asSent(request));
    if (!reply.ok) return refusal(request, reply.error, reply.status);
    reply.response.headers.set(ANSWER_HEADER, reply.actorId);
    return withItsLength(reply.response);
  });
}

/**
 * Restores the length of a body, which it loses by passing through our code. A length that the actor's code announced
 * is enforced: a body of another length breaks off.
 */
function withItsLength(response: Response): Response {
  const announced = response.headers.get("content-length");
  // The platform compresses a body with this header, which changes its length.
  const isEncoded = response.headers.has("content-encoding");
  if (response.body === null || announced === null || isEncoded || !/^\d{1,15}$/.test(announced)) return response;
  const { readable, writable } = new FixedLengthStream(Number(announced));
  // The stream itself reports this to its reader.
  response.body.pipeTo(writable).catch(() => {});
  return new Response(readable, response);
}

/** The headers without the envelope. */
function asSent(request: Request): Request {
  const headers = new Headers(request.headers);
  headers.delete(ENVELOPE_HEADER);
  return new Request(request, { headers, signal: request.signal });
}

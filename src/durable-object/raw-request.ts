import type { ActorHost } from "../actor/index.js";
import { ANSWER_HEADER, ENVELOPE_HEADER } from "../protocol/index.js";
import { refusal, serveByEnvelope } from "./enveloped-request.js";

/** Answers a raw request with the actor's own Response, marked as such; or with a refusal. */
export function serveRawRequest(request: Request, host: ActorHost): Promise<Response> {
  return serveByEnvelope(request, async (envelope) => {
    const reply = await host.request(envelope, asSent(request));
    if (!reply.ok) return refusal(request, reply.error, reply.status);
    reply.response.headers.set(ANSWER_HEADER, reply.actorId);
    return withItsLength(reply.response);
  });
}

/**
 * A body that goes through our code has lost its length to the platform. One that the actor's code announced is held to it: a
 * body of another length breaks off.
 */
function withItsLength(response: Response): Response {
  const announced = response.headers.get("content-length");
  // The platform encodes what says so, which makes it another length.
  const isEncoded = response.headers.has("content-encoding");
  if (response.body === null || announced === null || isEncoded || !/^\d{1,15}$/.test(announced)) return response;
  const { readable, writable } = new FixedLengthStream(Number(announced));
  // Whoever reads is told by the stream itself.
  response.body.pipeTo(writable).catch(() => {});
  return new Response(readable, response);
}

/** Without the envelope. */
function asSent(request: Request): Request {
  const headers = new Headers(request.headers);
  headers.delete(ENVELOPE_HEADER);
  return new Request(request, { headers, signal: request.signal });
}

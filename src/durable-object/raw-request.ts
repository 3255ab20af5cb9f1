import type { ActorHost } from "../actor/index.js";
import { ANSWER_HEADER, ENVELOPE_HEADER } from "../protocol/index.js";
import { refusal, serveByEnvelope } from "./enveloped-request.js";

/** Answers a raw request with the actor's own Response, marked as such; or with a refusal. */
export function serveRawRequest(request: Request, host: ActorHost): Promise<Response> {
  return serveByEnvelope(request, async (envelope) => {
    const reply = await host.request(envelope, asSent(request));
    if (!reply.ok) return refusal(reply.error, reply.status);
    reply.response.headers.set(ANSWER_HEADER, reply.actorId);
    return reply.response;
  });
}

/** Without the envelope. */
function asSent(request: Request): Request {
  const headers = new Headers(request.headers);
  headers.delete(ENVELOPE_HEADER);
  return new Request(request, { headers, signal: request.signal });
}

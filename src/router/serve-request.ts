import { ActorError, parseActorId } from "../protocol/index.js";
import { readConnParams } from "./conn-params.js";
import { actorRequest } from "./forwarded-request.js";
import type { ActorAccess } from "./gateway-request.js";
import { readBody } from "./read-body.js";
import type { ActorTarget } from "./resolve-stub.js";
import { isUpgrade } from "./socket-opening.js";

/** Bytes that a body may announce. One that announces nothing is a stream, and as long as it likes (decision 29). */
const MAX_ANNOUNCED_BYTES = 20 * 1024 * 1024;

/** A raw request, addressed: what the actor's own code sees of its URL is `path` and `query`, both undecoded. */
export interface AddressedRequest {
  readonly request: Request;
  readonly target: ActorTarget;
  readonly path: string;
  readonly query: string;
}

/**
 * A raw request to an actor, below `/gateway/{actor}/request` or routed by header: gives what the actor's own code answers.
 * Throws what the caller did wrong, and the errors of the actor's side.
 */
export async function serveRequest({ request, target, path, query }: AddressedRequest, { sendRequest }: ActorAccess): Promise<Response> {
  if (isUpgrade(request)) throw new ActorError("actor", "invalid_request", "WebSockets do not open here, but at …/connect and …/websocket.");
  const params = readConnParams(request.headers);
  if (Number(request.headers.get("content-length")) > MAX_ANNOUNCED_BYTES) await readBody(request, MAX_ANNOUNCED_BYTES, tooLong);
  return sendRequest({
    target,
    request: actorRequest(request, path, query),
    body: request.body,
    signal: request.signal,
    ...(params !== undefined && { params }),
  });
}

/** Whether the headers say that a request below `/request` is for an actor, or that the real one will (a preflight). */
export function isRoutedByHeader({ method, headers }: Request): boolean {
  if (headers.has("x-rivet-target")) return true;
  return method === "OPTIONS" && /\bx-rivet-target\b/i.test(headers.get("access-control-request-headers") ?? "");
}

/** The actor that `x-rivet-target` and `x-rivet-actor` name. Throws `guard/no_route`, `guard/missing_actor` or `actor/invalid_id`. */
export function headerTarget(headers: Headers): ActorTarget {
  if (headers.get("x-rivet-target") !== "actor") throw new ActorError("guard", "no_route", "Below /request only requests with x-rivet-target: actor are routed.");
  const actorId = headers.get("x-rivet-actor");
  if (actorId === null || actorId === "") throw new ActorError("guard", "missing_actor", "x-rivet-target: actor needs the actor's id as x-rivet-actor.");
  if (parseActorId(actorId) === undefined) throw new ActorError("actor", "invalid_id", "x-rivet-actor is not the id of an actor.");
  return { actorId };
}

function tooLong(): ActorError {
  const message = `A body that announces its length has at most ${MAX_ANNOUNCED_BYTES} bytes. Larger ones are streamed, without a content-length.`;
  return new ActorError("guard", "invalid_request_body", message, { metadata: { limitBytes: MAX_ANNOUNCED_BYTES } });
}

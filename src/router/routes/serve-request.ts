import { ActorError } from "../../protocol/index.js";
import { readConnParams } from "../request/read-params.js";
import { actorRequest } from "../request/forwarded-request.js";
import type { ActorRequest } from "./routed-request.js";
import { readBody } from "../request/read-body.js";
import { isUpgrade } from "../request/socket-opening.js";

/** The most bytes a body may announce. A body that announces no length is a stream of any length (CONN-10). */
const MAX_ANNOUNCED_BYTES = 20 * 1024 * 1024;

/**
 * Serves a raw request to an actor, below `/gateway/{actor}/request` or routed by header, and returns the answer of the
 * actor's code. That code sees `path`, undecoded, and the user's query. Throws the caller's mistakes, and the actor's errors.
 */
export async function serveRequest(
  { request, url, userQuery, target, access }: ActorRequest,
  path: string,
): Promise<Response> {
  if (isUpgrade(request))
    throw new ActorError("actor", "invalid_request", "WebSockets do not open here, but at …/connect and …/websocket.");
  const params = readConnParams(request.headers);
  if (Number(request.headers.get("content-length")) > MAX_ANNOUNCED_BYTES)
    await readBody(request, MAX_ANNOUNCED_BYTES, tooLong);
  return access.sendRequest({
    target,
    request: actorRequest(request, url, path, userQuery),
    body: request.body,
    signal: request.signal,
    ...(params !== undefined && { params }),
  });
}

function tooLong(): ActorError {
  const message =
    `A body that announces its length has at most ${MAX_ANNOUNCED_BYTES} bytes. Larger ones are streamed, ` +
    "without a content-length.";
  return new ActorError("guard", "invalid_request_body", message, { metadata: { limitBytes: MAX_ANNOUNCED_BYTES } });
}

import { answer } from "../request/answer.js";
import { forwardedRequest } from "../request/forwarded-request.js";
import { incomingTooLong, readBody } from "../request/read-body.js";
import { readConnParams } from "../request/read-params.js";
import { isOwnClient, wireCodecOf } from "../request/wire-encoding.js";
import type { ActorRequest, RouteOptions } from "./routed-request.js";

/**
 * `POST …/action/{name}`: calls an action and answers its result. Throws the caller's mistakes, and the actor's errors.
 */
export async function serveAction(
  { request, url, userQuery, target, access }: ActorRequest,
  name: string,
  { maxIncomingMessageSize, maxOutgoingMessageSize }: RouteOptions,
): Promise<Response> {
  const { headers } = request;
  const codec = wireCodecOf(headers);
  const params = readConnParams(headers);
  const body = await readBody(request, maxIncomingMessageSize, () => incomingTooLong(maxIncomingMessageSize));
  const called = await access.callAction({
    target,
    name,
    message: { encoding: codec.encoding, extended: isOwnClient(headers), body },
    params,
    request: forwardedRequest(request, url, userQuery),
  });
  return answer(called.answer, codec, called.actorId, maxOutgoingMessageSize);
}

import { decodeValue, encodeValue, type CallOperation } from "../../protocol/index.js";
import { answer } from "../request/answer.js";
import { readConnParams } from "../request/read-params.js";
import { forwardedRequest } from "../request/forwarded-request.js";
import type { ActorRequest, RouteOptions } from "./routed-request.js";
import { incomingTooLong, readBody } from "../request/read-body.js";
import { decodeRequest, isOwnClient, wireCodecOf } from "../request/wire-encoding.js";

/**
 * `POST …/action/{name}`: calls an action and answers its result. Throws the caller's mistakes, and the actor's errors.
 */
export async function serveAction(
  { request, url, userQuery, target, access }: ActorRequest,
  name: string,
  options: RouteOptions,
): Promise<Response> {
  const limitBytes = options.maxIncomingMessageSize;
  const codec = wireCodecOf(request.headers);
  const params = readConnParams(request.headers);
  const body = await readBody(request, limitBytes, () => incomingTooLong(limitBytes));
  const { args } = decodeRequest(codec, codec.actionRequest, body, 'The body of an action call is {"args": […]}.');
  const operation: CallOperation = {
    kind: "action",
    name,
    args: encodeValue(args, { what: "the arguments" }),
  };
  const reply = await access.callActor({
    target,
    operation,
    request: forwardedRequest(request, url, userQuery),
    ...(params !== undefined && { params }),
  });
  const output = reply.output === undefined ? undefined : decodeValue(reply.output);
  const bytes = codec.actionResponse.encode({ output }, { extended: isOwnClient(request.headers) });
  return answer(bytes, codec, reply.actorId, options.maxOutgoingMessageSize);
}

import { decodeValue, encodeValue, type CallOperation } from "../../protocol/index.js";
import { answer } from "../request/answer.js";
import { readConnParams } from "../request/read-params.js";
import { forwardedRequest } from "../request/forwarded-request.js";
import type { ActorAccess } from "../objects/actor-access.js";
import type { GatewayOptions, GatewayRequest } from "./gateway-request.js";
import { incomingTooLong, readBody } from "../request/read-body.js";
import { decodeRequest, isOwnClient, wireCodecOf } from "../request/wire-encoding.js";

/**
 * `POST …/action/{name}`: calls an action and answers its result. Throws the caller's mistakes, and the actor's errors.
 */
export async function serveAction(
  { request, userQuery, target, argument }: GatewayRequest,
  { callActor }: ActorAccess,
  options: GatewayOptions,
): Promise<Response> {
  const limitBytes = options.maxIncomingMessageSize;
  const codec = wireCodecOf(request.headers);
  const params = readConnParams(request.headers);
  const body = await readBody(request, limitBytes, () => incomingTooLong(limitBytes));
  const { args } = decodeRequest(codec, codec.actionRequest, body, 'The body of an action call is {"args": […]}.');
  const operation: CallOperation = {
    kind: "action",
    name: argument,
    args: encodeValue(args, { what: "the arguments" }),
  };
  const reply = await callActor({
    target,
    operation,
    request: forwardedRequest(request, userQuery),
    ...(params !== undefined && { params }),
  });
  const output = reply.output === undefined ? undefined : decodeValue(reply.output);
  const bytes = codec.actionResponse.encode({ output }, { extended: isOwnClient(request.headers) });
  return answer(bytes, codec, reply.actorId, options.maxOutgoingMessageSize);
}

import { ActorError, decodeValue, encodeValue, type Operation } from "../protocol/index.js";
import { readConnParams } from "./conn-params.js";
import type { ActorCall, CallActor } from "./forward.js";
import { forwardedRequest } from "./forwarded-request.js";
import { decodeSegment, parseGatewayPath } from "./gateway-path.js";
import { parseGatewayQuery, targetOf, type GatewayQuery } from "./gateway-query.js";
import { checkNamespace, requireMethod } from "./preconditions.js";
import { incomingTooLong, readBody } from "./read-body.js";
import type { ActorTarget } from "./resolve-stub.js";
import { decodeArguments, isOwnClient, wireCodecOf } from "./wire-encoding.js";

export interface GatewayOptions {
  readonly maxIncomingMessageSize: number;
  /** The only namespace there is; any is accepted if undefined. */
  readonly namespace: string | undefined;
}

/** A request below `/gateway/`, addressed and ready for its verb. */
interface GatewayRequest {
  readonly request: Request;
  readonly query: GatewayQuery;
  readonly target: ActorTarget;
  readonly argument: string;
}

/** What the gateway will serve, but does not yet. */
const PLANNED = new Set(["queue", "request", "connect", "websocket", "inspector", "metrics"]);

/** Serves `/gateway/{name or id}[@token]/{rest}`; `path` is what follows `/gateway/`, undecoded. Throws what the caller did wrong. */
export async function serveGateway(request: Request, path: string, callActor: CallActor, options: GatewayOptions): Promise<Response> {
  const { actor, verb, argument } = parseGatewayPath(path);
  if (PLANNED.has(verb)) throw new ActorError("feature", "unsupported", `/gateway/{actor}/${verb} is not served yet.`);
  const name = argument === undefined ? undefined : decodeSegment(argument);
  if (verb !== "action" || name === undefined) throw new ActorError("guard", "no_route", "The gateway has no such route.");
  requireMethod(request, "POST");
  const query = parseGatewayQuery(new URL(request.url).search);
  checkNamespace(query.params.get("rvt-namespace"), options.namespace);
  return serveAction({ request, query, target: targetOf(actor, query.params), argument: name }, callActor, options.maxIncomingMessageSize);
}

async function serveAction({ request, query, target, argument }: GatewayRequest, callActor: CallActor, limitBytes: number): Promise<Response> {
  const codec = wireCodecOf(request.headers);
  const params = readConnParams(request.headers);
  const body = await readBody(request, limitBytes, () => incomingTooLong(limitBytes));
  const args = encodeValue(decodeArguments(codec, body), { what: "the arguments" });
  const operation: Operation = { kind: "action", name: argument, args };
  const call: ActorCall = {
    target,
    operation,
    request: forwardedRequest(request, query.userQuery),
    ...(params !== undefined && { params }),
  };
  const reply = await callActor(call);
  const output = reply.output === undefined ? undefined : decodeValue(reply.output);
  const bytes = codec.actionResponse.encode({ output }, { extended: isOwnClient(request.headers) });
  return new Response(bytes, { headers: { "content-type": codec.contentType, "x-rivet-actor": reply.actorId } });
}

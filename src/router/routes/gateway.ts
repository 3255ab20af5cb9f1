import { ActorError } from "../../protocol/index.js";
import { decodeSegment, parseGatewayPath } from "../request/gateway-path.js";
import { parseGatewayQuery, targetOf } from "./gateway-query.js";
import type { ActorAccess } from "../objects/actor-access.js";
import type { GatewayOptions, GatewayRequest } from "./gateway-request.js";
import { checkNamespace, requireMethod } from "../request/preconditions.js";
import { serveAction } from "./serve-action.js";
import { serveConnect } from "./serve-connect.js";
import { serveQueue } from "./serve-queue.js";
import { serveRequest } from "./serve-request.js";

type ServeVerb = (addressed: GatewayRequest, access: ActorAccess, options: GatewayOptions) => Promise<Response>;

const VERBS = new Map<string, ServeVerb>([
  ["action", serveAction],
  ["queue", serveQueue],
]);

/** Verbs without the name of an action or queue. */
const OTHER_VERBS = new Set(["request", "connect", "websocket"]);

/** Verbs the gateway does not serve yet. */
const PLANNED = new Set(["inspector", "metrics"]);

/**
 * Serves `/gateway/{name or id}[@token]/{rest}`; `path` is the undecoded part after `/gateway/`. Throws the caller's
 * mistakes.
 */
export async function serveGateway(
  request: Request,
  path: string,
  access: ActorAccess,
  options: GatewayOptions,
): Promise<Response> {
  const { actor, verb, argument } = parseGatewayPath(path);
  if (PLANNED.has(verb)) throw new ActorError("feature", "unsupported", `/gateway/{actor}/${verb} is not served yet.`);
  const serve = VERBS.get(verb);
  const name = argument === undefined ? undefined : decodeSegment(argument);
  if (!OTHER_VERBS.has(verb) && (serve === undefined || name === undefined))
    throw new ActorError("guard", "no_route", "The gateway has no such route.");
  if (serve !== undefined) requireMethod(request, "POST");
  const query = parseGatewayQuery(new URL(request.url).search);
  checkNamespace(query.params.get("rvt-namespace"), options.namespace);
  const target = targetOf(actor, query.params);
  if (verb === "connect") return serveConnect({ request, userQuery: query.userQuery, target }, access);
  if (verb === "websocket")
    return serveConnect({ request, userQuery: query.userQuery, target }, access, argument ?? "");
  if (serve === undefined || name === undefined)
    return serveRequest({ request, target, path: `/${argument ?? ""}`, query: query.userQuery }, access);
  return serve({ request, userQuery: query.userQuery, target, argument: name }, access, options);
}

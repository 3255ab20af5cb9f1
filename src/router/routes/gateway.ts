import { ActorError } from "../../protocol/index.js";
import { decodeSegment, gatewayActor } from "../request/gateway-path.js";
import { checkNamespace } from "../request/preconditions.js";
import { parseGatewayQuery, targetOf } from "./gateway-query.js";
import type { Route } from "./route.js";
import type { ActorRequest, RouteOptions } from "./routed-request.js";

/** Serves what is below an actor's path. `rest`: what stands for the second name, or for the "*", undecoded. */
type ServeActor = (asked: ActorRequest, rest: string | undefined) => Promise<Response>;

/**
 * A route below `/gateway/:actor`: reads which actor the path and the query name.
 *
 * @throws {guard/query_invalid_params} when they do not name an actor
 * @throws {guard/query_duplicate_param} when a parameter is given twice
 * @throws {actor/namespace_not_found} when the query names another namespace
 */
export function atActor(serve: ServeActor, { namespace }: Pick<RouteOptions, "namespace">): Route["serve"] {
  return async (routed, segment = "", rest) => {
    const actor = gatewayActor(segment);
    const { params, userQuery } = parseGatewayQuery(routed.url.search);
    checkNamespace(params.get("rvt-namespace"), namespace);
    const { request, url, path, access, sockets } = routed;
    return serve({ request, url, path, access, sockets, target: targetOf(actor, params), userQuery }, rest);
  };
}

/** A route that ends with the name of an action or a queue. @throws {guard/no_route} when it is not percent-encoded UTF-8 */
export function atName(
  serve: (asked: ActorRequest, name: string) => Promise<Response>,
  options: Pick<RouteOptions, "namespace">,
): Route["serve"] {
  const served = atActor(async (asked, name) => serve(asked, name ?? ""), options);
  return (routed, segment, encoded = "") => {
    const name = decodeSegment(encoded);
    if (name === undefined) throw new ActorError("guard", "no_route", "The gateway has no such route.");
    return served(routed, segment, name);
  };
}

/** A route that the published servers have. @throws {feature/unsupported} */
export function metricsNotServed(): never {
  throw new ActorError("feature", "unsupported", "There are no metrics.");
}

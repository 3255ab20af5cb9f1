import { ActorError } from "../../protocol/index.js";
import { requireToken } from "../request/access-token.js";
import { decodeSegment } from "../request/gateway-path.js";
import { checkNamespace } from "../request/preconditions.js";
import type { RoutedRequest, RouteOptions } from "./routed-request.js";

/** Routes that RivetKit's servers have and Perdure does not, since the platform decides where actors run. */
const NOT_HERE = /^[^/]*\/(?:reschedule$|kv\/)/;

/**
 * Every route below `/actors/` needs the token.
 *
 * @throws {api/unauthorized} when the token is missing or wrong
 * @throws {actor/namespace_not_found} when the query names another namespace
 */
export function requireManager(
  { request, url }: RoutedRequest,
  { token, namespace }: Pick<RouteOptions, "token" | "namespace">,
): void {
  requireToken(request.headers, token);
  checkNamespace(url.searchParams.get("namespace"), namespace);
}

/** `DELETE /actors/{id}`. Throws the actor's errors. */
export async function destroyActor({ access }: RoutedRequest, id: string): Promise<Response> {
  await access.callActor({ target: targetOf(id), operation: { kind: "destroy" } });
  return Response.json({});
}

/** `POST /actors/{id}/sleep`. Throws the actor's errors. */
export async function sleepActor({ access }: RoutedRequest, id: string): Promise<Response> {
  await access.callActor({ target: targetOf(id), operation: { kind: "sleep" } });
  return Response.json({});
}

/** Any other path below `/actors/`. */
export function notManaged(path: string): never {
  if (NOT_HERE.test(path))
    throw new ActorError("feature", "unsupported", "This server does not do that to actors over REST.");
  throw new ActorError("guard", "no_route", "There is no such route.");
}

/** The registry's actor names, in the form clients expect. */
export function actorMetadata(actorNames: Iterable<string>): Readonly<Record<string, { readonly metadata: object }>> {
  return Object.fromEntries(Array.from(actorNames, (name) => [name, { metadata: {} }]));
}

function targetOf(segment: string): { readonly actorId: string } {
  return { actorId: decodeSegment(segment) ?? segment };
}

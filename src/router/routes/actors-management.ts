import { ActorError } from "../../protocol/index.js";
import { requireToken } from "../request/access-token.js";
import type { CallActor } from "../objects/call-actor.js";
import { decodeSegment } from "../request/gateway-path.js";
import { checkNamespace, requireMethod } from "../request/preconditions.js";

export interface ActorsRestOptions {
  readonly actorNames: ReadonlySet<string>;
  readonly namespace: string | undefined;
  readonly token: string | undefined;
}

/** Routes that RivetKit's servers have and Perdure does not, since the platform decides where actors run. */
const NOT_HERE = /^\/reschedule$|^\/kv\//;

/**
 * Serves the routes below `/actors/`, all of which need the token: list the registry's names, destroy an actor, put one
 * to sleep. Throws the caller's mistakes, and the actor's errors.
 *
 * @throws {actor/not_found} when the actor no longer exists
 */
export async function serveManagement(
  request: Request,
  path: string,
  callActor: CallActor,
  options: ActorsRestOptions,
): Promise<Response> {
  requireToken(request.headers, options.token);
  checkNamespace(new URL(request.url).searchParams.get("namespace"), options.namespace);
  if (path === "/names") {
    requireMethod(request, "GET", "HEAD");
    return Response.json({ names: actorMetadata(options.actorNames), pagination: {} });
  }
  const [, segment = "", rest = ""] = /^\/([^/]*)(.*)$/.exec(path) ?? [];
  if (NOT_HERE.test(rest))
    throw new ActorError("feature", "unsupported", "This server does not do that to actors over REST.");
  const target = { actorId: decodeSegment(segment) ?? segment };
  if (rest === "/sleep") {
    requireMethod(request, "POST");
    await callActor({ target, operation: { kind: "sleep" } });
    return Response.json({});
  }
  if (rest !== "") throw new ActorError("guard", "no_route", "There is no such route.");
  requireMethod(request, "DELETE");
  await callActor({ target, operation: { kind: "destroy" } });
  return Response.json({});
}

/** The registry's actor names, in the form clients expect. */
export function actorMetadata(actorNames: Iterable<string>): Readonly<Record<string, { readonly metadata: object }>> {
  return Object.fromEntries(Array.from(actorNames, (name) => [name, { metadata: {} }]));
}

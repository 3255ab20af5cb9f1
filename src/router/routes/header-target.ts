/**
 * Paths that name no actor: headers name it, or a socket's subprotocols, since browsers send sockets without headers.
 */
import { ActorError, parseActorId, parseSubprotocols } from "../../protocol/index.js";
import type { ActorTarget } from "../objects/resolve-stub.js";
import { isUpgrade } from "../request/socket-opening.js";

/**
 * Whether a request below the base path names an actor in its headers or subprotocols. Others may be the user's own.
 */
export function isRouted(path: string, request: Request): boolean {
  if (/^\/request(?:\/|$)/.test(path)) return isRoutedByHeader(request);
  return (
    /^\/(?:connect$|websocket(?:\/|$))/.test(path) &&
    isUpgrade(request) &&
    /(?:^|,)\s*rivet_target\./.test(request.headers.get("sec-websocket-protocol") ?? "")
  );
}

/** Whether the headers name an actor, or announce (in a preflight) that the request will. */
function isRoutedByHeader({ method, headers }: Request): boolean {
  if (headers.has("x-rivet-target")) return true;
  return method === "OPTIONS" && /\bx-rivet-target\b/i.test(headers.get("access-control-request-headers") ?? "");
}

/**
 * The actor that `x-rivet-target` and `x-rivet-actor` name.
 *
 * @throws {guard/no_route} when the target is not an actor
 * @throws {guard/missing_actor} when the actor's id is missing
 * @throws {actor/invalid_id} when it is not an actor's id
 */
export function headerTarget(headers: Headers): ActorTarget {
  if (headers.get("x-rivet-target") !== "actor")
    throw new ActorError("guard", "no_route", "Below /request only requests with x-rivet-target: actor are routed.");
  return targetById(headers.get("x-rivet-actor"), "x-rivet-target: actor", "x-rivet-actor");
}

/**
 * The actor that the subprotocols `rivet_target.actor` and `rivet_actor.{id}` name. Throws the errors of
 * `headerTarget`.
 */
export function protocolTarget(headers: Headers): ActorTarget {
  const { target, actorId } = parseSubprotocols(headers.get("sec-websocket-protocol"));
  if (target !== "actor")
    throw new ActorError("guard", "no_route", "Here only sockets with the subprotocol rivet_target.actor are routed.");
  return targetById(actorId, "The subprotocol rivet_target.actor", "rivet_actor.{id}");
}

function targetById(actorId: string | null | undefined, what: string, where: string): ActorTarget {
  if (!actorId) throw new ActorError("guard", "missing_actor", `${what} needs the actor's id as ${where}.`);
  if (parseActorId(actorId) === undefined)
    throw new ActorError("actor", "invalid_id", `${where} is not the id of an actor.`);
  return { actorId };
}

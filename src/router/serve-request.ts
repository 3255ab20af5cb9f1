import { ActorError, parseActorId } from "../protocol/index.js";
import type { ActorTarget } from "./resolve-stub.js";

/** A raw request to an actor, below `/gateway/{actor}/request` or routed by header. Not served yet: throws `feature/unsupported` (501). */
export async function serveRequest(_request: Request, _target: ActorTarget): Promise<Response> {
  throw new ActorError("feature", "unsupported", "Raw requests to actors are not served yet.");
}

/** Whether the headers say that a request below `/request` is for an actor, or that the real one will (a preflight). */
export function isRoutedByHeader({ method, headers }: Request): boolean {
  if (headers.has("x-rivet-target")) return true;
  return method === "OPTIONS" && /\bx-rivet-target\b/i.test(headers.get("access-control-request-headers") ?? "");
}

/** The actor that `x-rivet-target` and `x-rivet-actor` name. Throws `guard/no_route`, `guard/missing_actor` or `actor/invalid_id`. */
export function headerTarget(headers: Headers): ActorTarget {
  if (headers.get("x-rivet-target") !== "actor") throw new ActorError("guard", "no_route", "Below /request only requests with x-rivet-target: actor are routed.");
  const actorId = headers.get("x-rivet-actor");
  if (actorId === null || actorId === "") throw new ActorError("guard", "missing_actor", "x-rivet-target: actor needs the actor's id as x-rivet-actor.");
  if (parseActorId(actorId) === undefined) throw new ActorError("actor", "invalid_id", "x-rivet-actor is not the id of an actor.");
  return { actorId };
}

import {
  ActorError,
  checkActorName,
  checkKey,
  objectName,
  parseActorId,
  has,
  own,
  type ActorAddress,
  type Creation,
} from "../../protocol/index.js";
import type { ActorNamespace, ActorStub, ObjectId } from "./object-namespace.js";

/** Which actor a call is for: a key of a registered actor, or one life of it by its id. */
export type ActorTarget =
  | { readonly name: string; readonly key: readonly string[]; readonly creation: Creation; readonly region?: string }
  | { readonly actorId: string };

/** Where a call goes, and what the object must know of how it was addressed. */
export interface ResolvedTarget {
  readonly address: ActorAddress;
  readonly creation: Creation;
  /** A stub that was never used: one that threw stays broken. */
  openStub(): ActorStub;
}

/** The platform's places. */
const LOCATION_HINTS = new Set([
  "wnam",
  "enam",
  "sam",
  "weur",
  "eeur",
  "apac",
  "apac-ne",
  "apac-se",
  "oc",
  "afr",
  "me",
]);

/**
 * Finds the object of an actor, without calling it. Throws `actor/invalid_name`, `actor/invalid_key`,
 * `actor/key_too_large`, `actor/invalid_region` or `actor/invalid_id` (400), `actor/not_registered` or `actor/not_found` (404).
 */
export function resolveStub(
  objects: ActorNamespace,
  target: ActorTarget,
  actorNames: ReadonlySet<string>,
): ResolvedTarget {
  if (has(target, "actorId")) return resolveById(objects, target.actorId);
  const { name, key, creation, region } = own(target);
  checkActorName(name);
  checkKey(key);
  if (!actorNames.has(name)) throw notRegistered(name);
  const options = locationOf(region);
  const id = objects.idFromName(objectName(name, key));
  return { address: { name, key }, creation, openStub: () => objects.get(id, options) };
}

function resolveById(objects: ActorNamespace, actorId: string): ResolvedTarget {
  const parts = parseActorId(actorId);
  if (parts === undefined) throw new ActorError("actor", "invalid_id", "This is not the id of an actor.");
  let id: ObjectId;
  try {
    id = objects.idFromString(parts.objectId);
  } catch {
    throw new ActorError("actor", "not_found", "There is no actor with this id.");
  }
  // No actor has the empty name: the object reads who it is from its own storage and compares the generation.
  const address = { name: "", key: [], generation: parts.generation };
  return { address, creation: { mode: "get" }, openStub: () => objects.get(id) };
}

/** @throws actor/invalid_region for one that is no place of the platform */
function locationOf(region: string | undefined): { readonly locationHint: string } | undefined {
  if (region === undefined || region === "" || region === "default" || region === "auto") return undefined;
  if (LOCATION_HINTS.has(region)) return { locationHint: region };
  throw new ActorError(
    "actor",
    "invalid_region",
    `There is no region ${JSON.stringify(region.slice(0, 100))}. Regions are ${[...LOCATION_HINTS].join(", ")}, or "auto".`,
  );
}

function notRegistered(name: string): ActorError {
  const message = `The registry has no actor named ${JSON.stringify(name)}. Is it in setup({ use })?`;
  return new ActorError("actor", "not_registered", message, { public: true, statusCode: 404 });
}

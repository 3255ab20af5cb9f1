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

/** The actor of a call: a key of a registered actor, or one life of it by id. */
export type ActorTarget =
  | { readonly name: string; readonly key: readonly string[]; readonly creation: Creation; readonly region?: string }
  | { readonly actorId: string };

/** The object of a call, and how the call addressed it. */
export interface ResolvedTarget {
  /** Tells the object from others of its namespace. */
  readonly object: string;
  readonly address: ActorAddress;
  readonly creation: Creation;
  /** Returns a new stub, since one that threw stays broken. */
  openStub(): ActorStub;
}

/** The platform's location hints. */
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
 * Finds the object of an actor without calling it. Without `actorNames` the registry need not have an actor of this name.
 *
 * @throws {actor/invalid_name} when the name is not valid
 * @throws {actor/invalid_key} when the key is not valid
 * @throws {actor/key_too_large} when the key is too large
 * @throws {actor/invalid_region} when the platform has no such region
 * @throws {actor/invalid_id} when the id is not an actor's
 * @throws {actor/not_registered} when the registry has no actor of this name
 * @throws {actor/not_found} when no object has this id
 */
export function resolveStub(
  objects: ActorNamespace,
  target: ActorTarget,
  actorNames: ReadonlySet<string> | undefined,
): ResolvedTarget {
  if (has(target, "actorId")) return resolveById(objects, target.actorId);
  const { name, key, creation, region } = own(target);
  checkActorName(name);
  checkKey(key);
  if (actorNames?.has(name) === false) throw notRegistered(name);
  const options = locationOf(region);
  const object = objectName(name, key);
  const id = objects.idFromName(object);
  return { object, address: { name, key }, creation, openStub: () => objects.get(id, options) };
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
  // No actor has an empty name: the object reads its own name from storage, and compares the generation.
  const address = { name: "", key: [], generation: parts.generation };
  return { object: parts.objectId, address, creation: { mode: "get" }, openStub: () => objects.get(id) };
}

/** @throws {actor/invalid_region} when the platform has no such region */
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

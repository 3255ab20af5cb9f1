import { normalizeKey, parseActorId } from "../../protocol/index.js";
import type { World, WorldActor } from "../../testing/index.js";

/** A handle of `world.client`, of any actor. */
export interface AnyActorHandle {
  resolve(): Promise<string>;
}

/** An actor: a handle of a client of the world, or its name and key. */
export type ActorTarget = AnyActorHandle | { readonly name: string; readonly key?: string | readonly string[] };

/** As targets, and what handles tell of themselves, name an actor. */
interface Address {
  readonly name?: unknown;
  readonly key?: string | readonly string[];
  readonly actorId?: unknown;
}

/**
 * The object of an actor, whether one lives there or not.
 *
 * @throws TypeError when it is neither a handle nor a name of the registry with a key
 */
export function actorOf(world: World, target: ActorTarget): WorldActor {
  const { name, key, actorId } = addressIn(target);
  if (typeof name === "string") {
    const { actorNames } = world.registry;
    if (actorNames.includes(name)) return world.actor(name, normalizeKey(key));
    throw new TypeError(`The registry has no actor ${JSON.stringify(name)}; its actors are ${actorNames.join(", ")}`);
  }
  const objectId = typeof actorId === "string" ? parseActorId(actorId)?.objectId : undefined;
  const found = objectId === undefined ? undefined : world.object(objectId);
  if (found) return found;
  throw new TypeError('This takes a handle of the world\'s client: `world.client.order.getOrCreate("o-1")`');
}

/** A handle has an action of every name, but `name` of its own. */
function addressIn(target: unknown): Address {
  if (typeof target !== "object" || target === null) return {};
  if (Object.hasOwn(target, "name")) return target as Address;
  const described: unknown = (target as { toJSON?(): unknown }).toJSON?.();
  return typeof described === "object" && described !== null ? described : {};
}

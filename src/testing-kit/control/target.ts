import { normalizeKey } from "../../protocol/index.js";
import type { WorldActor } from "../../testing/index.js";
import type { AnyActorHandle } from "../world/actor-of.js";
import type { WorldHost } from "../world/world-host.js";

/** An actor: a handle of a client of the world, or its name and key. */
export type ActorTarget = AnyActorHandle | { readonly name: string; readonly key?: string | readonly string[] };

/**
 * The object of an actor, whether one lives there or not.
 *
 * @throws TypeError when it is neither a handle nor a name of the registry with a key
 */
export function objectOf(host: WorldHost, target: ActorTarget): WorldActor {
  const address = addressIn(target);
  if (!address) return host.actorOf(target as AnyActorHandle);
  const { name, key } = address;
  const { actorNames } = host.world.registry;
  if (actorNames.includes(name)) return host.world.actor(name, normalizeKey(key));
  throw new TypeError(`The registry has no actor ${JSON.stringify(name)}; its actors are ${actorNames.join(", ")}`);
}

/** A handle has an action of every name, but `name` of its own. */
function addressIn(target: unknown): { readonly name: string; readonly key?: string | readonly string[] } | undefined {
  if (typeof target !== "object" || target === null || !Object.hasOwn(target, "name")) return undefined;
  const { name, key } = target as { readonly name: unknown; readonly key?: string | readonly string[] };
  return typeof name === "string" ? { name, ...(key !== undefined && { key }) } : undefined;
}

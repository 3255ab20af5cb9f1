import { normalizeKey, parseActorId } from "../../protocol/index.js";
import type { World, WorldActor } from "../../testing/index.js";

/** A handle of `world.client`, of any actor. */
export interface AnyActorHandle {
  resolve(): Promise<string>;
}

/**
 * The object that a handle of a world's client names, whether an actor lives there or not.
 *
 * @throws TypeError when it is no handle of an actor
 */
export function actorOf(world: World, handle: AnyActorHandle): WorldActor {
  const described: unknown = (handle as { toJSON?(): unknown } | null | undefined)?.toJSON?.();
  const { name, key, actorId } = (typeof described === "object" && described !== null ? described : {}) as {
    readonly name?: unknown;
    readonly key?: readonly string[];
    readonly actorId?: unknown;
  };
  if (typeof name === "string") return world.actor(name, normalizeKey(key));
  const objectId = typeof actorId === "string" ? parseActorId(actorId)?.objectId : undefined;
  const found = objectId === undefined ? undefined : world.object(objectId);
  if (found) return found;
  throw new TypeError('This takes a handle of the world\'s client: `world.client.order.getOrCreate("o-1")`');
}

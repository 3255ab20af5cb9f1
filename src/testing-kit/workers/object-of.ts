import { env } from "cloudflare:workers";
import { normalizeKey, objectName, parseActorId } from "../../protocol/index.js";

/** An actor, as a test has it: a handle of any client, or the stub of its object. */
export type ActorUnderTest = { resolve(): Promise<string> } | DurableObjectStub;

/**
 * A new stub of the actor's object: one is of no use any more once its object was aborted.
 *
 * @throws TypeError when it is neither a handle nor a stub, or the binding ACTORS is missing
 */
export function objectOf(actor: ActorUnderTest): DurableObjectStub {
  const { ACTORS } = env as { readonly ACTORS?: DurableObjectNamespace };
  if (ACTORS === undefined)
    throw new TypeError('perdure/testing/workers: the Worker of the tests has no binding "ACTORS" of its actors');
  if (isStub(actor)) return ACTORS.get(actor.id);
  const described: unknown = (actor as { toJSON?(): unknown } | null | undefined)?.toJSON?.();
  const { name, key, actorId } = (typeof described === "object" && described !== null ? described : {}) as {
    readonly name?: unknown;
    readonly key?: readonly string[];
    readonly actorId?: unknown;
  };
  if (typeof name === "string") return ACTORS.get(ACTORS.idFromName(objectName(name, normalizeKey(key))));
  const objectId = typeof actorId === "string" ? parseActorId(actorId)?.objectId : undefined;
  if (objectId !== undefined) return ACTORS.get(ACTORS.idFromString(objectId));
  throw new TypeError('This takes a handle of an actor, `client.order.getOrCreate("o-1")`, or the stub of its object');
}

/** Every name is an action to a handle, and a method to a stub: only a stub's class has one of these names. */
function isStub(actor: ActorUnderTest): actor is DurableObjectStub {
  return ["DurableObject", "WorkerRpc"].includes((actor as object | null)?.constructor?.name ?? "");
}

import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { objectOf, type ActorUnderTest } from "./object-of.js";

const ABORTED = "perdure/testing/workers: the object was aborted";

/**
 * Takes an actor's object out of memory, as the platform does after some idle seconds: its sockets stay open, and the next
 * event starts it from what is stored. Waits for calls in flight. Does nothing for one that is not in memory.
 *
 * @example
 *     await evict(client.order.getOrCreate("o-1"));
 * @throws TypeError when it is neither a handle nor a stub
 */
export async function evict(actor: ActorUnderTest): Promise<void> {
  try {
    await evictDurableObject(objectOf(actor));
  } catch (error) {
    if (!String(error).includes("not currently running")) throw error;
  }
}

/**
 * Kills an actor's object where it stands, as a crash or a deploy does: calls in flight fail, sockets break, what was not
 * stored is lost.
 *
 * @example
 *     await abort(client.order.getOrCreate("o-1"));
 * @throws TypeError when it is neither a handle nor a stub
 */
export async function abort(actor: ActorUnderTest): Promise<void> {
  const stub = objectOf(actor);
  try {
    await runInDurableObject(stub, (_instance, state) => state.abort(ABORTED));
  } catch (error) {
    if (!String(error).includes(ABORTED)) throw error;
  }
}

import { runInDurableObject } from "cloudflare:test";
import { ActorError } from "../../protocol/index.js";
import { StoredActor } from "../control/stored-actor.js";
import { lookAtWorkflow, type WorkflowLook } from "../control/workflow-look.js";
import { objectOf, type ActorUnderTest } from "./object-of.js";

/**
 * An actor's workflow as it is stored: how it stands, and all that it has recorded.
 *
 * @example
 *     expect((await history(order)).steps("charge")).toMatchObject([{ attempts: 3, result: { id: "ch_1" } }]);
 * @throws {actor/not_found} when there is no actor
 * @throws TypeError when it is neither a handle nor a stub
 */
export async function history(actor: ActorUnderTest): Promise<WorkflowLook> {
  const rows = await runInDurableObject(
    objectOf(actor),
    (_instance, { storage }) => new Map(storage.kv.list<Uint8Array>()),
  );
  const stored = StoredActor.in(rows);
  if (stored) return lookAtWorkflow(stored);
  throw new ActorError("actor", "not_found", "There is no actor in this object: it was never created, or is destroyed");
}

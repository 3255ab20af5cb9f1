/** What runs the actor's own code for an operator: it goes through the start as a call does (INSPECT-9). */
import { ActorError, decodeValue, fieldOf, type ActorAddress } from "../../protocol/index.js";
import type { InspectedObject } from "../activation/object-inspector.js";
import type { PartActor } from "../activation/part.js";
import { callAction } from "../callbacks/dispatch.js";
import type { ActorRecord } from "../storage/record.js";
import type { Act } from "./act.js";
import { audited } from "./audit.js";
import { InspectedActor } from "./inspected-actor.js";

type UserCodeAct = Extract<Act, { readonly about: "call" | "sql" }>;

export function runsUserCode(act: Act): act is UserCodeAct {
  return act.about === "call" || act.about === "sql";
}

/**
 * Calls an action, or runs SQL through `c.db`. Its line in the audit is committed first.
 *
 * @throws {actor/not_found} when there is no such actor
 * @throws whatever the start, the action or the statement throws
 */
export async function runUserCodeFor(
  object: InspectedObject,
  address: ActorAddress,
  act: UserCodeAct,
): Promise<{ readonly record: ActorRecord; readonly result: object }> {
  const { record } = new InspectedActor(object, address);
  let result: object | undefined;
  await object.serveExisting(async (actor) => {
    if (actor.record.actorId === record.actorId)
      result = await (act.about === "call" ? call(actor, act) : sql(actor, act));
  });
  if (result) return { record, result };
  throw new ActorError("actor", "not_found", "There is no such actor, or it has been destroyed");
}

async function call(actor: PartActor, act: Extract<Act, { readonly about: "call" }>): Promise<object> {
  const { action } = act;
  if (!actor.actor.actions.has(action))
    throw new ActorError("actor", "action_not_found", `Action \`${action.slice(0, 200)}\` was not found.`);
  const args = decodeValue(act.args);
  if (!Array.isArray(args))
    throw new ActorError("actor", "invalid_request", "The arguments of an action must be an array");
  audited(actor, act, { action }, () => {});
  return { output: decodeValue(await callAction(actor, action, args)) };
}

async function sql(actor: PartActor, act: Extract<Act, { readonly about: "sql" }>): Promise<object> {
  const db: unknown = actor.parts.members.get("db")?.();
  const execute: unknown = typeof db === "object" && db !== null ? fieldOf(db, "execute") : undefined;
  if (typeof execute !== "function")
    throw new ActorError("feature", "unsupported", "The actor has no database that takes SQL as text");
  const parameters = decodeValue(act.parameters);
  audited(actor, act, {}, () => {});
  const rows: unknown = await execute.apply(db, [act.sql, ...(Array.isArray(parameters) ? parameters : [parameters])]);
  // Its statements are no part of a commit: this waits until they are stored.
  actor.commitOrThrow();
  return { rows };
}

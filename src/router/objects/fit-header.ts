import { has, own, ownField, MAX_CONNECTION_PARAMS_BYTES } from "../../protocol/index.js";
import type { ActorCall, CallActor } from "./call-actor.js";
import { paramsTooLarge } from "../request/read-params.js";
import type { ActorTarget } from "./resolve-stub.js";

/** A header carries so much of an input; an actor with a larger one is created before. */
export const MAX_HEADER_INPUT_BYTES = 8192;

/**
 * Makes a call fit into the header that carries its envelope beside a request or an upgrade. An actor whose input is large
 * is created by a call of its own, which is let in as this one is to be, and then named by its id. Throws what that call throws, and
 * `request/too_large` (413).
 */
export async function fitHeader<C extends Omit<ActorCall, "operation">>(call: C, callActor: CallActor): Promise<C> {
  if ((ownField(call, "params")?.byteLength ?? 0) > MAX_CONNECTION_PARAMS_BYTES) throw paramsTooLarge();
  return hasLargeInput(call.target) ? { ...call, target: await created(call, callActor) } : call;
}

function hasLargeInput(target: ActorTarget): boolean {
  return (
    has(target, "name") &&
    target.creation.mode === "getOrCreate" &&
    (ownField(target.creation, "input")?.byteLength ?? 0) > MAX_HEADER_INPUT_BYTES
  );
}

async function created(call: Omit<ActorCall, "operation">, callActor: CallActor): Promise<ActorTarget> {
  const { target, params, request, internal } = own(call);
  const { actorId } = await callActor({
    target,
    operation: { kind: "resolve", forCaller: true },
    ...(params !== undefined && { params }),
    ...(request !== undefined && { request }),
    ...(internal === true && { internal }),
  });
  return { actorId };
}

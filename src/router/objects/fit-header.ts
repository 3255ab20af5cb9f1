import { has, own, ownField, MAX_CONNECTION_PARAMS_BYTES } from "../../protocol/index.js";
import type { ActorCall, CallActor } from "./call-actor.js";
import { paramsTooLarge } from "../request/read-params.js";
import type { ActorTarget } from "./resolve-stub.js";

/** The most bytes of an input in a header; an actor with a larger input is created first. */
export const MAX_HEADER_INPUT_BYTES = 8192;

/**
 * Makes a call fit in the header that carries its envelope beside a request or an upgrade. An actor with a large input
 * is created by a separate call, admitted like this one, and then addressed by id.
 *
 * @throws {request/too_large} when the params are larger than 4 KiB
 * @throws the errors of the separate call
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

/**
 * Whether a caller may create the actor. Nothing is stored yet: the input's schema and `canCreate` run first, the admission
 * as a connection after all hooks of the first start. A refused caller creates nothing.
 */
import { ActorError, type CallOperation } from "../../protocol/index.js";
import { describe } from "../activation/thrown.js";
import type { ActorActivation } from "../activation/activation.js";
import { admit, beforeConnect, readParams, type Admitted, type Caller } from "../connections/admission.js";
import { CREATE_TIMEOUT_MS } from "../definition/compiled-actor.js";
import { BEFORE_STATE } from "../callbacks/callback-context.js";
import { callHook } from "../callbacks/call-hook.js";
import { validate } from "../definition/standard-schema.js";

/** The call that creates the actor. */
export interface Creator {
  readonly caller: Caller;
  readonly operation: CallOperation;
  readonly input: unknown;
}

/**
 * Checks that the caller may create the actor, and returns the output of `inputSchema`.
 * @throws {actor/validation_error} when the input does not match its schema
 * @throws {actor/callback_timed_out} when the schema or `canCreate` takes too long
 * @throws {auth/forbidden} when `canCreate` refuses
 * @throws whatever `canCreate` throws
 */
export async function askToCreate(activation: ActorActivation, creator: Creator): Promise<unknown> {
  const { config, options } = activation.actor;
  const { inputSchema, canCreate } = config;
  const { caller } = creator;
  const check = (): unknown => validate(inputSchema, creator.input, "input");
  const input = inputSchema
    ? await callHook(activation, check, { name: "inputSchema", timeoutMs: CREATE_TIMEOUT_MS })
    : creator.input;
  if (!canCreate) return input;
  const params = await paramsOf(activation, creator);
  const about = { internal: caller.internal, ...(caller.request && { request: caller.request }) };
  const call = { name: "canCreate", stage: BEFORE_STATE, timeoutMs: options.onBeforeConnectTimeout, about };
  const answer = await callHook(activation, canCreate, call, [input, params]);
  if (answer !== undefined && answer !== true)
    throw new ActorError("auth", "forbidden", "This caller may not create this actor");
  return input;
}

/**
 * Admits the creator like the caller of an existing actor. Returns undefined for a call that only creates. Without
 * `canCreate`, `onBeforeConnect` runs for such a call as well: otherwise anyone could create an actor that admits nobody.
 * @throws {auth/forbidden} when `onBeforeConnect` refuses the creation
 * @throws whatever `admit` throws
 */
export async function admitCreator(activation: ActorActivation, creator: Creator): Promise<Admitted | undefined> {
  const { caller, operation } = creator;
  if (operation.kind !== "resolve") return admit(activation, caller);
  if (operation.forCaller === true) {
    await admit(activation, caller);
    return undefined;
  }
  if (activation.actor.config.canCreate || caller.internal) return undefined;
  const params = await paramsOf(activation, creator);
  try {
    await beforeConnect(activation, caller, params);
  } catch (error) {
    // Public errors were meant for the caller. A hook that does not expect creations may throw anything else.
    if (ActorError.isActorError(error) && error.public) throw error;
    activation.ports.log.warn({
      msg: "onBeforeConnect threw when it was called for a creation. Define `canCreate` to say who may create this actor",
      stack: describe(error),
    });
    throw new ActorError(
      "auth",
      "forbidden",
      "`onBeforeConnect` refused this creation. The server can define `canCreate`; a client can send `params` with " +
        "`create`",
    );
  }
  return undefined;
}

/** A call that only creates may omit the params, whatever the schema requires. */
async function paramsOf(activation: ActorActivation, { caller, operation }: Creator): Promise<unknown> {
  return caller.params === undefined && operation.kind === "resolve"
    ? undefined
    : readParams(activation, caller.params);
}

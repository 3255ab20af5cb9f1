/**
 * Whether a caller may make the actor, asked while nothing of it is stored: the input's schema and `canCreate` before anything
 * of it exists, admission as a connection after all hooks of its first start. A caller that is refused has created nothing.
 */
import { ActorError, type CallOperation } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import { admit, beforeConnect, readParams, type Admitted, type Caller } from "../connections/admission.js";
import { CREATE_TIMEOUT_MS } from "../definition/compiled-actor.js";
import { BEFORE_STATE } from "../callbacks/callback-context.js";
import { callHook } from "../callbacks/call-hook.js";
import { validate } from "../definition/standard-schema.js";

/** Whose call makes the actor, and of what. */
export interface Creator {
  readonly caller: Caller;
  readonly operation: CallOperation;
  readonly input: unknown;
}

/**
 * Gives the input as its schema makes it.
 * @throws actor/validation_error, actor/callback_timed_out, auth/forbidden, and what `canCreate` throws
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
 * Lets the creator in as it is let in to an actor that exists; `undefined` for one that only creates. Without `canCreate`, that
 * one is asked `onBeforeConnect`, too: otherwise an actor that lets nobody in could be made by everybody.
 * @throws what `admit` throws, auth/forbidden
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
    // What it was written to say, it says; a hook that did not expect to be asked for a creation throws anything.
    if (ActorError.isActorError(error) && error.public) throw error;
    activation.ports.log.warn({
      msg: "onBeforeConnect, asked whether an actor may be created, threw. Say who may with `canCreate`",
      actor: activation.record.name,
      error: String(error),
    });
    throw new ActorError(
      "auth",
      "forbidden",
      "`onBeforeConnect` did not let this creation in. The server says who may create with `canCreate`; a " +
        "client may send `params` with `create`",
    );
  }
  return undefined;
}

/** Those who only create may have none, whatever the schema says. */
async function paramsOf(activation: ActorActivation, { caller, operation }: Creator): Promise<unknown> {
  return caller.params === undefined && operation.kind === "resolve"
    ? undefined
    : readParams(activation, caller.params);
}

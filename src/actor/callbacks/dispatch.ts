import {
  ActorError,
  encodeAnswer,
  encodeValue,
  MAX_VALUE_BYTES,
  measure,
  own,
  ownField,
  type ActionReader,
  type CallOperation,
  type Frame,
} from "../../protocol/index.js";
import { checkArguments } from "../definition/action-schemas.js";
import type { ActorActivation } from "../activation/activation.js";
import { Callback } from "../activation/callback.js";
import type { Chain } from "../activation/call-chain.js";
import type { CompiledActor } from "../definition/compiled-actor.js";
import type { ConnectionView } from "../activation/connection.js";
import { ActionSignal } from "./action-signal.js";
import { CallbackContext, READY, type CallbackOptions } from "./callback-context.js";
import type { StandardSchema } from "../api/declarations.js";
import { checkMessageSize, checkQueueName } from "../queue/queue-input.js";
import { callHook } from "./call-hook.js";
import { runUserCode, type CallbackCommit } from "./user-code.js";
import type { Logger } from "../ports.js";
import { isInFlight } from "../activation/workflow-outcome.js";
import type { WorkflowRecord } from "../storage/record.js";
import type { ScheduledFireInfo } from "../api/schedule-types.js";

/** The most arguments of an action. Far more would overflow the stack. */
const MAX_ARGUMENTS = 10_000;

/** The origin of a call: a connection, with its request if it came over HTTP, or a schedule. */
export interface CallOrigin {
  /** The argument that a schedule adds to the stored ones. */
  readonly firedBy?: ScheduledFireInfo;
  readonly conn?: (() => ConnectionView) | undefined;
  readonly request?: (() => Request) | undefined;
  /** Everyone who waits for the call. */
  readonly chain?: Chain;
}

/**
 * Runs an action and returns its result, encoded. Its changes are committed before the result or the error leaves
 * (COMMIT-3). Actions run concurrently: they interleave at their awaits.
 *
 * @throws {actor/action_not_found} when there is no such action
 * @throws {actor/invalid_request} when there are more than 10,000 arguments
 * @throws {actor/validation_error} when the arguments do not match the action's schema
 * @throws {actor/action_timed_out} when the action takes longer than `actionTimeout`
 * @throws {actor/callback_timed_out} when `onBeforeActionResponse` takes longer than that
 * @throws {value/not_serializable} when the result has no encoding
 * @throws {value/too_large} when the result is too large
 * @throws {actor/restarting} when the activation is lost
 * @throws whatever the action or `onBeforeActionResponse` throws
 */
export function callAction<R = Uint8Array>(
  activation: ActorActivation,
  name: string,
  args: readonly unknown[],
  from: CallOrigin = {},
  encode: (result: unknown) => R = encodeResult as (result: unknown) => R,
): Promise<R> {
  return runAction(
    activation,
    { name, args: () => args, from },
    {
      commit: "must",
      conclude: async (ran) => encode(await beforeResponse(activation, name, await ran)),
    },
  );
}

function encodeResult(result: unknown): Uint8Array {
  return encodeValue(result, { what: "result" });
}

/** Encodes a result for a caller that reads it as it is. Throws what `encodeValue` throws. */
export function encodeFor(reader: ActionReader): (result: unknown) => Frame {
  return (result) => {
    checkResult(result);
    return encodeAnswer(result, reader);
  };
}

/** Refuses a result that storage would refuse, for an answer in the caller's own encoding. Throws what `encodeValue` throws. */
export function checkResult(result: unknown): void {
  measure(result, 0, MAX_VALUE_BYTES, { what: "result" });
}

/** Actors whose refusal of all messages has been logged in this process. */
const LOGGED = new WeakSet<CompiledActor>();

/**
 * Refuses an operation that the actor's definition does not support, before the call can create the actor.
 * @throws {actor/action_not_found} when there is no such action
 * @throws {actor/no_request_handler} when the actor has no `onRequest`
 * @throws {queue/not_declared} when the queue is not declared, or nothing would receive the message
 * @throws {queue/invalid_payload} when the name of the queue is invalid
 * @throws {queue/message_too_large} when the message is too large
 */
export function checkOperation(
  actor: CompiledActor,
  operation: CallOperation,
  log: Logger,
  workflow?: WorkflowRecord,
): void {
  if (operation.kind === "action" && !actor.actions.has(operation.name)) {
    throw new ActorError("actor", "action_not_found", `Action \`${operation.name}\` was not found.`);
  }
  if (operation.kind === "request" && actor.config.onRequest === undefined) {
    throw new ActorError("actor", "no_request_handler", "This actor has no `onRequest`");
  }
  if (operation.kind === "part" && !actor.parts.some(({ part }) => part.name === operation.part)) {
    throw new ActorError("feature", "unsupported", `This actor has no part "${operation.part}"`);
  }
  if (operation.kind !== "send") return;
  // A running workflow whose code is missing will receive them once its code is back.
  const isReceived = actor.hasRun || isInFlight(workflow);
  checkQueue(actor, operation.queue, isReceived, log);
  checkQueueName(operation.queue);
  checkMessageSize(operation.body.byteLength, actor.options.maxQueueMessageSize);
}

/** Callers may send only to declared queues. Without declarations any name is allowed, if the actor receives messages. */
function checkQueue(actor: CompiledActor, name: string, isReceived: boolean, log: Logger): void {
  const declared = Object.keys(actor.config.queues ?? {});
  if (declared.length > 0) {
    if (!declared.includes(name)) throw new ActorError("queue", "not_declared", `This actor has no queue "${name}"`);
  } else if (!isReceived) {
    if (!LOGGED.has(actor))
      log.warn({
        msg:
          `The actor "${actor.name}" refuses messages from outside, because it has neither a workflow nor a \`run\` handler. ` +
          "If its actions receive them, declare its `queues`",
      });
    LOGGED.add(actor);
    throw new ActorError(
      "queue",
      "not_declared",
      "This actor takes no messages: it has no `queues`, no workflow and no `run` handler",
    );
  }
}

/** What the context of a call knows of its origin. */
export function contextOf(from: CallOrigin): Pick<CallbackOptions, "chain" | "conn" | "request"> {
  const { conn, request, chain } = own(from);
  return { ...(chain && { chain }), ...(conn && { conn }), ...(request && { request }) };
}

/** A handler's output, and the arguments it was called with, as the schema returned them. */
export interface HandlerResult {
  readonly args: readonly unknown[];
  readonly output: unknown;
}

/** An action to run. */
export interface ActionRun {
  readonly name: string;
  /** Called when the action begins. */
  readonly args: () => readonly unknown[];
  readonly from: CallOrigin;
}

/** Runs an action's handler within the action timeout. */
export function runAction<T>(
  activation: ActorActivation,
  { name, args, from }: ActionRun,
  {
    commit,
    conclude,
  }: { readonly commit: CallbackCommit; readonly conclude: (ran: Promise<HandlerResult>) => Promise<T> },
): Promise<T> {
  const { actor, shutdown } = activation;
  const abort = new ActionSignal(shutdown.signal);
  const callback = new Callback(activation.callbacks, `action ${JSON.stringify(name)}`);
  const context = new CallbackContext(activation, READY, {
    signal: () => abort.signal,
    callback,
    logged: { action: name },
    ...contextOf(from),
  });
  const firedBy = ownField(from, "firedBy");
  let given: readonly unknown[] = [];
  const code = (): unknown => {
    const handler = actor.actions.get(name);
    if (!handler) throw new ActorError("actor", "action_not_found", `Action \`${name}\` was not found.`);
    given = args();
    if (given.length > MAX_ARGUMENTS)
      throw new ActorError(
        "actor",
        "invalid_request",
        `An action takes at most ${MAX_ARGUMENTS} arguments, not ${given.length}`,
      );
    const run = (): unknown => handler(context, ...given, ...(firedBy ? [firedBy] : []));
    const checkAndRun = async (schema: StandardSchema): Promise<unknown> => {
      given = await checkArguments(schema, name, given);
      abort.throwIfAborted();
      return run();
    };
    const schema = actor.inputSchemas.get(name);
    return schema ? checkAndRun(schema) : run();
  };
  const result = async (ran: Promise<unknown>): Promise<HandlerResult> => {
    try {
      return { output: await ran, args: given };
    } finally {
      abort.over();
    }
  };
  const timeout = { ms: actor.options.actionTimeout, error: () => timedOut(abort) };
  return runUserCode(activation, callback, code, { timeout, commit, conclude: (ran) => conclude(result(ran)) });
}

/** Commits the action's changes, runs `onStateChange`, then returns the result of `onBeforeActionResponse`. */
async function beforeResponse(
  activation: ActorActivation,
  name: string,
  { args, output }: HandlerResult,
): Promise<unknown> {
  const { config, options } = activation.actor;
  if (!config.onBeforeActionResponse) return output;
  activation.commitOrThrow();
  activation.stateChanges.callbackEnded();
  return callHook(
    activation,
    config.onBeforeActionResponse,
    { name: "onBeforeActionResponse", timeoutMs: options.actionTimeout },
    [name, args, output],
  );
}

function timedOut(abort: ActionSignal): ActorError {
  const error = new ActorError("actor", "action_timed_out", "Action timed out");
  abort.abort(error);
  return error;
}

import {
  ActorError,
  decodeValue,
  encodeValue,
  MAX_SEND_WAIT_MS,
  own,
  ownField,
  type CallOperation,
} from "../../protocol/index.js";
import { checkArguments } from "../definition/action-schemas.js";
import type { ActorActivation } from "../activation/activation.js";
import { Callback } from "../activation/callback.js";
import type { Chain } from "../activation/call-chain.js";
import type { CompiledActor } from "../definition/compiled-actor.js";
import type { Connection } from "../activation/connection.js";
import { CallbackContext, READY } from "./callback-context.js";
import type { StandardSchema } from "../api/declarations.js";
import { checkMessageSize, checkQueueName, readTimeout } from "../queue/message-queue.js";
import { callHook } from "./call-hook.js";
import { destroyed, runUserCode, type CallbackCommit } from "./user-code.js";
import type { Logger } from "../ports.js";
import type { ReplyResult, ReplyWait } from "../activation/actor-queue.js";
import { isInFlight } from "../activation/workflow-outcome.js";
import type { WorkflowRecord } from "../storage/record.js";
import type { ScheduledFireInfo } from "../api/schedule-types.js";
import { checkCycle } from "../queue/wait-cycle.js";

/** A function is called with so many; far above it, the stack has no room. */
const MAX_ARGUMENTS = 10_000;

/** Who calls: a connection, and the request behind it if it came over HTTP; or the schedule. */
export interface CallOrigin {
  /** What the schedule adds to the stored arguments. */
  readonly firedBy?: ScheduledFireInfo;
  readonly conn?: Connection | undefined;
  readonly request?: Request | undefined;
  /** Who waits for the call. */
  readonly chain?: Chain;
}

/**
 * Runs one action and gives its encoded result. What the action changed is committed before its result, or its error,
 * is given (COMMIT-3). Actions are not serialised: they interleave at their awaits.
 *
 * @throws actor/action_not_found, actor/invalid_request for more than 10,000 arguments, actor/validation_error,
 * actor/action_timed_out, actor/callback_timed_out, value/not_serializable
 * or value/too_large for a result that has no encoding, actor/restarting, and whatever the action or
 * `onBeforeActionResponse` throws
 */
export function callAction(
  activation: ActorActivation,
  name: string,
  args: readonly unknown[],
  from: CallOrigin = {},
): Promise<Uint8Array> {
  return runAction(
    activation,
    { name, args: () => args, from },
    {
      commit: "must",
      conclude: async (ran) => encodeValue(await beforeResponse(activation, name, await ran), { what: "result" }),
    },
  );
}

const TOKEN = /^[0-9a-f]{32}$/;
/** Actors whose refusal of all messages was logged in this process. */
const TOLD = new WeakSet<CompiledActor>();

/**
 * Refuses what no instance of the actor would do, so that it creates none.
 * @throws actor/action_not_found, actor/no_request_handler, queue/not_declared, queue/invalid_payload, queue/message_too_large
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
    throw new ActorError("actor", "no_request_handler", "This actor takes no raw requests: it has no `onRequest`");
  }
  if (operation.kind === "part" && !actor.parts.some(({ part }) => part.name === operation.part)) {
    throw new ActorError("feature", "unsupported", `This actor has no part "${operation.part}"`);
  }
  if (operation.kind !== "send") return;
  // A workflow in flight whose code is missing for now comes back: it will receive them.
  const isReceived = actor.hasRun || isInFlight(workflow);
  checkQueue(actor, operation.queue, isReceived, log);
  checkQueueName(operation.queue);
  checkMessageSize(operation.body.byteLength, actor.options.maxQueueMessageSize);
}

/** From outside only declared queues exist; without declarations any name does, if there is somebody who receives. */
function checkQueue(actor: CompiledActor, name: string, isReceived: boolean, log: Logger): void {
  const declared = Object.keys(actor.config.queues ?? {});
  if (declared.length > 0) {
    if (!declared.includes(name)) throw new ActorError("queue", "not_declared", `This actor has no queue "${name}"`);
  } else if (!isReceived) {
    if (!TOLD.has(actor))
      log.warn({
        msg:
          `The actor "${actor.name}" refuses messages from outside: nobody would receive them. ` +
          "If its actions do, declare its `queues`",
      });
    TOLD.add(actor);
    throw new ActorError(
      "queue",
      "not_declared",
      "This actor takes no messages: it declares no `queues`, and has neither a workflow nor a `run` handler",
    );
  }
}

/** A message from outside, stored when this resolves. */
export interface AcceptedMessage {
  readonly id: number;
  readonly createdAt: number;
  /** How long its sender may wait for a reply, ms. */
  readonly waitMs: number;
}

/**
 * Stores a message from outside.
 * @throws queue/not_declared, auth/forbidden, queue/wait_cycle, queue/full, queue/message_too_large, actor/validation_error
 */
export async function acceptMessage(
  activation: ActorActivation & { readonly queue: OutsideQueue },
  send: {
    readonly queue: string;
    readonly body: Uint8Array;
    readonly wait?: boolean;
    readonly timeoutMs?: number;
    readonly token?: string;
  },
  from: CallOrigin = {},
): Promise<AcceptedMessage> {
  const given = own(send);
  checkOperation(activation.actor, { kind: "send", ...send }, activation.ports.log, activation.record.workflow);
  const timeoutMs = readTimeout(given.timeoutMs, MAX_SEND_WAIT_MS);
  const canPublish = activation.queue.canPublish(send.queue);
  if (canPublish) {
    const call = {
      name: "canPublish",
      timeoutMs: activation.actor.options.actionTimeout,
      about: contextOf(from),
      commit: "must",
    } as const;
    const isAllowed = await callHook(activation, canPublish, call);
    if (!isAllowed) throw new ActorError("auth", "forbidden", `You may not publish to queue "${send.queue}"`);
  }
  const ms = timeoutMs ?? Math.min(activation.actor.options.actionTimeout, MAX_SEND_WAIT_MS);
  const chain = ownField(from, "chain") ?? [];
  if (given.wait) checkCycle(activation, send.queue, chain);
  const wait = given.wait ? { ms, ...(isToken(given.token) && { token: given.token }), chain } : undefined;
  const message = await activation.sendMessage(send.queue, decodeValue(send.body), wait);
  return { id: message.id, createdAt: message.createdAt, waitMs: wait?.ms ?? 0 };
}

/** The wait of an envelope. */
interface StoredWait {
  readonly messageId: number;
  readonly createdAt: number;
  readonly timeoutMs: number;
  readonly token?: string;
}

/**
 * Waits for a stored message to be completed.
 * @throws actor/destroyed if the actor ends first, actor/restarting if only this activation does
 */
export async function awaitReply(activation: ActorActivation, wait: StoredWait): Promise<ReplyResult> {
  const timeoutMs = readTimeout(wait.timeoutMs, MAX_SEND_WAIT_MS) ?? 0;
  try {
    return await activation.queue.awaitReply(replyWaitOf(wait), timeoutMs);
  } catch (error) {
    if (activation.record.destroyed) throw destroyed();
    throw error;
  }
}

/** What a wait through a socket is for. @throws actor/invalid_request without a token */
export function socketWaitOf(wait: StoredWait): ReplyWait & { readonly token: string } {
  const { token } = own(wait);
  if (!isToken(token))
    throw new ActorError("actor", "invalid_request", "A wait through a socket needs the token of its send");
  return { ...replyWaitOf(wait), token };
}

function replyWaitOf(wait: StoredWait): ReplyWait {
  const { messageId: id, createdAt, token } = own(wait);
  return { id, createdAt, ...(isToken(token) && { token }) };
}

function isToken(token: unknown): token is string {
  return typeof token === "string" && TOKEN.test(token);
}

function contextOf(from: CallOrigin): { conn?: Connection["view"]; request?: Request; chain?: Chain } {
  const { conn, request, chain } = own(from);
  return { ...(chain && { chain }), ...(conn && { conn: conn.view }), ...(request && { request }) };
}

interface OutsideQueue {
  canPublish(name: string): ((c: unknown) => unknown) | undefined;
}

/** What a handler gave, and the arguments that it got: those of the caller, as the schema gave them. */
export interface HandlerResult {
  readonly args: readonly unknown[];
  readonly output: unknown;
}

/** Which action is called, with what. */
export interface ActionRun {
  readonly name: string;
  /** Read as the action begins. */
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
  const abort = new AbortController();
  const callback = new Callback(activation.callbacks, `action ${JSON.stringify(name)}`);
  const context = new CallbackContext(activation, READY, {
    signal: abort.signal,
    callback,
    logged: { action: name },
    ...contextOf(from),
  });
  const onShutdown = (): void => abort.abort(shutdown.signal.reason);
  shutdown.signal.addEventListener("abort", onShutdown, { once: true });
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
      abort.signal.throwIfAborted();
      return run();
    };
    const schema = actor.inputSchemas.get(name);
    return schema ? checkAndRun(schema) : run();
  };
  const result = async (ran: Promise<unknown>): Promise<HandlerResult> => {
    try {
      return { output: await ran, args: given };
    } finally {
      shutdown.signal.removeEventListener("abort", onShutdown);
    }
  };
  const timeout = { ms: actor.options.actionTimeout, error: () => timedOut(abort) };
  return runUserCode(activation, callback, code, { timeout, commit, conclude: (ran) => conclude(result(ran)) });
}

/** The result as `onBeforeActionResponse` makes it; before that, what the action changed is committed and told. */
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

function timedOut(abort: AbortController): ActorError {
  const error = new ActorError("actor", "action_timed_out", "Action timed out");
  abort.abort(error);
  return error;
}

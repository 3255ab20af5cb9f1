import {
  ActorError,
  ENVELOPE_VERSION,
  fromErrorData,
  own,
  type CallEnvelope,
  type CallLink,
  type Operation,
  type ReplyEnvelope,
  backoffMs,
} from "../../protocol/index.js";
import type { ActorNamespace } from "./object-namespace.js";
import { resolveStub, type ActorTarget, type ResolvedTarget } from "./resolve-stub.js";

/** One call to an actor, before it is an envelope. */
export interface ActorCall {
  readonly target: ActorTarget;
  readonly operation: Operation;
  /** Connection params, bytes of the storage codec. */
  readonly params?: Uint8Array;
  readonly request?: NonNullable<CallEnvelope["request"]>;
  /** The caller is code of this Worker. */
  readonly internal?: boolean;
  /** Who waits for the call; of code of this Worker only. */
  readonly chain?: readonly CallLink[];
}

/** What an actor answers when nothing is wrong. */
export type ActorReply = Extract<ReplyEnvelope, { ok: true }>;

/**
 * Calls an actor's object. Rejects with the actor's own errors, for a target that cannot be (see `resolveStub`), with
 * `actor/overloaded` or `actor/restarting` (503) where the platform gave the call up, and with the platform's own error
 * for the rest.
 */
export type CallActor = (call: ActorCall) => Promise<ActorReply>;

/** What calling needs of the world. */
export interface CallPorts {
  readonly sleep: (ms: number) => Promise<void>;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
}

export interface CallActorOptions extends Partial<CallPorts> {
  /** The names of the registry's actors. */
  readonly actorNames: Iterable<string>;
}

const MAX_TRIES = 3;
/** Up to 50 ms, then up to 100; never less than half of it. */
const BACKOFF = { firstMs: 50 };
const OVERLOADED_RETRY_AFTER_MS = 1000;

/** The way to the objects of one namespace, used by the router and by the client inside the Worker. */
export function createActorCaller(objects: ActorNamespace, options: CallActorOptions): CallActor {
  const actorNames: ReadonlySet<string> =
    options.actorNames instanceof Set ? options.actorNames : new Set(options.actorNames);
  const ports = callPorts(options);
  return async (call) => {
    const resolved = resolveStub(objects, call.target, actorNames);
    const reply = await callObject(resolved, envelopeOf(call, resolved), ports);
    if (!reply.ok) throw fromErrorData(reply.error, reply.status);
    return reply;
  };
}

/** The world's own, where nothing else is given. */
export function callPorts(ports: Partial<CallPorts>): CallPorts {
  const { sleep, random } = own(ports);
  return {
    sleep: sleep ?? ((ms) => new Promise((resolve) => void setTimeout(resolve, ms))),
    random: random ?? Math.random,
  };
}

/** What is sent to the object. */
export function envelopeOf(known: ActorCall, { address, creation }: ResolvedTarget): CallEnvelope {
  const call = own(known);
  return {
    v: ENVELOPE_VERSION,
    address,
    creation,
    operation: call.operation,
    ...(call.internal === true && { internal: true }),
    ...(call.internal === true && call.chain !== undefined && call.chain.length > 0 && { chain: call.chain }),
    ...(call.params !== undefined && { params: call.params }),
    ...(call.request !== undefined && { request: call.request }),
  };
}

async function callObject(
  resolved: ResolvedTarget,
  envelope: CallEnvelope,
  { sleep, random }: CallPorts,
): Promise<ReplyEnvelope> {
  for (let tries = 1; ; tries++) {
    try {
      return checkedReply(await resolved.openStub().call(envelope));
    } catch (error) {
      const { overloaded, retryable } = platformFlags(error);
      if (!overloaded && retryable && isRepeatable(envelope) && tries < MAX_TRIES) {
        await sleep(backoffMs(tries, BACKOFF, random()));
        continue;
      }
      throw platformErrorOf(error);
    }
  }
}

/** What a caller is told of a call that the platform gave up; other errors are given back as they are. */
export function platformErrorOf(error: unknown): unknown {
  const { overloaded, retryable, durableObjectReset } = platformFlags(error);
  if (overloaded) return overloadedError(error);
  return retryable || durableObjectReset ? restartingError(error) : error;
}

/** Whether a second run does what one does. A rejected stub call may have run the actor's code. */
function isRepeatable({ operation, creation }: CallEnvelope): boolean {
  return operation.kind === "resolve" && creation.mode !== "create";
}

/** They mean something here: an actor's own errors never reject the call. */
function platformFlags(error: unknown): { overloaded: boolean; retryable: boolean; durableObjectReset: boolean } {
  const flags = (typeof error === "object" && error !== null ? error : {}) as Readonly<Record<string, unknown>>;
  return {
    overloaded: flags["overloaded"] === true,
    retryable: flags["retryable"] === true,
    durableObjectReset: flags["durableObjectReset"] === true,
  };
}

function checkedReply(reply: ReplyEnvelope): ReplyEnvelope {
  const isReply =
    typeof reply === "object" &&
    reply !== null &&
    (reply.ok === true || (reply.ok === false && isErrorData(reply.error)));
  // With a code: what rejects without one is the platform's.
  if (!isReply)
    throw new ActorError(
      "rivetkit",
      "internal_error",
      "The actor's object answered something that is no reply envelope.",
    );
  return reply;
}

function isErrorData(data: unknown): boolean {
  const { group, code, message } = (typeof data === "object" && data !== null ? data : {}) as Readonly<
    Record<string, unknown>
  >;
  return typeof group === "string" && typeof code === "string" && typeof message === "string";
}

function overloadedError(cause: unknown): ActorError {
  const message = "The actor has more to do than it can take. Try again later.";
  return new ActorError("actor", "overloaded", message, {
    metadata: { retryable: false, retryAfterMs: OVERLOADED_RETRY_AFTER_MS },
    cause,
  });
}

function restartingError(cause: unknown): ActorError {
  const message = "The actor was restarted during the call, which may or may not have run.";
  return new ActorError("actor", "restarting", message, { metadata: { retryable: true }, cause });
}

import {
  ActorError,
  ENVELOPE_VERSION,
  fromErrorData,
  own,
  type CallEnvelope,
  type CallLink,
  type CallOperation,
  type ReplyEnvelope,
  backoffMs,
} from "../../protocol/index.js";
import type { ActorNamespace } from "./object-namespace.js";
import { resolveStub, type ActorTarget, type ResolvedTarget } from "./resolve-stub.js";

/** One call to an actor, before it is put in an envelope. */
export interface ActorCall {
  readonly target: ActorTarget;
  readonly operation: CallOperation;
  /** Connection params, bytes of the storage codec. */
  readonly params?: Uint8Array;
  readonly request?: NonNullable<CallEnvelope["request"]>;
  /** Whether the caller is code of this Worker. */
  readonly internal?: boolean;
  /** The callers that wait for the call; only from code of this Worker. */
  readonly chain?: readonly CallLink[];
}

/** An actor's successful answer. */
export type ActorReply = Extract<ReplyEnvelope, { ok: true }>;

/**
 * Calls an actor's object.
 *
 * @throws {actor/overloaded} when the platform refuses the call because the object is overloaded
 * @throws {actor/restarting} when the platform gives the call up because the object restarts
 * @throws the actor's errors, those of `resolveStub`, and other errors of the platform
 */
export type CallActor = (call: ActorCall) => Promise<ActorReply>;

/** The time and randomness that retries need. */
export interface CallPorts {
  readonly sleep: (ms: number) => Promise<void>;
  /** At least 0 and below 1. */
  readonly random: () => number;
}

export interface CallActorOptions extends Partial<CallPorts> {
  /** The names of the registry's actors; undefined: any actor may be called. */
  readonly actorNames: Iterable<string> | undefined;
}

const MAX_TRIES = 3;
/** Up to 50 ms, then up to 100; never less than half of it. */
const BACKOFF = { firstMs: 50 };
const OVERLOADED_RETRY_AFTER_MS = 1000;

/** Calls the objects of one namespace, for the router and for the client inside the Worker. */
export function createActorCaller(objects: ActorNamespace, options: CallActorOptions): CallActor {
  const { actorNames: names } = options;
  const actorNames: ReadonlySet<string> | undefined =
    names === undefined || names instanceof Set ? names : new Set(names);
  const ports = callPorts(options);
  return async (call) => {
    const resolved = resolveStub(objects, call.target, actorNames);
    const reply = await callObject(resolved, envelopeOf(call, resolved), ports);
    if (!reply.ok) throw fromErrorData(reply.error, reply.status);
    return reply;
  };
}

/** Fills in real time and randomness. */
export function callPorts(ports: Partial<CallPorts>): CallPorts {
  const { sleep, random } = own(ports);
  return {
    sleep: sleep ?? ((ms) => new Promise((resolve) => void setTimeout(resolve, ms))),
    random: random ?? Math.random,
  };
}

/** The envelope sent to the object. */
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

/** The caller's error for a call the platform gave up; other errors are returned unchanged. */
export function platformErrorOf(error: unknown): unknown {
  const { overloaded, retryable, durableObjectReset } = platformFlags(error);
  if (overloaded) return overloadedError(error);
  return retryable || durableObjectReset ? restartingError(error) : error;
}

/** Whether the call is idempotent. A rejected stub call may have run the actor's code. */
function isRepeatable({ operation, creation }: CallEnvelope): boolean {
  return operation.kind === "resolve" && creation.mode !== "create" && operation.inspect === undefined;
}

/** The platform's flags on an error. An actor's own errors never reject the stub's call, so they cannot fake them. */
function platformFlags(error: unknown): { overloaded: boolean; retryable: boolean; durableObjectReset: boolean } {
  const flags = (typeof error === "object" && error !== null ? error : {}) as Readonly<Record<string, unknown>>;
  return {
    overloaded: flags["overloaded"] === true,
    retryable: flags["retryable"] === true,
    durableObjectReset: flags["durableObjectReset"] === true,
  };
}

/** @throws {rivetkit/internal_error} when it is no reply */
export function checkedReply(reply: ReplyEnvelope): ReplyEnvelope {
  const isReply =
    typeof reply === "object" &&
    reply !== null &&
    (reply.ok === true || (reply.ok === false && isErrorData(reply.error)));
  // It has a code, since a rejection without one means the platform.
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

/**
 * One run of user code, from its call to what leaves of it.
 *
 * The order is one for all:
 *  1. The callback is open from its making on: states watch what is handed in to them.
 *  2. The code runs until it, and all that it began, has ended; or until its time is over, or its activation.
 *  3. The callback is over (`Callback.over`).
 *  4. `conclude` makes of the outcome what is stored or answered with it: a hook on a result, a row that goes.
 *  5. What it changed is committed, whatever became of it.
 *  6. The callback has ended: `onStateChange` is told of what it changed, then an actor that it destroys ends.
 *  7. What it gave leaves, or what it threw.
 *
 * Beside this stand attempts of steps (step-context.ts), which the engine commits together with their entries, the run
 * handler (run-handler.ts), which may never end, and `onStateChange` (state-changes.ts), which changes nothing.
 */
import { ActorError, isThenable, own } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import type { Callback } from "../activation/callback.js";
import { abortedBy, waitFor } from "../activation/wait.js";

/** How what user code changed is stored before its callback has ended. */
export type CallbackCommit =
  /** What it gave or threw leaves the actor: if that cannot be stored, this is thrown instead. */
  | "must"
  /** Nobody is told of the outcome; an activation that is lost says so itself. */
  | "may"
  /** It is part of what its caller commits next: a start, a connection, an action. */
  | "with-caller";

export interface UserCode<T> {
  /** How long it may take, and what is thrown then. Without one it may take as long as it likes. */
  readonly timeout?: { readonly ms: number; readonly error: () => unknown };
  readonly commit: CallbackCommit;
  readonly conclude?: (ran: Promise<unknown>) => Promise<T>;
}

/** @throws what `timeout` gives, actor/destroyed where its actor's destruction cut off a wait, and what the code, or `conclude`, throws */
export async function runUserCode<T = unknown>(
  activation: ActorActivation,
  callback: Callback,
  code: () => unknown,
  how: UserCode<T>,
): Promise<T> {
  const { timeout, commit, conclude } = own(how);
  try {
    const ran = run(activation, callback, code, timeout);
    return await (conclude ? conclude(ran) : (ran as Promise<T>));
  } finally {
    try {
      if (commit === "must") activation.commitOrThrow();
      else if (commit === "may") activation.commit();
    } finally {
      activation.callbackEnded(callback);
    }
  }
}

async function run(
  activation: ActorActivation,
  callback: Callback,
  code: () => unknown,
  timeout: UserCode<unknown>["timeout"],
): Promise<unknown> {
  try {
    const running = callWithEffects(callback, code);
    if (!isThenable(running)) return running;
    return await (timeout ? within(activation, running, timeout.ms, timeout.error) : running);
  } catch (error) {
    throw activation.record.destroyed && isAborted(error) ? destroyed(error) : error;
  } finally {
    callback.over();
  }
}

/** Calls the code; gives what it gives, once all that it began has ended: not a promise if there is nothing to wait for. */
function callWithEffects({ effects }: Callback, code: () => unknown): unknown {
  const returned = code();
  if (isThenable(returned)) return afterEffects(effects, returned);
  const open = effects.settled();
  return open ? open.then(() => returned) : returned;
}

async function afterEffects(effects: Callback["effects"], returned: PromiseLike<unknown>): Promise<unknown> {
  const output = await returned;
  await effects.settled();
  return output;
}

/** What user code gives, if it does so in time: else what `timedOut` gives is thrown. Nobody waits longer than the activation lives. */
export function within(
  activation: ActorActivation,
  running: PromiseLike<unknown>,
  timeoutMs: number,
  timedOut: () => unknown,
): Promise<unknown> {
  const { timers, ports, abortSignal } = activation;
  const outcome = (): never => {
    throw timedOut();
  };
  return waitFor(
    timers,
    { deadline: { at: ports.now() + timeoutMs, outcome }, aborts: [abortedBy(abortSignal)] },
    running,
  );
}

/** A wait that the actor's end has cut off. */
function isAborted(error: unknown): boolean {
  return ActorError.isActorError(error) && error.group === "actor" && error.code === "aborted";
}

/** `cause`: what that has cut off. */
export function destroyed(cause?: unknown): ActorError {
  return new ActorError("actor", "destroyed", "The actor was destroyed", cause === undefined ? {} : { cause });
}

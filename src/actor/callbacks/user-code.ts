/**
 * One run of user code, from the call to its result.
 *
 * The order is always the same:
 *  1. The callback is open from its construction: states watch the objects passed to them.
 *  2. The code runs until it and all effects it began have ended, or until its timeout or the end of the activation.
 *  3. The callback is over (`Callback.over`).
 *  4. `conclude` works on the outcome: a hook on the result, a row to delete.
 *  5. The changes are committed, whatever the outcome.
 *  6. The callback has ended: `onStateChange` runs, then the actor ends if the callback destroyed it.
 *  7. The result or the error leaves.
 *
 * Not run here: attempts of steps (step-context.ts), which the engine commits with their entries; the run handler
 * (run-handler.ts), which may never end; and `onStateChange` (state-changes.ts), which changes nothing.
 */
import { ActorError, isThenable, own, ownField } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import type { Callback } from "../activation/callback.js";
import { abortedBy, waitFor } from "../activation/wait.js";

/** What a timeout of user code needs from its actor. */
export type TimeoutHost = Pick<ActorActivation, "abortSignal" | "ports" | "timers">;

/** What a run of user code needs from its actor. */
export type UserCodeHost = TimeoutHost &
  Pick<ActorActivation, "begin" | "callbackEnded" | "commit" | "commitOrThrow" | "record">;

/** How the changes of user code are committed before its callback has ended. */
export type CallbackCommit =
  /** The result leaves the actor. A failed commit is thrown instead. */
  | "must"
  /** Nobody receives the result. A failed commit is only logged. */
  | "may"
  /** The caller commits them: a start, a connection, an action. */
  | "with-caller";

export interface UserCode<T> {
  /** How long it may take, and the error to throw then. Default: no limit. */
  readonly timeout?: { readonly ms: number; readonly error: () => unknown };
  readonly commit: CallbackCommit;
  readonly conclude?: (ran: Promise<unknown>) => Promise<T>;
}

/**
 * Runs user code and returns its result, or what `conclude` makes of it.
 * @throws {actor/destroyed} when the actor's destruction interrupted a wait of the code
 * @throws the error of `timeout`, or whatever the code or `conclude` throws
 */
export async function runUserCode<T = unknown>(
  activation: UserCodeHost,
  callback: Callback,
  code: () => unknown,
  how: UserCode<T>,
): Promise<T> {
  const { timeout, commit, conclude } = own(how);
  try {
    const running = ownField(activation.ports, "userCode")?.begin(callback.description);
    const begin = (): unknown => callWithEffects(callback, running ? () => running.call(code) : code);
    const ran = run(
      activation,
      () => {
        callback.over();
        running?.end();
      },
      commit === "with-caller" ? begin : () => activation.begin(begin),
      timeout,
    );
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
  activation: UserCodeHost,
  over: () => void,
  begin: () => unknown,
  timeout: UserCode<unknown>["timeout"],
): Promise<unknown> {
  try {
    const running = begin();
    if (!isThenable(running)) return running;
    return await (timeout ? within(activation, running, timeout.ms, timeout.error) : running);
  } catch (error) {
    throw activation.record.destroyed && isAborted(error) ? destroyed(error) : error;
  } finally {
    over();
  }
}

/** Calls the code and returns its result once all its effects have settled. Not a promise if there is nothing to wait for. */
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

/** Waits for user code until `timeoutMs`, then throws `timedOut()`. Rejects when the activation is over. */
export function within(
  activation: TimeoutHost,
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

/** Whether the error comes from a wait that the actor's end interrupted. */
function isAborted(error: unknown): boolean {
  return ActorError.isActorError(error) && error.group === "actor" && error.code === "aborted";
}

/** The error of calls to a destroyed actor. */
export function destroyed(cause?: unknown): ActorError {
  return new ActorError("actor", "destroyed", "The actor was destroyed", cause === undefined ? {} : { cause });
}

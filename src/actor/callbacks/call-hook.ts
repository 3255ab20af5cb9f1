import { ActorError, own } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import { Callback } from "../activation/callback.js";
import type { Handler } from "../definition/compiled-actor.js";
import { CallbackContext, READY, type CallbackOptions, type Stage } from "./callback-context.js";
import { runUserCode, type CallbackCommit } from "./user-code.js";

/** How a hook is called. */
export interface HookCall {
  readonly name: string;
  readonly timeoutMs: number;
  /** Which members its context has. Default: all. */
  readonly stage?: Stage;
  /** What else its context has. */
  readonly about?: Omit<CallbackOptions, "callback" | "logged">;
  /** Default: `with-caller`. */
  readonly commit?: CallbackCommit;
}

/**
 * Calls a hook and returns its result, or undefined if `hook` is not a function.
 * @throws {actor/callback_timed_out} when the hook takes longer than `timeoutMs`
 * @throws the reason of the activation's end, or whatever the hook throws
 */
export async function callHook(
  activation: ActorActivation,
  hook: unknown,
  call: HookCall,
  args: readonly unknown[] = [],
): Promise<unknown> {
  if (typeof hook !== "function") return undefined;
  const { name, timeoutMs, stage = READY, about, commit = "with-caller" } = own(call);
  const callback = new Callback(activation.callbacks, name);
  const context = new CallbackContext(activation, stage, { ...about, callback, logged: { hook: name } });
  const timeout = { ms: timeoutMs, error: () => timedOut(name, timeoutMs) };
  return runUserCode(activation, callback, () => (hook as Handler)(context, ...args), { timeout, commit });
}

function timedOut(name: string, timeoutMs: number): ActorError {
  const message = `\`${name}\` did not finish within ${timeoutMs} ms`;
  return new ActorError("actor", "callback_timed_out", message, {
    metadata: { callback_name: name, duration_ms: timeoutMs },
  });
}

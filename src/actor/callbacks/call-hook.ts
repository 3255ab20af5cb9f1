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
  /** What its context has already; by default everything. */
  readonly stage?: Stage;
  /** What its context shows beside that. */
  readonly about?: Omit<CallbackOptions, "callback" | "logged">;
  /** By default what it changed is part of what its caller commits next. */
  readonly commit?: CallbackCommit;
}

/** @throws actor/callback_timed_out after `timeoutMs`, why the activation ended if it did, and whatever the hook throws */
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

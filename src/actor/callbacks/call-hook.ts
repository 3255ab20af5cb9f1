import { ActorError, isThenable } from "../../protocol/index.js";
import type { ActorActivation } from "../activation/activation.js";
import { abortedBy, waitFor } from "../activation/wait.js";
import { closeEffects, withEffects } from "./callback-effects.js";
import type { Handler } from "../definition/compiled-actor.js";
import type { Stage } from "./callback-context.js";

/** @throws actor/callback_timed_out after `timeoutMs`, why the activation ended if it did, and whatever the hook throws */
export async function callHook(
  activation: ActorActivation,
  name: string,
  hook: unknown,
  createContext: (stage: Stage) => object,
  stage: Stage,
  timeoutMs: number,
  args: readonly unknown[],
): Promise<unknown> {
  if (typeof hook !== "function") return undefined;
  const context = createContext(stage);
  const ended = activation.callbacks.begin(name);
  try {
    const returned = withEffects(context, () => (hook as Handler)(context, ...args));
    return isThenable(returned)
      ? await within(activation, returned, timeoutMs, () => timedOut(name, timeoutMs))
      : returned;
  } finally {
    closeEffects(context);
    ended();
    activation.callbackEnded(context);
  }
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

function timedOut(name: string, timeoutMs: number): ActorError {
  const message = `\`${name}\` did not finish within ${timeoutMs} ms`;
  return new ActorError("actor", "callback_timed_out", message, {
    metadata: { callback_name: name, duration_ms: timeoutMs },
  });
}

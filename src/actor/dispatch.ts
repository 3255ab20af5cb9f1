import { ActorError, encodeValue } from "../protocol/index.js";
import type { ActorActivation } from "./activation.js";
import { CallbackContext, READY } from "./context.js";

/**
 * Runs one action and gives its encoded result. What the action changed is committed before its result, or its error,
 * is given (C1, C5). Actions are not serialised: they interleave at their awaits.
 *
 * @throws actor/action_not_found, actor/action_timed_out, value/not_serializable or value/too_large for a result or
 * state that cannot be stored, actor/restarting, and whatever the action throws
 */
export async function callAction(runtime: ActorActivation, name: string, args: readonly unknown[], request?: Request): Promise<Uint8Array> {
  const handler = runtime.actor.actions.get(name);
  if (!handler) throw new ActorError("actor", "action_not_found", `Action \`${name}\` was not found.`);
  const abort = new AbortController();
  const context = new CallbackContext(runtime, READY, { signal: abort.signal, ...(request ? { request } : {}) });
  const onEnd = (): void => abort.abort(runtime.abortSignal.reason);
  runtime.abortSignal.addEventListener("abort", onEnd, { once: true });
  try {
    const returned = handler(context, ...args);
    const output = isThenable(returned) ? await withTimeout(runtime, returned, abort) : returned;
    runtime.state?.encodeChanges();
    return encodeValue(output, { what: "result" });
  } finally {
    runtime.abortSignal.removeEventListener("abort", onEnd);
    runtime.commitOrThrow();
  }
}

function withTimeout(runtime: ActorActivation, running: PromiseLike<unknown>, abort: AbortController): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = {
      at: runtime.ports.now() + runtime.actor.options.actionTimeout,
      fire: (): void => {
        stop();
        const error = new ActorError("actor", "action_timed_out", "Action timed out");
        abort.abort(error);
        reject(error);
      },
    };
    const onLost = (): void => {
      stop();
      reject(runtime.abortSignal.reason);
    };
    const stop = (): void => {
      runtime.timers.remove(timer);
      runtime.abortSignal.removeEventListener("abort", onLost);
    };
    runtime.timers.add(timer);
    runtime.abortSignal.addEventListener("abort", onLost, { once: true });
    running.then(
      (value) => {
        stop();
        resolve(value);
      },
      (error: unknown) => {
        stop();
        reject(error);
      },
    );
  });
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

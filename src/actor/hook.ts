import { ActorError } from "../protocol/index.js";
import type { ActorActivation } from "./activation.js";
import type { Handler } from "./compile.js";
import type { Stage } from "./context.js";

/** @throws actor/callback_timed_out after `timeoutMs`, and whatever the hook throws */
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
  try {
    const returned = (hook as Handler)(context, ...args);
    return typeof (returned as PromiseLike<unknown> | undefined)?.then === "function"
      ? await withinTimeout(activation, name, returned as PromiseLike<unknown>, timeoutMs)
      : returned;
  } finally {
    activation.callbackEnded(context);
  }
}

function withinTimeout(activation: ActorActivation, name: string, running: PromiseLike<unknown>, timeoutMs: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = {
      at: activation.ports.now() + timeoutMs,
      fire: (): void => {
        const message = `\`${name}\` did not finish within ${timeoutMs} ms`;
        reject(new ActorError("actor", "callback_timed_out", message, { metadata: { callback_name: name, duration_ms: timeoutMs } }));
      },
    };
    activation.timers.add(timer);
    running.then(resolve, reject).then(() => activation.timers.remove(timer));
  });
}

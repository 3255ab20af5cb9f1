import type { ActionRequest } from "../actor/client-types.js";
import { ActorError, readOptions } from "../protocol/index.js";

/** What `action()` was given. Throws if it is something else. */
export function readActionRequest(request: ActionRequest): { name: string; args: readonly unknown[]; signal: AbortSignal | undefined } {
  if (typeof request !== "object" || request === null || typeof request.name !== "string" || !Array.isArray(request.args ?? [])) {
    throw new Error("Invalid action call: action() takes { name, args }. To call one by its name, use handle.name(...args).");
  }
  const { name, args = [], signal } = readOptions("action", request, ["name", "args", "signal", "skipReadyWait"], (problem) => new ActorError("request", "invalid", `${problem}.`));
  return { name, args, signal };
}

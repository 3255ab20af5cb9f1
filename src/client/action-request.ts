import type { ActionRequest } from "../actor/client-types.js";

/** What `action()` was given. Throws if it is something else. */
export function readActionRequest(request: ActionRequest): { name: string; args: readonly unknown[]; signal: AbortSignal | undefined } {
  if (typeof request !== "object" || request === null || typeof request.name !== "string" || !Array.isArray(request.args ?? [])) {
    throw new Error("Invalid action call: action() takes { name, args }. To call one by its name, use handle.name(...args).");
  }
  const { name, args = [], signal } = request;
  return { name, args, signal };
}

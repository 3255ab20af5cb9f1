import { ActorError } from "../../protocol/index.js";

/** Throws `actor/method_not_allowed` (405), whose metadata lists the methods that are. */
export function requireMethod(request: Request, ...allowed: readonly string[]): void {
  if (allowed.includes(request.method)) return;
  const message = `This route takes ${allowed.join(" or ")}, not ${request.method}.`;
  throw new ActorError("actor", "method_not_allowed", message, { metadata: { allowed } });
}

/** Throws `actor/namespace_not_found` (404) if `only` is set and another one is asked for. */
export function checkNamespace(asked: string | null | undefined, only: string | undefined): void {
  if (only === undefined || asked === undefined || asked === null || asked === only) return;
  throw new ActorError("actor", "namespace_not_found", "There is no such namespace here.");
}

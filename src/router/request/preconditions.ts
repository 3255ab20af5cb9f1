import { ActorError } from "../../protocol/index.js";

/** @throws {actor/method_not_allowed} when the method is not allowed; its metadata lists the allowed ones */
export function requireMethod(request: Request, allowed: readonly string[]): void {
  if (allowed.includes(request.method)) return;
  const message = `This route takes ${allowed.join(" or ")}, not ${request.method}.`;
  throw new ActorError("actor", "method_not_allowed", message, { metadata: { allowed } });
}

/** @throws {actor/namespace_not_found} when `only` is set and the request names another namespace */
export function checkNamespace(asked: string | null | undefined, only: string | undefined): void {
  if (only === undefined || asked === undefined || asked === null || asked === only) return;
  throw new ActorError("actor", "namespace_not_found", "There is no such namespace here.");
}

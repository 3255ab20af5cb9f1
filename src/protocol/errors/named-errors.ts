import { ActorError, INTERNAL_ERROR_CODE, type ActorErrorOptions } from "./errors.js";

/** What has the shape of an error with a code: an ActorError of any copy of the package, or the data of one. */
export interface RivetErrorLike {
  readonly group: string;
  readonly code: string;
  readonly message: string;
  readonly metadata?: unknown;
  readonly public?: boolean;
  readonly statusCode?: number;
}

/** What stands in for an error's missing group, code or message. */
export interface ErrorFallback extends ActorErrorOptions {
  readonly group?: string;
  readonly code?: string;
  readonly message?: string;
}

/** What callers of an actor that restarts should know. */
export interface ActorRestartingOptions {
  readonly phase?: string;
  /** ms after which to try again. */
  readonly retryAfterMs?: number;
}

/** Whether `error` has group, code and message. A shape only: anybody can make one. */
export function isRivetErrorLike(error: unknown): error is RivetErrorLike {
  if (typeof error !== "object" || error === null) return false;
  const { group, code, message, __type = "RivetError" } = error as Readonly<Record<string, unknown>>;
  return (
    typeof group === "string" &&
    typeof code === "string" &&
    typeof message === "string" &&
    (__type === "RivetError" || __type === "ActorError")
  );
}

/** Whether `error` is the one of this group and code: `isRivetErrorCode(error, "queue", "full")`. */
export function isRivetErrorCode(error: unknown, group: string, code: string): boolean {
  return isRivetErrorLike(error) && error.group === group && error.code === code;
}

/** Whether a wait was given up: its signal aborted, or the actor stopped (`actor/aborted`). */
export function isActorAbortedError(error: unknown): boolean {
  return isRivetErrorCode(error, "actor", "aborted");
}

/**
 * The ActorError that anything thrown is, or is made into. One without a code becomes `fallback`'s, by default
 * `actor/internal_error`, keeps its message, and is the new error's cause. Remote callers see no more of it than its code allows.
 */
export function toRivetError(error: unknown, fallback: ErrorFallback = {}): ActorError {
  if (error instanceof ActorError) return error;
  if (isRivetErrorLike(error)) {
    return new ActorError(error.group, error.code, error.message, {
      metadata: error.metadata,
      ...(typeof error.public === "boolean" && { public: error.public }),
      ...(typeof error.statusCode === "number" && { statusCode: error.statusCode }),
      cause: error,
    });
  }
  const { group = "actor", code = INTERNAL_ERROR_CODE, message = "Unknown error", ...options } = fallback;
  return new ActorError(group, code, messageOf(error) ?? message, { cause: error, ...options });
}

/** A fault of the server's own code: `actor/internal_error` (500). Remote callers see neither message nor metadata. */
export function internalError(message: string, options: Omit<ErrorFallback, "message"> = {}): ActorError {
  const { group = "actor", code = INTERNAL_ERROR_CODE, ...rest } = options;
  return new ActorError(group, code, message, rest);
}

/** `encoding/invalid` (400): there is no such encoding, or its bytes are malformed. */
export function invalidEncoding(format?: string): ActorError {
  return new ActorError("encoding", "invalid", `Invalid encoding \`${format}\`.`);
}

/** `request/invalid` (400). `error`, which may be a text, says why. */
export function invalidRequest(error: unknown): ActorError {
  return new ActorError("request", "invalid", `Invalid request: ${messageOf(error) ?? String(error)}`, {
    cause: error,
  });
}

/** `actor/not_found` (404). `identifier` is a name, key or id. */
export function actorNotFound(identifier?: string): ActorError {
  return new ActorError(
    "actor",
    "not_found",
    identifier === undefined ? "Actor not found" : `Actor not found: ${identifier}`,
  );
}

/** `actor/stopping` (503). */
export function actorStopping(identifier?: string): ActorError {
  return new ActorError(
    "actor",
    "stopping",
    identifier === undefined ? "Actor stopping" : `Actor stopping: ${identifier}`,
  );
}

/** `actor/restarting` (503): try again, in `retryAfterMs` if that is given. */
export function actorRestarting({ phase, retryAfterMs }: ActorRestartingOptions = {}): ActorError {
  return new ActorError("actor", "restarting", "Actor is restarting. Retry the request.", {
    metadata: {
      retryable: true,
      ...(phase !== undefined && { phase }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    },
  });
}

/**
 * `auth/unauthorized` (401): the caller has not said who it is, or not well enough. For `authorize` and hooks that refuse; clients
 * give up, and may sign in again.
 *
 * @example
 *     onBeforeConnect: async (_c, params: { token?: string }) => {
 *       if (!(await verify(params?.token))) throw unauthorizedError();
 *     },
 */
export function unauthorizedError(message = "Unauthorized"): ActorError {
  return new ActorError("auth", "unauthorized", message);
}

/** `auth/forbidden` (403): we know who it is, and it may not. For `authorize` and hooks that refuse; clients give up. */
export function forbiddenError(message = "Forbidden"): ActorError {
  return new ActorError("auth", "forbidden", message);
}

/** `feature/unsupported` (501). */
export function unsupportedFeature(feature: string): ActorError {
  return new ActorError("feature", "unsupported", `Unsupported feature: ${feature}`);
}

function messageOf(error: unknown): string | undefined {
  if (typeof error === "string") return error;
  if (typeof error !== "object" || error === null || !("message" in error)) return undefined;
  return typeof error.message === "string" ? error.message : undefined;
}

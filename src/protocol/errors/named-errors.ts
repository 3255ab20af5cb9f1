import { ActorError, INTERNAL_ERROR_CODE, type ActorErrorOptions } from "./errors.js";

/** The shape of an error with a code: an ActorError from any copy of the package, or its data. */
export interface RivetErrorLike {
  readonly group: string;
  readonly code: string;
  readonly message: string;
  readonly metadata?: unknown;
  readonly public?: boolean;
  readonly statusCode?: number;
}

/** Replaces an error's missing group, code or message. */
export interface ErrorFallback extends ActorErrorOptions {
  readonly group?: string;
  readonly code?: string;
  readonly message?: string;
}

/** Metadata of an `actor/restarting` error. */
export interface ActorRestartingOptions {
  readonly phase?: string;
  /** ms after which to retry. */
  readonly retryAfterMs?: number;
}

/** Whether `error` has a group, a code and a message. Checks the shape only: any code can make such an object. */
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

/**
 * Whether `error` has this group and code.
 *
 * @example
 *     if (isRivetErrorCode(error, "queue", "full")) await later();
 */
export function isRivetErrorCode(error: unknown, group: string, code: string): boolean {
  return isRivetErrorLike(error) && error.group === group && error.code === code;
}

/** Whether `error` is `actor/aborted`: the signal of a wait was aborted, or the actor stopped. */
export function isActorAbortedError(error: unknown): boolean {
  return isRivetErrorCode(error, "actor", "aborted");
}

/**
 * Converts anything thrown to an ActorError. An error without a code gets `fallback`'s, by default `actor/internal_error`; it
 * keeps its message and becomes the cause. Remote callers see no more of it than its code allows.
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

/** Creates `actor/internal_error` (500), for a bug in the server's own code. Remote callers see neither message nor metadata. */
export function internalError(message: string, options: Omit<ErrorFallback, "message"> = {}): ActorError {
  const { group = "actor", code = INTERNAL_ERROR_CODE, ...rest } = options;
  return new ActorError(group, code, message, rest);
}

/** Creates `encoding/invalid` (400): the encoding is unknown, or its bytes are malformed. */
export function invalidEncoding(format?: string): ActorError {
  return new ActorError("encoding", "invalid", `Invalid encoding \`${format}\`.`);
}

/** Creates `request/invalid` (400). `error`, an error or a string, says why. */
export function invalidRequest(error: unknown): ActorError {
  return new ActorError("request", "invalid", `Invalid request: ${messageOf(error) ?? String(error)}`, {
    cause: error,
  });
}

/** Creates `actor/not_found` (404). `identifier` is a name, key or id. */
export function actorNotFound(identifier?: string): ActorError {
  return new ActorError(
    "actor",
    "not_found",
    identifier === undefined ? "Actor not found" : `Actor not found: ${identifier}`,
  );
}

/** Creates `actor/stopping` (503). */
export function actorStopping(identifier?: string): ActorError {
  return new ActorError(
    "actor",
    "stopping",
    identifier === undefined ? "Actor stopping" : `Actor stopping: ${identifier}`,
  );
}

/** Creates `actor/restarting` (503): the caller should retry, after `retryAfterMs` if given. */
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
 * Creates `auth/unauthorized` (401): the caller is not authenticated. Throw it in `authorize` and hooks to reject a caller;
 * clients do not retry.
 *
 * @example
 *     onBeforeConnect: async (_c, params: { token?: string }) => {
 *       if (!(await verify(params?.token))) throw unauthorizedError();
 *     },
 */
export function unauthorizedError(message = "Unauthorized"): ActorError {
  return new ActorError("auth", "unauthorized", message);
}

/**
 * Creates `auth/forbidden` (403): the caller is authenticated but not allowed. Throw it in `authorize` and hooks to reject a
 * caller; clients do not retry.
 */
export function forbiddenError(message = "Forbidden"): ActorError {
  return new ActorError("auth", "forbidden", message);
}

/** Creates `feature/unsupported` (501). */
export function unsupportedFeature(feature: string): ActorError {
  return new ActorError("feature", "unsupported", `Unsupported feature: ${feature}`);
}

function messageOf(error: unknown): string | undefined {
  if (typeof error === "string") return error;
  if (typeof error !== "object" || error === null || !("message" in error)) return undefined;
  return typeof error.message === "string" ? error.message : undefined;
}

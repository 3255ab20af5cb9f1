import { errorCodeInfo } from "./error-codes.js";
import { own, ownField } from "../own.js";

/** The code of errors without one. */
export const INTERNAL_ERROR_CODE = "internal_error";
/** Replaces messages that the caller may not see. */
export const INTERNAL_ERROR_DESCRIPTION = "An internal error occurred";
/** The default code of a `UserError`. */
export const USER_ERROR_CODE = "user_error";

const INTERNAL_ERROR_GROUP = "rivetkit";
const USER_ERROR_GROUP = "user";

/** The actor that an error came from. */
export interface ErrorActor {
  actorId: string;
  generation: number;
  key?: string;
}

/** Options of an `ActorError`. `public` and `statusCode` default to those of its code. */
export interface ActorErrorOptions {
  metadata?: unknown;
  public?: boolean;
  statusCode?: number;
  cause?: unknown;
  actor?: ErrorActor | undefined;
}

/** Any error with a group and a code: what Perdure throws, and what its client rejects with. */
export class ActorError extends Error {
  /** The brand: errors cross realms and RPC, so this property identifies them, not the class. */
  readonly __type: "ActorError" | "RivetError" = "ActorError";
  readonly group: string;
  readonly code: string;
  readonly metadata: unknown;
  /** Whether message and metadata may reach a remote caller. */
  readonly public: boolean;
  /** The HTTP status of a response with this error. */
  readonly statusCode: number;
  /** The actor it came from, if known. */
  declare readonly actor?: ErrorActor;

  constructor(group: string, code: string, message: string, options: ActorErrorOptions = {}) {
    super(message, Object.hasOwn(options, "cause") ? { cause: options.cause } : undefined);
    const given = own(options);
    const info = errorCodeInfo(group, code);
    hide(this, "name", "ActorError");
    this.group = group;
    this.code = code;
    this.metadata = given.metadata;
    this.public = given.public ?? info.public;
    this.statusCode = given.statusCode ?? info.status;
    if (given.actor !== undefined) this.actor = given.actor;
  }

  /** Whether `error` is an ActorError, from any realm, copy of the package or side of an RPC. */
  static isActorError(error: unknown): error is ActorError {
    if (typeof error !== "object" || error === null || !Object.hasOwn(error, "__type")) return false;
    const { __type, group, code } = error as Partial<Record<"__type" | "group" | "code", unknown>>;
    return (
      (__type === "ActorError" || __type === "RivetError") && typeof group === "string" && typeof code === "string"
    );
  }

  /** RivetKit's name for `isActorError`. */
  static isRivetError(error: unknown): error is ActorError {
    return ActorError.isActorError(error);
  }
}

/** RivetKit's name for `ActorError`. */
export const RivetError = ActorError;
/** RivetKit's name for `ActorError`. */
export type RivetError = ActorError;

/** Options of a `UserError`. */
export interface UserErrorOptions {
  code?: string;
  metadata?: unknown;
  cause?: unknown;
}

/**
 * An error that user code throws for its callers to read: group `user`, status 400. Callers receive code (default
 * `user_error`), message and metadata.
 *
 * @example
 *     throw new UserError("Out of stock", { code: "out_of_stock", metadata: { sku } });
 */
export class UserError extends ActorError {
  constructor(message: string, options: UserErrorOptions = {}) {
    super(USER_ERROR_GROUP, ownField(options, "code") ?? USER_ERROR_CODE, message, {
      metadata: ownField(options, "metadata"),
      ...(Object.hasOwn(options, "cause") ? { cause: options.cause } : {}),
    });
    hide(this, "name", "UserError");
  }
}

/** An error as it crosses a wire. */
export interface ErrorData {
  group: string;
  code: string;
  message: string;
  metadata?: unknown;
  actor?: ErrorActor;
}

/**
 * What a caller may see of `error`: all of a public ActorError, only group and code of another one, and
 * `rivetkit/internal_error` for any other error. `expose` unmasks messages (local development). `internal` is true for an
 * error whose message was, or would be, masked: log it. Never throws.
 */
export function toErrorData(
  error: unknown,
  options: { expose?: boolean } = {},
): { data: ErrorData; status: number; internal: boolean } {
  const expose = ownField(options, "expose") ?? false;
  if (!ActorError.isActorError(error)) {
    const message = expose ? textOf(error) : INTERNAL_ERROR_DESCRIPTION;
    return { data: { group: INTERNAL_ERROR_GROUP, code: INTERNAL_ERROR_CODE, message }, status: 500, internal: true };
  }
  const info = errorCodeInfo(error.group, error.code);
  const isPublic = typeof error.public === "boolean" ? error.public : info.public;
  const data: ErrorData = {
    group: error.group,
    code: error.code,
    message: isPublic || expose ? textOf(error) : INTERNAL_ERROR_DESCRIPTION,
  };
  if ((isPublic || expose) && error.metadata !== undefined) data.metadata = error.metadata;
  const actor = ownField(error, "actor");
  if (actor !== undefined) data.actor = actor;
  return { data, status: isStatus(error.statusCode) ? error.statusCode : info.status, internal: !isPublic };
}

/** The error that `data` describes. `status` defaults to its code's. It is public: its message has already left the server. */
export function fromErrorData(data: ErrorData, status?: number): ActorError {
  const options: ActorErrorOptions = {
    metadata: ownField(data, "metadata"),
    public: true,
    actor: ownField(data, "actor"),
  };
  if (status !== undefined) options.statusCode = status;
  return new ActorError(data.group, data.code, data.message, options);
}

function textOf(error: unknown): string {
  try {
    return error instanceof Error || ActorError.isActorError(error) ? String(error.message) : String(error);
  } catch {
    return INTERNAL_ERROR_DESCRIPTION;
  }
}

function isStatus(status: unknown): status is number {
  return typeof status === "number" && Number.isInteger(status) && status >= 400 && status <= 599;
}

function hide(target: object, property: string, value: unknown): void {
  Object.defineProperty(target, property, {
    __proto__: null,
    value,
    writable: true,
    configurable: true,
    enumerable: false,
  } as PropertyDescriptor);
}

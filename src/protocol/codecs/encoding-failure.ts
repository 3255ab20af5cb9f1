import { OVER_LIMIT } from "../values/refusals.js";
import { ActorError } from "../errors/errors.js";
import { own } from "../own.js";
import { checkValue, notSerializable } from "../values/value-check.js";
import { sizeOfValue, type SizeOf } from "./value-size.js";

/** The limits that a value was encoded with, and how an error names it. */
export interface Attempt {
  /** The number of containers around the value, and the most there may be. */
  readonly depth: number;
  readonly maxDepth: number;
  readonly limitBytes: number;
  readonly sizeOf: SizeOf;
  readonly what?: string | undefined;
  readonly rootPath?: string;
}

/** Measuring stops at four times the limit, but not before this: far beyond it, the exact size does not matter. */
const LEAST_COUNTED_BYTES = 8_000_000;

/** Finds out why a value could not be encoded, and where: the encoders keep no path, to be fast. */
export function encodingFailure(error: unknown, value: unknown, attempt: Attempt): ActorError {
  const { depth, maxDepth, what, rootPath = "$" } = own(attempt);
  try {
    checkValue(value, rootPath, depth, maxDepth);
    if (error === OVER_LIMIT) return named(tooLarge(value, attempt), what);
  } catch (reason) {
    if (ActorError.isActorError(reason)) return named(reason, what);
  }
  return named(notSerializable(rootPath, "value that changes while it is read"), what);
}

function tooLarge(value: unknown, attempt: Attempt): ActorError {
  const { limitBytes, sizeOf, rootPath = "$" } = own(attempt);
  const most = Math.max(LEAST_COUNTED_BYTES, 4 * limitBytes);
  const { path, sizeBytes } = sizeOfValue(value, most, sizeOf);
  const size = sizeBytes < most ? `${sizeBytes}` : `over ${sizeBytes}`;
  const message = `Value is too large: ${size} bytes, the limit is ${limitBytes}. Its largest member is ${rootPath}${path}`;
  return new ActorError("value", "too_large", message, { metadata: { path: rootPath + path, sizeBytes, limitBytes } });
}

function named(error: ActorError, what: string | undefined): ActorError {
  if (what === undefined) return error;
  return new ActorError(error.group, error.code, `${error.message} (in ${what})`, { metadata: error.metadata });
}

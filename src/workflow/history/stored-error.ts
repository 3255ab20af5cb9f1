import { ActorError, encodeValue, fieldOf, own, decodeValue, measure } from "../../protocol/index.js";

/** An error as stored: everything a replay needs to rebuild it. The stack is not kept. */
export interface StoredError {
  readonly name: string;
  readonly message: string;
  readonly group?: string;
  readonly code?: string | number;
  readonly metadata?: unknown;
  readonly cause?: StoredError;
  /** Of an AggregateError. */
  readonly errors?: readonly StoredError[];
}

const MAX_CAUSES = 4;
const MAX_TEXT = 8_192;
/** How many errors of an AggregateError are kept, each with a short message and no cause. */
const MAX_ERRORS = 32;
const MAX_ERRORS_TEXT = 1_000;
/** The longest group or code, in UTF-16 units. */
const MAX_CODE = 200;
/**
 * The deepest that metadata can lie in what is stored: in an entry, below four causes, in the failures of nested joins.
 * What the wire accepts is shallow enough to be metadata there.
 */
const LEVELS_AROUND = 128;

/** Converts anything thrown to a stored error. Never throws: what cannot be stored is left out. */
export function toStoredError(thrown: unknown, depth = 0): StoredError {
  if (!isErrorLike(thrown)) return own({ name: "Error", message: clip(describeThrown(thrown)) });
  const cause = readProperty(thrown, "cause");
  const group = readProperty(thrown, "group");
  const code = readProperty(thrown, "code");
  const metadata = storable(readProperty(thrown, "metadata"));
  return own({
    name: clip(describeThrown(readProperty(thrown, "name") ?? "Error")),
    message: clip(describeThrown(readProperty(thrown, "message") ?? "")),
    ...(typeof group === "string" ? { group: clip(group, MAX_CODE) } : {}),
    ...(typeof code === "number" ? { code } : {}),
    ...(typeof code === "string" ? { code: clip(code, MAX_CODE) } : {}),
    ...(metadata === undefined ? {} : { metadata }),
    ...(cause === undefined || depth >= MAX_CAUSES ? {} : { cause: toStoredError(cause, depth + 1) }),
    ...(depth === 0 && isInstance(thrown, AggregateError) ? { errors: storedErrors(thrown) } : {}),
  });
}

function storedErrors(thrown: object): StoredError[] {
  const errors = readProperty(thrown, "errors");
  if (!Array.isArray(errors)) return [];
  const short = (text: string): string => text.slice(0, MAX_ERRORS_TEXT);
  return errors.slice(0, MAX_ERRORS).map((each) => {
    const { name, message, group, code } = toStoredError(each, MAX_CAUSES);
    return own({
      name: short(name),
      message: short(message),
      ...(group === undefined ? {} : { group: short(group) }),
      ...(code === undefined ? {} : { code: typeof code === "string" ? short(code) : code }),
    });
  });
}

/** A decoded stored error with its own members only. */
export function ownStoredError(decoded: StoredError): StoredError {
  const error = own(decoded);
  const { cause, errors } = error;
  return own({
    ...error,
    ...(cause === undefined ? {} : { cause: ownStoredError(cause) }),
    ...(errors === undefined ? {} : { errors: errors.map(ownStoredError) }),
  });
}

/** Builds the error that user code sees, on the first throw as on every replay (FLOW-4). */
export function fromStoredError(stored: StoredError): Error {
  const options = stored.cause ? { cause: fromStoredError(stored.cause) } : {};
  if (stored.group !== undefined && typeof stored.code === "string") {
    const error = new ActorError(stored.group, stored.code, stored.message, { metadata: stored.metadata, ...options });
    setName(error, stored.name);
    return error;
  }
  const error = stored.errors
    ? new AggregateError(stored.errors.map(fromStoredError), stored.message, options)
    : new Error(stored.message, options);
  setName(error, stored.name);
  if (stored.code !== undefined) Object.assign(error, { code: stored.code });
  if (stored.metadata !== undefined) Object.assign(error, { metadata: stored.metadata });
  return error;
}

/** `String(thrown)`, for messages. */
export function describeThrown(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return "(a value that cannot be printed)";
  }
}

function setName(error: Error, name: string): void {
  if (error.name !== name) Object.defineProperty(error, "name", { value: name, configurable: true, writable: true });
}

function isErrorLike(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  return isInstance(value, Error) || typeof readProperty(value, "message") === "string";
}

/** `instanceof` for thrown values, which may be hostile: false for a revoked proxy. */
export function isInstance<T>(value: unknown, type: abstract new (...args: never[]) => T): value is T {
  try {
    return value instanceof type;
  } catch {
    return false;
  }
}

/** A property of a thrown value; undefined if it cannot be read. */
export function readProperty(value: unknown, key: string): unknown {
  try {
    return typeof value === "object" && value !== null ? fieldOf(value, key) : undefined;
  } catch {
    return undefined;
  }
}

function storable(value: unknown): unknown {
  if (value === undefined) return undefined;
  try {
    // A copy: user code may change its own later.
    const copy = decodeValue(encodeValue(value, { limitBytes: MAX_TEXT }));
    measure(copy, LEVELS_AROUND, MAX_TEXT);
    return copy;
  } catch {
    return undefined;
  }
}

/** Shortens a text to this many UTF-16 units, and an ellipsis. */
export function clip(text: string, length = MAX_TEXT): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

import { ActorError, checkValue, measure, notSerializable } from "../../protocol/index.js";

/** The name of a state in errors, and its limit. */
export interface Bounds {
  readonly what: string;
  /** The limit that users see, in bytes. */
  readonly limitBytes: number;
}

/** Values larger than this are not measured exactly. */
export const MAX_COUNTED_BYTES = 8_000_000;

/** Thrown within this folder for a value that cannot become part of the state. */
export class Refusal {
  readonly found: string;

  constructor(found: string) {
    this.found = found;
  }
}

/** Thrown within this folder once the values being handed in are certainly larger than a state may be. */
export const TOO_MUCH = new Refusal("too much");

const refusals = new WeakSet<object>();

/** Marks an error by which a state refuses a statement, for `isRefusedByState`. */
export function markedAsRefusal<E extends Error>(error: E): E {
  refusals.add(error);
  return error;
}

/** Whether a state refused a statement with this error. Retrying the statement would fail again. */
export function isRefusedByState(thrown: unknown): boolean {
  return typeof thrown === "object" && thrown !== null && refusals.has(thrown);
}

/** The error that user code gets for `error`, thrown while `value` was put at `path`, `depth` containers deep. */
export function statementError(
  error: unknown,
  value: unknown,
  at: Bounds & { readonly path: string; readonly depth: number },
): unknown {
  if (error === TOO_MUCH || (ActorError.isActorError(error) && error.code === "too_large"))
    return tooLarge(at, at.path, countedBytes(value));
  try {
    checkValue(value, at.path, at.depth);
  } catch (reason) {
    return reason instanceof Error ? markedAsRefusal(reason) : reason;
  }
  return error instanceof Refusal ? markedAsRefusal(notSerializable(at.path, error.found)) : error;
}

export function tooLarge({ what, limitBytes }: Bounds, path: string, sizeBytes: number): ActorError {
  const size = sizeBytes < MAX_COUNTED_BYTES ? `${sizeBytes}` : `over ${MAX_COUNTED_BYTES}`;
  const message = `With this value at ${path}, ${what} would be too large: ${size} bytes, the limit is ${limitBytes}`;
  return markedAsRefusal(new ActorError("value", "too_large", message, { metadata: { path, sizeBytes, limitBytes } }));
}

function countedBytes(value: unknown): number {
  try {
    return measure(value, 0, MAX_COUNTED_BYTES).bytes;
  } catch {
    return MAX_COUNTED_BYTES;
  }
}

import { ActorError, checkValue, measure, notSerializable } from "../../protocol/index.js";

/** What errors call a state, and how large it may be. */
export interface Bounds {
  readonly what: string;
  /** What users get. */
  readonly limitBytes: number;
}

/** A value far beyond any limit need not be known to the byte. */
export const MAX_COUNTED_BYTES = 8_000_000;

/** Thrown within this folder at what cannot become part of the state. */
export class Refusal {
  readonly found: string;

  constructor(found: string) {
    this.found = found;
  }
}

/** Thrown within this folder once what is handed in certainly has more bytes than the state may. */
export const TOO_MUCH = new Refusal("too much");

const told = new WeakSet<object>();

/** An error by which a state refuses a statement of user code. */
export function toldToUserCode<E extends Error>(error: E): E {
  told.add(error);
  return error;
}

/** Whether a state has refused a statement with this error: the same statement would be refused again. */
export function isRefusedByState(thrown: unknown): boolean {
  return typeof thrown === "object" && thrown !== null && told.has(thrown);
}

/** What user code is told of `error`, which was met as `value` was to come to stand at `path`, `depth` containers deep. */
export function refusalOf(
  error: unknown,
  value: unknown,
  at: Bounds & { readonly path: string; readonly depth: number },
): unknown {
  if (error === TOO_MUCH || (ActorError.isActorError(error) && error.code === "too_large"))
    return tooLarge(at, at.path, countedBytes(value));
  try {
    checkValue(value, at.path, at.depth);
  } catch (reason) {
    return reason instanceof Error ? toldToUserCode(reason) : reason;
  }
  return error instanceof Refusal ? toldToUserCode(notSerializable(at.path, error.found)) : error;
}

export function tooLarge({ what, limitBytes }: Bounds, path: string, sizeBytes: number): ActorError {
  const size = sizeBytes < MAX_COUNTED_BYTES ? `${sizeBytes}` : `over ${MAX_COUNTED_BYTES}`;
  const message = `With this at ${path}, ${what} would be too large: ${size} bytes, the limit is ${limitBytes}`;
  return toldToUserCode(new ActorError("value", "too_large", message, { metadata: { path, sizeBytes, limitBytes } }));
}

function countedBytes(value: unknown): number {
  try {
    return measure(value, 0, MAX_COUNTED_BYTES).bytes;
  } catch {
    return MAX_COUNTED_BYTES;
  }
}

import { ActorError } from "../protocol/index.js";

/** What `saveState` takes. */
export interface SaveOptions {
  /** Resolves only when the write is confirmed on disk. */
  readonly immediate?: boolean;
  /** ms; of no consequence, as a commit never waits here (decision 22). */
  readonly maxWait?: number;
}

/** @throws actor/invalid_option */
export function checkSaveOptions(options: unknown): SaveOptions {
  if (options === undefined) return {};
  if (typeof options !== "object" || options === null) throw invalid("The options of `saveState` are an object");
  const { immediate, maxWait } = options as Record<string, unknown>;
  if (immediate !== undefined && typeof immediate !== "boolean") throw invalid("`immediate` of `saveState` is true or false");
  if (maxWait !== undefined && !(typeof maxWait === "number" && maxWait >= 0 && maxWait < Infinity)) {
    throw invalid("`maxWait` of `saveState` is a finite number of ms, zero or more");
  }
  return options;
}

function invalid(message: string): ActorError {
  return new ActorError("actor", "invalid_option", message);
}

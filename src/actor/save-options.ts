import { ActorError, readOptions } from "../protocol/index.js";

/** What `saveState` takes. */
export interface SaveOptions {
  /** Resolves only when the write is confirmed on disk. */
  readonly immediate?: boolean;
  /** ms; of no consequence, as a commit never waits here (decision 22). */
  readonly maxWait?: number;
}

/** @throws actor/invalid_option */
export function checkSaveOptions(options: unknown): SaveOptions {
  const given = readOptions<Record<string, unknown>>("saveState", options as Record<string, unknown> | undefined, ["immediate", "maxWait"], invalid);
  const { immediate, maxWait } = given;
  if (immediate !== undefined && typeof immediate !== "boolean") throw invalid("`immediate` of `saveState` is true or false");
  if (maxWait !== undefined && !(typeof maxWait === "number" && maxWait >= 0 && maxWait < Infinity)) {
    throw invalid("`maxWait` of `saveState` is a finite number of ms, zero or more");
  }
  return given;
}

function invalid(message: string): ActorError {
  return new ActorError("actor", "invalid_option", message);
}

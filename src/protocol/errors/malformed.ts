import { ActorError } from "./errors.js";
import { MAX_REG_EXP_LENGTH } from "../limits.js";

/** The error for bytes or text that no encoder of ours or RivetKit's makes: `encoding/invalid` (400). */
export function malformed(reason: string): ActorError {
  return new ActorError("encoding", "invalid", `Malformed data: ${reason}.`);
}

/** The error for what is nested deeper than may be: `encoding/invalid` (400), metadata `{maxDepth}`. */
export function tooDeep(maxDepth: number): ActorError {
  const message = `Malformed data: it is nested deeper than ${maxDepth} levels.`;
  return new ActorError("encoding", "invalid", message, { metadata: { maxDepth } });
}

/** The error for regular expressions that would take too long to make: `encoding/invalid` (400), metadata `{maxRegExpLength}`. */
export function regExpTooLong(): ActorError {
  const message = `Malformed data: its regular expressions are too long, together they may have ${MAX_REG_EXP_LENGTH} characters.`;
  return new ActorError("encoding", "invalid", message, { metadata: { maxRegExpLength: MAX_REG_EXP_LENGTH } });
}

/** Whether data was refused for a limit alone: it is well-formed, and the error says what the caller should mend. */
export function isBeyondLimit(error: unknown): boolean {
  if (!ActorError.isActorError(error) || error.group !== "encoding" || error.code !== "invalid") return false;
  return (
    typeof error.metadata === "object" &&
    error.metadata !== null &&
    (Object.hasOwn(error.metadata, "maxDepth") || Object.hasOwn(error.metadata, "maxRegExpLength"))
  );
}

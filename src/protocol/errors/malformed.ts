import { ActorError } from "./errors.js";
import { MAX_REG_EXP_LENGTH } from "../limits.js";

/** The error for bytes or strings that neither our encoders nor RivetKit's make: `encoding/invalid` (400). */
export function malformed(reason: string): ActorError {
  return new ActorError("encoding", "invalid", `Malformed data: ${reason}`);
}

/** The error for data nested too deeply: `encoding/invalid` (400), metadata `{maxDepth}`. */
export function tooDeep(maxDepth: number): ActorError {
  const message = `Malformed data: it is nested deeper than ${maxDepth} levels`;
  return new ActorError("encoding", "invalid", message, { metadata: { maxDepth } });
}

/** The error for regular expressions too long to compile: `encoding/invalid` (400), metadata `{maxRegExpLength}`. */
export function regExpTooLong(): ActorError {
  const message = `Malformed data: its regular expressions together exceed ${MAX_REG_EXP_LENGTH} characters`;
  return new ActorError("encoding", "invalid", message, { metadata: { maxRegExpLength: MAX_REG_EXP_LENGTH } });
}

/** Whether data was rejected only for exceeding a limit: it is well-formed, and the error says which limit. */
export function isBeyondLimit(error: unknown): boolean {
  if (!ActorError.isActorError(error) || error.group !== "encoding" || error.code !== "invalid") return false;
  return (
    typeof error.metadata === "object" &&
    error.metadata !== null &&
    (Object.hasOwn(error.metadata, "maxDepth") || Object.hasOwn(error.metadata, "maxRegExpLength"))
  );
}

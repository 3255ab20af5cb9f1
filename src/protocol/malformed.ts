import { ActorError } from "./errors.js";

/** The error for bytes or text that no encoder of ours or the peer's makes: `encoding/invalid` (400). */
export function malformed(reason: string): ActorError {
  return new ActorError("encoding", "invalid", `Malformed data: ${reason}.`);
}

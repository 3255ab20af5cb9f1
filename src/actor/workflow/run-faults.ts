import { ActorError, MAX_INTERRUPTIONS } from "../../protocol/index.js";
import { HistoryDivergedError } from "../../workflow/index.js";

/** Why a run fails that was cut off too often. */
export function interrupted(): ActorError {
  const message = `The workflow was cut off ${MAX_INTERRUPTIONS} times in a row outside of any step`;
  return new ActorError("workflow", "interrupted", message);
}

/** A registry without the workflow is treated like code that does not match (FLOW-6). */
export function missing(name: string): HistoryDivergedError {
  const message =
    `The actor "${name}" has a workflow in flight, but its code no longer has one. ` +
    "Put it back, or end it with c.workflow.cancel()";
  return new HistoryDivergedError(message, { location: "(root)", found: "a workflow", expected: "none" });
}

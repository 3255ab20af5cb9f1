import { ActorError, ownField } from "../protocol/index.js";
import type { RecordedOperation } from "./history/history.js";
import { describeThrown } from "./history/stored-error.js";

/** What an error thrown by user code may carry into the history. */
export interface WorkflowErrorOptions {
  readonly cause?: unknown;
  readonly metadata?: unknown;
}

class EngineError extends ActorError {
  constructor(name: string, code: string, message: string, options: WorkflowErrorOptions = {}) {
    super("workflow", code, message, options);
    Object.defineProperty(this, "name", { value: name, configurable: true, writable: true });
  }
}

/** Thrown by a step's callback to end the step without a retry. `workflow/critical`. */
export class CriticalError extends EngineError {
  constructor(message = "", options: WorkflowErrorOptions & { readonly code?: string } = {}) {
    super("CriticalError", ownField(options, "code") ?? "critical", message, options);
  }
}

/** Thrown by a step's callback or the workflow's function to fail the workflow and run its rollbacks. `workflow/rollback`. */
export class RollbackError extends EngineError {
  constructor(message = "", options: WorkflowErrorOptions = {}) {
    super("RollbackError", "rollback", message, options);
  }
}

/** A step has no retries left; `lastError` is what its last attempt threw. `workflow/step_exhausted`. */
export class StepExhaustedError extends EngineError {
  readonly stepName: string;
  readonly lastError: unknown;
  constructor(stepName: string, lastError: unknown) {
    super(
      "StepExhaustedError",
      "step_exhausted",
      `Step "${stepName}" exhausted retries: ${describeThrown(lastError)}`,
      {
        cause: lastError,
      },
    );
    this.stepName = stepName;
    this.lastError = lastError;
  }
}

/** One attempt of a step failed. Exists for types only: callers see its cause. `workflow/step_failed`. */
export class StepFailedError extends EngineError {
  constructor(stepName: string, cause?: unknown) {
    super("StepFailedError", "step_failed", `Step "${stepName}" failed`, { cause });
  }
}

/** The code no longer matches the recorded history. `workflow/history_diverged` or `workflow/duplicate_name`. */
export class HistoryDivergedError extends EngineError {
  readonly location: string;
  readonly found: string | undefined;
  readonly expected: string | undefined;
  constructor(message: string, details: { location: string; found?: string; expected?: string; code?: string }) {
    super("HistoryDivergedError", details.code ?? "history_diverged", message, {
      metadata: { location: details.location, found: details.found ?? null, expected: details.expected ?? null },
    });
    this.location = details.location;
    this.found = details.found;
    this.expected = details.expected;
  }
}

/** The code called an operation where `next` is recorded, or nothing. */
export function outOfOrder(
  at: string,
  kind: string,
  name: string,
  next: RecordedOperation | undefined,
): HistoryDivergedError {
  const found = next ? `${next.kind} "${next.name}"` : "nothing";
  return new HistoryDivergedError(
    `The code called ${kind} "${name}" at ${at}, but the history has ${found} next: operations must keep ` +
      "their recorded order; use ctx.removed or ctx.getVersion to change running workflows",
    { location: at, found, expected: `${kind} "${name}"` },
  );
}

/** An operation was started while another one in its scope was still in flight. `workflow/entry_in_progress`. */
export class EntryInProgressError extends EngineError {
  constructor(message: string) {
    super("EntryInProgressError", "entry_in_progress", message);
  }
}

/** A step with a `rollback` has no `rollbackCheckpoint` before it. `workflow/rollback_checkpoint`. */
export class RollbackCheckpointError extends EngineError {
  constructor(message: string) {
    super("RollbackCheckpointError", "rollback_checkpoint", message);
  }
}

/** At least one branch of a join failed; `errors` holds the failures by branch name. `workflow/join_failed`. */
export class JoinError extends EngineError {
  readonly errors: Record<string, Error>;
  constructor(errors: Record<string, Error>) {
    super("JoinError", "join_failed", `Join failed: ${Object.keys(errors).join(", ")}`);
    this.errors = errors;
  }
}

/** No branch of a race fulfilled. `workflow/race_failed`. */
export class RaceError extends EngineError {
  readonly errors: readonly { readonly name: string; readonly error: Error }[];
  constructor(message: string, errors: readonly { readonly name: string; readonly error: Error }[]) {
    super("RaceError", "race_failed", message);
    this.errors = errors;
  }
}

/** The operation belongs to a scope or a run that has ended. `workflow/evicted`. */
export class EvictedError extends EngineError {
  constructor(message = "This part of the workflow has ended") {
    super("EvictedError", "evicted", message);
  }
}

/** The workflow was cancelled. `workflow/cancelled`. */
export class CancelledError extends EngineError {
  constructor(message = "The workflow was cancelled") {
    super("CancelledError", "cancelled", message);
  }
}

/** Never thrown, exists for types only: a suspended workflow awaits an unsettled promise. `workflow/sleep`. */
export class SleepError extends EngineError {
  constructor(message = "The workflow sleeps") {
    super("SleepError", "sleep", message);
  }
}

/** Never thrown, exists for types only: a suspended workflow awaits an unsettled promise. `workflow/message_wait`. */
export class MessageWaitError extends EngineError {
  constructor(message = "The workflow waits for a message") {
    super("MessageWaitError", "message_wait", message);
  }
}

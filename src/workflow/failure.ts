import { CriticalError, JoinError, RaceError, RollbackError, StepExhaustedError } from "./errors.js";
import type { Failure } from "./history/entry.js";
import { fromStoredError, toStoredError, type StoredError } from "./history/stored-error.js";

/** The error a step's caller sees, built from what is stored, live as on replay (decision 8). */
export function stepError(stepName: string, failure: Failure): Error {
  const error = fromStoredError(failure.error);
  switch (failure.kind) {
    case "exhausted":
      return new StepExhaustedError(stepName, error);
    case "timeout":
      return failure.exhausted ? new StepExhaustedError(stepName, error) : new CriticalError(failure.error.message);
    case "rollback":
      return new RollbackError(failure.error.message, rest(failure.error));
    case "critical":
      return new CriticalError(failure.error.message, {
        ...rest(failure.error),
        ...(typeof failure.error.code === "string" && failure.error.group === "workflow" ? { code: failure.error.code } : {}),
      });
    default:
      return error;
  }
}

/** How the thrown value ends its attempt, by brand and never by message. */
export function brandOf(thrown: unknown): "critical" | "rollback" | undefined {
  if (thrown instanceof CriticalError || nameOf(thrown) === "CriticalError") return "critical";
  if (thrown instanceof RollbackError || nameOf(thrown) === "RollbackError") return "rollback";
  return undefined;
}

/** What is stored of the error that ended a workflow: with the parts that a class keeps beside its message. */
export function workflowFailure(thrown: unknown): Failure {
  const error = toStoredError(thrown);
  if (thrown instanceof JoinError) {
    const errors = Object.fromEntries(Object.entries(thrown.errors).map(([name, each]) => [name, toStoredError(each)]));
    return { kind: "join", error: { ...error, metadata: { errors } } };
  }
  if (thrown instanceof RaceError) {
    return { kind: "race", error: { ...error, metadata: { errors: thrown.errors.map((each) => ({ name: each.name, error: toStoredError(each.error) })) } } };
  }
  return { kind: brandOf(thrown) ?? "error", error };
}

function nameOf(thrown: unknown): unknown {
  return typeof thrown === "object" && thrown !== null ? (thrown as { name?: unknown }).name : undefined;
}

function rest(error: StoredError): { metadata?: unknown; cause?: Error } {
  return {
    ...(error.metadata === undefined ? {} : { metadata: error.metadata }),
    ...(error.cause === undefined ? {} : { cause: fromStoredError(error.cause) }),
  };
}

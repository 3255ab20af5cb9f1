import type { Failure } from "./history/entry.js";
import { toStoredError, type StoredError } from "./history/stored-error.js";

/** An error as results and `onError` show it. */
export interface WorkflowError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly metadata?: Record<string, unknown>;
}

export interface TryStepFailure {
  readonly kind: "critical" | "timeout" | "exhausted" | "rollback";
  readonly stepName: string;
  readonly attempts: number;
  readonly error: WorkflowError;
}

/** A step's stored failure as `tryStep` and `try` give it; undefined for kinds that no step has. */
export function describeStepFailure(stepName: string, failure: Failure, attempts: number): TryStepFailure | undefined {
  const { kind } = failure;
  if (kind !== "critical" && kind !== "timeout" && kind !== "exhausted" && kind !== "rollback") return undefined;
  return { kind, stepName, attempts, error: describeStored(failure.error) };
}

/** Any error, in the same form. */
export function describeError(thrown: unknown): WorkflowError {
  return describeStored(toStoredError(thrown));
}

function describeStored(error: StoredError): WorkflowError {
  const metadata: Record<string, unknown> = {};
  if (error.group !== undefined) metadata["group"] = error.group;
  if (error.code !== undefined) metadata["code"] = error.code;
  if (typeof error.metadata === "object" && error.metadata !== null) Object.assign(metadata, error.metadata);
  return { name: error.name, message: error.message, ...(Object.keys(metadata).length > 0 ? { metadata } : {}) };
}

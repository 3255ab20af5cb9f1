import type { Failure } from "./history/entry.js";
import { isInstance, readProperty, toStoredError, type StoredError } from "./history/stored-error.js";

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

/** A step's stored failure as `tryStep` and `try` return it; undefined for kinds that no step has. */
export function describeStepFailure(stepName: string, failure: Failure, attempts: number): TryStepFailure | undefined {
  const { kind } = failure;
  if (kind !== "critical" && kind !== "timeout" && kind !== "exhausted" && kind !== "rollback") return undefined;
  return { kind, stepName, attempts, error: describeStored(failure.error) };
}

/** Any thrown value in the same form. */
export function describeError(thrown: unknown): WorkflowError {
  return describeStored(toStoredError(thrown));
}

/** A thrown value as `onError` receives it: its primitive own properties become the metadata. */
export function describeThrownError(thrown: unknown): WorkflowError {
  const { name, message } = toStoredError(thrown);
  const stackText = isInstance(thrown, Error) ? readProperty(thrown, "stack") : undefined;
  const stack = typeof stackText === "string" ? { stack: stackText.slice(0, MAX_STACK) } : {};
  const properties = ownProperties(thrown);
  const metadata: Record<string, unknown> = {};
  for (const [key, { value }] of properties) {
    if (key === "name" || key === "message" || key === "stack" || key === "__type") continue;
    if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean")
      metadata[key] = value;
  }
  return { name, message, ...stack, ...(Object.keys(metadata).length > 0 ? { metadata } : {}) };
}

const MAX_STACK = 4_096;

function ownProperties(thrown: unknown): [string, PropertyDescriptor][] {
  if (typeof thrown !== "object" || thrown === null) return [];
  try {
    return Object.entries(Object.getOwnPropertyDescriptors(thrown));
  } catch {
    return [];
  }
}

function describeStored(error: StoredError): WorkflowError {
  const metadata: Record<string, unknown> = {};
  if (error.group !== undefined) metadata["group"] = error.group;
  if (error.code !== undefined) metadata["code"] = error.code;
  const all =
    typeof error.metadata === "object" && error.metadata !== null ? { ...metadata, ...error.metadata } : metadata;
  return { name: error.name, message: error.message, ...(Object.keys(all).length > 0 ? { metadata: all } : {}) };
}

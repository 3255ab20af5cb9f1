import { ActorError, fieldOf, own, ownField, isThenable } from "../../protocol/index.js";
import type { StandardResult, StandardSchema } from "../api/declarations.js";

/**
 * Runs a Standard Schema and returns its output (coerced, with defaults). Returns a promise if the validator is asynchronous.
 * @throws {actor/validation_error} with `metadata.issues` when the value does not match
 */
export function validate(schema: StandardSchema | undefined, value: unknown, what: string): unknown {
  if (!schema) return value;
  const result = schema["~standard"].validate(value);
  return isThenable(result) ? Promise.resolve(result).then((later) => valid(later, what)) : valid(result, what);
}

function valid(result: StandardResult<unknown>, what: string): unknown {
  const issues = ownField(result, "issues");
  if (!issues) return (result as { readonly value: unknown }).value;
  throw new ActorError("actor", "validation_error", `Invalid ${what}`, { metadata: { issues: issuesOf(issues) } });
}

/** A schema's issues, as plain values. */
export function issuesOf(issues: NonNullable<StandardResult<unknown>["issues"]>): object[] {
  return issues.map(own).map((issue) => ({
    message: issue.message,
    ...(issue.path
      ? {
          path: issue.path.map((part) =>
            typeof part === "object" && part !== null ? (part as { key: unknown }).key : part,
          ),
        }
      : {}),
  }));
}

export function isStandardSchema(value: unknown): value is StandardSchema {
  return (
    (typeof value === "object" || typeof value === "function") &&
    value !== null &&
    fieldOf(value, "~standard") !== undefined
  );
}

/** Continues with the result of `validate`, synchronously unless it is a promise. */
export function whenThere<T>(value: unknown, next: (value: unknown) => T): T | Promise<T> {
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value);
}

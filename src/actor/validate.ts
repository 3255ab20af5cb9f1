import { ActorError } from "../protocol/index.js";
import type { StandardResult, StandardSchema } from "./declarations.js";

/**
 * Runs a Standard Schema; what it gives (coerced, defaulted) is what the handler sees. Validators may be asynchronous.
 * @throws actor/validation_error with `metadata.issues`
 */
export async function validate(schema: StandardSchema | undefined, value: unknown, what: string): Promise<unknown> {
  if (!schema) return value;
  const result = await schema["~standard"].validate(value);
  if (!result.issues) return result.value;
  throw new ActorError("actor", "validation_error", `Invalid ${what}`, { metadata: { issues: issuesOf(result.issues) } });
}

/** A schema's findings as they are told: plain values only. */
export function issuesOf(issues: NonNullable<StandardResult<unknown>["issues"]>): object[] {
  return issues.map((issue) => ({
    message: issue.message,
    ...(issue.path ? { path: issue.path.map((part) => (typeof part === "object" && part !== null ? (part as { key: unknown }).key : part)) } : {}),
  }));
}

export function isStandardSchema(value: unknown): value is StandardSchema {
  return (typeof value === "object" || typeof value === "function") && value !== null && "~standard" in value;
}

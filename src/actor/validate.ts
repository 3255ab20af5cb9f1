import { ActorError } from "../protocol/index.js";
import type { StandardSchema } from "./declarations.js";

/**
 * Runs a Standard Schema; what it gives (coerced, defaulted) is what the handler sees. Validators may be asynchronous.
 * @throws actor/validation_error with `metadata.issues`
 */
export async function validate(schema: StandardSchema | undefined, value: unknown, what: string): Promise<unknown> {
  if (!schema) return value;
  const result = await schema["~standard"].validate(value);
  if (!result.issues) return result.value;
  const issues = result.issues.map((issue) => ({
    message: issue.message,
    ...(issue.path ? { path: issue.path.map((part) => (typeof part === "object" && part !== null ? (part as { key: unknown }).key : part)) } : {}),
  }));
  throw new ActorError("actor", "validation_error", `Invalid ${what}`, { metadata: { issues } });
}

export function isStandardSchema(value: unknown): value is StandardSchema {
  return (typeof value === "object" || typeof value === "function") && value !== null && "~standard" in value;
}

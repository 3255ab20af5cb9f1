import { fieldOf, ownField } from "../../protocol/index.js";

/** What was thrown, or an error that says it is unreadable (a revoked proxy, a getter that throws). */
export function legible(thrown: unknown): unknown {
  try {
    String(thrown);
    if (typeof thrown === "object" && thrown !== null) {
      for (const key of ["name", "message", "stack"] as const) String((thrown as Record<string, unknown>)[key]);
    }
    return thrown;
  } catch {
    return new Error("Something was thrown that cannot be printed");
  }
}

/** How many causes of an error the log shows. */
const MAX_CAUSES = 5;

/**
 * Anything that was thrown, as the log shows it: its stack, the stacks of its causes, and the id under which another
 * actor logged an error it masked. No metadata, which may be confidential. Never throws.
 */
export function describe(thrown: unknown): string {
  const lines: string[] = [];
  let each = thrown;
  do {
    const error = legible(each);
    lines.push(stackOf(error));
    each = error instanceof Error ? fieldOf(error, "cause") : undefined;
  } while (each !== undefined && lines.length <= MAX_CAUSES);
  return lines.join("\nCaused by: ");
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const metadata = fieldOf(error, "metadata");
  const errorId =
    typeof metadata === "object" && metadata !== null
      ? ownField(metadata as { errorId?: unknown }, "errorId")
      : undefined;
  return `${error.stack ?? String(error)}${typeof errorId === "string" ? `\n    logged there with errorId ${errorId}` : ""}`;
}

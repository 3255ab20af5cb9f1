import { fieldOf, ownField } from "../../protocol/index.js";

/** What was thrown, or, if its texts cannot be read (a revoked proxy, a getter that throws), an error that says so. */
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

/** Causes that are told of one error. */
const MAX_CAUSES = 5;

/**
 * Anything that was thrown, as the log shows it: its stack, those of its causes, and the id under which another actor has logged
 * what it masked. No metadata, which may hold what is nobody's business. Never throws.
 */
export function describe(thrown: unknown): string {
  const texts: string[] = [];
  let each = thrown;
  do {
    const error = legible(each);
    texts.push(textOf(error));
    each = error instanceof Error ? fieldOf(error, "cause") : undefined;
  } while (each !== undefined && texts.length <= MAX_CAUSES);
  return texts.join("\nCaused by: ");
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const metadata = fieldOf(error, "metadata");
  const errorId =
    typeof metadata === "object" && metadata !== null
      ? ownField(metadata as { errorId?: unknown }, "errorId")
      : undefined;
  return `${error.stack ?? String(error)}${typeof errorId === "string" ? `\n    logged there with errorId ${errorId}` : ""}`;
}

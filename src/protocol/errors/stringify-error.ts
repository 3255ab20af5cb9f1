/**
 * Formats anything thrown as one string for a log: an error's stack and those of its causes. Never throws.
 *
 * @example
 *     try { await charge(); } catch (error) { c.log.warn({ msg: "charge failed", error: stringifyError(error) }); }
 */
export function stringifyError(error: unknown): string {
  const lines: string[] = [];
  const seen = new Set<unknown>();
  for (let each = error; each !== undefined && !seen.has(each); each = causeOf(each)) {
    seen.add(each);
    lines.push(textOf(each));
  }
  return lines.length > 0 ? lines.join("\nCaused by: ") : "undefined";
}

/** The cause; undefined if a getter throws. */
function causeOf(error: unknown): unknown {
  try {
    return error instanceof Error ? error.cause : undefined;
  } catch {
    return undefined;
  }
}

function textOf(error: unknown): string {
  try {
    if (error instanceof Error) return error.stack ?? `${error.name}: ${error.message}`;
    return typeof error === "object" && error !== null ? (JSON.stringify(error) ?? String(error)) : String(error);
  } catch {
    return "An error that cannot be shown";
  }
}

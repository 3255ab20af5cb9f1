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

/**
 * Marks code that is unreachable if a `switch` covers every case of a union: a missing case is a compile error.
 *
 * @throws an Error that names the value, if it is reached anyway
 * @example
 *     switch (shape.kind) { case "circle": return 1; default: return assertUnreachable(shape); }
 */
export function assertUnreachable(value: never): never {
  throw new Error(`No case for ${typeof value === "object" ? JSON.stringify(value) : String(value)}`);
}

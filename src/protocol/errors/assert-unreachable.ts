/**
 * For the end of a `switch` over a union: the compiler refuses it while a case is missing.
 *
 * @throws an Error that names the value
 * @example
 *     switch (shape.kind) { case "circle": return 1; default: return assertUnreachable(shape); }
 */
export function assertUnreachable(value: never): never {
  throw new Error(`No case for ${typeof value === "object" ? JSON.stringify(value) : String(value)}`);
}

/** Thrown (and always caught within this folder) at the first thing that has no encoding: `value-check.ts` says which. */
export const UNENCODABLE = new Error("a value without an encoding");

/** Thrown (and always caught within this folder) once a value certainly needs more bytes than it may. */
export const OVER_LIMIT = new Error("over the limit");

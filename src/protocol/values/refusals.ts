/** Thrown at the first thing that cannot be encoded, and always caught in `protocol/`: `value-check.ts` says what it is. */
export const UNENCODABLE = new Error("a value without an encoding");

/** Thrown once a value certainly exceeds its limit in bytes, and always caught in `protocol/`. */
export const OVER_LIMIT = new Error("over the limit");

import { Measuring } from "./cbor/measure.js";
import { OVER_LIMIT } from "./cbor/refusals.js";
import { membersOf } from "./value-members.js";

/** Counting stops here: a value far beyond any limit need not be known to the byte. */
export const MAX_COUNTED_BYTES = 8_000_000;

/** How large a value is, for the error that says so. */
export interface ValueSize {
  /** The largest thing directly inside it; "" if nothing is. */
  readonly path: string;
  /** Its encoded bytes; `MAX_COUNTED_BYTES` if there are more. */
  readonly sizeBytes: number;
}

/** Measures a value that `checkValue` accepts. */
export function sizeOfValue(value: unknown): ValueSize {
  const sizeBytes = sizeOf(value, MAX_COUNTED_BYTES);
  if (typeof value !== "object" || value === null) return { path: "", sizeBytes };
  let path = "";
  let largest = -1;
  let left = MAX_COUNTED_BYTES;
  for (const [memberPath, member] of membersOf(value)) {
    const size = sizeOf(member, left);
    if (size > largest) {
      largest = size;
      path = memberPath();
    }
    left -= size;
    if (left <= 0) break;
  }
  return { path, sizeBytes };
}

function sizeOf(value: unknown, limitBytes: number): number {
  try {
    return Measuring.run(value, 0, limitBytes).bytes;
  } catch (error) {
    if (error !== OVER_LIMIT) throw error;
    return limitBytes;
  }
}

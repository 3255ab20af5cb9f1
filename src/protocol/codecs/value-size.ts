import { Measuring } from "../cbor/measure.js";
import { MAX_DECODED_DEPTH } from "../limits.js";
import { membersOf } from "../values/value-members.js";

/** The size of a value, for the `value/too_large` error. */
export interface ValueSize {
  /** The path of its largest direct member; "" if it has none. */
  readonly path: string;
  /** Its encoded bytes, counted up to a limit. */
  readonly sizeBytes: number;
}

/** Measures a value that `checkValue` accepts, up to `most` bytes. Shared parts are measured once. */
export function sizeOfValue(value: unknown, most: number): ValueSize {
  const measuring = new Measuring(MAX_DECODED_DEPTH, new Map());
  const sizeBytes = measuring.sizeOf(value, most);
  if (typeof value !== "object" || value === null) return { path: "", sizeBytes };
  let path = "";
  let largest = -1;
  let left = most;
  for (const [memberPath, member] of membersOf(value)) {
    const size = measuring.sizeOf(member, left);
    if (size > largest) {
      largest = size;
      path = memberPath();
    }
    left -= size;
    if (left <= 0) break;
  }
  return { path, sizeBytes };
}

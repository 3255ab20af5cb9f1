import { Measuring } from "../cbor/measure.js";
import { MAX_DECODED_DEPTH } from "../limits.js";
import { membersOf } from "../values/value-members.js";

/** How large a value is, for the error that says so. */
export interface ValueSize {
  /** The largest thing directly inside it; "" if nothing is. */
  readonly path: string;
  /** Its encoded bytes, no more than were to be counted. */
  readonly sizeBytes: number;
}

/** Measures a value that `checkValue` accepts, up to `most` bytes. Parts that it shares are measured once. */
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

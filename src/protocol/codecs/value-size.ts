import { membersOf } from "../values/value-members.js";

/** The size of a value, for the `value/too_large` error. */
export interface ValueSize {
  /** The path of its largest direct member; "" if it has none. */
  readonly path: string;
  /** Its encoded bytes, counted up to a limit. */
  readonly sizeBytes: number;
}

/** How many bytes a value takes in an encoding, counted up to `most`. */
export type SizeOf = (value: unknown, most: number) => number;

/** Measures a value that `checkValue` accepts, up to `most` bytes. */
export function sizeOfValue(value: unknown, most: number, sizeOf: SizeOf): ValueSize {
  const sizeBytes = sizeOf(value, most);
  if (typeof value !== "object" || value === null) return { path: "", sizeBytes };
  let path = "";
  let largest = -1;
  let left = most;
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

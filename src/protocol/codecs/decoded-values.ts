import { decodeValue } from "./value-codec.js";

/**
 * Objects that the engine decoded for the code of a workflow: results, loop states, messages. After a crash the code gets
 * the same values again, so that what it does with them must not depend on who else had them in hand.
 */
const decoded = new WeakSet<object>();
let hasDecoded = false;

/** The value that `bytes` hold, marked as the workflow's own, with all that is in it. */
export function decodeForWorkflow(bytes: Uint8Array): unknown {
  const value = decodeValue(bytes);
  mark(value);
  hasDecoded = true;
  return value;
}

/** Whether an object is part of a value that the code of a workflow got from the engine. */
export function isDecodedForWorkflow(value: object): boolean {
  return hasDecoded && decoded.has(value);
}

/** As deep as what is decoded can be: the stack holds it. */
function mark(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  decoded.add(value);
  if (Array.isArray(value)) for (const item of value) mark(item);
  else if (value instanceof Map) {
    for (const [key, item] of value) {
      mark(key);
      mark(item);
    }
  } else if (value instanceof Set) for (const item of value) mark(item);
  // Buffers and dates have no members; those of an error are its properties.
  else if (!ArrayBuffer.isView(value))
    for (const key of Object.getOwnPropertyNames(value)) mark((value as Record<string, unknown>)[key]);
}

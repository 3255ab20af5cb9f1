import { decodeValue } from "./value-codec.js";

/**
 * Objects that the engine decoded for a workflow's code: results, loop states, messages. A replay gets fresh ones, so what
 * the code does with them must not depend on who else holds them: the state copies them.
 */
const decoded = new WeakSet<object>();
let hasDecoded = false;

/** Decodes a value and marks it, with everything in it, as decoded for a workflow. */
export function decodeForWorkflow(bytes: Uint8Array): unknown {
  const value = decodeValue(bytes);
  mark(value);
  hasDecoded = true;
  return value;
}

/** True for an object in a value that `decodeForWorkflow` returned. */
export function isDecodedForWorkflow(value: object): boolean {
  return hasDecoded && decoded.has(value);
}

/** Recursive: the decoder limits the depth to what the stack holds. */
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
  // Buffers and dates have no members; the members of an error are its properties.
  else if (!ArrayBuffer.isView(value))
    for (const key of Object.getOwnPropertyNames(value)) mark((value as Record<string, unknown>)[key]);
}

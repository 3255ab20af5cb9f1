import { decodeValue, encodeValue, headBytes, isShortInteger, measure, textBytes } from "../../protocol/index.js";

/** More than memory holds, and a small integer to the engine. */
const NO_LIMIT = 2 ** 30 - 1;

/** Whether nothing inside it can be changed by way of a view. */
export function isLeaf(raw: object): boolean {
  return ArrayBuffer.isView(raw) || raw instanceof ArrayBuffer || raw instanceof Error || raw instanceof RegExp;
}

/** Its encoded bytes. */
export function sizeOf(value: unknown): number {
  switch (typeof value) {
    case "boolean":
    case "undefined":
      return 1;
    case "number":
      if (isShortInteger(value)) return headBytes(value < 0 ? -1 - value : value);
      break;
    case "string": {
      const bytes = textBytes(value);
      if (bytes >= 0) return headBytes(bytes) + bytes;
    }
  }
  return measure(value, 0, NO_LIMIT).bytes;
}

/** A copy of a value, as it would be after a restart. */
export function copyOf<T>(value: T): T {
  return decodeValue(encodeValue(value, { limitBytes: NO_LIMIT })) as T;
}

/** Writes an own property of a plain object, whatever its prototype has under that name. */
export function setOwn(target: object, key: PropertyKey, value: unknown): void {
  // Assigned where that does the same: a property that is its own, or that no prototype has.
  if (!(key in target) || Object.hasOwn(target, key)) (target as Record<PropertyKey, unknown>)[key] = value;
  else
    Object.defineProperty(target, key, {
      __proto__: null,
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    } as PropertyDescriptor);
}

import { decodeValue, encodeValue, headBytes, isShortInteger, measure, textBytes } from "../../protocol/index.js";

/** More bytes than memory holds, and still a small integer to V8. */
const NO_LIMIT = 2 ** 30 - 1;

/** Whether the object has no members that a view could change. */
export function isLeaf(raw: object): boolean {
  return ArrayBuffer.isView(raw) || raw instanceof ArrayBuffer || raw instanceof Error || raw instanceof RegExp;
}

/** Size of the encoded value in bytes. */
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

/** A copy of a value, as a restart would read it. */
export function copyOf<T>(value: T): T {
  return decodeValue(encodeValue(value, { limitBytes: NO_LIMIT })) as T;
}

/**
 * Writes an own property of a plain object, even if its prototype has a setter or a read-only property of that name.
 */
export function setOwn(target: object, key: PropertyKey, value: unknown): void {
  // Assignment is faster, and the same where the property is own or on no prototype.
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

/** Copies remembered per object: a constant of a module may be put into the state again and again. */
const MAX_COPIES = 8;

/** Copies of objects that were handed in, so that searching the state for an original finds its copy. */
export class Copies {
  readonly #copies = new WeakMap<object, object[]>();

  add(original: object, copy: object): void {
    const known = this.#copies.get(original) ?? [];
    this.#copies.set(original, [copy, ...known.slice(0, MAX_COPIES - 1)]);
  }

  /** The copies of an object, newest first. */
  of(original: object): readonly object[] {
    return this.#copies.get(original) ?? [];
  }
}

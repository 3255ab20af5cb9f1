import { errorParts } from "../values/error-values.js";
import { MAX_STORED_DEPTH } from "../limits.js";
import { bytesOfView, nameOfView, viewKindByName } from "../values/typed-arrays.js";
import { kindOf } from "../values/value-kinds.js";
import { epochSeconds } from "./dates.js";
import { headBytes, hexOfBigint, isShortBigint, isShortInteger, passes } from "./heads.js";
import {
  hasInheritedElements,
  heldMap,
  heldSet,
  lengthOf,
  mapSize,
  ownItem,
  ownValue,
  partsOfRegExp,
  setSize,
  timeOf,
} from "../values/intrinsics.js";
import { OVER_LIMIT, UNENCODABLE } from "../values/refusals.js";
import { TAG } from "./tags.js";
import { textBytes } from "./text-size.js";

/** How large a value is. */
export interface Measure {
  /** The bytes that `encodeValue` writes. */
  readonly bytes: number;
  /** Its nesting depth: 0 for a number, 1 for an empty array. */
  readonly height: number;
}

/** Measures what `CborEncoder` would write, without writing it. */
export class Measuring {
  #left = 0;
  #deepest = 0;
  readonly #maxDepth: number;
  readonly #sizes: Map<object, number> | undefined;
  /** Determined at the first array. */
  #checksHoles: boolean | undefined;

  /** Throws `UNENCODABLE`, `OVER_LIMIT`, or what a getter or proxy in the value throws. */
  static run(value: unknown, depth: number, limitBytes: number): Measure {
    const measuring = new Measuring(MAX_STORED_DEPTH);
    measuring.#deepest = depth;
    measuring.#left = limitBytes;
    measuring.#value(value, depth);
    return { bytes: limitBytes - measuring.#left, height: measuring.#deepest - depth };
  }

  /** With `sizes`, parts shared by several measured values are measured once. */
  constructor(maxDepth: number, sizes?: Map<object, number>) {
    this.#maxDepth = maxDepth;
    this.#sizes = sizes;
  }

  /** The bytes of a value, at most `limitBytes`. Throws like `run`. */
  sizeOf(value: unknown, limitBytes: number): number {
    this.#left = limitBytes;
    try {
      this.#value(value, 0);
    } catch (error) {
      if (error !== OVER_LIMIT) throw error;
      return limitBytes;
    }
    return limitBytes - this.#left;
  }

  #take(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw OVER_LIMIT;
  }

  #value(value: unknown, depth: number): void {
    switch (typeof value) {
      case "string":
        return this.#text(value);
      case "number":
        return this.#number(value);
      case "boolean":
      case "undefined":
        return this.#take(1);
      case "bigint":
        return this.#bigint(value);
      case "object":
        if (value === null) return this.#take(1);
        return this.#sizes === undefined ? this.#object(value, depth) : this.#shared(value, depth, this.#sizes);
      default:
        throw UNENCODABLE;
    }
  }

  #shared(value: object, depth: number, sizes: Map<object, number>): void {
    const known = sizes.get(value);
    if (known !== undefined) return this.#take(known);
    const before = this.#left;
    this.#object(value, depth);
    sizes.set(value, before - this.#left);
  }

  #text(text: string): void {
    if (text.length > this.#left) throw OVER_LIMIT;
    const size = textBytes(text);
    this.#take(size < 0 ? headBytes(TAG.text) + headBytes(~size) + ~size : headBytes(size) + size);
  }

  #number(value: number): void {
    if (isShortInteger(value)) this.#take(headBytes(value < 0 ? -1 - value : value));
    else this.#take(Object.is(value, -0) ? headBytes(TAG.negativeZero) + 1 : 9);
  }

  #bigint(value: bigint): void {
    if (isShortBigint(value)) return this.#take(9);
    if (passes(value, this.#left)) throw OVER_LIMIT;
    this.#take(1);
    this.#bytes(hexOfBigint(value).length / 2);
  }

  #bytes(length: number): void {
    this.#take(headBytes(length) + length);
  }

  #object(value: object, depth: number): void {
    switch (kindOf(value)) {
      case "object":
        return this.#record(value as Record<string, unknown>, this.#enter(depth));
      case "array":
        return this.#array(value as unknown[], this.#enter(depth));
      case "map":
        return this.#map(value as Map<unknown, unknown>, this.#enter(depth));
      case "set":
        return this.#set(value as Set<unknown>, this.#enter(depth));
      case "error":
        return this.#error(value as Error, this.#enter(depth));
      case "date":
        return this.#date(value as Date);
      case "regexp":
        return this.#regExp(value as RegExp);
      case "buffer":
        this.#take(headBytes(TAG.arrayBuffer));
        return this.#bytes(new Uint8Array(value as ArrayBuffer).length);
      case "view":
        this.#take(headBytes(viewKindByName(nameOfView(value as ArrayBufferView))?.tag ?? TAG.dataView));
        return this.#bytes(bytesOfView(value as ArrayBufferView).length);
      default:
        throw UNENCODABLE;
    }
  }

  #enter(depth: number): number {
    const inside = depth + 1;
    if (inside > this.#maxDepth) throw UNENCODABLE;
    if (inside > this.#deepest) this.#deepest = inside;
    return inside;
  }

  #record(record: Record<string, unknown>, depth: number): void {
    const keys = Object.keys(record);
    this.#take(headBytes(keys.length));
    for (const key of keys) {
      this.#text(key);
      this.#value(ownValue(record, key), depth);
    }
  }

  #array(array: readonly unknown[], depth: number): void {
    const length = lengthOf(array);
    if (length > this.#left) throw OVER_LIMIT;
    this.#take(headBytes(length));
    this.#checksHoles ??= hasInheritedElements();
    for (let i = 0; i < length; i++) this.#value(this.#checksHoles ? ownItem(array, i) : array[i], depth);
  }

  #map(map: Map<unknown, unknown>, depth: number): void {
    const held = heldMap(map, this.#left);
    const size = mapSize(held);
    this.#take(headBytes(TAG.map) + headBytes(size));
    let count = 0;
    Map.prototype.forEach.call(held, (item, key) => {
      if (++count > size) throw UNENCODABLE;
      this.#value(key, depth);
      this.#value(item, depth);
    });
    if (count !== size) throw UNENCODABLE;
  }

  #set(set: Set<unknown>, depth: number): void {
    const held = heldSet(set, this.#left);
    const size = setSize(held);
    this.#take(headBytes(TAG.set) + headBytes(size));
    let count = 0;
    Set.prototype.forEach.call(held, (item) => {
      if (++count > size) throw UNENCODABLE;
      this.#value(item, depth);
    });
    if (count !== size) throw UNENCODABLE;
  }

  #error(error: Error, depth: number): void {
    const { className, message, properties } = errorParts(error);
    this.#take(headBytes(TAG.generic) + 1);
    this.#text(className);
    this.#text(message);
    if (Object.keys(properties).length > 0) this.#record(properties, depth);
  }

  #date(date: Date): void {
    const seconds = epochSeconds(timeOf(date));
    this.#take(1);
    if (typeof seconds === "number") this.#number(seconds);
    else this.#text(seconds);
  }

  #regExp(expression: RegExp): void {
    const [source, flags] = partsOfRegExp(expression);
    this.#take(headBytes(TAG.generic) + 1);
    this.#text("RegExp");
    this.#text(source);
    this.#text(flags);
  }
}

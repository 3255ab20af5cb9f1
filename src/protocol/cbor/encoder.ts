import { errorParts } from "../values/error-values.js";
import { bytesOfView, nameOfView, viewKindByName } from "../values/typed-arrays.js";
import { kindOf } from "../values/value-kinds.js";
import { tagOfBuffer } from "../values/wire-tags.js";
import { epochSeconds } from "./dates.js";
import { hexOfBigint, isShortBigint, passes } from "./heads.js";
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
import { CborOutput } from "./output.js";
import { OVER_LIMIT, UNENCODABLE } from "../values/refusals.js";
import { TAG } from "./tags.js";

/** What the reader expects. */
export interface CborDialect {
  /** It revives `["$Tag", …]` pairs after decoding, so a user's own must be escaped. */
  readonly escaped: boolean;
  /** It is a RivetKit client: write only what it understands. */
  readonly portable: boolean;
}

/** The dialect of storage, and of requests of our own client. */
export const NATIVE: CborDialect = { escaped: false, portable: false };

/** How large and deep an encoding may be. */
export interface EncodingLimits {
  readonly bytes: number;
  readonly depth: number;
}

const BYTES = 0x40;
const TEXT = 0x60;
const ARRAY = 0x80;
const MAP = 0xa0;
const TAGGED = 0xc0;

/** A spare encoder. A proxy or getter in the value may encode something else meanwhile, and then gets another one. */
let idle: CborEncoder | undefined;

/** Encodes `value` in one pass. Throws `UNENCODABLE`, `OVER_LIMIT`, or what a getter or proxy in the value throws. */
export function encodeCbor(value: unknown, dialect: CborDialect, limits: EncodingLimits): Uint8Array<ArrayBuffer> {
  const encoder = idle ?? new CborEncoder();
  idle = undefined;
  try {
    return encoder.encode(value, dialect, limits);
  } finally {
    encoder.end();
    idle = encoder;
  }
}

class CborEncoder {
  readonly #out = new CborOutput();
  #portable = false;
  #escaped = false;
  #maxDepth = 0;
  #checksHoles = false;

  encode(value: unknown, dialect: CborDialect, limits: EncodingLimits): Uint8Array<ArrayBuffer> {
    this.#portable = dialect.portable;
    this.#escaped = dialect.escaped;
    this.#maxDepth = limits.depth;
    this.#checksHoles = hasInheritedElements();
    this.#out.start(limits.bytes);
    this.#value(value, 0);
    return this.#out.finish();
  }

  end(): void {
    this.#out.end();
  }

  #value(value: unknown, depth: number): void {
    switch (typeof value) {
      case "string":
        return this.#text(value);
      case "number":
        return this.#number(value);
      case "boolean":
        return this.#out.byte(value ? 0xf5 : 0xf4);
      case "undefined":
        return this.#out.byte(0xf7);
      case "bigint":
        return this.#bigint(value);
      case "object":
        return value === null ? this.#out.byte(0xf6) : this.#object(value, depth);
      default:
        throw UNENCODABLE;
    }
  }

  #text(text: string): void {
    if (this.#out.text(text)) return;
    if (!this.#portable) this.#out.head(TAGGED, TAG.text);
    this.#out.oddText(this.#portable ? TEXT : BYTES, text);
  }

  #number(value: number): void {
    if (value >>> 0 === value) {
      if (value !== 0 || 1 / value > 0 || this.#portable) return this.#out.head(0, value);
      this.#out.head(TAGGED, TAG.negativeZero);
      this.#out.byte(0);
    } else if (value < 0 && value >= -0x1_0000_0000 && Math.floor(value) === value) {
      this.#out.head(0x20, -1 - value);
    } else {
      // Canonical: the bits of a computed NaN depend on the machine.
      this.#out.float(Number.isNaN(value) ? NaN : value);
    }
  }

  /** Always a 64-bit head, so that it is decoded as a bigint; larger ones are tagged bytes. */
  #bigint(value: bigint): void {
    if (isShortBigint(value)) return this.#out.long(value < 0n ? 0x20 : 0, value < 0n ? -1n - value : value);
    if (passes(value, this.#out.left)) throw OVER_LIMIT;
    const hex = hexOfBigint(value);
    const bytes = new Uint8Array(hex.length / 2);
    for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(hex.slice(i * 2, i * 2 + 2), 16);
    this.#bytes(bytes, value < 0n ? TAG.bigNegative : TAG.bigUint);
  }

  #bytes(bytes: Uint8Array, tag: number): void {
    this.#out.head(TAGGED, tag);
    this.#out.bytes(bytes);
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
        return this.#buffer(value as ArrayBuffer);
      case "view":
        return this.#view(value as ArrayBufferView);
      default:
        throw UNENCODABLE;
    }
  }

  #enter(depth: number): number {
    if (depth >= this.#maxDepth) throw UNENCODABLE;
    return depth + 1;
  }

  #record(record: Readonly<Record<string, unknown>>, depth: number): void {
    const keys = Object.keys(record);
    this.#out.head(MAP, keys.length);
    for (const key of keys) {
      this.#text(key);
      this.#value(ownValue(record, key), depth);
    }
  }

  #array(array: readonly unknown[], depth: number): void {
    const length = lengthOf(array);
    if (length > this.#out.left) throw OVER_LIMIT;
    this.#out.head(ARRAY, length);
    if (length === 2 && this.#escaped) return this.#pair(this.#item(array, 0), this.#item(array, 1), depth);
    for (let i = 0; i < length; i++) this.#value(this.#item(array, i), depth);
  }

  #item(array: readonly unknown[], index: number): unknown {
    return this.#checksHoles ? ownItem(array, index) : array[index];
  }

  #pair(first: unknown, second: unknown, depth: number): void {
    this.#value(typeof first === "string" && first.startsWith("$") ? `$${first}` : first, depth);
    this.#value(second, depth);
  }

  #map(map: Map<unknown, unknown>, depth: number): void {
    const held = heldMap(map, this.#out.left);
    const size = mapSize(held);
    this.#out.head(TAGGED, TAG.map);
    this.#out.head(MAP, size);
    let count = 0;
    // The map may grow or shrink while its items are read.
    Map.prototype.forEach.call(held, (item, key) => {
      if (++count > size) throw UNENCODABLE;
      this.#value(key, depth);
      this.#value(item, depth);
    });
    if (count !== size) throw UNENCODABLE;
  }

  #set(set: Set<unknown>, depth: number): void {
    const held = heldSet(set, this.#out.left);
    // RivetKit's clients revive nothing within a native set, but everything within a tagged one.
    if (this.#portable && this.#escaped) {
      this.#out.head(ARRAY, 2);
      this.#text("$Set");
      return this.#items(held, depth);
    }
    this.#out.head(TAGGED, TAG.set);
    const escaped = this.#escaped;
    this.#escaped = false;
    this.#items(held, depth);
    this.#escaped = escaped;
  }

  #items(set: Set<unknown>, depth: number): void {
    const size = setSize(set);
    this.#out.head(ARRAY, size);
    let count = 0;
    Set.prototype.forEach.call(set, (item) => {
      if (++count > size) throw UNENCODABLE;
      this.#value(item, depth);
    });
    if (count !== size) throw UNENCODABLE;
  }

  /** `[class, message, properties?]`; other readers ignore the properties. Nothing inside is revived. */
  #error(error: Error, depth: number): void {
    const { className, message, properties } = errorParts(error);
    const isMore = Object.keys(properties).length > 0;
    this.#out.head(TAGGED, TAG.generic);
    this.#out.head(ARRAY, isMore ? 3 : 2);
    this.#text(className);
    this.#text(message);
    const escaped = this.#escaped;
    this.#escaped = false;
    if (isMore) this.#record(properties, depth);
    this.#escaped = escaped;
  }

  #date(date: Date): void {
    const seconds = epochSeconds(timeOf(date));
    this.#out.head(TAGGED, typeof seconds === "number" ? TAG.epochDate : TAG.isoDate);
    this.#value(seconds, 0);
  }

  #regExp(expression: RegExp): void {
    const parts = partsOfRegExp(expression);
    this.#out.head(TAGGED, TAG.generic);
    this.#out.head(ARRAY, 3);
    this.#text("RegExp");
    for (const part of parts) this.#text(part);
  }

  #buffer(buffer: ArrayBuffer): void {
    const bytes = new Uint8Array(buffer);
    if (!this.#portable || !this.#escaped) return this.#bytes(bytes, TAG.arrayBuffer);
    if (bytes.length > this.#out.left) throw OVER_LIMIT;
    this.#out.head(ARRAY, 2);
    for (const part of tagOfBuffer(buffer)) this.#text(part as string);
  }

  #view(view: ArrayBufferView): void {
    const tag = viewKindByName(nameOfView(view))?.tag ?? (this.#portable ? 64 : TAG.dataView);
    this.#bytes(bytesOfView(view), tag);
  }
}

import type { ByteSink } from "./byte-writer.js";
import { errorParts } from "./error-values.js";
import { bytesOfView, viewKindByName } from "./typed-arrays.js";
import { kindOf } from "./value-kinds.js";
import { looksTagged, tagOfBuffer } from "./wire-tags.js";

/** Containers within containers, at most. */
export const MAX_DEPTH = 200;

/** Thrown (and always caught within this folder) at the first thing that has no encoding: `value-check.ts` says which. */
export const UNENCODABLE = new Error("a value without an encoding");

/** CBOR tags. Those over 20,000 are our own ("PA", "PD"), for what cbor-x cannot tell apart. */
export const TAG = {
  isoDate: 0,
  epochDate: 1,
  bigUint: 2,
  bigNegative: 3,
  generic: 27,
  set: 258,
  map: 259,
  arrayBuffer: 0x5041,
  dataView: 0x5044,
  selfDescribed: 55_799,
} as const;

/** How the reader will treat what is written. */
export interface CborDialect {
  /** It revives `["$Tag", …]` pairs after decoding, so a user's own must be escaped. */
  readonly escaped: boolean;
  /** It is a published client: nothing that cbor-x alone does not understand. */
  readonly portable: boolean;
}

/** What storage holds, and what our own client sends. */
export const NATIVE: CborDialect = { escaped: false, portable: false };

const MAX_UINT64 = 0xffff_ffff_ffff_ffffn;

/** Writes values as CBOR. Throws `UNENCODABLE`, or what a getter or a proxy of the value throws. */
export class CborEncoder {
  readonly #out: ByteSink;
  readonly #portable: boolean;
  #escaped: boolean;

  constructor(out: ByteSink, dialect: CborDialect) {
    this.#out = out;
    this.#portable = dialect.portable;
    this.#escaped = dialect.escaped;
  }

  write(value: unknown, depth = 0): void {
    switch (typeof value) {
      case "string":
        this.#out.cborText(value);
        return;
      case "number":
        this.#number(value);
        return;
      case "boolean":
        this.#out.u8(value ? 0xf5 : 0xf4);
        return;
      case "undefined":
        this.#out.u8(0xf7);
        return;
      case "bigint":
        this.#bigint(value);
        return;
      case "object":
        if (value === null) this.#out.u8(0xf6);
        else this.#object(value, depth + 1);
        return;
      default:
        throw UNENCODABLE;
    }
  }

  #number(value: number): void {
    if (value >>> 0 === value && !Object.is(value, -0)) {
      this.#out.head(0x00, value);
    } else if (value < 0 && value >= -0x1_0000_0000 && Math.floor(value) === value) {
      this.#out.head(0x20, -1 - value);
    } else if (Number.isNaN(value)) {
      // Spelled out: the bits of a NaN are the machine's choice.
      this.#out.u8(0xfb);
      this.#out.u16(0x7ff8);
      this.#out.u16(0);
      this.#out.u32(0);
    } else {
      this.#out.u8(0xfb);
      this.#out.f64(value);
    }
  }

  /** 64-bit heads are bigints and nothing else, as with cbor-x: numbers never use them. */
  #bigint(value: bigint): void {
    const magnitude = value < 0n ? -1n - value : value;
    if (magnitude <= MAX_UINT64) {
      this.#out.u8(value < 0n ? 0x3b : 0x1b);
      this.#out.u64(magnitude);
      return;
    }
    const hex = magnitude.toString(16);
    const even = hex.length % 2 === 0 ? hex : `0${hex}`;
    this.#tag(value < 0n ? TAG.bigNegative : TAG.bigUint);
    this.#bytes(Uint8Array.from({ length: even.length / 2 }, (_, i) => Number.parseInt(even.slice(i * 2, i * 2 + 2), 16)));
  }

  #object(value: object, depth: number): void {
    if (depth > MAX_DEPTH) throw UNENCODABLE;
    switch (kindOf(value)) {
      case "object":
        this.#record(value as Record<string, unknown>, depth);
        return;
      case "array":
        this.#array(value as unknown[], depth);
        return;
      case "map":
        this.#map(value as Map<unknown, unknown>, depth);
        return;
      case "set":
        this.#set(value as Set<unknown>, depth);
        return;
      case "date":
        this.#date(value as Date);
        return;
      case "regexp":
        this.#regExp(value as RegExp);
        return;
      case "error":
        this.#unescaped(() => this.#error(value as Error, depth));
        return;
      case "buffer":
        this.#buffer(value as ArrayBuffer, depth);
        return;
      case "view":
        this.#view(value as ArrayBufferView);
        return;
      default:
        throw UNENCODABLE;
    }
  }

  #record(record: Record<string, unknown>, depth: number): void {
    const keys = Object.keys(record);
    this.#out.head(0xa0, keys.length);
    for (const key of keys) {
      const property = Object.getOwnPropertyDescriptor(record, key);
      if (property === undefined || !("value" in property)) throw UNENCODABLE;
      this.#out.cborText(key);
      this.write(record[key], depth);
    }
  }

  #array(array: readonly unknown[], depth: number): void {
    const length = array.length;
    this.#out.head(0x80, length);
    if (this.#escaped && looksTagged(array)) {
      this.#out.cborText(`$${array[0]}`);
      this.write(array[1], depth);
      return;
    }
    for (let i = 0; i < length; i++) this.write(array[i], depth);
  }

  #map(map: Map<unknown, unknown>, depth: number): void {
    const size = map.size;
    let count = 0;
    this.#tag(TAG.map);
    this.#out.head(0xa0, size);
    for (const [key, item] of map) {
      this.write(key, depth);
      this.write(item, depth);
      count++;
    }
    if (count !== size) throw UNENCODABLE;
  }

  #set(set: Set<unknown>, depth: number): void {
    if (this.#portable && this.#escaped) {
      // The published clients revive nothing within a native set, but everything within a tagged one.
      this.#out.head(0x80, 2);
      this.#out.cborText("$Set");
      this.#items(set, depth);
      return;
    }
    this.#tag(TAG.set);
    this.#unescaped(() => this.#items(set, depth));
  }

  #items(set: Set<unknown>, depth: number): void {
    const items = [...set];
    this.#out.head(0x80, items.length);
    for (const item of items) this.write(item, depth);
  }

  #date(date: Date): void {
    const time = date.getTime();
    const seconds = time / 1000;
    if (Number.isNaN(time) || Math.round(seconds * 1000) === time) {
      this.#tag(TAG.epochDate);
      this.#number(seconds);
      return;
    }
    // Tens of thousands of years away, seconds in floating point can lose a millisecond.
    this.#tag(TAG.isoDate);
    this.#out.cborText(date.toISOString());
  }

  #regExp(expression: RegExp): void {
    this.#tag(TAG.generic);
    this.#array(["RegExp", expression.source, expression.flags], 0);
  }

  /** `[class, message]` as cbor-x has it, and a third item that it takes for the options of `new Error`. */
  #error(error: Error, depth: number): void {
    const { className, message, properties } = errorParts(error);
    this.#tag(TAG.generic);
    const isPlain = Object.keys(properties).length === 0;
    this.#out.head(0x80, isPlain ? 2 : 3);
    this.#out.cborText(className);
    this.#out.cborText(message);
    if (!isPlain) this.#record(properties, depth);
  }

  #buffer(buffer: ArrayBuffer, depth: number): void {
    if (this.#portable && this.#escaped) {
      const pair: unknown[] = tagOfBuffer(buffer);
      this.#unescaped(() => this.#array(pair, depth));
      return;
    }
    this.#tag(TAG.arrayBuffer);
    this.#bytes(new Uint8Array(buffer));
  }

  #view(view: ArrayBufferView): void {
    const name = Object.prototype.toString.call(view).slice(8, -1);
    const tag = viewKindByName(name)?.tag ?? (this.#portable ? 64 : TAG.dataView);
    this.#tag(tag);
    this.#bytes(bytesOfView(view));
  }

  #tag(tag: number): void {
    this.#out.head(0xc0, tag);
  }

  #bytes(bytes: Uint8Array): void {
    this.#out.head(0x40, bytes.length);
    this.#out.raw(bytes);
  }

  #unescaped(write: () => void): void {
    const escaped = this.#escaped;
    this.#escaped = false;
    write();
    this.#escaped = escaped;
  }
}

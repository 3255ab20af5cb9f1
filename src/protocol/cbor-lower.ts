import { Tag } from "cbor-x";
import { OVER_LIMIT, UNENCODABLE } from "./cbor/refusals.js";
import { TAG } from "./cbor/tags.js";
import { errorParts } from "./error-values.js";
import { MAX_STORED_DEPTH } from "./limits.js";
import { bytesOfText, ODD_TEXT } from "./loose-text.js";
import { bytesOfView, viewKindByName } from "./typed-arrays.js";
import { isContainer, kindOf } from "./value-kinds.js";
import { looksTagged, tagOfBuffer } from "./wire-tags.js";

/** How the reader will treat what is written. */
export interface CborDialect {
  /** It revives `["$Tag", …]` pairs after decoding, so a user's own must be escaped. */
  readonly escaped: boolean;
  /** It is a published client: nothing that cbor-x alone does not understand. */
  readonly portable: boolean;
}

/** What storage holds, and what our own client sends. */
export const NATIVE: CborDialect = { escaped: false, portable: false };

/** Assigning the one sets the prototype; by the other, cbor-x tells objects from instances. */
const ODD_NAMES: ReadonlySet<string> = new Set(["__proto__", "constructor"]);

const MAX_UINT64 = 0xffff_ffff_ffff_ffffn;

/**
 * Copies a value into what cbor-x writes faithfully: arrays, plain objects (or Maps, which it writes as objects), texts,
 * numbers, bigints of 64 bits, and `Tag`s with bytes and such. A copy, so that no code of the user's (a proxy) runs while
 * cbor-x writes: it is not made for that.
 */
export class Lowering {
  readonly #portable: boolean;
  #escaped: boolean;
  /** How many bytes are left if everything takes as few as it can. */
  #left: number;
  /** The most bytes that the texts and buffers so far can take. */
  roomBytes = 0;

  constructor(dialect: CborDialect, limitBytes: number) {
    this.#portable = dialect.portable;
    this.#escaped = dialect.escaped;
    this.#left = limitBytes;
  }

  /** Throws `UNENCODABLE`, `OVER_LIMIT`, or what a getter or a proxy of the value throws. */
  lower(value: unknown, depth = 0): unknown {
    switch (typeof value) {
      case "string":
        return this.#text(value);
      case "number":
        return this.#number(value);
      case "boolean":
      case "undefined":
        this.#take(1);
        return value;
      case "bigint":
        return this.#bigint(value);
      case "object":
        if (value !== null) return this.#object(value, depth + 1);
        this.#take(1);
        return null;
      default:
        throw UNENCODABLE;
    }
  }

  #take(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw OVER_LIMIT;
  }

  #text(text: string): unknown {
    this.#take(text.length + 1);
    this.roomBytes += text.length * 3;
    if (this.#portable || !ODD_TEXT.test(text)) return text;
    return new Tag(bytesOfText(text), TAG.text);
  }

  #number(value: number): unknown {
    this.#take(1);
    if (Object.is(value, -0)) return this.#portable ? 0 : new Tag(0, TAG.negativeZero);
    // Spelled out: the bits of a NaN are the machine's choice.
    return Number.isNaN(value) ? NaN : value;
  }

  /** Larger ones than 64 bits are cut into bytes here: cbor-x takes a time that grows with the square. */
  #bigint(value: bigint): unknown {
    this.#take(9);
    const magnitude = value < 0n ? -1n - value : value;
    if (magnitude < MAX_UINT64 || value === MAX_UINT64) return value;
    const hex = magnitude.toString(16);
    const even = hex.length % 2 === 0 ? hex : `0${hex}`;
    this.#take(even.length / 2);
    const bytes = Uint8Array.from({ length: even.length / 2 }, (_, i) => Number.parseInt(even.slice(i * 2, i * 2 + 2), 16));
    return new Tag(bytes, value < 0n ? TAG.bigNegative : TAG.bigUint);
  }

  #object(value: object, depth: number): unknown {
    const kind = kindOf(value);
    if (depth > MAX_STORED_DEPTH && isContainer(kind)) throw UNENCODABLE;
    switch (kind) {
      case "object":
        return this.#record(value as Record<string, unknown>, depth);
      case "array":
        return this.#array(value as unknown[], depth);
      case "map":
        return this.#map(value as Map<unknown, unknown>, depth);
      case "set":
        return this.#set(value as Set<unknown>, depth);
      case "date":
        return this.#date(value as Date);
      case "regexp":
        return this.#regExp(value as RegExp);
      case "error":
        return this.#unescaped(() => this.#error(value as Error, depth));
      case "buffer":
        return this.#buffer(value as ArrayBuffer);
      case "view":
        return this.#view(value as ArrayBufferView);
      default:
        throw UNENCODABLE;
    }
  }

  #record(record: Record<string, unknown>, depth: number): object {
    this.#take(1);
    const copy: Record<string, unknown> = {};
    let map: Map<unknown, unknown> | undefined;
    for (const key of Object.keys(record)) {
      const property = Object.getOwnPropertyDescriptor(record, key);
      if (property === undefined || !("value" in property)) throw UNENCODABLE;
      const name = this.#text(key);
      const child = this.lower(record[key], depth);
      if (map === undefined && (typeof name !== "string" || ODD_NAMES.has(key))) map = new Map(Object.entries(copy));
      if (map === undefined) copy[key] = child;
      else map.set(name, child);
    }
    return map ?? copy;
  }

  #array(array: readonly unknown[], depth: number): unknown[] {
    if (this.#escaped && looksTagged(array)) return [`$${array[0]}`, this.lower(array[1], depth)];
    const length = array.length;
    if (length > this.#left) throw OVER_LIMIT;
    this.#take(1);
    const items: unknown[] = [];
    for (let i = 0; i < length; i++) items.push(this.lower(array[i], depth));
    return items;
  }

  #map(map: Map<unknown, unknown>, depth: number): Tag {
    this.#take(4);
    const entries = new Map<unknown, unknown>();
    for (const [key, item] of map) entries.set(this.lower(key, depth), this.lower(item, depth));
    if (entries.size !== map.size) throw UNENCODABLE;
    return new Tag(entries, TAG.map);
  }

  #set(set: Set<unknown>, depth: number): unknown {
    // The published clients revive nothing within a native set, but everything within a tagged one.
    if (this.#portable && this.#escaped) return ["$Set", this.#items(set, depth)];
    return new Tag(this.#unescaped(() => this.#items(set, depth)), TAG.set);
  }

  #items(set: Set<unknown>, depth: number): unknown[] {
    this.#take(1);
    return Array.from(set, (item) => this.lower(item, depth));
  }

  #date(date: Date): Tag {
    this.#take(2);
    const time = date.getTime();
    const seconds = time / 1000;
    if (Number.isNaN(time) || Math.round(seconds * 1000) === time) return new Tag(Number.isNaN(time) ? NaN : seconds, TAG.epochDate);
    // Tens of thousands of years away, seconds in floating point can lose a millisecond.
    return new Tag(date.toISOString(), TAG.isoDate);
  }

  #regExp(expression: RegExp): Tag {
    return new Tag(["RegExp", this.#text(expression.source), expression.flags], TAG.generic);
  }

  /** `[class, message]` as cbor-x has it, and a third item that it takes for the options of `new Error`. */
  #error(error: Error, depth: number): Tag {
    const { className, message, properties } = errorParts(error);
    const parts: unknown[] = [this.#text(className), this.#text(message)];
    if (Object.keys(properties).length > 0) parts.push(this.#record(properties, depth));
    return new Tag(parts, TAG.generic);
  }

  #buffer(buffer: ArrayBuffer): unknown {
    if (this.#portable && this.#escaped) {
      this.#take(buffer.byteLength);
      return tagOfBuffer(buffer);
    }
    return this.#bytes(new Uint8Array(buffer), TAG.arrayBuffer);
  }

  #view(view: ArrayBufferView): Tag {
    const name = Object.prototype.toString.call(view).slice(8, -1);
    return this.#bytes(bytesOfView(view), viewKindByName(name)?.tag ?? (this.#portable ? 64 : TAG.dataView));
  }

  #bytes(bytes: Uint8Array, tag: number): Tag {
    this.#take(bytes.length);
    this.roomBytes += bytes.length;
    return new Tag(bytes, tag);
  }

  #unescaped<T>(lower: () => T): T {
    const escaped = this.#escaped;
    this.#escaped = false;
    const lowered = lower();
    this.#escaped = escaped;
    return lowered;
  }
}

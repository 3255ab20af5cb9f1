import { ByteReader, malformed } from "./byte-reader.js";
import { TAG } from "./cbor-encode.js";
import { errorOfParts } from "./error-values.js";
import { copyOfBytes, viewKindByTag, viewOfBytes } from "./typed-arrays.js";
import { looksTagged, regExpOf, valueOfPublishedTag } from "./wire-tags.js";

/** Items within items, at most: more than any encoder of ours writes, less than the stack holds. */
const MAX_ITEM_DEPTH = 1000;
const INDEFINITE = 31;
const BREAK = 0xff;

/**
 * The value that `bytes` hold, whole and exactly once. Reads what our encoder and cbor-x's default one write, and
 * indefinite lengths, half and single floats besides. With `revive`, `["$Tag", …]` pairs become their values. Nothing
 * of the result shares memory with `bytes`. Throws `encoding/invalid` (400).
 */
export function decodeCbor(bytes: Uint8Array, revive: boolean): unknown {
  const reader = new ByteReader(bytes);
  const value = new CborDecoder(reader, revive).read();
  if (reader.remaining > 0) throw malformed("there is something after its end");
  return value;
}

class CborDecoder {
  readonly #in: ByteReader;
  #revive: boolean;
  #depth = 0;

  constructor(reader: ByteReader, revive: boolean) {
    this.#in = reader;
    this.#revive = revive;
  }

  read(): unknown {
    const head = this.#in.u8();
    const info = head & 31;
    switch (head >> 5) {
      case 0:
        return this.#argument(info);
      case 1: {
        const argument = this.#argument(info);
        return typeof argument === "number" ? -1 - argument : -1n - argument;
      }
      case 2:
        return copyOfBytes(this.#byteString(info));
      case 3:
        return this.#text(info);
      case 7:
        return this.#simple(info);
      default:
        return this.#nested(head >> 5, info);
    }
  }

  #nested(major: number, info: number): unknown {
    if (++this.#depth > MAX_ITEM_DEPTH) throw malformed("it is nested too deeply");
    const value = major === 4 ? this.#array(info) : major === 5 ? this.#record(info) : this.#tagged(this.#argument(info));
    this.#depth--;
    return value;
  }

  /** A number, but a bigint for 64-bit heads: cbor-x's convention. */
  #argument(info: number): number | bigint {
    if (info < 24) return info;
    switch (info) {
      case 24:
        return this.#in.u8();
      case 25:
        return this.#in.u16();
      case 26:
        return this.#in.u32();
      case 27:
        return this.#in.u64();
      default:
        throw malformed("an item with an unknown length");
    }
  }

  /** How many items follow. A number that the bytes cannot hold fails at the first one missing: nothing is allocated by it. */
  #count(info: number): number {
    return Number(this.#argument(info));
  }

  /** Calls `item` as often as the head says. */
  #repeat(info: number, item: () => void): void {
    if (info !== INDEFINITE) {
      for (let count = this.#count(info); count > 0; count--) item();
      return;
    }
    while (this.#in.peek() !== BREAK) item();
    this.#in.u8();
  }

  #byteString(info: number): Uint8Array {
    if (info !== INDEFINITE) return this.#in.raw(this.#count(info));
    const bytes: number[] = [];
    this.#repeat(info, () => {
      for (const byte of this.#in.raw(this.#chunk(0x40))) bytes.push(byte);
    });
    return Uint8Array.from(bytes);
  }

  #text(info: number): string {
    if (info !== INDEFINITE) return this.#in.text(this.#count(info));
    let text = "";
    this.#repeat(info, () => {
      text += this.#in.text(this.#chunk(0x60));
    });
    return text;
  }

  #chunk(major: number): number {
    const head = this.#in.u8();
    if ((head & 0xe0) !== major) throw malformed("a chunk of another kind than its string");
    return this.#count(head & 31);
  }

  #array(info: number): unknown {
    const array: unknown[] = [];
    if (info === INDEFINITE) {
      this.#repeat(info, () => array.push(this.read()));
    } else {
      const count = this.#count(info);
      for (let i = 0; i < count; i++) array.push(i === 1 && count === 2 && array[0] === "$Set" ? this.#payload() : this.read());
    }
    return this.#revive && looksTagged(array) ? valueOfPublishedTag(array[0], array[1], asItIs) : array;
  }

  /** The list in a `["$Set", list]`: never a tagged pair itself, though it may look like one. */
  #payload(): unknown {
    if (!this.#revive || this.#in.peek() >> 5 !== 4) return this.read();
    const items: unknown[] = [];
    this.#repeat(this.#in.u8() & 31, () => items.push(this.read()));
    return items;
  }

  #record(info: number): Record<string, unknown> {
    const record: Record<string, unknown> = {};
    if (info === INDEFINITE) {
      this.#repeat(info, () => this.#property(record));
    } else {
      for (let count = this.#count(info); count > 0; count--) this.#property(record);
    }
    return record;
  }

  #property(record: Record<string, unknown>): void {
    const head = this.#in.u8();
    const key = head >> 5 === 3 ? this.#text(head & 31) : this.#numericKey(head);
    const value = this.read();
    // Assigning would set the prototype.
    if (key === "__proto__") Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true });
    else record[key] = value;
  }

  #numericKey(head: number): string {
    if (head >> 5 > 1) throw malformed("a property whose name is no text");
    const argument = this.#argument(head & 31);
    return String(head >> 5 === 0 ? argument : typeof argument === "number" ? -1 - argument : -1n - argument);
  }

  #simple(info: number): unknown {
    switch (info) {
      case 20:
        return false;
      case 21:
        return true;
      case 22:
        return null;
      case 23:
        return undefined;
      case 25:
        return half(this.#in.u16());
      case 26:
        return this.#in.f32();
      case 27:
        return this.#in.f64();
      default:
        throw malformed("a simple value that JavaScript has not");
    }
  }

  #tagged(tag: number | bigint): unknown {
    switch (tag) {
      case TAG.isoDate:
        return dateOf(Date.parse(asText(this.read())));
      case TAG.epochDate:
        return this.#epochDate();
      case TAG.bigUint:
        return this.#bigint();
      case TAG.bigNegative:
        return -1n - this.#bigint();
      case TAG.generic:
        return this.#unrevived(() => genericOf(this.read()));
      case TAG.set:
        return this.#unrevived(() => setOf(this.read()));
      case TAG.map:
        return this.#map();
      case TAG.arrayBuffer:
        return copyOfBytes(this.#taggedBytes()).buffer;
      case TAG.dataView:
        return new DataView(copyOfBytes(this.#taggedBytes()).buffer);
      case TAG.selfDescribed:
        return this.read();
      default:
        return this.#view(tag);
    }
  }

  #view(tag: number | bigint): ArrayBufferView {
    const kind = typeof tag === "number" ? viewKindByTag(tag) : undefined;
    if (kind === undefined) throw malformed(`the unknown tag ${tag}`);
    const view = viewOfBytes(kind, this.#taggedBytes());
    if (view === undefined) throw malformed("a typed array of no whole number of elements");
    return view;
  }

  #taggedBytes(): Uint8Array {
    const head = this.#in.u8();
    if (head >> 5 !== 2) throw malformed("a tag on something else than bytes");
    return this.#byteString(head & 31);
  }

  #epochDate(): Date {
    const seconds = this.read();
    if (typeof seconds !== "number" && typeof seconds !== "bigint") throw malformed("a date that is no number");
    return new Date(Math.round(Number(seconds) * 1000));
  }

  #bigint(): bigint {
    const digits = [...this.#taggedBytes()].map((byte) => byte.toString(16).padStart(2, "0"));
    return BigInt(`0x0${digits.join("")}`);
  }

  #map(): Map<unknown, unknown> {
    const head = this.#in.u8();
    if (head >> 5 !== 5) throw malformed("a Map of something else than pairs");
    const map = new Map<unknown, unknown>();
    this.#repeat(head & 31, () => {
      const key = this.read();
      map.set(key, this.read());
    });
    return map;
  }

  /** Pairs within native sets and errors are never tags: the published clients neither write nor revive any there. */
  #unrevived<T>(read: () => T): T {
    const revive = this.#revive;
    this.#revive = false;
    const value = read();
    this.#revive = revive;
    return value;
  }
}

const asItIs = (value: unknown): unknown => value;

function setOf(items: unknown): Set<unknown> {
  if (!Array.isArray(items)) throw malformed("a Set of something else than a list");
  return new Set<unknown>(items);
}

/** Tag 27: `["RegExp", source, flags]` or `[class of error, message, properties?]`. Nothing is looked up by name. */
function genericOf(parts: unknown): RegExp | Error {
  if (!Array.isArray(parts)) throw malformed("a generic object without parts");
  const [className, text, third]: unknown[] = parts;
  if (className === "RegExp") return regExpOf(asText(text), third === undefined ? "" : asText(third));
  const properties = typeof third === "object" && third !== null ? (third as Record<string, unknown>) : {};
  return errorOfParts({ className: asText(className), message: asText(text), properties });
}

function asText(value: unknown): string {
  if (typeof value !== "string") throw malformed("something else where a text belongs");
  return value;
}

function dateOf(time: number): Date {
  if (Number.isNaN(time)) throw malformed("a date that cannot be read");
  return new Date(time);
}

function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

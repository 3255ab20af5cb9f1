import { copyOfBytes } from "./typed-arrays.js";

const FIRST_CAPACITY = 4096;
const MAX_SPARE_CAPACITY = 65_536;
/** Longer texts are measured first and written by the runtime; shorter ones are faster by hand. */
const LONG_TEXT_LENGTH = 64;

const utf8 = new TextEncoder();

/** Thrown (and always caught within this folder) when a writer would pass its limit. */
export const OVER_LIMIT = new Error("over the limit of the writer");

// One buffer serves all writers in turn: what leaves is always a copy.
let spare: Uint8Array<ArrayBuffer> | undefined;

/** What the CBOR encoder writes to. Heads and texts are CBOR's; numbers are big-endian. */
export interface ByteSink {
  u8(value: number): void;
  u16(value: number): void;
  u32(value: number): void;
  u64(value: bigint): void;
  f64(value: number): void;
  raw(bytes: Uint8Array): void;
  /** An item head: major type (already shifted) and argument, in the shortest form. */
  head(major: number, argument: number): void;
  /** A text item. Half a surrogate pair is written as three bytes, as cbor-x does, so no string loses anything. */
  cborText(text: string): void;
}

/** Grows a buffer of bytes. Every method that would make it longer than `limitBytes` throws `OVER_LIMIT`. */
export class ByteWriter implements ByteSink {
  readonly #limitBytes: number;
  #bytes: Uint8Array<ArrayBuffer>;
  #view: DataView | undefined;
  #length = 0;

  constructor(limitBytes = Infinity) {
    this.#limitBytes = limitBytes;
    this.#bytes = spare ?? new Uint8Array(FIRST_CAPACITY);
    spare = undefined;
  }

  get length(): number {
    return this.#length;
  }

  /** What was written, in a buffer of exactly its size. The writer is not used again. */
  finish(): Uint8Array<ArrayBuffer> {
    const bytes = copyOfBytes(this.#bytes.subarray(0, this.#length));
    this.release();
    return bytes;
  }

  /** Gives the buffer back. Called by `finish`, or instead of it after a failure. */
  release(): void {
    if (this.#bytes.length <= MAX_SPARE_CAPACITY) spare = this.#bytes;
    this.#bytes = new Uint8Array(0);
    this.#length = 0;
  }

  u8(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  u16(value: number): void {
    this.#reserve(2);
    this.#bytes[this.#length++] = value >>> 8;
    this.#bytes[this.#length++] = value;
  }

  u32(value: number): void {
    this.#reserve(4);
    const bytes = this.#bytes;
    bytes[this.#length++] = value >>> 24;
    bytes[this.#length++] = value >>> 16;
    bytes[this.#length++] = value >>> 8;
    bytes[this.#length++] = value;
  }

  u64(value: bigint, littleEndian = false): void {
    this.#reserve(8);
    this.#dataView().setBigUint64(this.#length, value, littleEndian);
    this.#length += 8;
  }

  f64(value: number): void {
    this.#reserve(8);
    this.#dataView().setFloat64(this.#length, value);
    this.#length += 8;
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  head(major: number, argument: number): void {
    if (argument < 24) {
      this.u8(major | argument);
    } else if (argument < 0x100) {
      this.u8(major | 24);
      this.u8(argument);
    } else if (argument < 0x10000) {
      this.u8(major | 25);
      this.u16(argument);
    } else {
      this.u8(major | 26);
      this.u32(argument);
    }
  }

  /** The UTF-8 bytes of `text` after the head that `writeHead` makes of their number. */
  text(text: string, writeHead: (byteLength: number) => void): void {
    const byteLength = utf8Length(text);
    writeHead(byteLength);
    this.#reserve(byteLength);
    this.#utf8(text, byteLength);
  }

  cborText(text: string): void {
    const length = text.length;
    if (length > LONG_TEXT_LENGTH) {
      this.text(text, (byteLength) => this.head(0x60, byteLength));
      return;
    }
    // Short and mostly ASCII: the head is written for one byte a character, and again if that was wrong.
    this.#reserve(length * 3 + 2);
    const bytes = this.#bytes;
    const start = this.#length + (length < 24 ? 1 : 2);
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i);
      if (unit >= 0x80) {
        this.text(text, (byteLength) => this.head(0x60, byteLength));
        return;
      }
      bytes[start + i] = unit;
    }
    this.head(0x60, length);
    this.#length += length;
  }

  #utf8(text: string, byteLength: number): void {
    const target = this.#bytes;
    const length = text.length;
    if (length > LONG_TEXT_LENGTH && isWellFormed(text)) {
      utf8.encodeInto(text, target.subarray(this.#length, this.#length + byteLength));
      this.#length += byteLength;
      return;
    }
    let position = this.#length;
    for (let i = 0; i < length; i++) {
      const unit = text.codePointAt(i) ?? 0;
      if (unit < 0x80) {
        target[position++] = unit;
      } else if (unit < 0x800) {
        target[position++] = 0xc0 | (unit >> 6);
        target[position++] = 0x80 | (unit & 0x3f);
      } else if (unit < 0x10000) {
        target[position++] = 0xe0 | (unit >> 12);
        target[position++] = 0x80 | ((unit >> 6) & 0x3f);
        target[position++] = 0x80 | (unit & 0x3f);
      } else {
        target[position++] = 0xf0 | (unit >> 18);
        target[position++] = 0x80 | ((unit >> 12) & 0x3f);
        target[position++] = 0x80 | ((unit >> 6) & 0x3f);
        target[position++] = 0x80 | (unit & 0x3f);
        i++;
      }
    }
    this.#length = position;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed > this.#bytes.length) this.#grow(needed);
  }

  #grow(needed: number): void {
    // The capacity may pass the limit by what `cborText` reserves too much; `finish` is preceded by an exact check.
    if (needed > this.#limitBytes + 3 * LONG_TEXT_LENGTH) throw OVER_LIMIT;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
    this.#view = undefined;
  }

  #dataView(): DataView {
    return (this.#view ??= new DataView(this.#bytes.buffer));
  }
}

/** The length in UTF-8 bytes; half a surrogate pair counts three. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) {
      bytes += 1;
    } else if (unit >= 0xd800 && unit < 0xdc00 && isTrail(text.charCodeAt(i + 1))) {
      bytes += 2;
      i++;
    } else {
      bytes += 2;
    }
  }
  return bytes;
}

function isTrail(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

import { textOfBytes } from "../values/loose-text.js";
import { malformed } from "../errors/malformed.js";
import { nameAt, textAt } from "./text-input.js";
import { TAG } from "./tags.js";

/** The additional information of an item of indefinite length. */
export const INDEFINITE = 31;

const BREAK = 0xff;
const BYTES = 2;
const TEXT = 3;
const TAGGED = 6;

/** Reads CBOR items one after another. Methods allocate no more than the bytes that are there, and throw `encoding/invalid`. */
export class CborInput {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #view: DataView | undefined;
  #at = 0;

  constructor(bytes: Uint8Array) {
    // Slices of a Node Buffer would be views.
    const isPlain = Object.getPrototypeOf(bytes) === Uint8Array.prototype;
    this.#bytes = isPlain ? bytes : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#end = bytes.length;
  }

  /** Throws if bytes are left. */
  end(): void {
    if (this.#at < this.#end) throw malformed("there are bytes after its end");
  }

  byte(): number {
    return this.#bytes[this.#pass(1)] as number;
  }

  /** Skips `count` bytes; returns the position of the first. */
  #pass(count: number): number {
    const at = this.#at;
    if (count > this.#end - at) throw endsEarly();
    this.#at = at + count;
    return at;
  }

  /** True if the next item is of this type. */
  isNext(major: number): boolean {
    return (this.#bytes[this.#at] ?? BREAK) >> 5 === major;
  }

  /** Reads the first byte of the next head; the item must be of this type. */
  info(major: number): number {
    const head = this.byte();
    if (head >> 5 !== major) throw malformed("a tag on an item of the wrong type");
    return head & 31;
  }

  /** Reads a break if one comes next; returns whether it did. */
  takeBreak(): boolean {
    if (this.#at >= this.#end) throw endsEarly();
    if (this.#bytes[this.#at] !== BREAK) return false;
    this.#at++;
    return true;
  }

  /** The argument of a head. One of 64 bits may be rounded, and then exceeds any valid length. */
  #argument(info: number): number {
    if (info < 24) return info;
    const bytes = this.#bytes;
    switch (info) {
      case 24:
        return bytes[this.#pass(1)] as number;
      case 25: {
        const at = this.#pass(2);
        return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
      }
      case 26:
        return this.#word(this.#pass(4));
      case 27: {
        const at = this.#pass(8);
        return this.#word(at) * 0x1_0000_0000 + this.#word(at + 4);
      }
      default:
        throw malformed("an item with an unknown length");
    }
  }

  #word(at: number): number {
    const bytes = this.#bytes;
    return (
      (((bytes[at] as number) << 24) |
        ((bytes[at + 1] as number) << 16) |
        ((bytes[at + 2] as number) << 8) |
        (bytes[at + 3] as number)) >>>
      0
    );
  }

  /** An integer: a bigint if it has 64 bits, as no encoder writes a number so. */
  integer(info: number): number | bigint {
    if (info !== 27) return this.#argument(info);
    return this.#numbers.getBigUint64(this.#pass(8));
  }

  /** The length of bytes or of a string; all of them must be there. */
  length(info: number): number {
    return this.count(info, 1);
  }

  /** The length of an array or an object: at most one item per byte left. */
  count(info: number, itemsPerStep: number): number {
    const count = this.#argument(info);
    if (count * itemsPerStep > this.#end - this.#at) throw endsEarly();
    return count;
  }

  /** A tag number. */
  tag(info: number): number {
    if (info === 27) throw malformed("an unknown tag");
    return this.#argument(info);
  }

  /** `length` bytes, not copied. */
  view(length: number): Uint8Array {
    const start = this.#at;
    this.#at += length;
    return this.#bytes.subarray(start, this.#at);
  }

  /** `length` bytes in a buffer of their own. */
  copy(length: number): Uint8Array<ArrayBuffer> {
    const start = this.#at;
    this.#at += length;
    return this.#bytes.slice(start, this.#at) as Uint8Array<ArrayBuffer>;
  }

  text(length: number): string {
    const start = this.#at;
    this.#at += length;
    return textAt(this.#bytes, start, length);
  }

  /** The name of a property if it is short and ASCII, else undefined. */
  shortName(): string | undefined {
    const head = this.#bytes[this.#at] ?? BREAK;
    const length = head - 0x60;
    if (length < 0 || length > 23 || length >= this.#end - this.#at) return undefined;
    const name = nameAt(this.#bytes, this.#at + 1, length);
    if (name !== undefined) this.#at += length + 1;
    return name;
  }

  /** A byte string, not copied. */
  bytes(): Uint8Array {
    return this.view(this.length(this.info(BYTES)));
  }

  /** A string, also one written as tagged bytes. */
  anyText(): string {
    if (!this.isNext(TAGGED)) return this.text(this.length(this.info(TEXT)));
    if (this.tag(this.info(TAGGED)) !== TAG.text) throw malformed("a value that is not a string where one is required");
    return this.looseText();
  }

  looseText(): string {
    return textOfBytes(this.bytes());
  }

  /** An integer or a float. */
  number(): number {
    const head = this.byte();
    if (head >> 5 === 0) return Number(this.integer(head & 31));
    if (head >> 5 === 1) return -1 - Number(this.integer(head & 31));
    const value = head >> 5 === 7 ? this.simple(head & 31) : undefined;
    if (typeof value !== "number") throw malformed("a date that is not a number");
    return value;
  }

  /** Reads the head of a 64-bit float if one comes next; returns whether it did. */
  takeDoubleHead(): boolean {
    if (this.#bytes[this.#at] !== 0xfb) return false;
    this.#at++;
    return true;
  }

  double(): number {
    const view = (this.#view ??= new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#end));
    return view.getFloat64(this.#pass(8));
  }

  simple(info: number): number | boolean | null | undefined {
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
        return halfFloat(this.#argument(25));
      case 26:
        return this.#numbers.getFloat32(this.#pass(4));
      case 27:
        return this.double();
      default:
        throw malformed("a simple value unknown in JavaScript");
    }
  }

  get #numbers(): DataView {
    return (this.#view ??= new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#end));
  }
}

function halfFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (fraction + 0x400) * 2 ** (exponent - 25);
}

function endsEarly(): Error {
  return malformed("it ends too early");
}

import { headBytes } from "./heads.js";
import { OVER_LIMIT } from "../values/refusals.js";
import { isOdd, textBytes } from "./text-size.js";

/** What is kept from one encoding to the next; larger buffers are left to the collector. */
const KEPT_BYTES = 16_384;

/** Room for any head and what follows it immediately: every item finds it, so that only texts and bytes ask for more. */
const SLACK = 32;

/** Texts of so many units are worth a call into the runtime's encoder; shorter ones are written faster by hand. */
const LONG_TEXT = 64;
/** Above it, a text is measured before it is written. */
const SHORT_OF_ROOM = 16_384;
const SAMPLE = 32;

const TEXT = 0x60;

const utf8 = new TextEncoder();

/** Writes the items of CBOR into a buffer of its own that grows. Throws `OVER_LIMIT` once it holds more than it may. */
export class CborOutput {
  #buffer = new Uint8Array(KEPT_BYTES);
  #view = new DataView(this.#buffer.buffer);
  #at = 0;
  #limit = 0;
  /** Beyond this, the next item needs more room, or is over the limit. */
  #edge = 0;

  start(limitBytes: number): void {
    this.#at = 0;
    this.#limit = limitBytes;
    this.#setEdge();
  }

  /** What was written, in a buffer of its own. */
  finish(): Uint8Array<ArrayBuffer> {
    if (this.#at > this.#limit) throw OVER_LIMIT;
    return this.#buffer.slice(0, this.#at);
  }

  end(): void {
    if (this.#buffer.length > KEPT_BYTES) this.#useBuffer(new Uint8Array(KEPT_BYTES));
  }

  /** Bytes that may still be written. */
  get left(): number {
    return this.#limit - this.#at;
  }

  /** One byte: a simple value. */
  byte(byte: number): void {
    if (this.#at >= this.#edge) this.#reserve(1);
    this.#buffer[this.#at++] = byte;
  }

  /** `major` is the type in the three highest bits; `argument` has 32 bits. */
  head(major: number, argument: number): void {
    if (this.#at >= this.#edge) this.#reserve(1);
    const buffer = this.#buffer;
    if (argument < 24) {
      buffer[this.#at++] = major | argument;
    } else if (argument < 0x100) {
      buffer[this.#at++] = major | 24;
      buffer[this.#at++] = argument;
    } else if (argument < 0x1_0000) {
      buffer[this.#at++] = major | 25;
      buffer[this.#at++] = argument >> 8;
      buffer[this.#at++] = argument;
    } else {
      buffer[this.#at++] = major | 26;
      this.#view.setUint32(this.#at, argument);
      this.#at += 4;
    }
  }

  float(value: number): void {
    if (this.#at >= this.#edge) this.#reserve(1);
    this.#buffer[this.#at++] = 0xfb;
    this.#view.setFloat64(this.#at, value);
    this.#at += 8;
  }

  /** An integer of 64 bits, as its head only. */
  long(major: number, argument: bigint): void {
    if (this.#at >= this.#edge) this.#reserve(1);
    this.#buffer[this.#at++] = major | 27;
    this.#view.setBigUint64(this.#at, argument);
    this.#at += 8;
  }

  bytes(bytes: Uint8Array): void {
    const { length } = bytes;
    this.head(0x40, length);
    this.#reserve(length);
    this.#buffer.set(bytes, this.#at);
    this.#at += length;
  }

  /** Writes a text, unless it is odd. Answers whether it did. */
  text(text: string): boolean {
    const { length } = text;
    if (length >= LONG_TEXT) return this.#longText(text);
    const headLength = length < 24 ? 1 : 2;
    if (this.#at + headLength + length >= this.#edge) this.#reserve(headLength + length);
    const buffer = this.#buffer;
    const start = this.#at;
    let at = start + headLength;
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i);
      if (unit >= 0x80) return this.#measuredText(text);
      buffer[at++] = unit;
    }
    if (length < 24) {
      buffer[start] = TEXT | length;
    } else {
      buffer[start] = TEXT | 24;
      buffer[start + 1] = length;
    }
    this.#at = at;
    return true;
  }

  #longText(text: string): boolean {
    if (text.length > this.left) throw OVER_LIMIT;
    if (text.length > SHORT_OF_ROOM) return this.#longAscii(text) || this.#measuredText(text);
    if (isOdd(text)) return false;
    this.#makeRoom(3 * text.length);
    // Where it begins is a guess, right for all texts of ASCII and most others.
    const guess = this.#at + headBytes(text.length);
    const { written } = utf8.encodeInto(text, this.#buffer.subarray(guess));
    const start = this.#at + headBytes(written);
    if (start !== guess) this.#buffer.copyWithin(start, guess, guess + written);
    this.head(TEXT, written);
    this.#at += written;
    if (this.#at > this.#limit) throw OVER_LIMIT;
    return true;
  }

  /** One so long that room for the most it may take would be a waste. */
  #longAscii(text: string): boolean {
    const { length } = text;
    // Most texts that are not ASCII show it soon.
    for (let i = 0; i < SAMPLE; i++) if (text.charCodeAt(i) >= 0x80) return false;
    const start = this.#at;
    this.head(TEXT, length);
    this.#reserve(length);
    const { read } = utf8.encodeInto(text, this.#buffer.subarray(this.#at, this.#at + length));
    // As many bytes as units, and all were read: all are ASCII.
    this.#at = read === length ? this.#at + length : start;
    return read === length;
  }

  #measuredText(text: string): boolean {
    if (text.length > this.left) throw OVER_LIMIT;
    const size = textBytes(text);
    if (size < 0) return false;
    this.head(TEXT, size);
    this.#reserve(size);
    if (text.length < LONG_TEXT) this.#units(text);
    else this.#at += utf8.encodeInto(text, this.#buffer.subarray(this.#at)).written;
    return true;
  }

  /** Writes an odd text, under the head of a text or of bytes. */
  oddText(major: number, text: string): void {
    if (text.length > this.left) throw OVER_LIMIT;
    const size = ~textBytes(text);
    this.head(major, size);
    this.#reserve(size);
    this.#units(text);
  }

  /** By hand, half a surrogate pair being a character like any other. */
  #units(text: string): void {
    const buffer = this.#buffer;
    let at = this.#at;
    for (let i = 0; i < text.length; i++) {
      let code = text.charCodeAt(i);
      if ((code & 0xfc00) === 0xd800) code = text.codePointAt(i) as number;
      if (code < 0x80) {
        buffer[at++] = code;
        continue;
      }
      if (code < 0x800) {
        buffer[at++] = 0xc0 | (code >> 6);
      } else {
        if (code < 0x1_0000) {
          buffer[at++] = 0xe0 | (code >> 12);
        } else {
          buffer[at++] = 0xf0 | (code >> 18);
          buffer[at++] = 0x80 | ((code >> 12) & 63);
          i++;
        }
        buffer[at++] = 0x80 | ((code >> 6) & 63);
      }
      buffer[at++] = 0x80 | (code & 63);
    }
    this.#at = at;
  }

  /** Makes room for `count` bytes and one more item. */
  #reserve(count: number): void {
    if (this.#at + count > this.#limit) throw OVER_LIMIT;
    this.#makeRoom(count);
  }

  #makeRoom(count: number): void {
    const needed = this.#at + count;
    if (needed + SLACK <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.max(Math.min(this.#buffer.length * 4, this.#limit), needed) + 2 * SLACK);
    larger.set(this.#buffer.subarray(0, this.#at));
    this.#useBuffer(larger);
  }

  #useBuffer(buffer: Uint8Array<ArrayBuffer>): void {
    this.#buffer = buffer;
    this.#view = new DataView(buffer.buffer);
    this.#setEdge();
  }

  #setEdge(): void {
    this.#edge = Math.min(this.#buffer.length - SLACK, this.#limit);
  }
}

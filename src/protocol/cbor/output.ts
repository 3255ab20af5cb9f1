import { headBytes } from "./heads.js";
import { OVER_LIMIT } from "../values/refusals.js";
import { isOdd, textBytes } from "./text-size.js";

/** The size of the buffer kept between encodings; larger ones are garbage-collected. */
const KEPT_BYTES = 16_384;

/** Room that is always free for a head and a short item: only strings and bytes must ask for more. */
const SLACK = 32;

/** Strings from this length on are worth a call to the runtime's encoder; shorter ones are faster by hand. */
const LONG_TEXT = 64;
/** Strings above this length are measured before they are written. */
const SHORT_OF_ROOM = 16_384;
const SAMPLE = 32;

const TEXT = 0x60;

const utf8 = new TextEncoder();

/** Writes CBOR items into a growing buffer of its own. Throws `OVER_LIMIT` once it exceeds the limit. */
export class CborOutput {
  #buffer = new Uint8Array(KEPT_BYTES);
  #view = new DataView(this.#buffer.buffer);
  #at = 0;
  #limit = 0;
  /** Past this position, the next item needs more room or is over the limit. */
  #edge = 0;

  start(limitBytes: number): void {
    this.#at = 0;
    this.#limit = limitBytes;
    this.#setEdge();
  }

  /** Returns what was written, in a buffer of its own. */
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

  /** Writes one byte: a simple value. */
  byte(byte: number): void {
    if (this.#at >= this.#edge) this.#reserve(1);
    this.#buffer[this.#at++] = byte;
  }

  /** Writes a head. `major`: the type in the three highest bits; `argument`: at most 32 bits. */
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

  /** Writes a 64-bit integer, which is a head only. */
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

  /** Writes a string unless it is odd (see `text-size.ts`). Returns whether it did. */
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
    // The size of the head is a guess, right for ASCII and most other strings.
    const guess = this.#at + headBytes(text.length);
    const { written } = utf8.encodeInto(text, this.#buffer.subarray(guess));
    const start = this.#at + headBytes(written);
    if (start !== guess) this.#buffer.copyWithin(start, guess, guess + written);
    this.head(TEXT, written);
    this.#at += written;
    if (this.#at > this.#limit) throw OVER_LIMIT;
    return true;
  }

  /** Writes a long string if it is ASCII; room for the worst case would be wasteful. Returns whether it did. */
  #longAscii(text: string): boolean {
    const { length } = text;
    // Most strings that are not ASCII show it early.
    for (let i = 0; i < SAMPLE; i++) if (text.charCodeAt(i) >= 0x80) return false;
    const start = this.#at;
    this.head(TEXT, length);
    this.#reserve(length);
    const { read } = utf8.encodeInto(text, this.#buffer.subarray(this.#at, this.#at + length));
    // All units fit into as many bytes: all are ASCII.
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

  /** Writes an odd string, under the head of a string or of bytes. */
  oddText(major: number, text: string): void {
    if (text.length > this.left) throw OVER_LIMIT;
    const size = ~textBytes(text);
    this.head(major, size);
    this.#reserve(size);
    this.#units(text);
  }

  /** Writes UTF-8 by hand, encoding a lone surrogate like any other character. */
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

import { aliasOf, KNOWN_TAGS, TAG } from "./cbor/tags.js";
import { bytesOfText, ODD_TEXT, textOfBytes } from "./loose-text.js";
import { malformed } from "./malformed.js";

/** Items within items, at most: more than `Lowering` makes, less than the stack holds. */
const MAX_ITEM_DEPTH = 1000;
const INDEFINITE = 31;
const BREAK = 0xff;
/** Longer texts are checked by the runtime; shorter ones are faster by hand. */
const LONG_TEXT_BYTES = 64;
const PROTO = bytesOfText("__proto__");

/**
 * Walks over bytes before cbor-x does, and refuses what it would take too lightly: wrong UTF-8, depth, unknown tags (it
 * has meanings for hundreds), missing ends. What it would read in its own way is rewritten: each tag becomes one that
 * it does not know, so that it answers a `Tag`, and a text that it would change becomes tagged bytes.
 */
export class CborScan {
  readonly #bytes: Uint8Array;
  #at = 0;
  #depth = 0;
  /** Where the bytes are rewritten: from, to, and what comes between. */
  readonly #edits: [start: number, end: number, put: number[]][] = [];
  #hasBytes = false;
  /** Whether cbor-x must read objects as Maps, or something would be lost. */
  needsMaps = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Whether cbor-x reads the value as it is meant, but for tagged pairs. */
  get isPlain(): boolean {
    return this.#edits.length === 0 && !this.#hasBytes && !this.needsMaps;
  }

  /** The bytes for cbor-x. Throws `encoding/invalid` (400) unless they hold one value, whole. */
  run(): Uint8Array {
    this.#item();
    if (this.#at < this.#bytes.length) throw malformed("there is something after its end");
    return this.#rewritten();
  }

  #item(): void {
    const start = this.#at;
    const head = this.#byte();
    const info = head & 31;
    switch (head >> 5) {
      case 0:
      case 1:
        this.#argument(info);
        return;
      case 2:
        this.#hasBytes = true;
        this.#skip(this.#argument(info));
        return;
      case 3:
        this.#text(start, this.#argument(info));
        return;
      case 7:
        if (info < 20 || info === 24 || info > 27) throw malformed("a simple value that JavaScript has not");
        if (info > 24) this.#skip(1 << (info - 24));
        return;
      default:
        this.#nested(start, head >> 5, info);
    }
  }

  #nested(start: number, major: number, info: number): void {
    if (++this.#depth > MAX_ITEM_DEPTH) throw malformed("it is nested too deeply");
    if (major === 6) {
      this.#tag(start, info);
    } else if (info !== INDEFINITE) {
      const itemsPerEntry = major - 3;
      for (let count = this.#argument(info) * itemsPerEntry; count > 0; count--) this.#item();
    } else {
      while (this.#peek() !== BREAK) {
        this.#item();
        if (major === 5) this.#item();
      }
      this.#at++;
    }
    this.#depth--;
  }

  #tag(start: number, info: number): void {
    const tag = this.#argument(info);
    if (!KNOWN_TAGS.has(tag) || info === 27) throw malformed(`the unknown tag ${tag}`);
    if (tag === TAG.map || tag === TAG.text) this.needsMaps = true;
    this.#edits.push([start, this.#at, tag === TAG.selfDescribed ? [] : tagHead(aliasOf(tag))]);
    this.#item();
  }

  #text(start: number, length: number): void {
    const from = this.#at;
    this.#skip(length);
    if (this.#isAscii(from, length)) return;
    const bytes = this.#bytes.subarray(from, this.#at);
    const text = textOfBytes(bytes);
    if (!ODD_TEXT.test(text)) return;
    this.#edits.push([start, start + 1, [...tagHead(TAG.text), 0x40 | ((this.#bytes[start] as number) & 31)]]);
    this.needsMaps = true;
  }

  /** Whether it is short ASCII. Notices `__proto__`, which cbor-x renames. */
  #isAscii(from: number, length: number): boolean {
    if (length > LONG_TEXT_BYTES) return false;
    const bytes = this.#bytes;
    for (let i = 0; i < length; i++) if ((bytes[from + i] as number) >= 0x80) return false;
    if (length === PROTO.length && PROTO.every((byte, i) => bytes[from + i] === byte)) this.needsMaps = true;
    return true;
  }

  #argument(info: number): number {
    switch (info) {
      case 24:
        return this.#byte();
      case 25:
        return this.#byte() * 0x100 + this.#byte();
      case 26:
        return this.#word();
      case 27:
        return this.#word() * 0x1_0000_0000 + this.#word();
      default:
        if (info > 27) throw malformed("an item with an unknown length");
        return info;
    }
  }

  #word(): number {
    return this.#byte() * 0x100_0000 + this.#byte() * 0x1_0000 + this.#byte() * 0x100 + this.#byte();
  }

  #byte(): number {
    const byte = this.#peek();
    this.#at++;
    return byte;
  }

  #peek(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw malformed("it ends too early");
    return byte;
  }

  #skip(count: number): void {
    if (count > this.#bytes.length - this.#at) throw malformed("it ends too early");
    this.#at += count;
  }

  /** A view of our own in any case: cbor-x hangs a property on what it reads. */
  #rewritten(): Uint8Array {
    const bytes = this.#bytes;
    if (this.#edits.length === 0) return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    const grown = this.#edits.reduce((sum, [start, end, put]) => sum + put.length - (end - start), 0);
    const result = new Uint8Array(bytes.length + grown);
    let from = 0;
    let to = 0;
    for (const [start, end, put] of this.#edits) {
      result.set(bytes.subarray(from, start), to);
      to += start - from;
      result.set(put, to);
      to += put.length;
      from = end;
    }
    result.set(bytes.subarray(from), to);
    return result;
  }
}

function tagHead(tag: number): number[] {
  return [0xd9, tag >> 8, tag & 0xff];
}

import { ActorError } from "./errors.js";

/** Longer texts are read by the runtime; shorter ones are faster by hand. */
const LONG_TEXT_BYTES = 32;

// `ignoreBOM` means "leave it in": without it a text that begins with U+FEFF would lose it.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The error for bytes or text that no encoder of ours or the peer's makes: `encoding/invalid` (400). */
export function malformed(reason: string): ActorError {
  return new ActorError("encoding", "invalid", `Malformed data: ${reason}.`);
}

/** Walks over bytes. Every method throws `encoding/invalid` (400) rather than reading past the end. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #view: DataView | undefined;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get remaining(): number {
    return this.#bytes.length - this.#position;
  }

  u8(): number {
    const value = this.#bytes[this.#position++];
    if (value === undefined) throw malformed("it ends too early");
    return value;
  }

  u16(): number {
    return (this.u8() << 8) | this.u8();
  }

  u32(): number {
    return this.u16() * 0x10000 + this.u16();
  }

  u64(littleEndian = false): bigint {
    return this.#dataView().getBigUint64(this.#advance(8), littleEndian);
  }

  f32(): number {
    return this.#dataView().getFloat32(this.#advance(4));
  }

  f64(): number {
    return this.#dataView().getFloat64(this.#advance(8));
  }

  /** The next byte, not consumed. */
  peek(): number {
    const value = this.#bytes[this.#position];
    if (value === undefined) throw malformed("it ends too early");
    return value;
  }

  /** A view of the next `count` bytes: copy it before it leaves. */
  raw(count: number): Uint8Array {
    const start = this.#advance(count);
    return this.#bytes.subarray(start, start + count);
  }

  /** A text of `count` UTF-8 bytes, halves of surrogate pairs included. */
  text(count: number): string {
    const start = this.#advance(count);
    if (count <= LONG_TEXT_BYTES) {
      const text = shortAscii(this.#bytes, start, start + count);
      if (text !== undefined) return text;
    }
    const bytes = this.#bytes.subarray(start, start + count);
    try {
      return utf8.decode(bytes);
    } catch {
      return looseUtf8(bytes);
    }
  }

  #advance(count: number): number {
    const start = this.#position;
    if (count > this.#bytes.length - start) throw malformed("it ends too early");
    this.#position = start + count;
    return start;
  }

  #dataView(): DataView {
    return (this.#view ??= new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.byteLength));
  }
}

function shortAscii(bytes: Uint8Array, start: number, end: number): string | undefined {
  let text = "";
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte >= 0x80) return undefined;
    text += String.fromCharCode(byte);
  }
  return text;
}

/** UTF-8 that may hold halves of surrogate pairs, and is refused if anything else is wrong with it. */
function looseUtf8(bytes: Uint8Array): string {
  const units: string[] = [];
  for (let i = 0; i < bytes.length; ) {
    const lead = bytes[i++] as number;
    const extra = lead < 0x80 ? 0 : lead >= 0xc2 && lead < 0xe0 ? 1 : lead >= 0xe0 && lead < 0xf0 ? 2 : lead < 0xf5 && lead >= 0xf0 ? 3 : -1;
    if (extra < 0) throw malformed("a text is no UTF-8");
    let point = extra === 0 ? lead : lead & (0x3f >> extra);
    for (let rest = extra; rest > 0; rest--) {
      const byte = bytes[i++];
      if (byte === undefined || (byte & 0xc0) !== 0x80) throw malformed("a text is no UTF-8");
      point = (point << 6) | (byte & 0x3f);
    }
    const least = [0, 0x80, 0x800, 0x10000][extra] as number;
    if (point < least || point > 0x10ffff) throw malformed("a text is no UTF-8");
    units.push(String.fromCodePoint(point));
  }
  return units.join("");
}

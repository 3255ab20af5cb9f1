import { bytesOfText, textOfBytes } from "../values/loose-text.js";
import { malformed } from "../errors/malformed.js";

/** The version of the structs of RivetKit's clients. */
export const BARE_VERSION = 4;

const MAX_UINT64 = 0xffff_ffff_ffff_ffffn;

/** Writes a struct in BARE: a header, which is its version, then the primitives it consists of. */
export class BareWriter {
  readonly #parts: Uint8Array[];

  constructor(header = Uint8Array.of(BARE_VERSION, 0)) {
    this.#parts = [header];
  }

  finish(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#parts.reduce((sum, part) => sum + part.length, 0));
    let position = 0;
    for (const part of this.#parts) {
      bytes.set(part, position);
      position += part.length;
    }
    return bytes;
  }

  /** A variable-length unsigned integer of at most 64 bits. */
  uint(value: number | bigint): void {
    const bytes: number[] = [];
    let rest = BigInt(value);
    for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    this.#parts.push(Uint8Array.of(...bytes, Number(rest)));
  }

  u64(value: number | bigint): void {
    const bytes = new DataView(new ArrayBuffer(8));
    bytes.setBigUint64(0, BigInt(value), true);
    this.#parts.push(new Uint8Array(bytes.buffer));
  }

  bool(value: boolean): void {
    this.#parts.push(Uint8Array.of(value ? 1 : 0));
  }

  str(text: string): void {
    this.data(bytesOfText(text));
  }

  data(bytes: Uint8Array): void {
    this.uint(bytes.length);
    this.raw(bytes);
  }

  /** Bytes as they are. */
  raw(bytes: Uint8Array): void {
    this.#parts.push(bytes);
  }

  optional<T>(value: T | undefined, write: (value: T) => void): void {
    this.bool(value !== undefined);
    if (value !== undefined) write(value);
  }
}

/** Reads what `BareWriter` writes. Every method throws `encoding/invalid` for malformed data. */
export class BareReader {
  readonly #bytes: Uint8Array;
  #position = 0;

  constructor(bytes: Uint8Array, supported = BARE_VERSION) {
    this.#bytes = bytes;
    const version = this.#u8() | (this.#u8() << 8);
    if (version !== supported)
      throw malformed(`version ${version} of the protocol is not supported, only ${supported}`);
  }

  /** Throws if bytes are left. */
  end(): void {
    if (this.#position < this.#bytes.length) throw malformed("there are bytes after its end");
  }

  uint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#u8();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) {
        if (value > MAX_UINT64 || (byte === 0 && shift > 0n)) break;
        return value;
      }
    }
    throw malformed("an integer that is too long");
  }

  u64(): bigint {
    const bytes = this.#raw(8);
    return new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
  }

  bool(): boolean {
    const byte = this.#u8();
    if (byte > 1) throw malformed("a bool that is neither 0 nor 1");
    return byte === 1;
  }

  str(): string {
    return textOfBytes(this.data());
  }

  /** A view of the bytes: decode it at once. */
  data(): Uint8Array {
    return this.#raw(Number(this.uint()));
  }

  optional<T>(read: () => T): T | undefined {
    return this.bool() ? read() : undefined;
  }

  #u8(): number {
    return this.#raw(1)[0] as number;
  }

  #raw(count: number): Uint8Array {
    if (count > this.#bytes.length - this.#position) throw malformed("it ends too early");
    const start = this.#position;
    this.#position += count;
    return this.#bytes.subarray(start, this.#position);
  }
}

import { ByteReader, malformed } from "./byte-reader.js";
import { ByteWriter } from "./byte-writer.js";

/** The version of the published clients' structs (api.md G.5). */
export const BARE_VERSION = 4;

const MAX_UINT64 = 0xffff_ffff_ffff_ffffn;

/** Writes the BARE primitives that the wire's structs are made of, after their version. */
export class BareWriter {
  readonly #out = new ByteWriter();

  constructor() {
    this.#out.u8(BARE_VERSION & 0xff);
    this.#out.u8(BARE_VERSION >> 8);
  }

  finish(): Uint8Array<ArrayBuffer> {
    return this.#out.finish();
  }

  /** A variable-length unsigned integer, of 64 bits at most. */
  uint(value: number | bigint): void {
    let rest = BigInt(value);
    for (; rest > 0x7fn; rest >>= 7n) this.#out.u8(Number(rest & 0x7fn) | 0x80);
    this.#out.u8(Number(rest));
  }

  u64(value: number | bigint): void {
    this.#out.u64(BigInt(value), true);
  }

  bool(value: boolean): void {
    this.#out.u8(value ? 1 : 0);
  }

  str(text: string): void {
    this.#out.text(text, (byteLength) => this.uint(byteLength));
  }

  data(bytes: Uint8Array): void {
    this.uint(bytes.length);
    this.#out.raw(bytes);
  }

  optional<T>(value: T | undefined, write: (value: T) => void): void {
    this.bool(value !== undefined);
    if (value !== undefined) write(value);
  }
}

/** Reads what `BareWriter` writes. Every method throws `encoding/invalid` (400). */
export class BareReader {
  readonly #in: ByteReader;

  constructor(bytes: Uint8Array) {
    this.#in = new ByteReader(bytes);
    const version = this.#in.u8() | (this.#in.u8() << 8);
    if (version !== BARE_VERSION) throw malformed(`version ${version} of the protocol is not spoken here, but ${BARE_VERSION}`);
  }

  /** Throws unless everything was read. */
  end(): void {
    if (this.#in.remaining > 0) throw malformed("there is something after its end");
  }

  uint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#in.u8();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) {
        if (value > MAX_UINT64 || (byte === 0 && shift > 0n)) break;
        return value;
      }
    }
    throw malformed("an integer that is too long");
  }

  u64(): bigint {
    return this.#in.u64(true);
  }

  bool(): boolean {
    const byte = this.#in.u8();
    if (byte > 1) throw malformed("a bool that is neither 0 nor 1");
    return byte === 1;
  }

  str(): string {
    return this.#in.text(this.#length());
  }

  /** A view of the bytes: it is decoded at once, and kept by nobody. */
  data(): Uint8Array {
    return this.#in.raw(this.#length());
  }

  optional<T>(read: () => T): T | undefined {
    return this.bool() ? read() : undefined;
  }

  #length(): number {
    return Number(this.uint());
  }
}

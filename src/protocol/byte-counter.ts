import { OVER_LIMIT, utf8Length, type ByteSink } from "./byte-writer.js";

/** Counts the bytes that a writer would hold, and holds none. Throws `OVER_LIMIT` past `limitBytes`. */
export class ByteCounter implements ByteSink {
  readonly #limitBytes: number;
  length = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  u8(): void {
    this.#add(1);
  }

  u16(): void {
    this.#add(2);
  }

  u32(): void {
    this.#add(4);
  }

  u64(): void {
    this.#add(8);
  }

  f64(): void {
    this.#add(8);
  }

  raw(bytes: Uint8Array): void {
    this.#add(bytes.length);
  }

  head(_major: number, argument: number): void {
    this.#add(argument < 24 ? 1 : argument < 0x100 ? 2 : argument < 0x10000 ? 3 : 5);
  }

  cborText(text: string): void {
    const byteLength = utf8Length(text);
    this.head(0x60, byteLength);
    this.#add(byteLength);
  }

  #add(count: number): void {
    this.length += count;
    if (this.length > this.#limitBytes) throw OVER_LIMIT;
  }
}

import { makeEntry, type Entry, type EntryKind, type EntryStatus } from "./entry.js";
import type { Segment } from "./location.js";

// Heads of CBOR items, as src/protocol/cbor/encoder.ts writes them.
const UNSIGNED = 0;
const BYTES = 2;
const TEXT = 3;
const ARRAY = 4;
const DOUBLE = 0xfb;
/** The tag of a Uint8Array, 64, in two bytes. */
const TAG_OF_BYTES = [0xd8, 64] as const;
const NAME_OF_ONE_LETTER = 0x61;
const MAP = 0xa0;
/** Of a map or an array whose length is in its head. */
const MAX_SHORT = 23;

/** The eight bytes of a double: every entry has a time, and a view of its own for each would be most of the reading. */
const DIGITS = new Uint8Array(8);
const DOUBLES = new DataView(DIGITS.buffer);

/** Kinds and statuses, so that entries share their strings. */
const KNOWN = new Map<string, string>();

/**
 * Reads the row of an entry in one pass, without copying its value: a start reads all of them, and asks for few values.
 * Returns undefined for a row that is unusual in any way, one with a failure or with data say, or that is damaged: the
 * codec reads those, or refuses them.
 */
export function readEntry(row: number, bytes: Uint8Array): Entry | undefined {
  return new EntryReader(bytes).entry(row);
}

class EntryReader {
  readonly #row: Uint8Array;
  #at = 0;

  constructor(row: Uint8Array) {
    this.#row = row;
  }

  entry(number: number): Entry | undefined {
    const row = this.#row;
    let seq: number | undefined;
    const fields = (row[this.#at++] ?? 0) - MAP;
    if (fields < 0 || fields > MAX_SHORT) return undefined;
    let location: Segment[] | undefined;
    let kind: string | undefined;
    let status: string | undefined;
    let rev: number | undefined;
    let attempts: number | undefined = 0;
    let interrupted: number | undefined = 0;
    let dueAt: number | undefined;
    let completedSeq: number | undefined;
    let value: Uint8Array | undefined;
    let startedAt: number | undefined;
    let ms: number | undefined;
    let attemptStartedAt: number | undefined;
    for (let left = fields; left > 0; left -= 1) {
      if (row[this.#at++] !== NAME_OF_ONE_LETTER) return undefined;
      switch (String.fromCharCode(row[this.#at++] ?? 0)) {
        case "l":
          if (!(location = this.#location())) return undefined;
          break;
        case "k":
          if (!(kind = this.#known())) return undefined;
          break;
        case "s":
          if (!(status = this.#known())) return undefined;
          break;
        case "q":
          if ((seq = this.#number()) === undefined) return undefined;
          break;
        case "r":
          if ((rev = this.#number()) === undefined) return undefined;
          break;
        case "a":
          if ((attempts = this.#number()) === undefined) return undefined;
          break;
        case "i":
          if ((interrupted = this.#number()) === undefined) return undefined;
          break;
        case "d":
          if ((dueAt = this.#number()) === undefined) return undefined;
          break;
        case "c":
          if ((completedSeq = this.#number()) === undefined) return undefined;
          break;
        case "v":
          if (!(value = this.#bytes())) return undefined;
          break;
        case "t": {
          const times = this.#argument(ARRAY);
          if (times !== 1 && times !== 2) return undefined;
          if ((startedAt = this.#number()) === undefined) return undefined;
          if (times === 2 && (ms = this.#number()) === undefined) return undefined;
          break;
        }
        case "b":
          if ((attemptStartedAt = this.#number()) === undefined) return undefined;
          break;
        default:
          return undefined;
      }
    }
    if (this.#at !== row.length || !location || !kind || !status || rev === undefined) return undefined;
    const entry = makeEntry({
      seq: seq ?? number,
      location,
      kind: kind as EntryKind,
      status: status as EntryStatus,
      rev,
      attempts,
      interrupted,
    });
    if (seq !== undefined) entry.row = number;
    if (dueAt !== undefined) entry.dueAt = dueAt;
    if (value !== undefined) entry.value = value;
    if (completedSeq !== undefined) entry.completedSeq = completedSeq;
    if (startedAt !== undefined) entry.startedAt = startedAt;
    if (ms !== undefined) entry.ms = ms;
    if (attemptStartedAt !== undefined) entry.attemptStartedAt = attemptStartedAt;
    return entry;
  }

  #location(): Segment[] | undefined {
    const length = this.#argument(ARRAY);
    if (length === undefined || length > MAX_SHORT) return undefined;
    const location: Segment[] = [];
    for (let left = length; left > 0; left -= 1) {
      const head = this.#row[this.#at] ?? 0;
      const segment = head >> 5 === TEXT ? this.#text() : this.#argument(UNSIGNED);
      if (segment === undefined) return undefined;
      location.push(segment);
    }
    return location;
  }

  #known(): string | undefined {
    const text = this.#text();
    if (text === undefined) return undefined;
    const known = KNOWN.get(text);
    if (known === undefined && KNOWN.size < MAX_SHORT) KNOWN.set(text, text);
    return known ?? text;
  }

  /** A short text of ASCII. */
  #text(): string | undefined {
    const length = this.#argument(TEXT);
    if (length === undefined || length > 64 || length > this.#row.length - this.#at) return undefined;
    let text = "";
    for (let left = length; left > 0; left -= 1) {
      const code = this.#row[this.#at++] as number;
      if (code > 0x7f) return undefined;
      text += String.fromCharCode(code);
    }
    return text;
  }

  #number(): number | undefined {
    if (this.#row[this.#at] !== DOUBLE) return this.#argument(UNSIGNED);
    if (this.#row.length - this.#at < 9) return undefined;
    for (let at = 0; at < 8; at += 1) DIGITS[at] = this.#row[this.#at + 1 + at] as number;
    this.#at += 9;
    return DOUBLES.getFloat64(0);
  }

  #bytes(): Uint8Array | undefined {
    if (this.#row[this.#at] === TAG_OF_BYTES[0] && this.#row[this.#at + 1] === TAG_OF_BYTES[1]) this.#at += 2;
    const length = this.#argument(BYTES);
    if (length === undefined || length > this.#row.length - this.#at) return undefined;
    this.#at += length;
    return this.#row.subarray(this.#at - length, this.#at);
  }

  /** The argument of a head of this type, up to 32 bits. */
  #argument(major: number): number | undefined {
    const row = this.#row;
    const head = row[this.#at++] ?? 0xff;
    if (head >> 5 !== major) return undefined;
    const info = head & 31;
    if (info < 24) return info;
    const size = 1 << (info - 24);
    if (info > 26 || size > row.length - this.#at) return undefined;
    let argument = 0;
    for (let left = size; left > 0; left -= 1) argument = argument * 256 + (row[this.#at++] as number);
    return argument;
  }
}

import { textOfBytes } from "../values/loose-text.js";

/** Strings from this length on are worth a call to the runtime's decoder; shorter ASCII is faster by hand. */
const LONG_TEXT = 64;

/** Arrays of code units by length: converting one is the fastest way to make a short string. */
const unitsByLength: number[][] = [];

/**
 * Decodes `length` bytes of UTF-8 at `start`.
 *
 * @throws {encoding/invalid} when they are not UTF-8
 */
export function textAt(bytes: Uint8Array, start: number, length: number): string {
  return asciiAt(bytes, start, length) ?? textOfBytes(bytes.subarray(start, start + length));
}

function asciiAt(bytes: Uint8Array, start: number, length: number): string | undefined {
  if (length >= LONG_TEXT) return undefined;
  const units = (unitsByLength[length] ??= Array.from({ length }, () => 0));
  for (let i = 0; i < length; i++) {
    const byte = bytes[start + i] as number;
    if (byte >= 0x80) return undefined;
    units[i] = byte;
  }
  return String.fromCharCode.apply(null, units);
}

/** A cache of property names, which repeat, by a hash of their bytes. */
const names: (string | undefined)[] = Array.from({ length: 256 }, () => undefined);

/** The name of `length` bytes at `start` if they are ASCII, else undefined. */
export function nameAt(bytes: Uint8Array, start: number, length: number): string | undefined {
  if (length === 0) return "";
  const slot =
    (length * 31 +
      (bytes[start] as number) * 7 +
      (bytes[start + length - 1] as number) * 13 +
      (bytes[start + (length >> 1)] as number)) &
    255;
  const known = names[slot];
  if (known !== undefined && known.length === length && isAt(known, bytes, start)) return known;
  const name = asciiAt(bytes, start, length);
  if (name !== undefined) names[slot] = name;
  return name;
}

function isAt(name: string, bytes: Uint8Array, start: number): boolean {
  for (let i = 0; i < name.length; i++) if (name.charCodeAt(i) !== bytes[start + i]) return false;
  return true;
}

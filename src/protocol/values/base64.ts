import { malformed } from "../errors/malformed.js";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const PAD = 61;
const NO_DIGIT = 255;
const DIGITS = Uint8Array.from(ALPHABET, (digit) => digit.charCodeAt(0));
const SEXTETS = sextets();

const ascii = new TextDecoder();

/** Standard base64 with padding. */
export function formatBase64(bytes: Uint8Array): string {
  const text = new Uint8Array(Math.ceil(bytes.length / 3) * 4).fill(PAD);
  let position = 0;
  for (let i = 0; i < bytes.length; i += 3) {
    const left = bytes.length - i;
    const group = ((bytes[i] ?? 0) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    text[position] = DIGITS[group >> 18] as number;
    text[position + 1] = DIGITS[(group >> 12) & 63] as number;
    if (left > 1) text[position + 2] = DIGITS[(group >> 6) & 63] as number;
    if (left > 2) text[position + 3] = DIGITS[group & 63] as number;
    position += 4;
  }
  return ascii.decode(text);
}

/** base64url without padding, as in `rvt-input`. */
export function formatBase64Url(bytes: Uint8Array): string {
  return formatBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/**
 * Decodes base64 or base64url, padded or not.
 *
 * @throws {encoding/invalid} when it is neither
 */
export function parseBase64(text: string): Uint8Array<ArrayBuffer> {
  const digits = text.replace(/={1,2}$/, "");
  if (digits.length % 4 === 1) throw malformed("base64 of an invalid length");
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4));
  let group = 0;
  let bits = 0;
  let position = 0;
  for (let i = 0; i < digits.length; i++) {
    const sextet = SEXTETS[digits.charCodeAt(i)] ?? NO_DIGIT;
    if (sextet === NO_DIGIT) throw malformed("a character that is not base64");
    group = ((group << 6) | sextet) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[position++] = group >> bits;
    }
  }
  return bytes;
}

/** The value of each ASCII character as a digit, in both alphabets. */
function sextets(): Uint8Array {
  const table = new Uint8Array(128).fill(NO_DIGIT);
  for (const [value, digit] of DIGITS.entries()) table[digit] = value;
  table["-".charCodeAt(0)] = 62;
  table["_".charCodeAt(0)] = 63;
  return table;
}

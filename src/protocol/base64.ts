import { malformed } from "./byte-reader.js";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const SEXTETS = new Map<string, number>([...ALPHABET].map((digit, index) => [digit, index]));
SEXTETS.set("-", 62).set("_", 63);

/** Standard base64 with padding. */
export function formatBase64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let i = 0; i < bytes.length; i += 3) {
    const [a = 0, b, c] = [bytes[i], bytes[i + 1], bytes[i + 2]];
    const group = (a << 16) | ((b ?? 0) << 8) | (c ?? 0);
    parts.push(
      digit(group >> 18) + digit(group >> 12) + (b === undefined ? "=" : digit(group >> 6)) + (c === undefined ? "=" : digit(group)),
    );
  }
  return parts.join("");
}

/** base64url without padding, as `rvt-input` has it. */
export function formatBase64Url(bytes: Uint8Array): string {
  return formatBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The bytes of base64 or base64url, padded or not. Throws `encoding/invalid` (400). */
export function parseBase64(text: string): Uint8Array<ArrayBuffer> {
  const digits = text.replace(/={1,2}$/, "");
  if (digits.length % 4 === 1) throw malformed("base64 of an impossible length");
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4));
  let group = 0;
  let bits = 0;
  let position = 0;
  for (const character of digits) {
    const sextet = SEXTETS.get(character);
    if (sextet === undefined) throw malformed("a character that is not base64");
    group = ((group << 6) | sextet) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[position++] = group >> bits;
    }
  }
  return bytes;
}

function digit(group: number): string {
  return ALPHABET.charAt(group & 63);
}

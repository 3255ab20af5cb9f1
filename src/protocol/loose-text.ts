import { malformed } from "./malformed.js";

const encoder = new TextEncoder();
// `ignoreBOM` means "leave it in": without it a text that begins with U+FEFF would lose it.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** What cbor-x does not keep of a text: half a surrogate pair, a byte order mark at its beginning. */
export const ODD_TEXT = /^\ufeff|\p{Surrogate}/u;

const HALF_PAIRS = /(\p{Surrogate})/u;

/** UTF-8, half a surrogate pair being three bytes like any other character, so that no text loses anything. */
export function bytesOfText(text: string): Uint8Array {
  if (!HALF_PAIRS.test(text)) return encoder.encode(text);
  const bytes: number[] = [];
  for (const part of text.split(HALF_PAIRS)) {
    const unit = part.charCodeAt(0);
    if (HALF_PAIRS.test(part)) bytes.push(0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f));
    else for (const byte of encoder.encode(part)) bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}

/** The text of `bytesOfText`. Throws `encoding/invalid` (400). */
export function textOfBytes(bytes: Uint8Array): string {
  return textOfUtf8(bytes) ?? textWithHalfPairs(bytes);
}

function textOfUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function textWithHalfPairs(bytes: Uint8Array): string {
  let text = "";
  let start = 0;
  for (let i = 0; i <= bytes.length; i++) {
    const isHalf = bytes[i] === 0xed && (bytes[i + 1] ?? 0) >> 5 === 0b101 && (bytes[i + 2] ?? 0) >> 6 === 0b10;
    if (!isHalf && i < bytes.length) continue;
    const before = textOfUtf8(bytes.subarray(start, i));
    if (before === undefined) throw malformed("a text is no UTF-8");
    text += before;
    if (!isHalf) break;
    text += String.fromCharCode(0xd000 | (((bytes[i + 1] as number) & 0x3f) << 6) | ((bytes[i + 2] as number) & 0x3f));
    start = i + 3;
    i += 2;
  }
  return text;
}

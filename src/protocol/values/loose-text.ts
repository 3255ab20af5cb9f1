import { malformed } from "../errors/malformed.js";

const encoder = new TextEncoder();
// `ignoreBOM` means "keep it": without it, a string would lose a leading U+FEFF.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const HALF_PAIRS = /(\p{Surrogate})/u;

/** Longer strings are decoded by the runtime, which throws if one has a lone surrogate. */
const LONG_TEXT_BYTES = 64;

/** Encodes UTF-8, and a lone surrogate as three bytes, so that no string loses anything. */
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

/**
 * Decodes what `bytesOfText` returned.
 *
 * @throws {encoding/invalid} when the bytes are malformed
 */
export function textOfBytes(bytes: Uint8Array): string {
  if (bytes.length >= LONG_TEXT_BYTES) {
    try {
      return decoder.decode(bytes);
    } catch {
      // It may have a lone surrogate.
    }
  }
  return readByHand(bytes);
}

const UNITS_AT_ONCE = 4096;

function readByHand(bytes: Uint8Array): string {
  let text = "";
  let units: number[] = [];
  for (let at = 0; at < bytes.length;) {
    const lead = bytes[at++] as number;
    if (lead < 0x80) {
      units.push(lead);
    } else {
      const more = lead < 0xc2 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : lead < 0xf5 ? 3 : 0;
      const code = codeOf(bytes, at, lead, more);
      at += more;
      if (code < 0x1_0000) units.push(code);
      else units.push(0xd7c0 + (code >> 10), 0xdc00 | (code & 0x3ff));
    }
    if (units.length < UNITS_AT_ONCE) continue;
    text += String.fromCharCode.apply(null, units);
    units = [];
  }
  return text + String.fromCharCode.apply(null, units);
}

/** The code point that starts with the byte `lead` and continues with `more` bytes. */
function codeOf(bytes: Uint8Array, at: number, lead: number, more: number): number {
  let code = lead & (0x3f >> more);
  for (let i = 0; i < more; i++) {
    const next = bytes[at + i] ?? 0;
    if (next >> 6 !== 0b10) throw notUtf8();
    code = (code << 6) | (next & 0x3f);
  }
  if (code < (LEAST[more] as number) || code > 0x10_ffff) throw notUtf8();
  return code;
}

/** The lowest code point with this many continuation bytes: a lower one is overlong. */
const LEAST = [Infinity, 0x80, 0x800, 0x1_0000];

function notUtf8(): Error {
  return malformed("a string is not UTF-8");
}

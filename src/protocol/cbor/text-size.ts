import { isWellFormed } from "../well-formed.js";

/** Longer texts are measured by the runtime; shorter ones are faster by hand. */
const LONG_TEXT = 256;

const encoder = new TextEncoder();
const scratch = new Uint8Array(16_384);

/**
 * The UTF-8 bytes of a text, half a surrogate pair being three like any other character. Negative (`~bytes`) if the text
 * is odd.
 */
export function textBytes(text: string): number {
  const bytes = text.length < LONG_TEXT ? countByHand(text) : countInPieces(text);
  return isOdd(text) ? ~bytes : bytes;
}

/** Whether a text has half a surrogate pair, or begins with a byte order mark: other readers of UTF-8 would not keep it. */
export function isOdd(text: string): boolean {
  return text.charCodeAt(0) === 0xfeff || !isWellFormed(text);
}

function countByHand(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    bytes++;
    if (unit < 0x800) continue;
    bytes++;
    // A whole pair has four bytes and two units.
    if ((unit & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) i++;
  }
  return bytes;
}

/** The runtime writes three bytes for half a pair, too. */
function countInPieces(text: string): number {
  let bytes = 0;
  for (let from = 0; from < text.length;) {
    const { read, written } = encoder.encodeInto(text.slice(from), scratch);
    from += read;
    bytes += written;
  }
  return bytes;
}

/** Longer strings are measured by the runtime; shorter ones are faster by hand: each call of an encoder makes an array. */
const LONG_TEXT = 256;

const encoder = new TextEncoder();
const scratch = new Uint8Array(16_384);

/** The UTF-8 bytes of a string, three for a lone surrogate. */
export function utf8Length(text: string): number {
  return text.length < LONG_TEXT ? countByHand(text) : countInPieces(text);
}

function countByHand(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    bytes++;
    if (unit < 0x800) continue;
    bytes++;
    // A surrogate pair is two units and four bytes.
    if ((unit & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) i++;
  }
  return bytes;
}

/** The runtime writes three bytes for a lone surrogate too. */
function countInPieces(text: string): number {
  let bytes = 0;
  for (let from = 0; from < text.length;) {
    const { read, written } = encoder.encodeInto(text.slice(from), scratch);
    from += read;
    bytes += written;
  }
  return bytes;
}

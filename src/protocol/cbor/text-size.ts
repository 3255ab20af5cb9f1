/** Long texts are worth a call into the runtime; shorter ones are faster by hand. */
export const LONG_TEXT = 64;

/**
 * The UTF-8 bytes of a text, half a surrogate pair being three like any other character. Negative (`~bytes`) if the text
 * is odd: one that has such a half, or begins with a byte order mark, which other readers of UTF-8 would not keep.
 */
export function textBytes(text: string): number {
  let bytes = text.length;
  let isOdd = text.charCodeAt(0) === 0xfeff;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) {
      bytes++;
      continue;
    }
    bytes += 2;
    if (unit < 0xd800 || unit > 0xdfff) continue;
    const next = unit < 0xdc00 ? text.charCodeAt(i + 1) : 0;
    // A whole pair has four bytes and two units.
    if (next >= 0xdc00 && next <= 0xdfff) i++;
    else isOdd = true;
  }
  return isOdd ? ~bytes : bytes;
}

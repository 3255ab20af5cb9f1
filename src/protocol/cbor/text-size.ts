import { utf8Length } from "../utf8-length.js";
import { isWellFormed } from "../well-formed.js";

/** The UTF-8 bytes of a string, three for a lone surrogate. Negative (`~bytes`) if the string is odd. */
export function textBytes(text: string): number {
  const bytes = utf8Length(text);
  return isOdd(text) ? ~bytes : bytes;
}

/** True for an odd string: with a lone surrogate or a leading byte order mark, which other UTF-8 readers would lose. */
export function isOdd(text: string): boolean {
  return text.charCodeAt(0) === 0xfeff || !isWellFormed(text);
}

import { errorOfParts } from "../values/error-values.js";
import { malformed } from "../errors/malformed.js";
import { viewKindByTag, viewOfBytes } from "../values/typed-arrays.js";

// The values of tagged items. Every function throws `encoding/invalid` for malformed ones.

export function dateOfText(text: string): Date {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw malformed("a date that cannot be read");
  return new Date(time);
}

export function dateOfSeconds(seconds: number): Date {
  return new Date(Math.round(seconds * 1000));
}

export function asBigint(bytes: Uint8Array): bigint {
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0"));
  return BigInt(`0x0${digits.join("")}`);
}

/** The typed array of a tag. Throws for any other tag. */
export function asView(tag: number, bytes: Uint8Array): ArrayBufferView {
  const kind = viewKindByTag(tag);
  if (kind === undefined) throw malformed(`the unknown tag ${tag}`);
  const view = viewOfBytes(kind, bytes);
  if (view === undefined) throw malformed("a typed array with a partial element");
  return view;
}

const NO_PROPERTIES = Object.freeze(Object.create(null) as Record<string, unknown>);

/** `[class, message, properties?]`. No class is looked up by name. */
export function errorOfList([className, message, third]: readonly unknown[]): Error {
  if (typeof className !== "string" || typeof message !== "string") throw malformed("an error with too few parts");
  const isMore = typeof third === "object" && third !== null;
  return errorOfParts({ className, message, properties: isMore ? (third as Record<string, unknown>) : NO_PROPERTIES });
}

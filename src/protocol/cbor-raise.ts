import { Tag } from "cbor-x";
import { TAG, tagOfAlias } from "./cbor/tags.js";
import { errorOfParts } from "./error-values.js";
import { textOfBytes } from "./loose-text.js";
import { malformed } from "./malformed.js";
import { copyOfBytes, viewKindByTag, viewOfBytes } from "./typed-arrays.js";
import { looksTagged, regExpOf, valueOfPublishedTag } from "./wire-tags.js";

/**
 * The value of a tree that cbor-x read, after `CborScan`: every tag is a `Tag` still, and objects are Maps where the scan
 * asked for it. Takes the tree over. With `revive`, `["$Tag", …]` pairs become their values. Throws `encoding/invalid`.
 */
export function raise(tree: unknown, revive: boolean): unknown {
  if (typeof tree !== "object" || tree === null) return tree;
  if (Array.isArray(tree)) return raiseArray(tree, revive);
  if (tree instanceof Uint8Array) return copyOfBytes(tree);
  if (tree instanceof Tag) return raiseTag(tagOfAlias(tree.tag), tree.value, revive);
  if (tree instanceof Map) return raiseRecord(tree, revive);
  const record = tree as Record<string, unknown>;
  for (const key of Object.keys(record)) {
    const child = record[key];
    if (typeof child === "object" && child !== null) record[key] = raise(child, revive);
  }
  return record;
}

function raiseArray(array: unknown[], revive: boolean): unknown {
  // The list in a `["$Set", list]` is never a tagged pair itself, though it may look like one.
  const isSet = revive && array.length === 2 && array[0] === "$Set" && Array.isArray(array[1]);
  if (isSet) return new Set((array[1] as unknown[]).map((item) => raise(item, revive)));
  for (let i = 0; i < array.length; i++) {
    const item = array[i];
    if (typeof item === "object" && item !== null) array[i] = raise(item, revive);
  }
  return revive && looksTagged(array) ? valueOfPublishedTag(array[0], array[1], asItIs) : array;
}

function raiseRecord(entries: Map<unknown, unknown>, revive: boolean): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (const [rawKey, child] of entries) {
    const key = raise(rawKey, false);
    if (typeof key !== "string" && typeof key !== "number" && typeof key !== "bigint") throw malformed("a property whose name is no text");
    const value = raise(child, revive);
    // Assigning would set the prototype.
    if (key === "__proto__") Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true });
    else record[String(key)] = value;
  }
  return record;
}

function raiseTag(tag: number, inner: unknown, revive: boolean): unknown {
  switch (tag) {
    case TAG.isoDate:
      return dateOf(Date.parse(asText(raise(inner, false))));
    case TAG.epochDate:
      if (typeof inner !== "number" && typeof inner !== "bigint") throw malformed("a date that is no number");
      return new Date(Math.round(Number(inner) * 1000));
    case TAG.bigUint:
      return bigintOf(inner);
    case TAG.bigNegative:
      return -1n - bigintOf(inner);
    // Pairs within native sets and errors are never tags: the published clients neither write nor revive any there.
    case TAG.generic:
      return genericOf(asList(inner).map((part) => raise(part, false)));
    case TAG.set:
      return new Set(asList(inner).map((item) => raise(item, false)));
    case TAG.map:
      if (!(inner instanceof Map)) throw malformed("a Map of something else than pairs");
      return new Map([...inner].map(([key, item]) => [raise(key, revive), raise(item, revive)]));
    case TAG.arrayBuffer:
      return copyOfBytes(asBytes(inner)).buffer;
    case TAG.dataView:
      return new DataView(copyOfBytes(asBytes(inner)).buffer);
    case TAG.text:
      return textOfBytes(asBytes(inner));
    case TAG.negativeZero:
      return -0;
    default:
      return viewOf(tag, asBytes(inner));
  }
}

const asItIs = (value: unknown): unknown => value;

function viewOf(tag: number, bytes: Uint8Array): ArrayBufferView {
  const kind = viewKindByTag(tag);
  const view = kind && viewOfBytes(kind, bytes);
  if (view === undefined) throw malformed("a typed array of no whole number of elements");
  return view;
}

function bigintOf(bytes: unknown): bigint {
  const digits = Array.from(asBytes(bytes), (byte) => byte.toString(16).padStart(2, "0"));
  return BigInt(`0x0${digits.join("")}`);
}

/** Tag 27: `["RegExp", source, flags]` or `[class of error, message, properties?]`. Nothing is looked up by name. */
function genericOf([className, text, third]: unknown[]): RegExp | Error {
  if (className === "RegExp") return regExpOf(asText(text), third === undefined ? "" : asText(third));
  const properties = typeof third === "object" && third !== null ? (third as Record<string, unknown>) : {};
  return errorOfParts({ className: asText(className), message: asText(text), properties });
}

function asText(value: unknown): string {
  if (typeof value !== "string") throw malformed("something else where a text belongs");
  return value;
}

function asList(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw malformed("something else where a list belongs");
  return value as unknown[];
}

function asBytes(value: unknown): Uint8Array {
  if (!(value instanceof Uint8Array)) throw malformed("a tag on something else than bytes");
  return value;
}

function dateOf(time: number): Date {
  if (Number.isNaN(time)) throw malformed("a date that cannot be read");
  return new Date(time);
}

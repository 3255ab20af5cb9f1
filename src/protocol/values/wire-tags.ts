import { partsOfRegExp, timeOf } from "./intrinsics.js";
import { formatBase64, parseBase64 } from "./base64.js";
import { malformed } from "../errors/malformed.js";
import { errorOfParts, errorParts } from "./error-values.js";
import { bytesOfView, nameOfView, viewKindByName, viewOfBytes } from "./typed-arrays.js";

/**
 * The `["$Name", payload]` pairs that carry in JSON what JSON cannot express. RivetKit's clients support BigInt, ArrayBuffer,
 * Uint8Array, Undefined and Set, and throw on any other; the rest is used between our own client and server.
 */
export type TaggedPair = [tag: string, payload: unknown];

/** Whether an array looks like a tagged pair; a user's must then be escaped. */
export function looksTagged(array: readonly unknown[]): array is [string, unknown] {
  const [first] = array;
  return array.length === 2 && typeof first === "string" && first.startsWith("$");
}

/** The tagged pair of a number that JSON cannot express; `undefined` for all others. */
export function tagOfNumber(value: number): TaggedPair | undefined {
  if (Number.isFinite(value) && !Object.is(value, -0)) return undefined;
  return ["$Number", Object.is(value, -0) ? "-0" : String(value)];
}

export function tagOfBuffer(buffer: ArrayBuffer): TaggedPair {
  return ["$ArrayBuffer", formatBase64(new Uint8Array(buffer))];
}

/** `$Uint8Array`, `$Float64Array`, `$DataView` and so on, by the view's own name. */
export function tagOfView(view: ArrayBufferView): TaggedPair {
  return [`$${nameOfView(view)}`, formatBase64(bytesOfView(view))];
}

export function tagOfDate(date: Date): TaggedPair {
  const time = timeOf(date);
  return ["$Date", Number.isNaN(time) ? null : time];
}

export function tagOfRegExp(expression: RegExp): TaggedPair {
  return ["$RegExp", partsOfRegExp(expression)];
}

/** `encode` encodes the values inside the payload. */
export function tagOfError(error: Error, encode: (value: unknown) => unknown): TaggedPair {
  const { className, message, properties } = errorParts(error);
  return ["$Error", [className, message, encode(properties)]];
}

/** Revives the values inside a payload. The payload itself is never a tagged pair, even if it looks like one. */
export type Revive = (tree: unknown) => unknown;

/**
 * The value of a pair with a tag of RivetKit's, or of an escaped pair.
 *
 * @throws {encoding/invalid} for any other pair
 */
export function valueOfPublishedTag(tag: string, payload: unknown, revive: Revive): unknown {
  if (tag.startsWith("$$")) return [tag.slice(1), revive(payload)];
  if (tag === "$Undefined") return undefined;
  if (tag === "$Set" && Array.isArray(payload)) return new Set<unknown>(payload.map(revive));
  if (typeof payload === "string") {
    if (tag === "$BigInt" && /^-?\d+$/.test(payload)) return BigInt(payload);
    if (tag === "$ArrayBuffer") return parseBase64(payload).buffer;
    if (tag === "$Uint8Array") return parseBase64(payload);
  }
  throw malformed(`the tag ${tag} is unknown or its value is not valid`);
}

/**
 * The value of a pair with any tag, including our own.
 *
 * @throws {encoding/invalid} when the tag is unknown or its value is not valid
 */
export function valueOfTag(tag: string, payload: unknown, revive: Revive): unknown {
  switch (tag) {
    case "$Map":
      if (isEntryList(payload)) return new Map(payload.map(([key, item]) => [revive(key), revive(item)]));
      break;
    case "$Number":
      if (typeof payload === "string" && /^(NaN|-?Infinity|-0)$/.test(payload)) return Number(payload);
      break;
    case "$Date":
      if (typeof payload === "number") return new Date(payload);
      if (payload === null) return new Date(NaN);
      break;
    case "$RegExp":
      if (isTextPair(payload)) return regExpOf(payload[0], payload[1]);
      break;
    case "$Error":
      if (isErrorPayload(payload)) {
        const [className, message, properties] = payload;
        return errorOfParts({ className, message, properties: revivedMembers(properties, revive) });
      }
      break;
    case "$DataView":
      if (typeof payload === "string") return new DataView(parseBase64(payload).buffer);
      break;
  }
  const kind = viewKindByName(tag.slice(1));
  if (kind === undefined || typeof payload !== "string") return valueOfPublishedTag(tag, payload, revive);
  const view = viewOfBytes(kind, parseBase64(payload));
  if (view === undefined) throw malformed("a typed array with a partial element");
  return view;
}

/** @throws {encoding/invalid} when the runtime throws a SyntaxError */
export function regExpOf(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, flags);
  } catch {
    throw malformed("a regular expression that is not valid in this runtime");
  }
}

/** The object itself is part of the error and does not count as a level. */
function revivedMembers(record: Record<string, unknown>, revive: Revive): Record<string, unknown> {
  const revived = Object.create(null) as Record<string, unknown>;
  for (const name of Object.keys(record)) revived[name] = revive(record[name]);
  return revived;
}

function isEntryList(payload: unknown): payload is [unknown, unknown][] {
  return Array.isArray(payload) && payload.every((entry) => Array.isArray(entry) && entry.length === 2);
}

function isTextPair(payload: unknown): payload is [string, string] {
  return Array.isArray(payload) && payload.length === 2 && payload.every((item) => typeof item === "string");
}

function isErrorPayload(payload: unknown): payload is [string, string, Record<string, unknown>] {
  if (!Array.isArray(payload)) return false;
  const [className, message, properties]: unknown[] = payload;
  return typeof className === "string" && typeof message === "string" && isRecord(properties);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

import { heldMap, heldSet, lengthOf, ownItem, ownValue, partsOfRegExp, timeOf } from "../values/intrinsics.js";
import { addItem, setProperty } from "../values/own-members.js";
import { OVER_LIMIT, UNENCODABLE } from "../values/refusals.js";
import { encodingFailure } from "./encoding-failure.js";
import { MAX_DECODED_DEPTH, MAX_WIRE_BYTES, OWN_LIMITS, type ReadLimits } from "../limits.js";
import { malformed, regExpTooLong, tooDeep } from "../errors/malformed.js";
import { ownField } from "../own.js";
import { nameOfView, viewKindByName } from "../values/typed-arrays.js";
import { isContainer, kindOf } from "../values/value-kinds.js";
import {
  looksTagged,
  tagOfBuffer,
  tagOfDate,
  tagOfError,
  tagOfNumber,
  tagOfRegExp,
  tagOfView,
  valueOfTag,
} from "../values/wire-tags.js";

/** How to write JSON. */
export interface JsonOptions {
  /**
   * The reader is our own, so that every value keeps its kind. Otherwise only the tags of the published clients are
   * used: a Date becomes its ISO text, a Map `{}`, a RegExp its text, an Error `{name, message}`, a typed array other
   * than Uint8Array a list of its numbers, NaN and infinities null.
   */
  extended?: boolean;
}

/** JSON text of any value of the codec's domain. Throws `value/not_serializable` (400) or `value/too_large` (413). */
export function encodeJson(value: unknown, options: JsonOptions = {}): string {
  return JSON.stringify(toJsonTree(value, options));
}

/**
 * The value of JSON text, all tags revived, `__proto__` being a key like any other. Throws `encoding/invalid` (400), also
 * for what is beyond `limits`.
 */
export function decodeJson(text: string, limits = OWN_LIMITS): unknown {
  return fromJsonTree(parseJson(text), limits);
}

/** The value of JSON text as it stands: no pair is a tag. Throws `encoding/invalid` (400). */
export function decodePlainJson(text: string, { depth } = OWN_LIMITS): unknown {
  const tree = parseJson(text);
  if (!isWithin(tree, depth)) throw tooDeep(depth);
  return tree;
}

function isWithin(tree: unknown, levels: number): boolean {
  if (typeof tree !== "object" || tree === null) return true;
  return levels > 0 && Object.values(tree).every((child) => isWithin(child, levels - 1));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed("it is no JSON");
  }
}

/** What `JSON.stringify` writes as `encodeJson` would: to embed a value in something larger. */
export function toJsonTree(value: unknown, options: JsonOptions = {}): unknown {
  try {
    return new JsonEncoder(ownField(options, "extended") ?? false).encode(value, 0);
  } catch (error) {
    throw encodingFailure(error, value, { depth: 0, maxDepth: MAX_DECODED_DEPTH, limitBytes: MAX_WIRE_BYTES });
  }
}

/** The value of what `JSON.parse` gave. Takes the tree over: it is changed in place. Throws `encoding/invalid` (400). */
export function fromJsonTree(tree: unknown, limits = OWN_LIMITS): unknown {
  return new JsonRevival(limits).value(tree, 0);
}

class JsonRevival {
  readonly #maxDepth: number;
  #regExpLeft: number;

  constructor({ depth, regExpLength }: ReadLimits) {
    this.#maxDepth = depth;
    this.#regExpLeft = regExpLength;
  }

  /** `depth` is how many containers are around the tree. */
  value(tree: unknown, depth: number): unknown {
    if (typeof tree !== "object" || tree === null) return tree;
    if (Array.isArray(tree)) return this.#array(tree, depth);
    this.#enter(depth);
    const record = tree as Record<string, unknown>;
    for (const key of Object.keys(record)) {
      const child = record[key];
      // Every key is an own property already, `__proto__` too, so that assigning touches no prototype.
      if (typeof child === "object" && child !== null) record[key] = this.value(child, depth + 1);
    }
    return record;
  }

  #array(array: unknown[], depth: number): unknown {
    if (looksTagged(array)) return this.#pair(array, depth);
    this.#enter(depth);
    for (let i = 0; i < array.length; i++) array[i] = this.value(array[i], depth + 1);
    return array;
  }

  /** A pair may stand for a leaf, and then is no level. */
  #pair([tag, payload]: [string, unknown], depth: number): unknown {
    if (depth > this.#maxDepth) throw tooDeep(this.#maxDepth);
    if (tag === "$RegExp") this.#takeRegExp(payload);
    const value = valueOfTag(tag, payload, (child) => this.value(child, depth + 1));
    if (typeof value === "object" && value !== null && isContainer(kindOf(value))) this.#enter(depth);
    return value;
  }

  #takeRegExp(payload: unknown): void {
    const source: unknown = Array.isArray(payload) ? payload[0] : undefined;
    if (typeof source === "string") this.#regExpLeft -= source.length;
    if (this.#regExpLeft < 0) throw regExpTooLong();
  }

  #enter(depth: number): void {
    if (depth >= this.#maxDepth) throw tooDeep(this.#maxDepth);
  }
}

/** What each value counts of the limit, beside a text's length: less than it takes in memory while JSON is made. */
const VALUE_COST = 8;

class JsonEncoder {
  readonly #extended: boolean;
  #left = MAX_WIRE_BYTES;

  constructor(extended: boolean) {
    this.#extended = extended;
  }

  encode(value: unknown, depth: number): unknown {
    this.#left -= VALUE_COST + (typeof value === "string" ? value.length : 0);
    if (this.#left < 0) throw OVER_LIMIT;
    switch (typeof value) {
      case "string":
      case "boolean":
        return value;
      case "number":
        return (this.#extended ? tagOfNumber(value) : undefined) ?? value;
      case "bigint":
        return ["$BigInt", value.toString()];
      case "undefined":
        return ["$Undefined", 0];
      case "object":
        return value === null ? null : this.#object(value, depth + 1);
      default:
        throw UNENCODABLE;
    }
  }

  #object(value: object, depth: number): unknown {
    const kind = kindOf(value);
    if (depth > MAX_DECODED_DEPTH && isContainer(kind)) throw UNENCODABLE;
    switch (kind) {
      case "object":
        return this.#record(value as Record<string, unknown>, depth);
      case "array":
        return this.#array(value as unknown[], depth);
      case "set":
        return ["$Set", Array.from(heldSet(value as Set<unknown>, this.#left), (item) => this.encode(item, depth))];
      case "map":
        return this.#map(value as Map<unknown, unknown>, depth);
      case "date":
        return this.#extended ? tagOfDate(value as Date) : isoText(timeOf(value as Date));
      case "regexp":
        return this.#extended ? tagOfRegExp(value as RegExp) : `/${partsOfRegExp(value as RegExp).join("/")}`;
      case "error":
        return this.#error(value as Error, depth);
      case "buffer":
        return tagOfBuffer(value as ArrayBuffer);
      case "view":
        return this.#view(value as ArrayBufferView, depth);
      default:
        throw UNENCODABLE;
    }
  }

  #record(record: Record<string, unknown>, depth: number): unknown {
    const tree: Record<string, unknown> = {};
    for (const key of Object.keys(record)) {
      setProperty(tree, key, this.encode(ownValue(record, key), depth));
    }
    return tree;
  }

  #array(array: readonly unknown[], depth: number): unknown {
    const length = lengthOf(array);
    const tree: unknown[] = [];
    for (let i = 0; i < length; i++) addItem(tree, this.encode(ownItem(array, i), depth));
    if (looksTagged(tree)) tree[0] = `$${tree[0]}`;
    return tree;
  }

  #map(map: Map<unknown, unknown>, depth: number): unknown {
    // Both ways the entries are walked: what cannot be encoded is an error, not lost.
    const entries = Array.from(heldMap(map, this.#left), ([key, item]) => [
      this.encode(key, depth),
      this.encode(item, depth),
    ]);
    return this.#extended ? ["$Map", entries] : {};
  }

  #error(error: Error, depth: number): unknown {
    const pair = tagOfError(error, (properties) => this.#record(properties as Record<string, unknown>, depth));
    return this.#extended ? pair : { name: String(error.name), message: String(error.message) };
  }

  #view(view: ArrayBufferView, depth: number): unknown {
    const name = nameOfView(view);
    if (this.#extended || name === "Uint8Array") return tagOfView(view);
    if (viewKindByName(name) === undefined) return ["$Uint8Array", tagOfView(view)[1]];
    return Array.from(view as unknown as ArrayLike<number | bigint>, (item) => this.encode(item, depth));
  }
}

function isoText(time: number): string | null {
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

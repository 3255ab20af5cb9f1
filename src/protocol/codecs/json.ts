import { heldMap, heldSet, lengthOf, ownItem, ownValue, partsOfRegExp, timeOf } from "../values/intrinsics.js";
import { addItem, setProperty } from "../values/own-members.js";
import { OVER_LIMIT, UNENCODABLE } from "../values/refusals.js";
import { encodingFailure } from "./encoding-failure.js";
import type { SizeOf } from "./value-size.js";
import { membersOf } from "../values/value-members.js";
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
   * The reader is our own, so every value keeps its type. Otherwise only the tags of RivetKit's clients are used: a Date
   * becomes its ISO string, a Map `{}`, a RegExp its string, an Error `{name, message}`, a typed array other than Uint8Array
   * an array of numbers, NaN and infinities null.
   */
  extended?: boolean;
}

/**
 * Encodes any value that the codec supports as JSON.
 *
 * @throws {value/not_serializable} when it holds something that cannot be encoded
 * @throws {value/too_large} when it exceeds 32 MiB
 */
export function encodeJson(value: unknown, options: JsonOptions = {}): string {
  return JSON.stringify(toJsonTree(value, options));
}

/**
 * Decodes JSON and revives all tags; `__proto__` is a key like any other.
 *
 * @throws {encoding/invalid} when it is malformed or exceeds `limits`
 */
export function decodeJson(text: string, limits = OWN_LIMITS): unknown {
  return fromJsonTree(parseJson(text), limits);
}

/**
 * Decodes JSON without reviving tags.
 *
 * @throws {encoding/invalid} when it is malformed or nested too deeply
 */
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
    throw malformed("it is not JSON");
  }
}

/** The tree that `JSON.stringify` turns into what `encodeJson` returns, for embedding in a larger one. */
export function toJsonTree(value: unknown, options: JsonOptions = {}): unknown {
  try {
    return new JsonEncoder(ownField(options, "extended") ?? false).encode(value, 0);
  } catch (error) {
    throw encodingFailure(error, value, {
      depth: 0,
      maxDepth: MAX_DECODED_DEPTH,
      limitBytes: MAX_WIRE_BYTES,
      sizeOf: countedSizes(),
    });
  }
}

/**
 * Revives what `JSON.parse` returned, in place.
 *
 * @throws {encoding/invalid} when a tag is malformed or the tree exceeds `limits`
 */
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

  /** `depth`: the number of containers around the tree. */
  value(tree: unknown, depth: number): unknown {
    if (typeof tree !== "object" || tree === null) return tree;
    if (Array.isArray(tree)) return this.#array(tree, depth);
    this.#enter(depth);
    const record = tree as Record<string, unknown>;
    for (const key of Object.keys(record)) {
      const child = record[key];
      // Every key is an own property already, even `__proto__`, so assigning touches no prototype.
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

  /** A tagged pair may be a leaf; then it does not count as a level. */
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

/** What each value counts toward the limit, plus a string's length: less than it takes in memory meanwhile. */
const VALUE_COST = 8;

/** What values count toward the limit, up to a given number. Shared parts are counted once. */
function countedSizes(): SizeOf {
  const known = new Map<unknown, number>();
  return function sizeOf(value, most) {
    if (typeof value !== "object" || value === null) return costOf(value);
    let size = known.get(value) ?? 0;
    if (size > 0) return size;
    size = VALUE_COST + (ArrayBuffer.isView(value) || value instanceof ArrayBuffer ? value.byteLength : 0);
    for (const [, member] of membersOf(value)) {
      size += sizeOf(member, most - size);
      if (size >= most) break;
    }
    if (Array.isArray(value)) size = Math.max(size, VALUE_COST * value.length);
    size = Math.min(size, most);
    known.set(value, size);
    return size;
  };
}

function costOf(value: unknown): number {
  return VALUE_COST + (typeof value === "string" ? value.length : 0);
}

class JsonEncoder {
  readonly #extended: boolean;
  #left = MAX_WIRE_BYTES;

  constructor(extended: boolean) {
    this.#extended = extended;
  }

  encode(value: unknown, depth: number): unknown {
    this.#left -= costOf(value);
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
    // Encoded in both cases: an entry that cannot be encoded is an error, not lost.
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

import type { ReadLimits } from "../limits.js";
import { malformed, regExpTooLong, tooDeep } from "../errors/malformed.js";
import { looksTagged, regExpOf, valueOfPublishedTag } from "../values/wire-tags.js";
import { addItem, setProperty } from "../values/own-members.js";
import { CborInput, INDEFINITE } from "./input.js";
import { asBigint, asView, dateOfSeconds, dateOfText, errorOfList } from "./tagged-values.js";
import { TAG } from "./tags.js";

/** How bytes are read. */
export interface DecodingOptions {
  /** `["$Tag", …]` pairs become their values. */
  readonly revive: boolean;
  readonly limits: ReadLimits;
  /** How many levels of plain objects are decoded without a prototype. */
  readonly bareLevels: number;
}

const BYTES = 2;
const TEXT = 3;
const ARRAY = 4;
const MAP = 5;
const TAGGED = 6;

/**
 * Decodes `bytes`, which must hold exactly one value, in one pass. Accepts indefinite lengths, half and single floats, and
 * heads longer than needed; of duplicate property names the last counts, as in JSON. The result shares no memory with
 * `bytes`.
 *
 * @throws {encoding/invalid} when the bytes are malformed or exceed a limit
 */
export function decodeCbor(bytes: Uint8Array, options: DecodingOptions): unknown {
  const decoder = new CborDecoder(new CborInput(bytes), options);
  return decoder.whole();
}

class CborDecoder {
  readonly #in: CborInput;
  readonly #maxDepth: number;
  readonly #bareLevels: number;
  #regExpLeft: number;
  /** Off within native Sets and errors: RivetKit's clients neither write nor revive pairs there. */
  #revive: boolean;

  constructor(input: CborInput, { revive, limits, bareLevels }: DecodingOptions) {
    this.#in = input;
    this.#revive = revive;
    this.#maxDepth = limits.depth;
    this.#regExpLeft = limits.regExpLength;
    this.#bareLevels = bareLevels;
  }

  whole(): unknown {
    const value = this.#value(0);
    this.#in.end();
    return value;
  }

  /** `depth`: the number of containers around the value. */
  #value(depth: number): unknown {
    const head = this.#in.byte();
    const info = head & 31;
    switch (head >> 5) {
      case 0:
        return info < 24 ? info : this.#in.integer(info);
      case 1: {
        const integer = this.#in.integer(info);
        return typeof integer === "number" ? -1 - integer : -1n - integer;
      }
      case BYTES:
        return this.#in.copy(this.#in.length(info));
      case TEXT:
        return this.#in.text(this.#in.length(info));
      case ARRAY:
        return this.#revive ? this.#pairOrArray(info, depth) : this.#items(info, this.#enter(depth));
      case MAP:
        return this.#record(info, this.#enter(depth), depth < this.#bareLevels);
      case TAGGED:
        return this.#tagged(info, depth);
      default:
        return info === 27 ? this.#in.double() : this.#in.simple(info);
    }
  }

  #enter(depth: number): number {
    if (depth >= this.#maxDepth) throw tooDeep(this.#maxDepth);
    return depth + 1;
  }

  /** Calls `step` for each item, or pair of items, up to the length or the break. */
  #each(info: number, itemsPerStep: number, step: () => void): void {
    if (info === INDEFINITE) {
      while (!this.#in.takeBreak()) step();
    } else {
      for (let left = this.#in.count(info, itemsPerStep); left > 0; left--) step();
    }
  }

  #items(info: number, depth: number): unknown[] {
    const items: unknown[] = [];
    if (info === INDEFINITE) while (!this.#in.takeBreak()) addItem(items, this.#value(depth));
    else
      for (let left = this.#in.count(info, 1); left > 0; left--) {
        // A fast path: where one number is, there are many.
        if (this.#in.takeDoubleHead()) addItem(items, this.#in.double());
        else addItem(items, this.#value(depth));
      }
    return items;
  }

  #record(info: number, depth: number, isBare: boolean): Record<string, unknown> {
    const record = (isBare ? Object.create(null) : {}) as Record<string, unknown>;
    if (info === INDEFINITE) while (!this.#in.takeBreak()) setProperty(record, this.#name(), this.#value(depth));
    else
      for (let left = this.#in.count(info, 2); left > 0; left--) setProperty(record, this.#name(), this.#value(depth));
    return record;
  }

  /** The name of a property: a string, or an integer from another encoder. */
  #name(): string {
    const name = this.#in.shortName();
    if (name !== undefined) return name;
    const key = this.#in.isNext(ARRAY) ? undefined : this.#value(this.#maxDepth);
    if (typeof key !== "string" && typeof key !== "number" && typeof key !== "bigint")
      throw malformed("a property name that is not a string");
    return String(key);
  }

  /** A tagged pair may be a leaf; then it does not count as a level. */
  #pairOrArray(info: number, depth: number): unknown {
    if (depth > this.#maxDepth) throw tooDeep(this.#maxDepth);
    const items: unknown[] = [];
    // The array in `["$Set", array]` is never a pair itself, though it may look like one, and does not count as a level.
    let list: unknown[] | undefined;
    this.#each(info, 1, () => {
      const isList = items.length === 1 && items[0] === "$Set" && this.#in.isNext(ARRAY);
      if (isList) list = this.#items(this.#in.info(ARRAY), depth + 1);
      addItem(items, isList ? list : this.#value(depth + 1));
    });
    if (list && items.length > 2) items[1] = pairOf(list);
    const value = pairOf(items);
    if (depth === this.#maxDepth && (Array.isArray(value) || value instanceof Set)) throw tooDeep(this.#maxDepth);
    return value;
  }

  #tagged(info: number, depth: number): unknown {
    let tag = this.#in.tag(info);
    while (tag === TAG.selfDescribed) {
      if (!this.#in.isNext(TAGGED)) return this.#value(depth);
      tag = this.#in.tag(this.#in.info(TAGGED));
    }
    switch (tag) {
      case TAG.isoDate:
        return dateOfText(this.#in.anyText());
      case TAG.epochDate:
        return dateOfSeconds(this.#in.number());
      case TAG.bigUint:
        return asBigint(this.#in.bytes());
      case TAG.bigNegative:
        return -1n - asBigint(this.#in.bytes());
      case TAG.generic:
        return this.#generic(depth);
      case TAG.set:
        return this.#set(this.#enter(depth));
      case TAG.map:
        return this.#map(this.#enter(depth));
      case TAG.arrayBuffer:
        return this.#in.copy(this.#in.length(this.#in.info(BYTES))).buffer;
      case TAG.dataView:
        return new DataView(this.#in.copy(this.#in.length(this.#in.info(BYTES))).buffer);
      case TAG.text:
        return this.#in.looseText();
      case TAG.negativeZero:
        if (this.#in.byte() !== 0) throw malformed("an invalid negative zero");
        return -0;
      default:
        return asView(tag, this.#in.bytes());
    }
  }

  #set(depth: number): Set<unknown> {
    return this.#unrevived(() => {
      const set = new Set<unknown>();
      this.#each(this.#in.info(ARRAY), 1, () => set.add(this.#value(depth)));
      return set;
    });
  }

  #map(depth: number): Map<unknown, unknown> {
    const map = new Map<unknown, unknown>();
    this.#each(this.#in.info(MAP), 2, () => {
      const key = this.#value(depth);
      map.set(key, this.#value(depth));
    });
    return map;
  }

  /** Tag 27: `["RegExp", source, flags]` or `[error class, message, properties?]`. Only an error counts as a level. */
  #generic(depth: number): RegExp | Error {
    return this.#unrevived(() => {
      const parts: unknown[] = [];
      this.#each(this.#in.info(ARRAY), 1, () => {
        if (parts.length > 2) throw malformed("a generic object with too many parts");
        addItem(parts, parts.length < 2 || parts[0] === "RegExp" ? this.#in.anyText() : this.#properties(depth));
        if (parts[0] !== "RegExp") this.#enter(depth);
      });
      if (parts[0] !== "RegExp") return errorOfList(parts);
      const [, source, flags = ""] = parts as string[];
      if (source === undefined) throw malformed("a regular expression without a source");
      this.#regExpLeft -= source.length;
      if (this.#regExpLeft < 0) throw regExpTooLong();
      return regExpOf(source, flags);
    });
  }

  /** The further properties of an error. Other encoders may write something else there. */
  #properties(depth: number): unknown {
    return this.#in.isNext(MAP) ? this.#record(this.#in.info(MAP), depth + 1, true) : this.#value(depth + 1);
  }

  #unrevived<T>(read: () => T): T {
    const revive = this.#revive;
    this.#revive = false;
    const value = read();
    this.#revive = revive;
    return value;
  }
}

function pairOf(items: unknown[]): unknown {
  return looksTagged(items) ? valueOfPublishedTag(items[0], items[1], asItIs) : items;
}

const asItIs = (value: unknown): unknown => value;

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
  /** Plain objects within so many containers have no prototype. */
  readonly bareLevels: number;
}

const BYTES = 2;
const TEXT = 3;
const ARRAY = 4;
const MAP = 5;
const TAGGED = 6;

/**
 * The value that `bytes` hold, whole and exactly once, in one pass. Indefinite arrays and objects are read, half and
 * single floats, and heads that are longer than they need to be; of two properties of one name the last counts, as in
 * JSON. Nothing of the result shares memory with `bytes`. Throws `encoding/invalid` (400).
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
  /** Off within native Sets and errors: the published clients neither write nor revive pairs there. */
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

  /** `depth` is how many containers are around it. */
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

  /** Counted in `count` steps, or until the break. */
  #each(info: number, itemsPerStep: number, step: () => void): void {
    if (info === INDEFINITE) {
      while (!this.#in.isBreak()) step();
    } else {
      for (let left = this.#in.count(info, itemsPerStep); left > 0; left--) step();
    }
  }

  #items(info: number, depth: number): unknown[] {
    const items: unknown[] = [];
    if (info === INDEFINITE) while (!this.#in.isBreak()) addItem(items, this.#value(depth));
    else
      for (let left = this.#in.count(info, 1); left > 0; left--) {
        // Numbers are many where they are.
        if (this.#in.isDouble()) addItem(items, this.#in.double());
        else addItem(items, this.#value(depth));
      }
    return items;
  }

  #record(info: number, depth: number, isBare: boolean): Record<string, unknown> {
    const record = (isBare ? Object.create(null) : {}) as Record<string, unknown>;
    if (info === INDEFINITE) while (!this.#in.isBreak()) setProperty(record, this.#name(), this.#value(depth));
    else
      for (let left = this.#in.count(info, 2); left > 0; left--) setProperty(record, this.#name(), this.#value(depth));
    return record;
  }

  /** The name of a property: a text, or an integer of another encoder. */
  #name(): string {
    const name = this.#in.shortName();
    if (name !== undefined) return name;
    const key = this.#in.isNext(ARRAY) ? undefined : this.#value(this.#maxDepth);
    if (typeof key !== "string" && typeof key !== "number" && typeof key !== "bigint")
      throw malformed("a property whose name is no text");
    return String(key);
  }

  /** An array may be a pair that stands for a leaf, and then is no level. */
  #pairOrArray(info: number, depth: number): unknown {
    if (depth > this.#maxDepth) throw tooDeep(this.#maxDepth);
    const items: unknown[] = [];
    // The list in a `["$Set", list]` is never a pair itself, though it may look like one, and no level of its own.
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
        if (this.#in.byte() !== 0) throw malformed("a negative zero that is none");
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

  /** Tag 27: `["RegExp", source, flags]` or `[class of error, message, properties?]`. Only an error is a level. */
  #generic(depth: number): RegExp | Error {
    return this.#unrevived(() => {
      const parts: unknown[] = [];
      this.#each(this.#in.info(ARRAY), 1, () => {
        if (parts.length > 2) throw malformed("a generic object of too many parts");
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

  /** What else is kept of an error. Other encoders may have something else there. */
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

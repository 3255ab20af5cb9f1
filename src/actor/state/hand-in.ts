import {
  describeValue,
  headBytes,
  kindOf,
  MAX_STORED_DEPTH,
  measure,
  TAG,
  isDecodedForWorkflow,
} from "../../protocol/index.js";
import { type Copies, copyOf, isLeaf, setOwn, sizeOf } from "./plain-values.js";
import { Place, type PlaceOwner } from "./place.js";
import { Refusal, TOO_MUCH } from "./refusals.js";
import { holdsAny, relink } from "./separate.js";
import { seenThrough, standInOf } from "./viewing.js";

/** The state that a value is put into. */
export interface Recipient extends PlaceOwner {
  readonly storedLimitBytes: number;
  readonly copies: Copies;
  /** Reports that a part of another state was copied. */
  copiedFromElsewhere(owner: PlaceOwner): void;
  /** User code may hold references to these objects and write through them. */
  watch(handedIn: readonly object[]): void;
}

/**
 * The values that one statement puts into a state. `take` checks and measures them; `apply` puts them in, once the
 * whole statement is allowed. A value becomes part of the state itself; views in it are replaced by the objects behind
 * them, and values that cannot be shared are copied (VALUE-8).
 */
export class HandIn {
  bytes = 0;
  /** Levels of nested containers in the values. */
  height = 0;
  readonly #recipient: Recipient;
  /** The container that receives the values. A value that holds it, or a container around it, would close a cycle. */
  readonly #around: Place | undefined;
  #ancestors: Set<Place> | undefined;
  /** A memo of `Place.occurrences`, valid until `apply`. */
  #occurrences: Map<Place, number> | undefined;
  /** Objects that are new to the state. */
  #fresh: object[] | undefined;
  /** Those of them that user code holds. */
  #held: object[] | undefined;
  /** Pairs for `linkAll`. */
  #links: object[] | undefined;
  #changes: (() => void)[] | undefined;

  constructor(recipient: Recipient, around: Place | undefined) {
    this.#recipient = recipient;
    this.#around = around;
  }

  /**
   * Returns the object that represents the value in the state. Changes nothing yet.
   * @throws Refusal, or whatever a getter throws
   */
  take(value: unknown, depth = 0): unknown {
    switch (typeof value) {
      case "function":
      case "symbol":
        throw new Refusal(describeValue(value));
      case "object":
        if (value !== null) return this.#object(value, depth);
    }
    this.#add(sizeOf(value));
    return value;
  }

  /** Makes the taken values part of the state. */
  apply(): void {
    if (this.#changes) for (const change of this.#changes) change();
    if (this.#fresh) for (const raw of this.#fresh) if (!Place.of(raw)) new Place(raw, this.#recipient);
    if (this.#links) linkAll(this.#links);
    if (this.#held) this.#recipient.watch(this.#held);
  }

  #onApply(change: () => void): void {
    (this.#changes ??= []).push(change);
  }

  #add(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.#recipient.storedLimitBytes) throw TOO_MUCH;
  }

  #reach(depth: number): void {
    if (depth > this.height) this.height = depth;
  }

  #object(value: object, depth: number): object {
    const seen = seenThrough(value);
    const place = seen ?? Place.of(value);
    if (place && !isLeaf(place.raw) && (seen || place.owner !== this.#recipient || Object.isExtensible(value)))
      return place.owner === this.#recipient ? this.#part(place, depth) : this.#foreign(place, depth);
    if (depth > MAX_STORED_DEPTH) throw new Refusal("cycle");
    if (isDecodedForWorkflow(value)) return this.#container(copyOf(value), depth, false);
    return this.#container(value, depth, true);
  }

  /** A part of this state, which gets one more place. */
  #part(place: Place, depth: number): object {
    this.#ancestors ??= this.#around?.ancestors() ?? new Set();
    if (this.#ancestors.has(place)) throw new Refusal("cycle");
    const { bytes, height } = measure(place.raw, 0, this.#recipient.storedLimitBytes);
    this.#add(bytes);
    this.#reach(depth + height);
    if (place.occurrences((this.#occurrences ??= new Map())) === 0) {
      // Members of an object that was removed from the state may have lost their link to it (`unlink`).
      if (holdsAny(place.raw, this.#ancestors)) throw new Refusal("cycle");
      this.#onApply(() => this.#recipient.watch(relink(place)));
    }
    return place.raw;
  }

  #foreign(place: Place, depth: number): object {
    this.#recipient.copiedFromElsewhere(place.owner);
    return this.#container(copyOf(place.raw), depth, false);
  }

  /** `isHeld`: user code holds a reference to the object. */
  #container(value: object, depth: number, isHeld: boolean): object {
    const kind = kindOf(value);
    switch (kind) {
      case "other":
        throw new Refusal(describeValue(value));
      case "object":
        return this.#record(value as Record<string, unknown>, depth + 1, isHeld);
      case "array":
        return this.#array(value as unknown[], depth + 1, isHeld);
      case "map":
        return this.#map(value as Map<unknown, unknown>, depth + 1, isHeld);
      case "set":
        return this.#set(value as Set<unknown>, depth + 1, isHeld);
      case "date":
        this.#add(sizeOf(value));
        return this.#became(value, Object.isExtensible(value) ? value : new Date(value as Date), isHeld);
      default: {
        // Bytes, errors and regular expressions have no views, which would report a write to them.
        const copy = copyOf(standInOf(value) ?? value);
        const { bytes, height } = measure(copy, 0, this.#recipient.storedLimitBytes);
        this.#add(bytes);
        this.#reach(depth + height);
        return this.#became(value, copy, false);
      }
    }
  }

  #record(record: Record<string, unknown>, depth: number, isHeld: boolean): object {
    this.#reach(depth);
    const keys = Object.keys(record);
    this.#add(headBytes(keys.length));
    // Properties that are not enumerable are not stored, so the object is copied without them. (Views hide symbols.)
    let isFree = Object.isExtensible(record) && Object.getOwnPropertyNames(record).length === keys.length;
    for (const key of keys) {
      const property = Object.getOwnPropertyDescriptor(record, key);
      if (!property || !Object.hasOwn(property, "value")) throw new Refusal("accessor property");
      if (!property.writable || !property.configurable) isFree = false;
    }
    const raw: Record<string, unknown> = isFree ? record : {};
    const container = this.#became(record, raw, isHeld && isFree);
    let replaced: [key: string, item: unknown][] | undefined;
    for (const key of keys) {
      this.#add(sizeOf(key));
      const given = record[key];
      const item = this.#member(given, depth, container);
      if (!isFree) setOwn(raw, key, item);
      else if (!Object.is(item, given)) (replaced ??= []).push([key, item]);
    }
    if (replaced) this.#onApply(() => replaced?.forEach(([key, item]) => setOwn(raw, key, item)));
    return container;
  }

  #array(array: unknown[], depth: number, isHeld: boolean): object {
    this.#reach(depth);
    const { length } = array;
    if (length > this.#recipient.storedLimitBytes) throw TOO_MUCH;
    this.#add(headBytes(length));
    const isFree = Object.isExtensible(array);
    const raw: unknown[] = isFree ? array : [];
    const container = this.#became(array, raw, isHeld && isFree);
    if (!isFree) raw.length = length;
    let replaced: [index: number, item: unknown][] | undefined;
    for (let i = 0; i < length; i++) {
      if (!Object.hasOwn(array, i)) {
        this.#add(1);
        continue;
      }
      const given = array[i];
      const item = this.#member(given, depth, container);
      if (!isFree) raw[i] = item;
      else if (!Object.is(item, given)) (replaced ??= []).push([i, item]);
    }
    if (replaced) this.#onApply(() => replaced?.forEach(([i, item]) => void (raw[i] = item)));
    return container;
  }

  #map(map: Map<unknown, unknown>, depth: number, isHeld: boolean): object {
    this.#reach(depth);
    const { size } = map;
    this.#add(headBytes(TAG.map) + headBytes(size));
    const isFree = Object.isExtensible(map);
    const raw = isFree ? map : new Map<unknown, unknown>();
    const container = this.#became(map, raw, isHeld && isFree);
    const entries: [unknown, unknown][] = [];
    let isChanged = !isFree;
    for (const [key, item] of map) {
      const taken: [unknown, unknown] = [this.#member(key, depth, container), this.#member(item, depth, container)];
      if (!Object.is(taken[0], key) || !Object.is(taken[1], item)) isChanged = true;
      entries.push(taken);
    }
    if (isChanged) {
      this.#onApply(() => {
        raw.clear();
        for (const [key, item] of entries) raw.set(key, item);
      });
    }
    return container;
  }

  #set(set: Set<unknown>, depth: number, isHeld: boolean): object {
    this.#reach(depth);
    const { size } = set;
    this.#add(headBytes(TAG.set) + headBytes(size));
    const isFree = Object.isExtensible(set);
    const raw = isFree ? set : new Set<unknown>();
    const container = this.#became(set, raw, isHeld && isFree);
    const items: unknown[] = [];
    let isChanged = !isFree;
    for (const given of set) {
      const item = this.#member(given, depth, container);
      if (!Object.is(item, given)) isChanged = true;
      items.push(item);
    }
    if (isChanged) {
      this.#onApply(() => {
        raw.clear();
        for (const item of items) raw.add(item);
      });
    }
    return container;
  }

  #member(value: unknown, depth: number, container: object): unknown {
    const item = this.take(value, depth);
    if (typeof item === "object" && item !== null) this.#link(item, container);
    return item;
  }

  #link(item: object, container: object): void {
    if (this.#links) this.#links.push(item, container);
    else this.#links = [item, container];
  }

  /** Notes that `given`, new to the state, is represented there by `raw`. */
  #became(given: object, raw: object, isHeld: boolean): object {
    if (this.#fresh) this.#fresh.push(raw);
    else this.#fresh = [raw];
    if (isHeld && this.#held) this.#held.push(raw);
    else if (isHeld) this.#held = [raw];
    if (raw !== given) this.#onApply(() => this.#recipient.copies.add(given, raw));
    return raw;
  }
}

/**
 * Enters each member into its container. `links` has pairs of both; members of one container mostly follow each other.
 */
function linkAll(links: readonly object[]): void {
  let container: object | undefined;
  let place: Place | undefined;
  for (let i = 0; i < links.length; i += 2) {
    if (links[i + 1] !== container) {
      container = links[i + 1] as object;
      place = Place.of(container);
    }
    Place.of(links[i] as object)?.enter(place as Place);
  }
}

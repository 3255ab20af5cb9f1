import { OVER_LIMIT, UNENCODABLE } from "./refusals.js";

// Reads the contents of built-in objects, whatever own properties hide them. A proxy (a view of state) has no internal slots:
// it is read like any object, and its answers are checked.

const getTime = Date.prototype.getTime;
const sizeOfMap = getterOf(Map.prototype, "size");
const sizeOfSet = getterOf(Set.prototype, "size");
const sourceOf = getterOf(RegExp.prototype, "source");
const flagGetters = (
  [
    ["d", "hasIndices"],
    ["g", "global"],
    ["i", "ignoreCase"],
    ["m", "multiline"],
    ["s", "dotAll"],
    ["u", "unicode"],
    ["v", "unicodeSets"],
    ["y", "sticky"],
  ] as const
).map(([flag, name]) => [flag, getterOf(RegExp.prototype, name)] as const);

const MAX_TIME = 8.64e15;

/** More distinct items than fit into any value; a proxy may yield items forever. */
const MAX_TOLD = 1_000_000;

/** The Map itself, or a copy of what a proxy of one yields. Throws a TypeError, or `OVER_LIMIT` beyond `limit` entries. */
export function heldMap(map: Map<unknown, unknown>, limit: number): Map<unknown, unknown> {
  if (hasInside(map, sizeOfMap)) return map;
  const copy = new Map<unknown, unknown>();
  for (const [key, item] of map) {
    if (copy.size >= Math.min(limit, MAX_TOLD)) throw OVER_LIMIT;
    copy.set(key, item);
  }
  return copy;
}

/** The Set itself, or a copy of what a proxy of one yields. Throws a TypeError, or `OVER_LIMIT` beyond `limit` items. */
export function heldSet(set: Set<unknown>, limit: number): Set<unknown> {
  if (hasInside(set, sizeOfSet)) return set;
  const copy = new Set<unknown>();
  for (const item of set) {
    if (copy.size >= Math.min(limit, MAX_TOLD)) throw OVER_LIMIT;
    copy.add(item);
  }
  return copy;
}

export function mapSize(map: Map<unknown, unknown>): number {
  return sizeOfMap.call(map) as number;
}

export function setSize(set: Set<unknown>): number {
  return sizeOfSet.call(set) as number;
}

/** A date's time in ms, NaN if invalid. Throws a TypeError if it is not a Date. */
export function timeOf(date: Date): number {
  let time: unknown;
  try {
    time = getTime.call(date);
  } catch {
    time = date.getTime();
  }
  if (typeof time !== "number" || !(Number.isNaN(time) || (Number.isInteger(time) && Math.abs(time) <= MAX_TIME)))
    throw UNENCODABLE;
  return time;
}

/** The source and flags that recreate an expression. Throws a TypeError if it is not a RegExp. */
export function partsOfRegExp(expression: RegExp): [source: string, flags: string] {
  if (!hasInside(expression, sourceOf)) return checkedParts(`${expression.source}`, `${expression.flags}`);
  let flags = "";
  for (const [flag, isSet] of flagGetters) if (isSet.call(expression)) flags += flag;
  return [sourceOf.call(expression) as string, flags];
}

function checkedParts(source: string, flags: string): [source: string, flags: string] {
  void new RegExp(source, flags);
  return [source, flags];
}

/** The value of an own data property. Throws `UNENCODABLE` for an accessor or a missing property. */
export function ownValue(record: Readonly<Record<string, unknown>>, key: string): unknown {
  if (!Object.hasOwn(record, key) || lookupGetter.call(record, key) !== undefined) throw UNENCODABLE;
  const value = record[key];
  if (value === undefined && lookupSetter.call(record, key) !== undefined) throw UNENCODABLE;
  return value;
}

// Three times as fast as a property descriptor, and called for every property of every object.
type Lookup = (this: object, key: string) => unknown;
const { __lookupGetter__: lookupGetter, __lookupSetter__: lookupSetter } = Object.prototype as unknown as Record<
  "__lookupGetter__" | "__lookupSetter__",
  Lookup
>;

/** Whether someone assigned elements to Array.prototype or Object.prototype, which the holes of arrays would expose. */
export function hasInheritedElements(): boolean {
  for (const _ in NO_ITEMS) return true;
  return false;
}
const NO_ITEMS: readonly unknown[] = [];

/** The item at `index`, `undefined` for a hole. */
export function ownItem(array: readonly unknown[], index: number): unknown {
  return Object.hasOwn(array, index) ? array[index] : undefined;
}

/** The length of an array. A proxy may return anything: throws `UNENCODABLE` if it is not a valid length. */
export function lengthOf(array: readonly unknown[]): number {
  const { length } = array;
  if (length >>> 0 !== length) throw UNENCODABLE;
  return length;
}

type Getter = (this: object) => unknown;

function hasInside(value: object, getter: Getter): boolean {
  try {
    getter.call(value);
    return true;
  } catch {
    return false;
  }
}

function getterOf(prototype: object, name: string): Getter {
  return Object.getOwnPropertyDescriptor(prototype, name)?.get as Getter;
}

/** Statements that change several elements of an array: all new values are checked before any element changes. */
import { headBytes } from "../../protocol/index.js";
import { Place } from "./place.js";
import type { Viewing } from "./viewing.js";
import { seenThroughOr } from "./object-view.js";

/** Most elements passed to one native call: more could overflow the stack. */
const MAX_ARGUMENTS = 1_000;

type Compare = (a: unknown, b: unknown) => number;

export function push(view: Viewing, target: unknown[], items: readonly unknown[]): void {
  const { length } = target;
  view.tree.change(Place.of(target) as Place, {
    add: items,
    remove: [],
    extraBytes: headBytes(length + items.length) - headBytes(length),
    path: (index) => `[${length + index}]`,
    apply: (taken) => {
      for (const item of taken) target.push(item);
    },
  });
}

/** Replaces `count` elements from `start` on. Returns the removed ones, holes included. */
export function replaceRange(
  view: Viewing,
  target: unknown[],
  start: number,
  count: number,
  items: readonly unknown[],
): unknown[] {
  const place = Place.of(target) as Place;
  const removed = target.slice(start, start + count);
  const length = target.length - count + items.length;
  const extraBytes = headBytes(length) - headBytes(target.length) - holesIn(removed);
  const members = elementsOf(removed);
  if (members.length === 0 && items.length === 0) {
    view.tree.resize(
      place,
      extraBytes,
      () => "",
      () => spliceInto(target, start, count, items),
    );
    return removed;
  }
  for (const item of items) noteInsertion(place, target, item, start);
  const path = (index: number): string => `[${start + index}]`;
  view.tree.change(place, {
    add: items,
    remove: members,
    extraBytes,
    path,
    apply: (taken) => spliceInto(target, start, count, taken),
  });
  return removed;
}

function spliceInto(target: unknown[], start: number, count: number, items: readonly unknown[]): void {
  if (start === target.length) {
    for (const item of items) target.push(item);
  } else if (items.length <= MAX_ARGUMENTS) Reflect.apply(target.splice, target, argumentsOf(start, count, items));
  else {
    const tail = target.slice(start + count);
    target.length = start;
    for (const item of items) target.push(item);
    const at = target.length;
    target.length = at + tail.length;
    for (const [index, item] of elementEntries(tail)) target[at + index] = item;
  }
}

function argumentsOf(start: number, count: number, items: readonly unknown[]): unknown[] {
  const given: unknown[] = [start, count];
  for (const item of items) given.push(item);
  return given;
}

export function setLength(view: Viewing, target: unknown[], given: unknown): void {
  const length = Number(given);
  if (length >>> 0 !== length) throw new RangeError("Invalid array length");
  if (length < target.length) replaceRange(view, target, length, target.length - length, []);
  else if (length > target.length) {
    const bytes = length - target.length + headBytes(length) - headBytes(target.length);
    view.tree.resize(
      Place.of(target) as Place,
      bytes,
      () => "",
      () => void (target.length = length),
    );
  }
}

export function sort(view: Viewing, target: unknown[], compare: Compare | undefined): void {
  if (compare !== undefined && typeof compare !== "function")
    throw new TypeError("The comparison function must be either a function or undefined");
  const before = view.tree.version;
  // Sorts a copy, so that nothing has changed if the comparison throws.
  const sorted = target.slice().sort(compare && ((a, b) => compare(view.wrap(a, target), view.wrap(b, target))));
  // The comparison changed the state, perhaps this array.
  if (view.tree.version !== before) return replaceAll(view, target, sorted);
  rearrange(view, target, sorted);
}

export function reverse(view: Viewing, target: unknown[]): void {
  rearrange(view, target, target.slice().reverse());
}

/** Puts the same elements in another order. */
function rearrange(view: Viewing, target: unknown[], next: readonly unknown[]): void {
  view.tree.resize(
    Place.of(target) as Place,
    0,
    () => "",
    () => {
      for (let i = 0; i < next.length; i++) {
        if (Object.hasOwn(next, i)) target[i] = next[i];
        else Reflect.deleteProperty(target, i);
      }
    },
  );
}

function replaceAll(view: Viewing, target: unknown[], next: readonly unknown[]): void {
  replaceRange(
    view,
    target,
    0,
    target.length,
    next.map((each) => view.wrap(each, target)),
  );
}

export function fill(view: Viewing, target: unknown[], value: unknown, start: number, end: number): void {
  if (end <= start) return;
  const removed = target.slice(start, end);
  const apply = (taken: readonly unknown[]): void =>
    taken.forEach((item, index) => void (target[start + index] = item));
  const items = Array.from({ length: end - start }, () => value);
  view.tree.change(Place.of(target) as Place, {
    add: items,
    remove: elementsOf(removed),
    extraBytes: -holesIn(removed),
    path: () => `[${start}]`,
    apply,
  });
}

export function copyWithin(view: Viewing, target: unknown[], to: number, from: number, end: number): void {
  const count = Math.min(end - from, target.length - to);
  if (count <= 0) return;
  const moved = target.slice(from, from + count);
  const removed = target.slice(to, to + count);
  // As views, so that they are recognized as parts of the state.
  const items = elementsOf(moved).map((each) => view.wrap(each, target));
  const apply = (taken: readonly unknown[]): void => {
    let next = 0;
    for (let i = 0; i < count; i++) {
      if (Object.hasOwn(moved, i)) target[to + i] = taken[next++];
      else Reflect.deleteProperty(target, to + i);
    }
  };
  view.tree.change(Place.of(target) as Place, {
    add: items,
    remove: elementsOf(removed),
    extraBytes: holesIn(moved) - holesIn(removed),
    path: () => `[${to}]`,
    apply,
  });
}

/** Index of an element, comparing the objects behind views and references; -1 if it is not in the array. */
export function find(
  view: Viewing,
  target: readonly unknown[],
  method: "indexOf" | "lastIndexOf",
  args: readonly unknown[],
): number {
  const [sought, ...rest] = args;
  const raw = view.behind(sought, (each) => target.includes(each));
  return Reflect.apply(target[method] as (...args: unknown[]) => number, target, [raw, ...rest]);
}

/** Resolves an index as `slice` does: negative ones count from the end. */
export function relativeIndex(given: unknown, length: number, absent: number): number {
  if (given === undefined) return absent;
  const index = Math.trunc(Number(given)) || 0;
  return index < 0 ? Math.max(length + index, 0) : Math.min(index, length);
}

function elementsOf(part: readonly unknown[]): unknown[] {
  return elementEntries(part).map(([, item]) => item);
}

/** Skips holes. */
function elementEntries(part: readonly unknown[]): [index: number, item: unknown][] {
  const entries: [number, unknown][] = [];
  for (let i = 0; i < part.length; i++) if (Object.hasOwn(part, i)) entries.push([i, part[i]]);
  return entries;
}

function holesIn(part: readonly unknown[]): number {
  let holes = 0;
  for (let i = 0; i < part.length; i++) if (!Object.hasOwn(part, i)) holes += 1;
  return holes;
}

/** Call before an element that is already in the array is inserted again at `start`: notes which slot is the older. */
export function noteInsertion(place: Place, target: readonly unknown[], item: unknown, start: number): void {
  const raw = seenThroughOr(item);
  const member = typeof raw === "object" && raw !== null ? Place.of(raw) : undefined;
  if (member?.countIn(place) !== 1) return;
  // It is in one slot, mostly the next: code that shifts elements up one by one avoids the search.
  member.isLastOlder = target[start + 1] === raw || target.indexOf(raw) >= start;
}

import { headBytes } from "../../protocol/index.js";
import { ARRAY_MEMBERS } from "./array-members.js";
import { noteInsertion, setLength } from "./array-statements.js";
import { sizeOf } from "./plain-values.js";
import {
  descriptorOf,
  isHeir,
  isLeafValue,
  isPinned,
  leadNowhere,
  refuseFreezing,
  refusePrototype,
  seenThroughOr,
  unusual,
  viewOfMember,
} from "./object-view.js";
import { Place } from "./place.js";
import type { Viewing } from "./viewing.js";

/** Proxy handler of array views. Their methods are in `array-members.ts`. */
export class ArrayView implements ProxyHandler<unknown[]> {
  readonly #view: Viewing;

  constructor(view: Viewing) {
    this.#view = view;
  }

  get(target: unknown[], key: PropertyKey): unknown {
    this.#view.guard();
    return isKept(target, key) ? viewOfMember(this.#view, target as never, key) : ARRAY_MEMBERS[key];
  }

  set(target: unknown[], key: PropertyKey, value: unknown, receiver: unknown): boolean {
    if (isHeir(receiver, target))
      return Reflect.defineProperty(receiver, key, { value, writable: true, enumerable: true, configurable: true });
    this.#view.guardWrite();
    return this.#write(target, key, value);
  }

  #write(target: unknown[], key: PropertyKey, value: unknown): boolean {
    const { tree } = this.#view;
    const place = Place.of(target) as Place;
    if (key === "length") {
      setLength(this.#view, target, value);
      return true;
    }
    const index = indexOf(key);
    if (index === undefined)
      return tree.refuse(
        place,
        typeof key === "string" ? `[${JSON.stringify(key)}]` : "",
        "property of an array that is not an element",
      );
    const isHole = !Object.hasOwn(target, index);
    const old = target[index];
    if (!isHole && Object.is(old, seenThroughOr(value))) return true;
    // Each new hole before it takes a byte; a hole that it fills had taken one.
    const length = Math.max(target.length, index + 1);
    const extraBytes = length - target.length - (isHole ? 1 : 0) + headBytes(length) - headBytes(target.length);
    const path = (): string => `[${index}]`;
    if (isLeafValue(value) && isLeafValue(old)) {
      tree.resize(
        place,
        sizeOf(value) - (isHole ? 0 : sizeOf(old)) + extraBytes,
        path,
        () => void (target[index] = value),
      );
      return true;
    }
    noteInsertion(place, target, value, index);
    tree.change(place, {
      add: [value],
      remove: isHole ? [] : [old],
      extraBytes,
      path,
      apply: ([taken]) => void (target[index] = taken),
    });
    return true;
  }

  defineProperty(target: unknown[], key: PropertyKey, descriptor: PropertyDescriptor): boolean {
    this.#view.guardWrite();
    const found = unusual(descriptor);
    if (found && key !== "length") this.#view.tree.refuse(Place.of(target) as Place, `[${String(key)}]`, found);
    if (!Object.hasOwn(descriptor, "value")) return Object.hasOwn(target, key) || this.#write(target, key, undefined);
    return this.#write(target, key, descriptor.value);
  }

  deleteProperty(target: unknown[], key: PropertyKey): boolean {
    this.#view.guardWrite();
    if (key === "length") return false;
    if (!isKept(target, key)) return Reflect.deleteProperty(target, key);
    // Leaves a hole.
    const apply = (): void => void Reflect.deleteProperty(target, key);
    this.#view.tree.change(Place.of(target) as Place, {
      add: [],
      remove: [target[key as number]],
      extraBytes: 1,
      path: () => `[${String(key)}]`,
      apply,
    });
    return true;
  }

  ownKeys(target: unknown[]): (string | symbol)[] {
    this.#view.guard();
    const keys = Reflect.ownKeys(target);
    // `length` follows all indices and precedes named properties.
    return keys.at(-1) === "length" || !Object.isExtensible(target) ? keys : keys.filter((key) => isKept(target, key));
  }

  has(target: unknown[], key: PropertyKey): boolean {
    this.#view.guard();
    return isKept(target, key) || isPinned(target, key);
  }

  getOwnPropertyDescriptor(target: unknown[], key: PropertyKey): PropertyDescriptor | undefined {
    this.#view.guard();
    return isKept(target, key) || isPinned(target, key) ? descriptorOf(this.#view, target as never, key) : undefined;
  }

  setPrototypeOf(): boolean {
    return refusePrototype();
  }

  preventExtensions(): boolean {
    return refuseFreezing();
  }
}
leadNowhere(ArrayView);

const MAX_INDEX = 0xffff_fffe;
const MOST_DIGITS = 10;
const [ZERO, NINE] = [48, 57];

/** True for elements and `length`. Named properties (as on the result of `match`) and symbols are not stored. */
function isKept(target: unknown[], key: PropertyKey): boolean {
  return Object.hasOwn(target, key) && (key === "length" || isIndex(key));
}

function indexOf(key: PropertyKey): number | undefined {
  return isIndex(key) ? Number(key) : undefined;
}

/** Runs at every access to an element: comparing with `String(index)` would cost more than all the rest. */
function isIndex(key: PropertyKey): key is string {
  if (typeof key !== "string" || key.length === 0 || key.length > MOST_DIGITS) return false;
  for (let i = 0; i < key.length; i++) {
    const digit = key.charCodeAt(i);
    if (digit < ZERO || digit > NINE) return false;
  }
  return (key.length === 1 || key.charCodeAt(0) !== ZERO) && (key.length < MOST_DIGITS || Number(key) <= MAX_INDEX);
}

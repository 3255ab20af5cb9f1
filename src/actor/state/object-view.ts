import { propertyPath } from "../../protocol/index.js";
import { setOwn, sizeOf } from "./plain-values.js";
import { Place } from "./place.js";
import { memberTable } from "./sealed-functions.js";
import { type Viewing, seenThrough } from "./viewing.js";

type Target = Record<PropertyKey, unknown>;

const MEMBERS = memberTable();

/** Proxy handler of plain-object views: own properties only, whatever `Object.prototype` has (VALUE-10). */
export class ObjectView implements ProxyHandler<Target> {
  readonly #view: Viewing;

  constructor(view: Viewing) {
    this.#view = view;
  }

  get(target: Target, key: PropertyKey): unknown {
    this.#view.guard();
    // Symbols are not stored.
    if (Object.hasOwn(target, key) && typeof key !== "symbol") return viewOfMember(this.#view, target, key);
    if (key === "constructor") this.#view.tree.constructorWasRead();
    return MEMBERS[key];
  }

  set(target: Target, key: PropertyKey, value: unknown, receiver: unknown): boolean {
    // The write is to an object that inherits from the view: it gets its own property, as with any prototype.
    if (isHeir(receiver, target))
      return Reflect.defineProperty(receiver, key, { value, writable: true, enumerable: true, configurable: true });
    this.#view.guardWrite();
    return this.#write(target, key, value);
  }

  #write(target: Target, key: PropertyKey, value: unknown): boolean {
    const { tree } = this.#view;
    const place = Place.of(target) as Place;
    if (typeof key === "symbol") return tree.refuse(place, "", "symbol key");
    const isNew = !Object.hasOwn(target, key);
    const old = isNew ? undefined : target[key];
    if (!isNew && Object.is(old, seenThroughOr(value))) return true;
    const path = (): string => propertyPath(key as string);
    if (isLeafValue(value) && isLeafValue(old)) {
      tree.setLeaf(place, key as string, isNew ? undefined : { value: old }, value, path, () =>
        setOwn(target, key, value),
      );
      return true;
    }
    const apply = ([taken]: readonly unknown[]): void => setOwn(target, key, taken);
    tree.change(place, { add: [value], remove: isNew ? [] : [old], extraBytes: isNew ? sizeOf(key) : 0, path, apply });
    tree.texts.drop(place, key as string);
    return true;
  }

  defineProperty(target: Target, key: PropertyKey, descriptor: PropertyDescriptor): boolean {
    this.#view.guardWrite();
    const found = unusual(descriptor);
    if (found)
      this.#view.tree.refuse(Place.of(target) as Place, typeof key === "string" ? propertyPath(key) : "", found);
    if (!Object.hasOwn(descriptor, "value") && Object.hasOwn(target, key)) return true;
    return this.#write(target, key, descriptor.value);
  }

  deleteProperty(target: Target, key: PropertyKey): boolean {
    this.#view.guardWrite();
    if (!Object.hasOwn(target, key) || typeof key === "symbol") return Reflect.deleteProperty(target, key);
    const { tree } = this.#view;
    const place = Place.of(target) as Place;
    tree.change(place, {
      add: [],
      remove: [target[key]],
      extraBytes: -sizeOf(key),
      path: () => propertyPath(key as string),
      apply: () => void Reflect.deleteProperty(target, key),
    });
    tree.texts.drop(place, key as string);
    return true;
  }

  ownKeys(target: Target): (string | symbol)[] {
    this.#view.guard();
    return Object.isExtensible(target) ? Object.getOwnPropertyNames(target) : Reflect.ownKeys(target);
  }

  has(target: Target, key: PropertyKey): boolean {
    this.#view.guard();
    return Object.hasOwn(target, key) && (typeof key !== "symbol" || isPinned(target, key));
  }

  getOwnPropertyDescriptor(target: Target, key: PropertyKey): PropertyDescriptor | undefined {
    this.#view.guard();
    return typeof key !== "symbol" || isPinned(target, key) ? descriptorOf(this.#view, target, key) : undefined;
  }

  getPrototypeOf(target: Target): object | null {
    return Object.isExtensible(target) ? null : (Reflect.getPrototypeOf(target) as object | null);
  }

  setPrototypeOf(): boolean {
    return refusePrototype();
  }

  preventExtensions(): boolean {
    return refuseFreezing();
  }
}
leadNowhere(ObjectView);

/** Libraries that freeze their input (immer) fail here, with the remedy in the message. */
export function refuseFreezing(): never {
  throw new TypeError(
    "A part of the state cannot be frozen or sealed. Give a library that does so a plain copy: `snapshot(value)`",
  );
}

export function refusePrototype(): never {
  throw new TypeError("A part of the state cannot be given a prototype: state is plain data");
}

/** Makes a handler class inherit nothing, so that missing traps are not looked up in `Object.prototype`. */
export function leadNowhere(handler: { readonly prototype: object }): void {
  Object.setPrototypeOf(handler.prototype, null);
}

export function viewOfMember(view: Viewing, target: Target, key: PropertyKey): unknown {
  const value = target[key];
  if (typeof value !== "object" || value === null) return value;
  // User code froze its own reference. A proxy must then return the member itself, not a view, until a commit replaces
  // the frozen object. Writes to the member meanwhile are not seen.
  if (!Object.isExtensible(target) && isFixed(Object.getOwnPropertyDescriptor(target, key))) {
    view.tree.watch([target]);
    return value;
  }
  return view.wrap(value, target);
}

export function descriptorOf(view: Viewing, target: Target, key: PropertyKey): PropertyDescriptor | undefined {
  const descriptor = Reflect.getOwnPropertyDescriptor(target, key);
  if (descriptor && Object.hasOwn(descriptor, "value") && !isFixed(descriptor))
    descriptor.value = view.wrap(descriptor.value, target);
  return descriptor;
}

/** Whether a proxy must report a property, because user code froze the object or made the property non-configurable. */
export function isPinned(target: object, key: PropertyKey): boolean {
  const descriptor = Object.getOwnPropertyDescriptor(target, key);
  return descriptor !== undefined && (!descriptor.configurable || !Object.isExtensible(target));
}

function isFixed(descriptor: PropertyDescriptor | undefined): boolean {
  return descriptor !== undefined && !descriptor.configurable && !descriptor.writable;
}

/** What a state cannot store about a property definition; undefined if it can. */
export function unusual(descriptor: PropertyDescriptor): string | undefined {
  if (Object.hasOwn(descriptor, "get") || Object.hasOwn(descriptor, "set")) return "accessor property";
  const denied = (["writable", "enumerable", "configurable"] as const).find(
    (flag) => Object.hasOwn(descriptor, flag) && !descriptor[flag],
  );
  return denied && `property that is not ${denied}`;
}

/** Whether the receiver of a write is an object that inherits from the view. */
export function isHeir(receiver: unknown, target: object): receiver is object {
  return typeof receiver === "object" && receiver !== null && seenThrough(receiver)?.raw !== target;
}

export function isLeafValue(value: unknown): boolean {
  return typeof value === "object" ? value === null : typeof value !== "function" && typeof value !== "symbol";
}

/** The object behind a view; any other value as it is. */
export function seenThroughOr(value: unknown): unknown {
  return typeof value === "object" && value !== null ? (seenThrough(value)?.raw ?? value) : value;
}

import { sizeOf } from "./plain-values.js";
import { leadNowhere, refuseFreezing, refusePrototype } from "./object-view.js";
import { Place } from "./place.js";
import { memberTable, sealed, sealedMaker } from "./sealed-functions.js";
import { type Viewing, shownBy } from "./viewing.js";

type DateMethod = (this: Date, ...args: unknown[]) => unknown;

/** Proxy handler of Date views. Setters report the change to the state. */
export class DateView implements ProxyHandler<Date> {
  readonly #view: Viewing;

  constructor(view: Viewing) {
    this.#view = view;
  }

  get(_target: Date, key: PropertyKey): unknown {
    this.#view.guard();
    return DATE_MEMBERS[key];
  }

  set(target: Date, key: PropertyKey): boolean {
    return this.#refuse(target, key);
  }

  defineProperty(target: Date, key: PropertyKey): boolean {
    return this.#refuse(target, key);
  }

  #refuse(target: Date, key: PropertyKey): never {
    this.#view.guardWrite();
    return this.#view.tree.refuse(Place.of(target) as Place, `.${String(key)}`, "property of a Date");
  }

  has(): boolean {
    return false;
  }

  ownKeys(): string[] {
    return [];
  }

  getOwnPropertyDescriptor(): undefined {
    return undefined;
  }

  setPrototypeOf(): boolean {
    return refusePrototype();
  }

  preventExtensions(): boolean {
    return refuseFreezing();
  }
}
leadNowhere(DateView);

function method(name: PropertyKey): unknown {
  const real = Object.getOwnPropertyDescriptor(Date.prototype, name)?.value as DateMethod;
  const changes = typeof name === "string" && name.startsWith("set");
  return sealed(function (this: unknown, ...args: unknown[]) {
    const shown = shownBy(this);
    const date = shown?.place.raw;
    if (!shown || !(date instanceof Date)) return Reflect.apply(real, this as Date, args);
    if (!changes) {
      shown.through.guard();
      return Reflect.apply(real, date, args);
    }
    shown.through.guardWrite();
    const next = new Date(date.getTime());
    const result = Reflect.apply(real, next, args);
    shown.through.tree.resize(
      shown.place,
      sizeOf(next) - sizeOf(date),
      () => "",
      () => void date.setTime(next.getTime()),
    );
    return result;
  }, name);
}

/** `new Date(view)` converts to a string, and the native one has no milliseconds. */
const toPrimitive = sealed(function (this: unknown, hint: unknown) {
  const shown = shownBy(this);
  const date = shown?.place.raw;
  if (!shown || !(date instanceof Date))
    return Reflect.apply(Date.prototype[Symbol.toPrimitive] as never, this, [hint]);
  shown.through.guard();
  if (hint === "default" && !Number.isNaN(date.getTime())) return date.toISOString();
  return date[Symbol.toPrimitive](hint as "string");
}, Symbol.toPrimitive);

const names = Object.getOwnPropertyNames(Date.prototype).filter((name) => name !== "constructor");

/** The members of Date views. */
const DATE_MEMBERS = memberTable(Object.fromEntries(names.map((name) => [name, method(name)])), {
  constructor: sealedMaker(Date as never),
  [Symbol.toPrimitive]: toPrimitive,
  [Symbol.toStringTag]: "Date",
});

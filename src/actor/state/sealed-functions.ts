/**
 * Frozen functions from which no prototype of the language can be reached. User code may read a view by a name that a
 * client sent; writing to a native function reached that way would change every actor of the isolate (VALUE-10).
 */
type AnyFunction = (this: unknown, ...args: never[]) => unknown;

const methods: Record<PropertyKey, unknown> = Object.create(null) as Record<PropertyKey, unknown>;
for (const name of ["call", "apply", "bind", "toString"] as const) {
  const real = Function.prototype[name] as AnyFunction;
  define(
    methods,
    name,
    sealed(function (this: unknown, ...args: never[]) {
      return Reflect.apply(real, this, args);
    }, name),
  );
}
Object.freeze(methods);

/** Freezes a function and removes its prototypes. */
export function sealed<F extends (...args: never[]) => unknown>(run: F, name: PropertyKey): F {
  define(run, "name", String(name));
  Object.setPrototypeOf(run, methods);
  if (Object.hasOwn(run, "prototype")) Object.defineProperty(run, "prototype", { value: undefined, writable: false });
  return Object.freeze(run);
}

/** A sealed function that calls the prototype's own method on its `this`. */
export function sealedMethod(prototype: object, name: PropertyKey): (...args: never[]) => unknown {
  const real = Object.getOwnPropertyDescriptor(prototype, name)?.value as AnyFunction;
  return sealed(function (this: unknown, ...args: never[]) {
    return Reflect.apply(real, this, args);
  }, name);
}

/** The `constructor` of a view: makes native objects, for libraries that copy with `new value.constructor(…)`. */
export function sealedMaker(real: new (...args: never[]) => object): (...args: never[]) => unknown {
  const make = function (...args: never[]): object {
    return Reflect.construct(real, args);
  };
  Object.defineProperty(make, Symbol.hasInstance, {
    value: sealed((value: unknown) => value instanceof real, "[Symbol.hasInstance]"),
  });
  return sealed(make, real.name);
}

/** The members of `Object.prototype` that views have. They have none of the others. */
const OBJECT_METHODS = [
  "hasOwnProperty",
  "isPrototypeOf",
  "propertyIsEnumerable",
  "toString",
  "toLocaleString",
  "valueOf",
];

/** A frozen table of members, without a prototype. */
export function memberTable(
  ...parts: readonly Readonly<Record<PropertyKey, unknown>>[]
): Readonly<Record<PropertyKey, unknown>> {
  const table = Object.create(null) as Record<PropertyKey, unknown>;
  for (const name of OBJECT_METHODS) table[name] = sealedMethod(Object.prototype, name);
  for (const part of parts) for (const key of Reflect.ownKeys(part)) table[key] = part[key];
  return Object.freeze(table);
}

/** Sealed versions of all methods of a native class, except those in `except`. */
export function sealedMethods(prototype: object, except: ReadonlySet<PropertyKey>): Record<PropertyKey, unknown> {
  const found = Object.create(null) as Record<PropertyKey, unknown>;
  for (const name of Reflect.ownKeys(prototype)) {
    if (except.has(name) || typeof Object.getOwnPropertyDescriptor(prototype, name)?.value !== "function") continue;
    found[name] = sealedMethod(prototype, name);
  }
  return found;
}

function define(target: object, key: PropertyKey, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: false, enumerable: false, configurable: true });
}

/**
 * Functions that lead nowhere. What a view answers under a name may be a name that a client sent, and a function of the
 * language reached that way could be written to: by it, all actors of the isolate would be changed. These are frozen, and
 * neither they nor what they inherit reaches a prototype of the language.
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

/** Freezes a function and takes its prototypes away. */
export function sealed<F extends (...args: never[]) => unknown>(run: F, name: PropertyKey): F {
  define(run, "name", String(name));
  Object.setPrototypeOf(run, methods);
  if (Object.hasOwn(run, "prototype")) Object.defineProperty(run, "prototype", { value: undefined, writable: false });
  return Object.freeze(run);
}

/** The function of a name that the language has, on whatever `this` it is called. */
export function sealedMethod(prototype: object, name: PropertyKey): (...args: never[]) => unknown {
  const real = Object.getOwnPropertyDescriptor(prototype, name)?.value as AnyFunction;
  return sealed(function (this: unknown, ...args: never[]) {
    return Reflect.apply(real, this, args);
  }, name);
}

/** What stands for the class of a view: makes real ones, for libraries that copy with `new value.constructor(…)`. */
export function sealedMaker(real: new (...args: never[]) => object): (...args: never[]) => unknown {
  const make = function (...args: never[]): object {
    return Reflect.construct(real, args);
  };
  Object.defineProperty(make, Symbol.hasInstance, {
    value: sealed((value: unknown) => value instanceof real, "[Symbol.hasInstance]"),
  });
  return sealed(make, real.name);
}

/** What plain objects have beside their own properties. The rest of what `Object.prototype` has is not there. */
const OBJECT_METHODS = [
  "hasOwnProperty",
  "isPrototypeOf",
  "propertyIsEnumerable",
  "toString",
  "toLocaleString",
  "valueOf",
];

/** A table of members without a prototype, frozen. */
export function memberTable(
  ...parts: readonly Readonly<Record<PropertyKey, unknown>>[]
): Readonly<Record<PropertyKey, unknown>> {
  const table = Object.create(null) as Record<PropertyKey, unknown>;
  for (const name of OBJECT_METHODS) table[name] = sealedMethod(Object.prototype, name);
  for (const part of parts) for (const key of Reflect.ownKeys(part)) table[key] = part[key];
  return Object.freeze(table);
}

/** The methods of a class of the language, but for those in `except`. */
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

/**
 * Copies an object's own properties to one without a prototype: an absent property is absent, whatever was assigned to
 * `Object.prototype`. Options, configurations, rows and envelopes pass through this once, where they come in.
 */
export function own<T extends object>(given: T | null | undefined): T {
  return Object.assign(Object.create(null) as T, given);
}

/** An own property of an object that must keep its prototype; undefined if it is not its own. */
export function ownField<T extends object, K extends keyof T>(object: T, key: K): T[K] | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** A property of an object or of its class, but not one inherited from `Object.prototype`. */
export function fieldOf(value: object, key: string): unknown {
  // The usual case, and the fast one: `Object.prototype` has no such property.
  if (!(key in Object.prototype)) return (value as Record<string, unknown>)[key];
  for (
    let holder: object | null = value;
    holder !== null && holder !== Object.prototype;
    holder = Object.getPrototypeOf(holder) as object | null
  ) {
    if (Object.hasOwn(holder, key)) return (value as Record<string, unknown>)[key];
  }
  return undefined;
}

/** Narrows a union to the members with this own property; `in` would find an inherited one. */
export function has<T extends object, K extends string>(
  object: T,
  key: K,
): object is Extract<T, { readonly [P in K]: unknown }> {
  return Object.hasOwn(object, key);
}

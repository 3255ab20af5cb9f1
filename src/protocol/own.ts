/**
 * A copy of what somebody gave that has its own properties and inherits none: a member that is absent is absent, whatever
 * anybody has assigned to `Object.prototype`. Options, configurations, rows and envelopes are read through this, once, where
 * they come in.
 */
export function own<T extends object>(given: T | null | undefined): T {
  return Object.assign(Object.create(null) as T, given);
}

/** A property of an object that must keep its prototype; undefined unless it is the object's own. */
export function ownField<T extends object, K extends keyof T>(object: T, key: K): T[K] | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** A property of an object or of its class, but none that every object has. */
export function fieldOf(value: object, key: string): unknown {
  // Nobody has assigned to it: the usual case, and the fast one.
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

/** Whether a member of a union has this property of its own; `in` would find an inherited one. */
export function has<T extends object, K extends string>(
  object: T,
  key: K,
): object is Extract<T, { readonly [P in K]: unknown }> {
  return Object.hasOwn(object, key);
}

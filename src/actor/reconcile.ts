/**
 * Makes `current` the same as `wanted`, keeping the objects that are there, so that whoever holds one still holds a part
 * of the state.
 */
export function reconcile(current: unknown, wanted: unknown): unknown {
  if (Array.isArray(current) && Array.isArray(wanted) && !Object.isFrozen(current)) {
    const items = wanted.map((each, index) => reconcile(current[index], each));
    current.length = 0;
    current.push(...items);
    return current;
  }
  if (!isPlainObject(current) || !isPlainObject(wanted) || Object.isFrozen(current)) return wanted;
  for (const key of Object.keys(current)) if (!Object.hasOwn(wanted, key)) delete current[key];
  for (const key of Object.keys(wanted)) {
    const value = reconcile(Object.hasOwn(current, key) ? current[key] : undefined, wanted[key]);
    Object.defineProperty(current, key, { value, writable: true, enumerable: true, configurable: true });
  }
  return current;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

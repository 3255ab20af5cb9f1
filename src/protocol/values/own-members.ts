// Assignment consults the prototype first: for `__proto__`, and for whatever someone assigned to Object.prototype or froze.

const NO_MEMBERS: object = {};
const NO_ITEMS: readonly unknown[] = [];

/** Sets an own property, whatever is inherited under its name. */
export function setProperty(record: Record<string, unknown>, name: string, value: unknown): void {
  if (name in NO_MEMBERS)
    Object.defineProperty(record, name, {
      __proto__: null,
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    } as PropertyDescriptor);
  else record[name] = value;
}

/** Appends an item, whatever is inherited under its index. */
export function addItem(items: unknown[], value: unknown): void {
  const index = items.length;
  if (index in NO_ITEMS)
    Object.defineProperty(items, index, {
      __proto__: null,
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    } as PropertyDescriptor);
  else items[index] = value;
}

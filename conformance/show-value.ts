/** A text for any value that may cross the wire: the same on both sides, and different for different values. */
export function showValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint") return `${value}n`;
  if (Object.is(value, -0)) return "-0";
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(showValue).join(", ")}]`;
  if (value instanceof Date) return `Date(${value.getTime()})`;
  if (value instanceof RegExp) return `RegExp(${value})`;
  if (value instanceof Error) return `${value.name}(${JSON.stringify(value.message)})`;
  if (value instanceof Map)
    return `Map(${[...value].map(([key, item]) => `${showValue(key)} => ${showValue(item)}`).join(", ")})`;
  if (value instanceof Set) return `Set(${[...value].map(showValue).join(", ")})`;
  if (value instanceof ArrayBuffer) return `ArrayBuffer(${new Uint8Array(value).join()})`;
  // Node's Buffer is a Uint8Array, and says so here.
  if (ArrayBuffer.isView(value))
    return `${(value as Uint8Array)[Symbol.toStringTag]}(${Array.from(value as Uint8Array, showValue).join()})`;
  const fields = Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${showValue(item)}`);
  return `{${fields.join(", ")}}`;
}

/**
 * How RivetKit's clients revive `["$Tag", …]` pairs, after JSON.parse or cbor-x: from the outside in,
 * through arrays, plain objects and Maps, and never into a native Set or an error. An unknown tag throws.
 */
export function reviveAsPublished(tree: unknown): unknown {
  if (tree instanceof Map)
    return new Map([...tree].map(([key, item]) => [reviveAsPublished(key), reviveAsPublished(item)]));
  if (Array.isArray(tree)) {
    const [tag, payload]: unknown[] = tree;
    if (tree.length === 2 && typeof tag === "string" && tag.startsWith("$")) return valueOf(tag, payload);
    return tree.map(reviveAsPublished);
  }
  if (typeof tree !== "object" || tree === null || Object.getPrototypeOf(tree) !== Object.prototype) return tree;
  const record: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(tree)) {
    Object.defineProperty(record, key, {
      value: reviveAsPublished(value),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return record;
}

function valueOf(tag: string, payload: unknown): unknown {
  switch (tag) {
    case "$BigInt":
      return BigInt(payload as string);
    case "$ArrayBuffer":
      return Uint8Array.from(Buffer.from(payload as string, "base64")).buffer;
    case "$Uint8Array":
      return Uint8Array.from(Buffer.from(payload as string, "base64"));
    case "$Undefined":
      return undefined;
    case "$Set":
      return new Set((payload as unknown[]).map(reviveAsPublished));
    default:
      if (tag.startsWith("$$")) return [tag.slice(1), reviveAsPublished(payload)];
      throw new Error(`unknown tag ${tag}`);
  }
}

/** How RivetKit's bare client converts a value before cbor-x: the pairs above, and the rest unchanged. */
export function tagAsPublished(value: unknown): unknown {
  if (value === undefined) return ["$Undefined", 0];
  if (typeof value === "bigint") return ["$BigInt", String(value)];
  if (value instanceof ArrayBuffer) return ["$ArrayBuffer", Buffer.from(value).toString("base64")];
  if (value instanceof Uint8Array) return ["$Uint8Array", Buffer.from(value).toString("base64")];
  if (value instanceof Set) return ["$Set", [...value].map(tagAsPublished)];
  if (value instanceof Map)
    return new Map([...value].map(([key, item]) => [tagAsPublished(key), tagAsPublished(item)]));
  if (Array.isArray(value)) {
    const items = value.map(tagAsPublished);
    const [first] = items;
    return items.length === 2 && typeof first === "string" && first.startsWith("$") ? [`$${first}`, items[1]] : items;
  }
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, tagAsPublished(item)]));
}

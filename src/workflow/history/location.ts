/**
 * An entry's place in the tree of names: names of operations and scopes, with a number after a loop's name (the iteration)
 * or after a receive's name (its ordinal, from its second use on). Segments are never joined without quoting, so any string
 * is a valid name.
 */
export type Segment = string | number;
export type Location = readonly Segment[];

/** Formats a location for messages, quoting only where needed: `charge-loop/~3/save`. */
export function formatLocation(location: Location): string {
  if (location.length === 0) return "(root)";
  return location
    .map((segment) =>
      typeof segment === "number" ? `~${segment}` : /[/~"]/.test(segment) ? JSON.stringify(segment) : segment,
    )
    .join("/");
}

/** The name of the operation at a location, without the ordinal of a receive. */
export function nameAt(location: Location): string {
  return String(location.findLast((segment) => typeof segment === "string") ?? "");
}

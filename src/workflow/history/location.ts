/**
 * An entry's place in the tree of names: names of operations and scopes, with a number after a loop's name (the
 * iteration) or after a receive's name (its ordinal, from the second use on). Segments are never joined to one string
 * without quoting, so any string is a legal name.
 */
export type Segment = string | number;
export type Location = readonly Segment[];

/** The location as text for messages: quoted only where needed, e.g. `charge-loop/~3/save`. */
export function formatLocation(location: Location): string {
  if (location.length === 0) return "(root)";
  return location
    .map((segment) =>
      typeof segment === "number" ? `~${segment}` : /[/~"]/.test(segment) ? JSON.stringify(segment) : segment,
    )
    .join("/");
}

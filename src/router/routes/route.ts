import type { RoutedRequest } from "./routed-request.js";

/** One row of the route table. */
export interface Route {
  /** `:name` stands for one segment, which may be empty; `/*` at the end for nothing or anything below. */
  readonly path: string;
  /** The methods it takes; undefined: any. */
  readonly methods?: readonly string[];
  /** Throws if the caller may not use the route; asked before the method is checked. */
  readonly guard?: (routed: RoutedRequest) => void;
  /** `first`, `second`: what stands for the names and the "*" of the path, undecoded; undefined for a "*" that nothing follows. */
  readonly serve: (
    routed: RoutedRequest,
    first?: string | undefined,
    second?: string | undefined,
  ) => Response | Promise<Response>;
}

/** Matches a route's path as it was sent, and returns what stands for its names. */
export function matcherOf({
  path,
}: Route): (sent: string) => readonly [first: string | undefined, second: string | undefined] | undefined {
  const pattern = new RegExp(`^${path.replace(/:\w+/g, "([^/]*)").replace(/\/\*$/, "(?:/(.*))?")}$`, "s");
  return (sent) => {
    const found = pattern.exec(sent);
    return found === null ? undefined : [found[1], found[2]];
  };
}

/** The path in Hono's notation, whose names stand for at least one character by themselves. */
export function honoPath({ path }: Route): string {
  return path.replace(/:\w+/g, "$&{[^/]*}");
}

import { posix } from "node:path";
import { withoutComments } from "./source-files.ts";

export type Import = { readonly specifier: string; readonly typesOnly: boolean };

/** Every module a source names, re-exports and dynamic imports included. */
export function importsOf(source: string): Import[] {
  const pattern =
    /\b(?:import|export)\b(\s+type\b)?[^"'`;()]*?\bfrom\s*["']([^"']+)["']|\bimport\s*\(?\s*["']([^"']+)["']/g;
  return [...withoutComments(source).matchAll(pattern)].map((match) => ({
    specifier: match[2] ?? match[3] ?? "",
    typesOnly: match[1] !== undefined,
  }));
}

/** The path, without its ending, that a relative specifier of a file means. */
export function targetOf(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier).replace(/\.[jt]s$/, "");
}

/** One circle of a graph, its first node again at the end; undefined if there is none. */
export function circleIn(graph: ReadonlyMap<string, Iterable<string>>): string[] | undefined {
  const done = new Set<string>();
  const visit = (node: string, trail: readonly string[]): string[] | undefined => {
    if (trail.includes(node)) return [...trail.slice(trail.indexOf(node)), node];
    if (done.has(node)) return undefined;
    for (const next of graph.get(node) ?? []) {
      const circle = visit(next, [...trail, node]);
      if (circle !== undefined) return circle;
    }
    done.add(node);
    return undefined;
  };
  for (const node of graph.keys()) {
    const circle = visit(node, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

import { propertyPath } from "../../protocol/index.js";
import { setOwn } from "./plain-values.js";

/** Replaces the objects directly inside a container. */
export function replaceMembers(container: object, replace: (member: object) => object): void {
  // User code froze it, so it keeps its members.
  if (!Object.isExtensible(container)) return;
  const other = (member: unknown): unknown =>
    typeof member === "object" && member !== null ? replace(member) : member;
  if (Array.isArray(container)) {
    for (let i = 0; i < container.length; i++) {
      const member: unknown = container[i];
      const next = other(member);
      if (next !== member && !Object.is(next, member)) container[i] = next;
    }
  } else if (container instanceof Map) {
    const entries = [...container].map(([key, member]) => [other(key), other(member)] as const);
    if (entries.every(([key, member]) => container.has(key) && Object.is(container.get(key), member))) return;
    container.clear();
    for (const [key, member] of entries) container.set(key, member);
  } else if (container instanceof Set) {
    const items = [...container].map(other);
    if (items.every((item) => container.has(item))) return;
    container.clear();
    for (const item of items) container.add(item);
  } else {
    for (const key of Object.keys(container)) {
      const member = (container as Record<string, unknown>)[key];
      const next = other(member);
      if (!Object.is(next, member)) setOwn(container, key, next);
    }
  }
}

/** The direct members of a container; empty for other objects. */
export function membersOf(container: object): Iterable<unknown> {
  if (Array.isArray(container) || container instanceof Set) return container;
  if (container instanceof Map) return [...container.keys(), ...container.values()];
  return ArrayBuffer.isView(container) || container instanceof Date
    ? []
    : Object.keys(container).map((key) => (container as Record<string, unknown>)[key]);
}

/** The path segment from a container to one of its members. */
export function memberPath(container: object, member: unknown): string {
  if (Array.isArray(container)) return `[${container.indexOf(member)}]`;
  if (container instanceof Map) {
    for (const [key, each] of container) if (each === member) return mapPath(key);
    return `.keys()[${[...container.keys()].indexOf(member)}]`;
  }
  if (container instanceof Set) return `.values()[${[...container].indexOf(member)}]`;
  for (const key of Object.keys(container))
    if ((container as Record<string, unknown>)[key] === member) return propertyPath(key);
  return "";
}

export function mapPath(key: unknown): string {
  return typeof key === "string"
    ? `.get(${JSON.stringify(key)})`
    : `.get(${typeof key === "number" ? key : typeof key})`;
}

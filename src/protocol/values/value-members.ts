import { errorParts } from "./error-values.js";
import { kindOf } from "./value-kinds.js";

/** A direct member of a value and the path to it. */
export type ValueMember = readonly [path: () => string, value: unknown];

/** The direct members of a value that the codec accepts; none for a leaf. Map keys are members too. */
export function* membersOf(value: object): Iterable<ValueMember> {
  switch (kindOf(value)) {
    case "object":
      yield* properties(value as Record<string, unknown>);
      return;
    case "error":
      yield* properties(errorParts(value as Error).properties);
      return;
    case "array":
      yield* elements(value as unknown[]);
      return;
    case "map":
      yield* entries(value as Map<unknown, unknown>);
      return;
    case "set":
      yield* items(value as Set<unknown>);
      return;
    default:
  }
}

/** A longer array cannot be stored and may have a billion holes: only its own elements are visited. */
const MOSTLY_HOLES_LENGTH = 4_000_000;

/** A property in a path: `.name` or `["odd name"]`. */
export function propertyPath(key: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

function* properties(record: Readonly<Record<string, unknown>>): Iterable<ValueMember> {
  for (const key of Object.keys(record)) yield [() => propertyPath(key), record[key]];
}

function* elements(array: readonly unknown[]): Iterable<ValueMember> {
  if (array.length > MOSTLY_HOLES_LENGTH) {
    yield* properties(array as unknown as Record<string, unknown>);
    return;
  }
  for (let i = 0; i < array.length; i++) yield [() => `[${i}]`, array[i]];
}

function* entries(map: Map<unknown, unknown>): Iterable<ValueMember> {
  let index = 0;
  for (const [key, value] of map) {
    const position = index++;
    yield [() => `.keys()[${position}]`, key];
    yield [() => (typeof key === "string" ? `.get(${JSON.stringify(key)})` : `.values()[${position}]`), value];
  }
}

function* items(set: Set<unknown>): Iterable<ValueMember> {
  let index = 0;
  for (const value of set) {
    const position = index++;
    yield [() => `.values()[${position}]`, value];
  }
}

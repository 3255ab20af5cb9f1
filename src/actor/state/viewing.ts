import type { Copies } from "./plain-values.js";
import type { Place } from "./place.js";
import type { TextSizes } from "./text-sizes.js";

/** The effect of one statement on one object of the state. */
export interface Change {
  /** The new members, checked before anything changes. */
  readonly add: readonly unknown[];
  /** The removed members. */
  readonly remove: readonly unknown[];
  /** Change of the encoded size apart from these members, in bytes. */
  readonly extraBytes: number;
  /** The path segment to the new member `index`. */
  path(index: number): string;
  /** Makes the change; `taken` are the new members as the state holds them. */
  apply(taken: readonly unknown[]): void;
}

/**
 * What views need from their state. `change`, `resize`, `setLeaf` and `replaceRoot` change nothing when they throw.
 * @throws {value/not_serializable} when a new value cannot be stored
 * @throws {value/too_large} when the state would be too large
 */
export interface ViewedState {
  readonly root: unknown;
  readonly version: number;
  readonly texts: TextSizes;
  readonly copies: Copies;
  /** @throws {actor/state_mutation_reentrant} when the state may not be changed now */
  checkWritable(isReadOnly: boolean): void;
  replaceRoot(value: unknown): void;
  change(place: Place, change: Change): void;
  /** A change that adds and removes no objects. */
  resize(place: Place, bytes: number, path: () => string, apply: () => void): void;
  /** Sets a property of a plain object from one primitive value to another; `old` is undefined for a new property. */
  setLeaf(
    place: Place,
    key: string,
    old: { readonly value: unknown } | undefined,
    value: unknown,
    path: () => string,
    apply: () => void,
  ): void;
  /** @throws {value/not_serializable} always */
  refuse(place: Place, path: string, found: string): never;
  constructorWasRead(): void;
  /** User code may hold references to these objects and write through them. */
  watch(held: readonly object[]): void;
  /** A typed array or buffer is handed to user code without a view. */
  lend(raw: object): void;
}

/** What the view of one object needs from the `StateView` it belongs to. */
export interface Viewing {
  readonly tree: ViewedState;
  /** Call at every access; may throw. */
  guard(): void;
  /** Call before every change; may throw. */
  guardWrite(): void;
  /** The view of a part of the state. `container` is the object it is in, undefined for the root. */
  wrap(value: unknown, container: object | undefined): unknown;
  /**
   * The state's own object for a value that user code searches for; `isThere` tells which copies are in the container.
   */
  behind(value: unknown, isThere: (raw: unknown) => boolean): unknown;
}

/** The object behind a view, and the `StateView` the view belongs to. */
export interface Shown {
  readonly place: Place;
  readonly through: Viewing;
}

const shown = new WeakMap<object, Shown>();
const standIns = new WeakMap<object, object>();

export function shownBy(view: unknown): Shown | undefined {
  return typeof view === "object" && view !== null ? shown.get(view) : undefined;
}

export function registerView(view: object, what: Shown): void {
  shown.set(view, what);
}

/** The place of the object behind a view; undefined if the value is not a view. */
export function seenThrough(value: object): Place | undefined {
  return shown.get(value)?.place;
}

/** The state's own error or regular expression for a copy that user code got. */
export function standInOf(copy: object): object | undefined {
  return standIns.get(copy);
}

export function registerStandIn(copy: object, raw: object): void {
  standIns.set(copy, raw);
}

import type { Copies } from "./copies.js";
import type { Place } from "./place.js";
import type { TextSizes } from "./text-sizes.js";

/** What one statement does to one object of the state. */
export interface Change {
  /** What comes to stand in it; checked before anything changes. */
  readonly add: readonly unknown[];
  /** What goes out of it. */
  readonly remove: readonly unknown[];
  /** Encoded bytes that are added beside those, or taken away. */
  readonly extraBytes: number;
  /** How the path goes on to the part that comes `index`th. */
  path(index: number): string;
  /** Changes it; `taken` is what stands in the state for what came. */
  apply(taken: readonly unknown[]): void;
}

/** A state as its views need it. What changes it throws value/not_serializable or value/too_large, and nothing has changed then. */
export interface ViewedState {
  readonly root: unknown;
  readonly version: number;
  readonly texts: TextSizes;
  readonly copies: Copies;
  /** @throws actor/state_mutation_reentrant */
  checkWritable(isReadOnly: boolean): void;
  replaceRoot(value: unknown): void;
  change(place: Place, change: Change): void;
  /** A statement that brings no objects and takes none out. */
  resize(place: Place, bytes: number, path: () => string, apply: () => void): void;
  /** The same for a property of a plain object; `old` is undefined for a new one. */
  setLeaf(
    place: Place,
    key: string,
    old: { readonly value: unknown } | undefined,
    value: unknown,
    path: () => string,
    apply: () => void,
  ): void;
  /** @throws value/not_serializable */
  refuse(place: Place, path: string, found: string): never;
  constructorWasRead(): void;
  /** User code may hold a reference to these, and write through it. */
  watch(held: readonly object[]): void;
  /** A typed array or buffer is given to user code as it is. */
  lend(raw: object): void;
}

/** One way of looking at a state, as the views of its parts need it. */
export interface Viewing {
  readonly tree: ViewedState;
  /** At each access; may throw. */
  guard(): void;
  /** At each change; may throw. */
  guardWrite(): void;
  /** A part of the state as user code sees it; `container` is what it stands in, if in anything. */
  wrap(value: unknown, container: object | undefined): unknown;
  /** What stands in the state for something that user code looks for in it; `isThere` tells whether it is the one. */
  behind(value: unknown, isThere: (raw: unknown) => boolean): unknown;
}

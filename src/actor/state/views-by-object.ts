import type { Place } from "./place.js";
import type { Viewing } from "./viewing.js";

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

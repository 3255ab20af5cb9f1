import type { Place } from "./place.js";
import type { Viewing } from "./viewing.js";

/** What a view shows, and to whom. */
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

/** Where what is behind a view stands; undefined for what is no view. */
export function seenThrough(value: object): Place | undefined {
  return shown.get(value)?.place;
}

/** Errors and expressions are given out as copies: which of the state's one stands for. */
export function standInOf(copy: object): object | undefined {
  return standIns.get(copy);
}

export function registerStandIn(copy: object, raw: object): void {
  standIns.set(copy, raw);
}

import { kindOf, own } from "../../protocol/index.js";
import { ArrayView } from "./array-view.js";
import { DateView } from "./date-view.js";
import { copyOf } from "./plain-values.js";
import { MapView, SetView } from "./map-view.js";
import { ObjectView } from "./object-view.js";
import { Place, type PlaceOwner } from "./place.js";
import { registerStandIn, registerView, seenThrough, standInOf } from "./views-by-object.js";
import type { ViewedState, Viewing } from "./viewing.js";

export interface Guards {
  /** Runs at each access, and may throw. */
  readonly onRead?: () => void;
  /** Runs at each change, beside `onRead`. */
  readonly onWrite?: () => void;
  /** Every change through it is refused. */
  readonly isReadOnly?: boolean;
}

/** One way of looking at the state: what contexts give as `state`. Same object, same view of it. */
export class StateView implements Viewing {
  readonly tree: ViewedState & PlaceOwner;
  readonly #guards: Guards;
  readonly #views = new WeakMap<object, object>();
  readonly #handlers: Readonly<Record<string, ProxyHandler<object>>>;

  constructor(tree: ViewedState & PlaceOwner, guards: Guards) {
    this.tree = tree;
    this.#guards = own(guards);
    this.#handlers = {
      object: new ObjectView(this) as ProxyHandler<object>,
      array: new ArrayView(this) as ProxyHandler<object>,
      map: new MapView(this) as ProxyHandler<object>,
      set: new SetView(this) as ProxyHandler<object>,
      date: new DateView(this) as ProxyHandler<object>,
    };
  }

  get value(): unknown {
    this.guard();
    return this.wrap(this.tree.root, undefined);
  }

  set value(next: unknown) {
    this.guardWrite();
    this.tree.replaceRoot(next);
  }

  guard(): void {
    this.#guards.onRead?.();
  }

  guardWrite(): void {
    this.#guards.onRead?.();
    this.#guards.onWrite?.();
    this.tree.checkWritable(this.#guards.isReadOnly ?? false);
  }

  wrap(value: unknown, container: object | undefined): unknown {
    if (typeof value !== "object" || value === null) return value;
    return this.#views.get(value) ?? this.#makeView(value, container);
  }

  #makeView(value: object, container: object | undefined): object {
    const behind = seenThrough(value);
    // User code has written a view through a reference of its own.
    if (behind) return behind.owner === this.tree ? (this.wrap(behind.raw, undefined) as object) : value;
    const kind = kindOf(value);
    switch (kind) {
      case "buffer":
      case "view":
        this.#placeOf(value, container);
        if (container) this.tree.lend(value);
        return value;
      case "regexp": {
        const { source, flags } = value as RegExp;
        const copy = new RegExp(source, flags);
        registerStandIn(copy, value);
        return copy;
      }
      case "error": {
        const copy = frozen(copyOf(value));
        registerStandIn(copy, value);
        this.#views.set(value, copy);
        return copy;
      }
    }
    const place = this.#placeOf(value, container);
    const view = new Proxy(value, this.#handlers[kind] ?? (this.#handlers["object"] as ProxyHandler<object>));
    this.#views.set(value, view);
    registerView(view, { place, through: this });
    return view;
  }

  #placeOf(value: object, container: object | undefined): Place {
    const known = Place.of(value);
    if (known) return known;
    const place = new Place(value, this.tree);
    const parent = container && Place.of(container);
    if (parent) place.enter(parent);
    return place;
  }

  behind(value: unknown, isThere: (raw: unknown) => boolean): unknown {
    if (typeof value !== "object" || value === null) return value;
    return seenThrough(value)?.raw ?? standInOf(value) ?? this.tree.copies.of(value).find(isThere) ?? value;
  }
}

function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) return value;
  Object.freeze(value);
  for (const key of Reflect.ownKeys(value)) frozen((value as Record<PropertyKey, unknown>)[key]);
  return value;
}

import { kindOf, own } from "../../protocol/index.js";
import { ArrayView } from "./array-view.js";
import { DateView } from "./date-view.js";
import { copyOf } from "./plain-values.js";
import { MapView, SetView } from "./map-view.js";
import { ObjectView } from "./object-view.js";
import { Place, type PlaceOwner } from "./place.js";
import { registerStandIn, registerView, seenThrough, standInOf, type ViewedState, type Viewing } from "./viewing.js";

/** What a context checks at each use of its views. */
export interface Guards {
  /** Called at every access; may throw. */
  readonly onRead?: () => void;
  /** Called at every change, after `onRead`; may throw. */
  readonly onWrite?: () => void;
  /** Refuses every change. */
  readonly isReadOnly?: boolean;
}

/** The views of a state that one context hands out as `c.state`. An object always has the same view. */
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
    // User code wrote a view into the state through its own reference.
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

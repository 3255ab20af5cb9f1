import { leadNowhere, refuseFreezing, refusePrototype } from "./object-view.js";
import { MAP_MEMBERS, SET_MEMBERS } from "./map-members.js";
import { Place } from "./place.js";
import type { Viewing } from "./viewing.js";

/** Proxy handler of Map and Set views. Their methods are in `map-members.ts`. */
class CollectionView<C extends Map<unknown, unknown> | Set<unknown>> implements ProxyHandler<C> {
  readonly view: Viewing;
  readonly members: Readonly<Record<PropertyKey, unknown>>;

  constructor(view: Viewing, members: Readonly<Record<PropertyKey, unknown>>) {
    this.view = view;
    this.members = members;
  }

  get(target: C, key: PropertyKey): unknown {
    this.view.guard();
    return key === "size" ? target.size : this.members[key];
  }

  set(target: C, key: PropertyKey): boolean {
    return this.#refuse(target, key);
  }

  defineProperty(target: C, key: PropertyKey): boolean {
    return this.#refuse(target, key);
  }

  #refuse(target: C, key: PropertyKey): never {
    this.view.guardWrite();
    return this.view.tree.refuse(
      Place.of(target) as Place,
      `.${String(key)}`,
      `property of a ${target instanceof Map ? "Map" : "Set"}`,
    );
  }

  has(): boolean {
    this.view.guard();
    return false;
  }

  ownKeys(): string[] {
    this.view.guard();
    return [];
  }

  getOwnPropertyDescriptor(): undefined {
    this.view.guard();
    return undefined;
  }

  setPrototypeOf(): boolean {
    return refusePrototype();
  }

  preventExtensions(): boolean {
    return refuseFreezing();
  }
}
leadNowhere(CollectionView);

export class MapView extends CollectionView<Map<unknown, unknown>> {
  constructor(view: Viewing) {
    super(view, MAP_MEMBERS);
  }
}

export class SetView extends CollectionView<Set<unknown>> {
  constructor(view: Viewing) {
    super(view, SET_MEMBERS);
  }
}

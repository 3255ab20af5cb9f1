import { headBytes } from "../../protocol/index.js";
import { mapPath } from "./members.js";
import type { Place } from "./place.js";
import { seenThroughOr } from "./object-view.js";
import { memberTable, sealed, sealedMaker } from "./sealed-functions.js";
import { type Viewing, shownBy } from "./viewing.js";

type AnyMap = Map<unknown, unknown>;
type AnySet = Set<unknown>;
type Callback = (...args: unknown[]) => unknown;

interface Call<C> {
  readonly view: Viewing;
  readonly target: C;
  readonly place: Place;
  /** The view the method was called on. */
  readonly self: unknown;
}
type Method<C> = (call: Call<C>, ...args: unknown[]) => unknown;

/** The collection's own key or item for a value that user code passes. */
function keyOf({ view, target }: Call<AnyMap | AnySet>, given: unknown): unknown {
  return typeof given === "object" ? view.behind(given, (raw) => target.has(raw)) : given;
}

// ---- Maps ----------------------------------------------------------------------------------------------------------

const MAP_READERS: Readonly<Record<PropertyKey, Method<AnyMap>>> = {
  get: (call, key) => call.view.wrap(call.target.get(keyOf(call, key)), call.target),
  has: (call, key) => call.target.has(keyOf(call, key)),
  keys: ({ view, target }) => iterate(target.keys(), view, target),
  values: ({ view, target }) => iterate(target.values(), view, target),
  entries: ({ view, target }) => iteratePairs(target.entries(), view, target),
  [Symbol.iterator]: ({ view, target }) => iteratePairs(target.entries(), view, target),
  forEach: ({ view, target, self }, run, on) => {
    target.forEach((item, key) =>
      Reflect.apply(run as Callback, on, [view.wrap(item, target), view.wrap(key, target), self]),
    );
  },
};

const MAP_WRITERS: Readonly<Record<string, Method<AnyMap>>> = {
  set: (call, key, item) => {
    setEntry(call, key, item);
    return call.self;
  },
  delete: (call, given) => {
    const { view, target, place } = call;
    const key = keyOf(call, given);
    if (!target.has(key)) return false;
    const extraBytes = headBytes(target.size - 1) - headBytes(target.size);
    view.tree.change(place, {
      add: [],
      remove: [key, target.get(key)],
      extraBytes,
      path: () => mapPath(key),
      apply: () => void target.delete(key),
    });
    return true;
  },
  clear: ({ view, target, place }) => {
    if (target.size === 0) return;
    const remove = [...target.keys()].concat([...target.values()]);
    view.tree.change(place, {
      add: [],
      remove,
      extraBytes: 1 - headBytes(target.size),
      path: () => "",
      apply: () => target.clear(),
    });
  },
  getOrInsert: (call, key, item) => {
    const { view, target } = call;
    if (!target.has(keyOf(call, key))) setEntry(call, key, item);
    return view.wrap(target.get(keyOf(call, key)), target);
  },
  getOrInsertComputed: (call, key, make) => {
    const { view, target } = call;
    if (typeof make !== "function") throw new TypeError("The second argument must be a function");
    if (!target.has(keyOf(call, key))) setEntry(call, key, (make as Callback)(key));
    return view.wrap(target.get(keyOf(call, key)), target);
  },
};

function setEntry(call: Call<AnyMap>, given: unknown, item: unknown): void {
  const { view, target, place } = call;
  const key = keyOf(call, given);
  const path = (): string => mapPath(key);
  if (!target.has(key)) {
    const extraBytes = headBytes(target.size + 1) - headBytes(target.size);
    view.tree.change(place, {
      add: [Object.is(key, -0) ? 0 : given, item],
      remove: [],
      extraBytes,
      path,
      apply: ([k, v]) => void target.set(k, v),
    });
    return;
  }
  const old = target.get(key);
  if (Object.is(old, seenThroughOr(item))) return;
  view.tree.change(place, {
    add: [item],
    remove: [old],
    extraBytes: 0,
    path,
    apply: ([taken]) => void target.set(key, taken),
  });
}

// ---- Sets ----------------------------------------------------------------------------------------------------------

const SET_READERS: Readonly<Record<PropertyKey, Method<AnySet>>> = {
  has: (call, item) => call.target.has(keyOf(call, item)),
  keys: ({ view, target }) => iterate(target.values(), view, target),
  values: ({ view, target }) => iterate(target.values(), view, target),
  entries: ({ view, target }) => iteratePairs(target.entries(), view, target),
  [Symbol.iterator]: ({ view, target }) => iterate(target.values(), view, target),
  forEach: ({ view, target, self }, run, on) => {
    target.forEach((item) => {
      const shown = view.wrap(item, target);
      Reflect.apply(run as Callback, on, [shown, shown, self]);
    });
  },
};

/** Methods that take another Set. They run on a Set of views, since user code holds views of the other Set's items. */
const SET_COMPARISONS = [
  "union",
  "intersection",
  "difference",
  "symmetricDifference",
  "isSubsetOf",
  "isSupersetOf",
  "isDisjointFrom",
];

const SET_WRITERS: Readonly<Record<string, Method<AnySet>>> = {
  add: (call, item) => {
    const { view, target, place, self } = call;
    if (target.has(keyOf(call, item))) return self;
    const extraBytes = headBytes(target.size + 1) - headBytes(target.size);
    view.tree.change(place, {
      add: [Object.is(item, -0) ? 0 : item],
      remove: [],
      extraBytes,
      path: () => `.values()[${target.size}]`,
      apply: ([taken]) => void target.add(taken),
    });
    return self;
  },
  delete: (call, given) => {
    const { view, target, place } = call;
    const item = keyOf(call, given);
    if (!target.has(item)) return false;
    const extraBytes = headBytes(target.size - 1) - headBytes(target.size);
    view.tree.change(place, {
      add: [],
      remove: [item],
      extraBytes,
      path: () => "",
      apply: () => void target.delete(item),
    });
    return true;
  },
  clear: ({ view, target, place }) => {
    if (target.size === 0) return;
    view.tree.change(place, {
      add: [],
      remove: [...target],
      extraBytes: 1 - headBytes(target.size),
      path: () => "",
      apply: () => target.clear(),
    });
  },
};

function comparison(name: string): Method<AnySet> {
  const real = (Set.prototype as unknown as Record<string, Callback>)[name] as Callback;
  return ({ view, target }, other) =>
    Reflect.apply(real, new Set([...target].map((item) => view.wrap(item, target))), [other]);
}

// ---- both ----------------------------------------------------------------------------------------------------------

function* iterate(items: Iterable<unknown>, view: Viewing, target: object): IterableIterator<unknown> {
  for (const item of items) {
    view.guard();
    yield view.wrap(item, target);
  }
}

function* iteratePairs(
  pairs: Iterable<[unknown, unknown]>,
  view: Viewing,
  target: object,
): IterableIterator<[unknown, unknown]> {
  for (const [key, item] of pairs) {
    view.guard();
    yield [view.wrap(key, target), view.wrap(item, target)];
  }
}

function methods<C extends AnyMap | AnySet>(
  kind: new () => C,
  run: Readonly<Record<PropertyKey, Method<C>>>,
  changes: boolean,
): Record<PropertyKey, unknown> {
  const found = Object.create(null) as Record<PropertyKey, unknown>;
  for (const name of Reflect.ownKeys(run)) {
    // Views lack the methods that this JavaScript engine lacks.
    if (!Object.hasOwn(kind.prototype as object, name)) continue;
    const method = run[name] as Method<C>;
    // No method takes more than two arguments.
    found[name] = sealed(function (this: unknown, first: unknown, second: unknown) {
      const shown = shownBy(this);
      const target = shown?.place.raw;
      if (!shown || !(target instanceof kind))
        return Reflect.apply((kind.prototype as Record<PropertyKey, unknown>)[name] as Callback, this, [first, second]);
      const { through: view, place } = shown;
      if (changes) view.guardWrite();
      else view.guard();
      return method({ view, target, place, self: this }, first, second);
    }, name);
  }
  return found;
}

const comparisons = Object.fromEntries(
  SET_COMPARISONS.filter((name) => Object.hasOwn(Set.prototype, name)).map((name) => [name, comparison(name)]),
);

/** The members of Map views, apart from `size`. */
export const MAP_MEMBERS = memberTable(
  methods<AnyMap>(Map, MAP_READERS, false),
  methods<AnyMap>(Map, MAP_WRITERS, true),
  {
    constructor: sealedMaker(Map as never),
    [Symbol.toStringTag]: "Map",
  },
);

/** The members of Set views, apart from `size`. */
export const SET_MEMBERS = memberTable(
  methods<AnySet>(Set, SET_READERS, false),
  methods<AnySet>(Set, comparisons, false),
  methods<AnySet>(Set, SET_WRITERS, true),
  {
    constructor: sealedMaker(Set as never),
    [Symbol.toStringTag]: "Set",
  },
);

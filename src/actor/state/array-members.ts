import { copyWithin, fill, find, push, relativeIndex, replaceRange, reverse, sort } from "./array-statements.js";
import { memberTable, sealed, sealedMaker, sealedMethods } from "./sealed-functions.js";
import { type Viewing, shownBy } from "./viewing.js";

type Method = (view: Viewing, target: unknown[], args: readonly unknown[], self: unknown) => unknown;

/** Methods that change the array. */
const OWN: Readonly<Record<string, Method>> = {
  push: (view, target, items) => {
    if (items.length > 0) push(view, target, items);
    return target.length;
  },
  unshift: (view, target, items) => {
    if (items.length > 0) replaceRange(view, target, 0, 0, items);
    return target.length;
  },
  pop: (view, target) =>
    target.length === 0 ? undefined : view.wrap(replaceRange(view, target, target.length - 1, 1, [])[0], undefined),
  shift: (view, target) =>
    target.length === 0 ? undefined : view.wrap(replaceRange(view, target, 0, 1, [])[0], undefined),
  splice: (view, target, args) => {
    const start = relativeIndex(args[0], target.length, 0);
    const most = target.length - start;
    const count =
      args.length === 0 ? 0 : args.length === 1 ? most : Math.min(Math.max(Math.trunc(Number(args[1])) || 0, 0), most);
    const removed = replaceRange(view, target, start, count, args.slice(2));
    for (let i = 0; i < removed.length; i++)
      if (Object.hasOwn(removed, i)) removed[i] = view.wrap(removed[i], undefined);
    return removed;
  },
  sort: (view, target, [compare], self) => {
    sort(view, target, compare as never);
    return self;
  },
  reverse: (view, target, _, self) => {
    reverse(view, target);
    return self;
  },
  fill: (view, target, [value, start, end], self) => {
    fill(view, target, value, relativeIndex(start, target.length, 0), relativeIndex(end, target.length, target.length));
    return self;
  },
  copyWithin: (view, target, [to, from, end], self) => {
    const { length } = target;
    copyWithin(
      view,
      target,
      relativeIndex(to, length, 0),
      relativeIndex(from, length, 0),
      relativeIndex(end, length, length),
    );
    return self;
  },
};

/** Methods that search for an element. All others read the view as any code would. */
const FINDERS: Readonly<Record<string, Method>> = {
  indexOf: (view, target, args) => find(view, target, "indexOf", args),
  lastIndexOf: (view, target, args) => find(view, target, "lastIndexOf", args),
  includes: (view, target, [sought, from]) =>
    target.includes(
      view.behind(sought, (each) => target.includes(each)),
      from as number | undefined,
    ),
};

function method(name: string, run: Method, changes: boolean): unknown {
  const real = Array.prototype[name as "push"] as (...args: unknown[]) => unknown;
  return sealed(function (this: unknown, ...args: unknown[]) {
    const shown = shownBy(this);
    // `this` is not a view of an array.
    if (!shown || !Array.isArray(shown.place.raw)) return Reflect.apply(real, this, args);
    const { through, place } = shown;
    if (changes) through.guardWrite();
    else through.guard();
    return run(through, place.raw as unknown[], args, this);
  }, name);
}

/** The members of array views, apart from elements and `length`. */
export const ARRAY_MEMBERS = memberTable(
  sealedMethods(Array.prototype, new Set(["constructor"])),
  Object.fromEntries(Object.entries(OWN).map(([name, run]) => [name, method(name, run, true)])),
  Object.fromEntries(Object.entries(FINDERS).map(([name, run]) => [name, method(name, run, false)])),
  { constructor: sealedMaker(Array as never) },
);

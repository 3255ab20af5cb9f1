import { afterEach, describe, expect, it } from "vitest";
import { StateSubject } from "../subject.js";

// oxlint-disable-next-line typescript/no-explicit-any -- names and values that a client sends
type Any = any;

/** Undoes whatever a test did to native prototypes, so that no other test sees it. */
const PROTOTYPES = [
  Object.prototype,
  Array.prototype,
  Function.prototype,
  Map.prototype,
  Set.prototype,
  Date.prototype,
] as Any[];
const names = PROTOTYPES.map((each) => new Set(Reflect.ownKeys(each)));
const added = (): string[] =>
  PROTOTYPES.flatMap((each, index) =>
    Reflect.ownKeys(each)
      .filter((key) => !names[index]?.has(key))
      .map(String),
  );
afterEach(() => {
  PROTOTYPES.forEach((each, index) =>
    Reflect.ownKeys(each).forEach((key) => names[index]?.has(key) || Reflect.deleteProperty(each, key)),
  );
});

const INHERITED = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "valueOf",
  "__defineGetter__",
  "__lookupSetter__",
  "isPrototypeOf",
];

describe("a name that a client sent", () => {
  it("reads no prototype of the language as a part of the state, and writes none", async () => {
    const subject = new StateSubject<Any>({
      ships: {},
      byUser: {},
      list: [1],
      map: new Map(),
      set: new Set(),
      at: new Date(0),
    });
    for (const id of INHERITED) {
      await subject
        .edit(({ state }) => {
          const ship = state.ships[id];
          if (ship) ship.destroyed = true;
        })
        .catch(() => {});
      await subject.edit(({ state }) => void ((state.byUser[id] ??= {})["destroyed"] = 1)).catch(() => {});
    }
    expect(added()).toEqual([]);
    expect(({} as Any).destroyed).toBe(undefined);
    const { byUser } = await subject.restarted();
    for (const id of ["__proto__", "constructor", "__defineGetter__", "__lookupSetter__"]) {
      expect(Object.getOwnPropertyDescriptor(byUser, id)?.value, id).toEqual({ destroyed: 1 });
    }
  });

  it("can be any name if code asks whether it is there, or keeps a Map", async () => {
    const subject = new StateSubject<Any>({ byId: {}, map: new Map() });
    const inherited = [...INHERITED, "toLocaleString", "propertyIsEnumerable"];
    await subject.edit(({ state: { byId, map } }) => {
      expect(inherited.filter((id) => byId[id] !== undefined).toSorted()).toEqual([
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "toLocaleString",
        "toString",
        "valueOf",
      ]);
      for (const id of inherited) {
        if (!Object.hasOwn(byId, id)) byId[id] = {};
        byId[id].n = id;
        if (!map.has(id)) map.set(id, {});
        map.get(id).n = id;
      }
    });
    const { byId, map } = await subject.restarted();
    for (const id of inherited)
      expect([Object.getOwnPropertyDescriptor(byId, id)?.value, map.get(id)], id).toEqual([{ n: id }, { n: id }]);
  });

  it("reaches nothing that can be written to, however many names follow one another", async () => {
    const subject = new StateSubject<Any>({
      object: {},
      list: [1],
      map: new Map([[1, 2]]),
      set: new Set([1]),
      at: new Date(0),
    });
    const tried = [
      ...INHERITED,
      "prototype",
      "push",
      "map",
      "call",
      "apply",
      "bind",
      "name",
      "get",
      "set",
      "has",
      "add",
      "getTime",
      "setTime",
      "size",
      "length",
      "0",
    ];
    const reached: string[] = [];
    await subject.edit(({ state }) => {
      const walk = (value: Any, path: string, depth: number): void => {
        if ((typeof value !== "object" && typeof value !== "function") || value === null || depth > 3) return;
        if (PROTOTYPES.includes(value)) reached.push(path);
        if (typeof value === "function") {
          expect(Object.isFrozen(value), path).toBe(true);
          expect(PROTOTYPES.includes(Object.getPrototypeOf(value)), path).toBe(false);
        }
        for (const name of tried) {
          walk(value[name], `${path}.${name}`, depth + 1);
          if (depth === 0) continue;
          try {
            value[name].polluted = true;
          } catch {
            // Frozen, or absent.
          }
        }
      };
      for (const part of ["object", "list", "map", "set", "at"]) walk(state[part], part, 0);
    });
    expect(reached).toEqual([]);
    expect(added()).toEqual([]);
  });

  it("is in the state only if it was put there", async () => {
    const subject = new StateSubject<Any>({ object: {}, list: [] });
    const seen = await subject.edit(({ state }) =>
      INHERITED.map((name) => [
        name in state.object,
        name in state.list,
        Object.hasOwn(state.object, name),
        Reflect.has(state.object, name),
      ]),
    );
    expect(new Set((seen as boolean[][]).flat())).toEqual(new Set([false]));
    expect(
      await subject.edit(({ state }) => [state.object.constructor, state.object.__proto__, state.list.__proto__]),
    ).toEqual([undefined, undefined, undefined]);
  });

  it("that was put there is data like any other", async () => {
    const subject = new StateSubject<Any>({ object: {} });
    await subject.edit(({ state }) => {
      for (const name of INHERITED) state.object[name] = { is: name };
      state.object["__proto__"].more = 1;
    });
    const { object } = await subject.restarted();
    for (const name of INHERITED)
      expect(Object.getOwnPropertyDescriptor(object, name)?.value, name).toMatchObject({ is: name });
    expect(
      await subject.edit(({ state }) => [
        state.object["__proto__"].more,
        state.object.constructor.is,
        "__proto__" in state.object,
      ]),
    ).toEqual([1, "constructor", true]);
    await subject.edit(({ state }) => delete state.object["__proto__"]);
    expect(Object.hasOwn((await subject.restarted()).object, "__proto__")).toBe(false);
  });

  it("sees nothing of what others have put into the prototypes of the language", async () => {
    const subject = new StateSubject<Any>({ object: {}, list: [1, 2, 3], map: new Map() });
    await subject.edit(() => {});
    Object.assign(Object.prototype, { admin: true });
    Object.defineProperty(Array.prototype, "1", { value: "polluted", configurable: true, writable: true });
    const seen = await subject.edit(({ state }) => [
      delete state.list[1] && state.object.admin,
      "admin" in state.object,
      state.list.admin,
      state.map.admin,
      state.list[1],
      state.list.at(1),
    ]);
    Reflect.deleteProperty(Object.prototype, "admin");
    Reflect.deleteProperty(Array.prototype, "1");
    expect(seen).toEqual([undefined, false, undefined, undefined, undefined, undefined]);
  });
});

describe("views as other code sees them", () => {
  const parts = {
    object: { a: 1, deep: { b: [1] } },
    list: [{ x: 1 }, 2],
    map: new Map([["k", { v: 1 }]]),
    set: new Set([1]),
    at: new Date(86_400_000),
  };

  it("answers what plain objects, arrays, Maps, Sets and Dates answer", async () => {
    const subject = new StateSubject<Any>(parts);
    const seen = await subject.edit(({ state: { object, list, map, set, at } }) => ({
      texts: [`${object}`, `${list}`, `${map}`, `${set}`, String(list[0]), `${at.toISOString()}`],
      tags: [object, list, map, set, at].map((each) => Object.prototype.toString.call(each)),
      classes: [Array.isArray(list), list instanceof Array, map instanceof Map, set instanceof Set, at instanceof Date],
      own: [
        object.hasOwnProperty("a"),
        object.hasOwnProperty("b"),
        object.propertyIsEnumerable("a"),
        object.isPrototypeOf({}),
        object.valueOf() === object,
      ],
      json: JSON.stringify({ object, list, at }),
      spread: [{ ...object }.a, [...list].length, [...map].length, [...set].length],
      numbers: [+at, at - 1, at > 5, new Date(at).getTime(), new Date(NaN).getTime()],
      made: [
        new list.constructor(2).length,
        new map.constructor([[1, 2]]).get(1),
        new set.constructor([1]).has(1),
        new at.constructor(+at).getTime(),
        [] instanceof list.constructor,
      ],
      concat: [0].concat(list).length,
      from: Array.from(list, (each: Any) => each.x ?? each),
      sorted: list.toReversed?.().length,
      freed: list.slice(0, 1)[0] === list[0],
      entries: Object.entries(object).map(([key]) => key),
      symbol: [map[Symbol.toStringTag], typeof list[Symbol.iterator], object[Symbol.iterator]],
      spliceCalled: list.push.call([], 1),
    }));
    expect(seen).toEqual({
      texts: [
        "[object Object]",
        "[object Object],2",
        "[object Map]",
        "[object Set]",
        "[object Object]",
        "1970-01-02T00:00:00.000Z",
      ],
      tags: ["[object Object]", "[object Array]", "[object Map]", "[object Set]", "[object Date]"],
      classes: [true, true, true, true, true],
      own: [true, false, true, false, true],
      json: '{"object":{"a":1,"deep":{"b":[1]}},"list":[{"x":1},2],"at":"1970-01-02T00:00:00.000Z"}',
      spread: [1, 2, 1, 1],
      numbers: [86_400_000, 86_399_999, true, 86_400_000, NaN],
      made: [2, 2, true, 86_400_000, true],
      concat: 3,
      from: [1, 2],
      sorted: 2,
      freed: true,
      entries: ["a", "deep"],
      symbol: ["Map", "function", undefined],
      spliceCalled: 1,
    });
  });

  it("is equal to plain data for what compares members", async () => {
    const subject = new StateSubject<Any>(parts);
    let failure: unknown;
    await subject.edit(({ state }) => {
      try {
        expect(state.object).toEqual(parts.object);
        expect(state.list).toEqual(parts.list);
        expect(state.object).toMatchObject({ deep: { b: [1] } });
        expect({ wrapped: state.list }).toEqual({ wrapped: parts.list });
        expect(state.object).not.toEqual({ a: 2, deep: { b: [1] } });
      } catch (error) {
        failure = error;
      }
    });
    expect(failure).toBe(undefined);
  });

  it("copies as lodash and date-fns do: by the constructor of what they copy", async () => {
    const subject = new StateSubject<Any>(parts);
    // The steps of both libraries, in their order.
    const cloneDeep = (value: Any): Any => {
      if (typeof value !== "object" || value === null) return value;
      const tag = Object.prototype.toString.call(value);
      if (tag === "[object Array]")
        return Array.from(value, cloneDeep).reduce(
          (copy: Any[], each: Any) => [...copy, each],
          new value.constructor(0),
        );
      if (tag === "[object Date]") return new value.constructor(+value);
      if (tag === "[object Map]")
        return [...value].reduce((copy: Any, [k, v]: Any) => copy.set(k, cloneDeep(v)), new value.constructor());
      if (tag === "[object Set]")
        return [...value].reduce((copy: Any, v: Any) => copy.add(cloneDeep(v)), new value.constructor());
      const copy = typeof value.constructor === "function" ? Object.create(Object.getPrototypeOf(value)) : {};
      for (const key of Object.keys(value)) copy[key] = cloneDeep(value[key]);
      return copy;
    };
    let copy: Any;
    await subject.edit(({ state }) => void (copy = cloneDeep(state)));
    copy.list.push("only here");
    copy.map.clear();
    expect(Object.getPrototypeOf(copy.at)).toBe(Date.prototype);
    expect(copy).toEqual({ ...parts, list: [...parts.list, "only here"], map: new Map() });
    expect(await subject.restarted()).toEqual(parts);
  });

  it("inherits to objects made from them without being written to", async () => {
    const subject = new StateSubject<Any>({ base: { a: 1 }, list: [1] });
    const seen = await subject.edit(({ state }) => {
      const heir = Object.create(state.base);
      heir.a = 2;
      heir.b = 3;
      const list = Object.create(state.list);
      list[0] = 5;
      return [heir.a, state.base.a, Object.keys(heir), state.list[0]];
    });
    expect(seen).toEqual([2, 1, ["a", "b"], 1]);
    expect(await subject.restarted()).toEqual({ base: { a: 1 }, list: [1] });
  });

  it("names what helps a library that freezes what it is given, as immer does", async () => {
    const subject = new StateSubject<Any>(parts);
    const seen = (await subject.edit(({ state }) =>
      [state, ...Object.values(state)].flatMap((part) =>
        [Object.freeze, Object.seal, Object.preventExtensions, (each: Any) => Object.setPrototypeOf(each, {})].map(
          (refused) => {
            try {
              return refused(part);
            } catch (error) {
              return `${error}`;
            }
          },
        ),
      ),
    )) as unknown[];
    const texts = [
      "A part of the state cannot be frozen or sealed. Give a library that does so a plain copy: `snapshot(value)`",
      "A part of the state cannot be given a prototype: state is plain data",
    ];
    expect(new Set(seen)).toEqual(new Set(texts.map((text) => `TypeError: ${text}`)));
  });

  it("says once, in the log, what helps a library that compares constructors", async () => {
    const subject = new StateSubject<Any>({ object: {}, list: [] });
    await subject.edit(
      ({ state }) =>
        void [state.object.constructor, state.object.constructor, state.constructor, state.list.constructor],
    );
    const lines = subject.single.log.filter(
      ({ level, entry }) => level === "debug" && String(entry["msg"]).includes("snapshot("),
    );
    expect(lines).toHaveLength(1);
  });
});

describe("what a state cannot keep of an object", () => {
  it("is not shown either: named properties of arrays, symbol keys, properties that are not enumerable", async () => {
    const subject = new StateSubject<Any>({});
    const key = Symbol.for("key");
    let live: Any;
    const look = ({ state }: Any): Any => [
      [
        state.match.index,
        state.match[0],
        state.match.length,
        "index" in state.match,
        Object.keys(state.match),
        Reflect.ownKeys(state.match),
        Object.hasOwn(state.match, "input"),
        { ...state.match },
        [...state.match],
      ],
      [
        state.marked[key],
        key in state.marked,
        Object.getOwnPropertySymbols(state.marked),
        { ...state.marked },
        Object.getOwnPropertyDescriptor(state.marked, key),
      ],
      [state.list[key], key in state.list, Reflect.ownKeys(state.list)],
      [state.hidden.h, "h" in state.hidden, Object.getOwnPropertyNames(state.hidden), state.hidden.shown],
    ];
    await subject.edit((c) => {
      const { state } = c;
      state.match = "abc".match(/b(c)/);
      state.marked = { [key]: 1, n: 2 };
      state.list = Object.assign([1], { [key]: 1, constructor: 5, "01": 1, "-1": 2, "4294967295": 3 });
      state.hidden = Object.defineProperty({ shown: 1 }, "h", { value: 5, writable: true, configurable: true });
      live = look(c);
    });
    subject.single.subject.crash();
    let again: Any;
    await subject.edit((c) => void (again = look(c)));
    expect(live).toEqual(again);
    expect(again).toEqual([
      [undefined, "bc", 2, false, ["0", "1"], ["0", "1", "length"], false, { 0: "bc", 1: "c" }, ["bc", "c"]],
      [undefined, false, [], { n: 2 }, undefined],
      [undefined, false, ["0", "length"]],
      [undefined, false, ["shown"], 1],
    ]);
  });

  it("goes on being written through the caller's reference in all that it keeps", async () => {
    const subject = new StateSubject<Any>({});
    await subject.edit(({ state }) => {
      const match: Any = "abc".match(/b/);
      const marked: Any = { [Symbol("mark")]: 1 };
      Object.assign(state, { match, marked });
      match.push("more");
      match.named = 1;
      marked.n = 1;
      expect(state.match).toHaveLength(2);
    });
    expect(await subject.restarted()).toEqual({ match: ["b", "more"], marked: { n: 1 } });
  });
});

import { createContext, runInContext } from "node:vm";
import { describe, expect, it } from "vitest";
import {
  ActorError,
  decodeRow,
  decodeTaggedCbor,
  decodeValue,
  encodeJson,
  encodeTaggedCbor,
  encodeValue,
  measure,
} from "../../src/protocol/index.js";
import { hex, portrait } from "./arbitrary-values.js";

// Values whose own code runs while they are encoded, and modified prototypes.

const innocent = { list: [1, "zwei", { drei: 3n }], map: new Map([["k", new Set([1])]]), text: "é".repeat(100) };
const innocentBytes = hex(encodeValue(innocent));

/** Encodes `value`: must return readable bytes or throw an error of ours, and must not affect other encodings. */
function outcomeOf(value: unknown): string {
  let outcome: string;
  try {
    outcome = portrait(decodeValue(encodeValue(value)));
  } catch (error) {
    if (!ActorError.isActorError(error) || error.group !== "value") throw error;
    outcome = `${error.code}: ${(error.metadata as { found?: string }).found}`;
  }
  expect(hex(encodeValue(innocent))).toBe(innocentBytes);
  return outcome;
}

const changing = "not_serializable: value that changes while it is read";

describe("a value whose code encodes something meanwhile", () => {
  it("changes nothing for either, however deep", () => {
    const inner: string[] = [];
    const nosy = (levels: number): object =>
      new Proxy(
        { a: 1, b: [2] },
        {
          get: (target, key) => {
            inner.push(hex(encodeValue(innocent)));
            if (levels > 0) encodeValue([nosy(levels - 1), "x".repeat(50_000)]);
            expect(() => encodeValue(["x".repeat(50_000), () => 1])).toThrow(ActorError);
            return Reflect.get(target, key);
          },
        },
      );
    expect(outcomeOf([nosy(2), "y".repeat(20_000), nosy(0)])).toBe(
      portrait([{ a: 1, b: [2] }, "y".repeat(20_000), { a: 1, b: [2] }]),
    );
    expect(new Set(inner)).toEqual(new Set([innocentBytes]));
  });
});

describe("a value that changes while it is read", () => {
  /** An object that runs `act` when its property is read. */
  const trigger = (act: () => void): object =>
    new Proxy(
      { a: 1 },
      {
        get: (target, key) => {
          act();
          return Reflect.get(target, key);
        },
      },
    );

  it("is an array that shrinks or grows: what is gone is undefined", () => {
    const shrinking: unknown[] = [trigger(() => (shrinking.length = 1)), 2, 3];
    expect(outcomeOf(shrinking)).toBe('[{"a": 1}, undefined, undefined]');
    const growing: unknown[] = [trigger(() => growing.push(4)), 2];
    expect(outcomeOf(growing)).toBe('[{"a": 1}, 2]');
  });

  it("is a Map or a Set with more or fewer items than at its beginning", () => {
    const changes: [
      name: string,
      change: (put: (item: unknown) => void, take: (item: unknown) => void, items: unknown[]) => void,
    ][] = [
      ["more", (put) => put({})],
      ["fewer", (_put, take) => take(5)],
      ["none", (_put, take, items) => items.forEach(take)],
      ["all again", (put, take, items) => items.forEach((item) => [take, put].forEach((step) => step(item)))],
    ];
    for (const [name, change] of changes) {
      const set = new Set<unknown>();
      const map = new Map<unknown, unknown>();
      const inSet = [
        trigger(() =>
          change(
            (item) => set.add(item),
            (item) => set.delete(item),
            inSet,
          ),
        ),
        5,
        6,
      ];
      const inMap = [
        trigger(() =>
          change(
            (item) => map.set(item, 1),
            (item) => map.delete(item),
            inMap,
          ),
        ),
        5,
        6,
      ];
      for (const item of inSet) set.add(item);
      for (const item of inMap) map.set(item, 1);
      expect(outcomeOf(set), name).toBe(changing);
      expect(outcomeOf(map), name).toBe(changing);
    }
  });

  it("is an object whose properties go, come, or turn into accessors", () => {
    const going: Record<string, unknown> = { t: trigger(() => delete going["constructor"]), constructor: 1 };
    expect(outcomeOf(going)).toMatch(/^not_serializable|^\{/);
    const turning: Record<string, unknown> = {
      t: trigger(() => Object.defineProperty(turning, "b", { get: () => 2, enumerable: true })),
      b: 1,
    };
    expect(outcomeOf(turning)).toBe("not_serializable: accessor property");
    const setter = Object.defineProperty({}, "b", { set: () => {}, enumerable: true });
    expect(outcomeOf(setter)).toBe("not_serializable: accessor property");
  });

  it("is a buffer that shrinks, grows or goes, and a view of it", () => {
    const memory = new ArrayBuffer(8, { maxByteLength: 64 });
    new Uint8Array(memory).set([1, 2, 3, 4, 5, 6, 7, 8]);
    const views = [new Uint8Array(memory), new Uint8Array(memory, 4, 4), new DataView(memory, 6)];
    expect(outcomeOf([memory, ...views])).toBe(
      "[ArrayBuffer(0102030405060708), Uint8Array(0102030405060708), Uint8Array(05060708), DataView(0708)]",
    );
    expect(outcomeOf([trigger(() => memory.resize(2)), memory, views[0]])).toBe(
      '[{"a": 1}, ArrayBuffer(0102), Uint8Array(0102)]',
    );
    expect(outcomeOf(views[1])).toBe("Uint8Array()");
    expect(outcomeOf(views[2])).toMatch(/cannot be read$/);
    expect(outcomeOf([trigger(() => memory.resize(64)), memory])).toMatch(/^\[\{"a": 1\}, ArrayBuffer\(0102(00)+\)\]$/);
    expect(outcomeOf([trigger(() => memory.byteLength && memory.transfer()), memory])).toMatch(/cannot be read$/);
    expect(outcomeOf(new Uint8Array(new SharedArrayBuffer(2, { maxByteLength: 8 })))).toBe("Uint8Array(0000)");
  });

  it("is a proxy that lies about what it is", () => {
    const lies: [handler: ProxyHandler<object>, target: object, outcome: string | RegExp][] = [
      [{ get: (target, key) => (key === "length" ? 4e9 : Reflect.get(target, key)) }, [1], "too_large: undefined"],
      [{ get: (target, key) => (key === "length" ? 1.5 : Reflect.get(target, key)) }, [1], changing],
      [{ get: (target, key) => (key === "length" ? "3" : Reflect.get(target, key)) }, [1], changing],
      [{ get: (target, key) => (key === "length" ? -1 : Reflect.get(target, key)) }, [1], changing],
      [{ get: (target, key) => (key === "length" ? Symbol("s") : Reflect.get(target, key)) }, [1], /^not_serializable/],
      [
        {
          ownKeys: () => ["a", "b"],
          getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }),
        },
        {},
        '{"a": undefined, "b": undefined}',
      ],
      [{ ownKeys: () => ["a"] }, {}, "{}"],
      [{ getPrototypeOf: () => Map.prototype }, {}, /cannot be read$/],
      [{ getPrototypeOf: () => Date.prototype }, {}, /cannot be read$/],
      [{ getPrototypeOf: () => Uint8Array.prototype }, {}, /^not_serializable/],
      [{ getPrototypeOf: () => ArrayBuffer.prototype }, {}, /^\[|cannot be read$|^ArrayBuffer/],
      [{ getPrototypeOf: () => Error.prototype }, { name: "E", message: "m" }, /^Error<"E">/],
      [
        {
          getPrototypeOf: () => {
            throw new Error("private");
          },
        },
        {},
        "not_serializable: object that cannot be read that cannot be read",
      ],
    ];
    for (const [handler, target, outcome] of lies) expect(outcomeOf(new Proxy(target, handler))).toMatch(outcome);
  });

  it("is a proxy of a Map, Set or Date that is asked like any other, and its answers checked", () => {
    const view = <T extends object>(target: T): T =>
      new Proxy(target, {
        get: (inside, key) => {
          const member: unknown = Reflect.get(inside, key, inside);
          return typeof member === "function" ? member.bind(inside) : member;
        },
      });
    expect(outcomeOf([view(new Map([["a", 1]])), view(new Set([2])), view(new Date(5))])).toBe(
      '[Map{"a" => 1}, Set{2}, Date(5)]',
    );
    for (const time of ["5", 1.5, 1e300, {}, 5n])
      expect(outcomeOf(new Proxy(new Date(5), { get: () => () => time }))).toMatch(/^not_serializable/);
    const endless = new Proxy(new Set(), {
      get: () =>
        function* () {
          for (let i = 0; ; i++) yield i;
        },
    });
    expect(outcomeOf(endless)).toMatch(/^too_large|^not_serializable/);
  });

  it("is read by its insides, whatever its own properties say", () => {
    const own = <T extends object>(target: T, properties: Record<PropertyKey, unknown>): T => {
      for (const key of Reflect.ownKeys(properties))
        Object.defineProperty(target, key, { value: properties[key], configurable: true });
      return target;
    };
    expect(outcomeOf(own(new Map([[1, 2]]), { size: 7, forEach: null, [Symbol.iterator]: null }))).toBe("Map{1 => 2}");
    expect(outcomeOf(own(new Set([1]), { size: 7, forEach: null, [Symbol.iterator]: null }))).toBe("Set{1}");
    expect(outcomeOf(own(new Date(5), { getTime: () => "x" }))).toBe("Date(5)");
    expect(outcomeOf(own(/a(?<n>b)/g, { source: "(", flags: "uv" }))).toBe("RegExp(/a(?<n>b)/g)");
    expect(
      outcomeOf(
        own(new Uint16Array([1, 2]), {
          byteLength: 100,
          length: 9,
          buffer: null,
          [Symbol.toStringTag]: "Float64Array",
        }),
      ),
    ).toBe("Uint16Array(01000200)");
    expect(outcomeOf(own(new DataView(new ArrayBuffer(2)), { byteLength: 100 }))).toBe("DataView(0000)");
    expect(outcomeOf(own([1, 2], { [Symbol.iterator]: null, forEach: null }))).toBe("[1, 2]");
  });
});

describe("what comes from another realm", () => {
  it("is what it is here", () => {
    const there = runInContext(
      `({
        list: [1, [2]],
        map: new Map([[1, new Set([2])]]),
        date: new Date(5),
        exp: /a/gi,
        view: new Uint16Array([1]),
        data: new DataView(new ArrayBuffer(1)),
        buffer: new ArrayBuffer(2),
        error: Object.assign(new TypeError("m"), { code: "C" }),
        bare: Object.assign(Object.create(null), { a: 1 }),
      })`,
      createContext({}),
    ) as Record<string, unknown>;
    const here = portrait(decodeValue(encodeValue(there)));
    for (const part of [
      "[1, [2]]",
      "Map{1 => Set{2}}",
      "Date(5)",
      "RegExp(/a/gi)",
      "Uint16Array(0100)",
      "DataView(00)",
      "ArrayBuffer(0000)",
      'Error<"TypeError">("m"; code: "C")',
      '{"a": 1}',
    ])
      expect(here).toContain(part);
    expect(here).not.toContain("NOT PLAIN");
    expect(outcomeOf(runInContext("({ f() {} })", createContext({})))).toBe("not_serializable: function");
  });
});

describe("with prototypes that somebody changed", () => {
  const names = [
    "0",
    "3",
    "value",
    "get",
    "set",
    "writable",
    "a",
    "code",
    "metadata",
    "cause",
    "name",
    "extended",
    "depth",
    "bytes",
    "limits",
    "revive",
  ];
  const holders: [name: string, holder: object][] = [
    ["Object.prototype", Object.prototype],
    ["Array.prototype", Array.prototype],
  ];
  const value = {
    a: [1, , 3, , 5],
    list: [[], ["x"]],
    map: new Map([["a", { 3: 1 }]]),
    error: Object.assign(new TypeError("m"), { own: 1 }),
    e2: new ActorError("queue", "full", "m"),
  };
  const expected = hex(encodeValue(value));
  const tagged = hex(encodeTaggedCbor(value));
  const json = encodeJson({ a: [1, 2], b: ["$x", 1] }, { extended: true });

  /** Runs every operation on values while the holder has a property of each name, defined by `define`. */
  function trial(holder: object, define: (name: string) => PropertyDescriptor): string[] {
    const descriptors = names
      .filter((name) => !Object.hasOwn(holder, name))
      .map((name) => [name, Object.assign(Object.create(null) as PropertyDescriptor, define(name))] as const);
    try {
      for (const [name, descriptor] of descriptors) Object.defineProperty(holder, name, descriptor);
      const bytes = encodeValue(value);
      const back = decodeValue(bytes) as typeof value;
      const row = decodeRow(bytes, 2) as typeof value;
      const own = [
        Object.keys(back),
        Object.keys(back.a),
        Object.keys(back.list[1] as []),
        Object.keys(row.list),
        Object.hasOwn(back.map.get("a") as object, "3"),
        Object.getPrototypeOf(row) === null,
      ].map(String);
      return [
        hex(bytes),
        hex(encodeValue(back)),
        hex(encodeTaggedCbor(value)),
        hex(encodeTaggedCbor(decodeTaggedCbor(encodeTaggedCbor(value)))),
        encodeJson({ a: [1, 2], b: ["$x", 1] }, { extended: true }),
        `${measure(value).bytes}`,
        ...own,
      ];
    } finally {
      for (const [name] of descriptors) delete (holder as Record<string, unknown>)[name];
    }
  }

  it.each(holders)("has the same bytes and the same values: data on %s", (_name, holder) => {
    const undisturbed = trial({}, () => ({ value: 1, configurable: true }));
    expect(undisturbed.slice(0, 5)).toEqual([expected, expected, tagged, tagged, json]);
    // Not the names that the language reads from a property descriptor.
    expect(
      trial(holder, () => ({ value: () => "polluted", writable: true, enumerable: true, configurable: true })),
    ).toEqual(undisturbed);
    expect(
      trial(holder, () => ({ value: { own: "polluted" }, writable: false, enumerable: true, configurable: true })),
    ).toEqual(undisturbed);
    let calls = 0;
    expect(
      trial(holder, () => ({
        get: () => "polluted",
        set: () => {
          calls++;
        },
        enumerable: true,
        configurable: true,
      })),
    ).toEqual(undisturbed);
    expect(calls).toBe(0);
  });
});

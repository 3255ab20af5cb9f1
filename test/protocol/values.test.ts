import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ActorError,
  decodeRow,
  decodeValue,
  encodeValue,
  MAX_VALUE_BYTES,
  UserError,
} from "../../src/protocol/index.js";
import { anyValue, portrait } from "./arbitrary-values.js";

function roundTrip<T>(value: T): T {
  return decodeValue(encodeValue(value)) as T;
}

/** The group, code and metadata of what `act` throws. */
function failureOf(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    if (!ActorError.isActorError(error)) throw error;
    return { name: `${error.group}/${error.code}`, message: error.message, metadata: error.metadata };
  }
  return "nothing thrown";
}

describe("encodeValue and decodeValue", () => {
  it("give back every value of the domain", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(portrait(roundTrip(value))).toBe(portrait(value));
      }),
      { numRuns: 1000 },
    );
  });

  it("have a fixed point: a value that came back is encoded into the same bytes", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const bytes = encodeValue(value);
        expect(encodeValue(decodeValue(bytes))).toEqual(bytes);
      }),
      { numRuns: 500 },
    );
  });

  it("returns bytes that own their whole buffer, whatever was encoded before", () => {
    const first = encodeValue({ secret: "of another actor" });
    const second = encodeValue("x".repeat(9000));
    const third = encodeValue(1);
    for (const bytes of [first, second, third]) {
      expect(bytes.buffer.byteLength).toBe(bytes.byteLength);
      expect(bytes.byteOffset).toBe(0);
      expect(Object.getPrototypeOf(bytes)).toBe(Uint8Array.prototype);
    }
    expect(decodeValue(first)).toEqual({ secret: "of another actor" });
  });

  it("decodes a new value each time, which shares no memory with the bytes", () => {
    const bytes = encodeValue({ list: [1], raw: new Uint8Array([1, 2, 3]), buffer: new Uint8Array([4]).buffer });
    const one = decodeValue(bytes) as { list: number[]; raw: Uint8Array; buffer: ArrayBuffer };
    const two = decodeValue(bytes) as typeof one;
    one.list.push(2);
    bytes.fill(0);
    expect(two).toEqual({ list: [1], raw: new Uint8Array([1, 2, 3]), buffer: new Uint8Array([4]).buffer });
    expect(one.raw.buffer.byteLength).toBe(3);
  });

  it("reads bytes that lie within a larger buffer, a Node Buffer included", () => {
    const bytes = encodeValue({ a: 1.5, b: 2n, raw: new Uint8Array([7]) });
    const roomy = new Uint8Array(bytes.length + 10).fill(0xff);
    roomy.set(bytes, 5);
    const inside = roomy.subarray(5, 5 + bytes.length);
    const { raw, ...rest } = decodeValue(Buffer.from(inside)) as { raw: Uint8Array };
    expect(decodeValue(inside)).toEqual({ a: 1.5, b: 2n, raw: new Uint8Array([7]) });
    expect(rest).toEqual({ a: 1.5, b: 2n });
    expect(Object.getPrototypeOf(raw)).toBe(Uint8Array.prototype);
    expect(raw.buffer.byteLength).toBe(1);
  });

  it("lose nothing where the buffer grows", () => {
    for (let first = 0; first < 80; first++) {
      const value = ["x".repeat(first), ...Array<string>(900).fill("y".repeat(61)), 1.5, 2n, new Uint8Array([1, 2, 3])];
      expect(roundTrip(value)).toEqual(value);
    }
  });

  it("keeps only the bytes that a view shows", () => {
    const view = new Float64Array(new ArrayBuffer(800_000), 8, 2);
    view.set([1.5, NaN]);
    expect(encodeValue(view).length).toBeLessThan(30);
    const back = roundTrip(view);
    expect(back).toEqual(new Float64Array([1.5, NaN]));
    expect(back.buffer.byteLength).toBe(16);
  });

  it("takes a Node Buffer for the Uint8Array that it is", () => {
    const back = roundTrip(Buffer.from("hi")) as Uint8Array;
    expect(Object.getPrototypeOf(back)).toBe(Uint8Array.prototype);
    expect([...back]).toEqual([104, 105]);
  });

  it("keeps -0, which cbor-x loses", () => {
    expect(Object.is(roundTrip(-0), -0)).toBe(true);
    expect(roundTrip(new Float64Array([-0]))).toEqual(new Float64Array([-0]));
  });

  it("keeps a text that begins with a byte order mark, and half a surrogate pair", () => {
    for (const text of [
      "\ufeffabc",
      "\ufeff".repeat(40),
      "\ud800",
      "x\udc00".repeat(50),
      "\udc00\ud800",
      "😀".repeat(40),
    ]) {
      expect(roundTrip(text)).toBe(text);
    }
  });

  it("has __proto__ and constructor as data, and sets no prototype", () => {
    const value = JSON.parse('{"__proto__": {"admin": true}, "constructor": {"prototype": 1}}') as Record<
      string,
      unknown
    >;
    const back = roundTrip(value);
    expect(Object.keys(back)).toEqual(["__proto__", "constructor"]);
    expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
    expect("admin" in back).toBe(false);
    expect(Object.getOwnPropertyDescriptor(back, "__proto__")?.value).toEqual({ admin: true });
  });

  it("keeps properties that are undefined, and fills the holes of an array with undefined", () => {
    const back = roundTrip({ a: undefined, list: [1, , 3] });
    expect(Object.keys(back)).toEqual(["a", "list"]);
    expect(1 in back.list).toBe(true);
    expect(back.list).toEqual([1, undefined, 3]);
  });

  it("takes objects without a prototype and proxies of plain ones for plain objects", () => {
    const bare = Object.assign(Object.create(null), { a: 1 });
    expect(Object.getPrototypeOf(roundTrip(bare))).toBe(Object.prototype);
    expect(roundTrip(new Proxy({ a: new Proxy([1, { b: 2 }], {}) }, {}))).toEqual({ a: [1, { b: 2 }] });
  });

  it("writes a shared object twice", () => {
    const shared = { n: 1 };
    const back = roundTrip([shared, shared]);
    expect(back).toEqual([{ n: 1 }, { n: 1 }]);
    expect(back[0]).not.toBe(back[1]);
  });

  it("leaves the lastIndex of a regular expression", () => {
    const expression = /a/g;
    expression.test("aaa");
    expect(roundTrip(expression).lastIndex).toBe(0);
  });

  it("ignores toJSON methods that are inherited, and symbol keys", () => {
    expect(roundTrip({ date: new Date(5), [Symbol("hidden")]: 1 })).toEqual({ date: new Date(5) });
  });
});

describe("decodeRow", () => {
  const row = { at: 1, inner: { list: [{ user: {} }] }, list: [{ own: 1 }] };
  const prototypesOf = (value: unknown): unknown[] => {
    if (typeof value !== "object" || value === null) return [];
    const below = Object.values(value).flatMap((member) => prototypesOf(member));
    return Array.isArray(value) ? below : [Object.getPrototypeOf(value) === null ? "none" : "plain", ...below];
  };

  it("gives plain objects no prototype, as deep as it is told, and users' values theirs", () => {
    expect(prototypesOf(decodeRow(encodeValue(row)))).toEqual(["none", "plain", "plain", "plain", "plain"]);
    expect(prototypesOf(decodeRow(encodeValue(row), 2))).toEqual(["none", "none", "plain", "plain", "plain"]);
    expect(prototypesOf(decodeRow(encodeValue(row), 3))).toEqual(["none", "none", "plain", "plain", "none"]);
    expect(portrait(decodeRow(encodeValue(row), 9))).toBe(portrait(row));
  });

  it("reads a missing field as undefined, whatever Object.prototype has", () => {
    const polluted = Object.prototype as { destroyed?: boolean };
    try {
      polluted.destroyed = true;
      const read = decodeRow(encodeValue({ name: "a" })) as { destroyed?: boolean };
      expect(read.destroyed).toBeUndefined();
      expect(decodeRow(encodeValue(5))).toBe(5);
    } finally {
      delete polluted.destroyed;
    }
  });

  it("has __proto__ as data", () => {
    const bytes = encodeValue(JSON.parse('{"__proto__": {"destroyed": true}}'));
    const read = decodeRow(bytes) as { destroyed?: boolean };
    expect([Object.keys(read), read.destroyed]).toEqual([["__proto__"], undefined]);
  });
});

describe("encodeValue of errors", () => {
  it("keeps the class of the standard ones and the name of all", () => {
    class PaymentError extends TypeError {
      override name = "PaymentError";
    }
    expect(roundTrip(new TypeError("t"))).toBeInstanceOf(TypeError);
    expect(roundTrip(new RangeError("r")).name).toBe("RangeError");
    const back = roundTrip(new PaymentError("declined"));
    expect(back).toBeInstanceOf(Error);
    expect([back.name, back.message]).toEqual(["PaymentError", "declined"]);
  });

  it("keeps code, metadata and cause, and not the stack", () => {
    const error = Object.assign(new Error("top", { cause: new TypeError("deep", { cause: 7n }) }), {
      code: "E_TOP",
      metadata: { n: 1 },
    });
    const back = roundTrip(error) as typeof error;
    expect(back).toMatchObject({ message: "top", code: "E_TOP", metadata: { n: 1 } });
    expect((back.cause as Error).cause).toBe(7n);
    expect(back.stack).toBe("Error: top");
    expect(Object.keys(back)).toEqual(["code", "metadata"]);
  });

  it("keeps an ActorError one, with its group, status and publicity", () => {
    const back = roundTrip(
      new ActorError("actor", "action_not_found", "no such action", { metadata: { a: 1 }, public: false }),
    );
    expect(back).toBeInstanceOf(ActorError);
    expect(back).toMatchObject({
      group: "actor",
      code: "action_not_found",
      statusCode: 404,
      public: false,
      metadata: { a: 1 },
    });
    expect(roundTrip(new UserError("u", { code: "mine" }))).toBeInstanceOf(UserError);
  });

  it("keeps the errors of an AggregateError", () => {
    const back = roundTrip(new AggregateError([new Error("one"), 2], "all"));
    expect(back).toBeInstanceOf(AggregateError);
    expect((back.errors[0] as Error).message).toBe("one");
    expect(back.errors[1]).toBe(2);
  });

  it("looks no class up by an error's name", () => {
    for (const name of ["RegExp", "Function", "constructor", "__proto__", "toString", "ActorError", ""]) {
      const error = Object.defineProperty(new Error("m"), "name", { value: name });
      expect(portrait(roundTrip(error))).toBe(portrait(error));
    }
  });
});

describe("encodeValue of what has no encoding", () => {
  class Point {
    x = 1;
  }
  const cyclic: { self?: unknown; list: unknown[] } = { list: [] };
  cyclic.list.push({ back: cyclic });
  const deep = (levels: number): unknown => {
    let value: unknown = 0;
    for (let i = 0; i < levels; i++) value = [value];
    return value;
  };
  const detached = new Uint8Array(8);
  structuredClone(detached.buffer, { transfer: [detached.buffer] });
  const get = { enumerable: true, get: (): number => 1 };

  const refused: [name: string, value: unknown, path: string, found: string][] = [
    ["a function", () => 1, "$", "function"],
    ["a method within", { a: { b: [0, 1, 2, () => 1] } }, "$.a.b[3]", "function"],
    ["a class", { Point }, "$.Point", "function"],
    ["a symbol", { "odd key": Symbol("s") }, '$["odd key"]', "symbol"],
    ["a promise", [Promise.resolve()], "$[0]", "Promise"],
    ["a thenable", { then: () => 1 }, "$.then", "function"],
    ["a WeakMap", new WeakMap(), "$", "WeakMap"],
    ["a WeakSet", new WeakSet(), "$", "WeakSet"],
    ["a WeakRef", new WeakRef({}), "$", "WeakRef"],
    ["an instance of a class", { p: new Point() }, "$.p", "instance of Point"],
    ["an object with a prototype of its own", Object.create({ inherited: 1 }), "$", "instance of Object"],
    ["a subclass of Map", new (class Registry extends Map {})(), "$", "instance of Registry"],
    ["a subclass of Array", new (class List extends Array {})(), "$", "instance of List"],
    ["a subclass of Date", new (class Day extends Date {})(), "$", "instance of Day"],
    ["a subclass of a typed array", new (class Vector extends Float64Array {})(2), "$", "instance of Vector"],
    ["an object that only looks like an Array", Object.create(Array.prototype), "$", "instance of Array"],
    ["a boxed number", Object(1), "$", "instance of Number"],
    ["a URL", new URL("http://x/"), "$", "instance of URL"],
    ["a generator", (function* () {})(), "$", "class instance"],
    ["shared memory", new SharedArrayBuffer(1), "$", "SharedArrayBuffer"],
    ["an object that only looks like a Map", Object.create(Map.prototype), "$", "Map that cannot be read"],
    ["an object that only looks like a Date", Object.create(Date.prototype), "$", "Date that cannot be read"],
    ["a view of memory that is gone", { detached }, "$.detached", "Uint8Array that cannot be read"],
    ["a cycle", cyclic, "$.list[0].back", "cycle"],
    ["an accessor", Object.defineProperty({}, "now", get), "$.now", "accessor property"],
    ["a function as a Map's value", new Map([["k", () => 1]]), '$.get("k")', "function"],
    ["a function under a Map's object key", new Map([[{}, () => 1]]), "$.values()[0]", "function"],
    ["a function as a Map's key", new Map([[() => 1, 1]]), "$.keys()[0]", "function"],
    ["a function in a Set", new Set([1, () => 1]), "$.values()[1]", "function"],
    ["a function in an error", new Error("m", { cause: { f: () => 1 } }), "$.cause.f", "function"],
    ["257 levels", deep(257), `$${"[0]".repeat(256)}`, "nesting deeper than 256 levels"],
  ];

  it.each(refused)("refuses %s, and says where", (_name, value, path, found) => {
    const failure = {
      name: "value/not_serializable",
      message: `Value at ${path} is not serializable: ${found}`,
      metadata: { path, found },
    };
    expect(failureOf(() => encodeValue(value))).toEqual(failure);
  });

  it("counts the levels of a shared object wherever it is met", () => {
    const shared = deep(180);
    let outer = shared;
    for (let i = 0; i < 100; i++) outer = [outer];
    const found = "nesting deeper than 256 levels";
    expect(failureOf(() => encodeValue({ shared, outer }))).toMatchObject({ metadata: { found } });
  });

  it("takes 256 levels", () => {
    expect(portrait(roundTrip(deep(256)))).toBe(portrait(deep(256)));
  });

  it("says what the value is, if it is told", () => {
    expect(failureOf(() => encodeValue({ f: () => 1 }, { what: "the result of step `charge`" }))).toMatchObject({
      message: "Value at $.f is not serializable: function (in the result of step `charge`)",
    });
  });

  it("reports a cycle that would pass the limit first as a cycle", () => {
    const wide: unknown[] = ["x".repeat(1_500_000)];
    wide.push(wide);
    expect(failureOf(() => encodeValue(wide))).toMatchObject({ metadata: { path: "$[1]", found: "cycle" } });
  });

  it("reports a proxy that throws, and a value that changes while it is read", () => {
    const throwing = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error("private");
        },
      },
    );
    expect(failureOf(() => encodeValue({ throwing }))).toMatchObject({
      metadata: { path: "$.throwing", found: "object that cannot be read" },
    });
    let reads = 0;
    const fickle = new Proxy({ a: 1 }, { get: () => (reads++ === 0 ? () => 1 : 1) });
    const changing = { metadata: { path: "$", found: "value that changes while it is read" } };
    expect(failureOf(() => encodeValue(fickle))).toMatchObject(changing);
  });

  it("works again after a failure", () => {
    expect(() => encodeValue([1, 2, () => 1])).toThrow();
    expect(roundTrip([1, 2])).toEqual([1, 2]);
  });
});

describe("encodeValue of what is too large", () => {
  it("refuses it, and names its size, the limit and the largest member", () => {
    const value = { small: "x".repeat(500_000), large: ["y".repeat(1_600_000)], tiny: 1 };
    const sizeBytes = encodeValue(value, { limitBytes: Infinity }).length;
    expect(failureOf(() => encodeValue(value))).toEqual({
      name: "value/too_large",
      message: `Value is too large: ${sizeBytes} bytes, the limit is 2000000. Its largest member is $.large`,
      metadata: { path: "$.large", sizeBytes, limitBytes: MAX_VALUE_BYTES },
    });
  });

  it("takes a value of exactly the limit, and none of one byte more", () => {
    for (const limitBytes of [1, 10, 24, 5000, MAX_VALUE_BYTES]) {
      const head = limitBytes <= 24 ? 1 : limitBytes < 65_536 ? 3 : 5;
      const exact = "x".repeat(limitBytes - head);
      expect(encodeValue(exact, { limitBytes }).length).toBe(limitBytes);
      expect(failureOf(() => encodeValue(`${exact}x`, { limitBytes }))).toMatchObject({
        name: "value/too_large",
        metadata: { path: "$" },
      });
    }
  });

  it("measures what it does not write", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const { length } = encodeValue(value);
        fc.pre(length > 1);
        expect(failureOf(() => encodeValue(value, { limitBytes: length - 1 }))).toMatchObject({
          metadata: { sizeBytes: length },
        });
      }),
      { numRuns: 500 },
    );
  });

  it("ends soon with a value whose shared parts double at each level", () => {
    let bomb: unknown = "boom".repeat(10);
    for (let i = 0; i < 60; i++) bomb = [bomb, bomb];
    expect(failureOf(() => encodeValue(bomb))).toMatchObject({ name: "value/too_large" });
  });

  it("ends soon with an array of a billion holes", () => {
    const holes = new Array(1e9);
    expect(failureOf(() => encodeValue({ holes }, { limitBytes: 1000 }))).toMatchObject({
      metadata: { path: "$.holes" },
    });
    holes[5] = () => 1;
    expect(failureOf(() => encodeValue(holes))).toMatchObject({ metadata: { found: "function" } });
  });
});

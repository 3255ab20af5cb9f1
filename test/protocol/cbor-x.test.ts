import { addExtension, decode, Decoder, encode } from "cbor-x";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeValue, encodeValue } from "../../src/protocol/index.js";
import { anyKey, anyValue, portrait } from "./arbitrary-values.js";

// The published clients speak through cbor-x, so that our bytes must mean the same to it, and its own to us.

/** It loses halves of surrogate pairs and byte order marks in longer texts, and renames one property. */
const text = anyKey.filter((key) => key.isWellFormed() && !key.startsWith("\ufeff") && key !== "__proto__");
const leaf = fc.oneof(
  fc.constantFrom<unknown>(null, undefined, true, NaN, Infinity, 2 ** 40, -(2 ** 40), 2n ** 70n, -(2n ** 70n)),
  fc.integer(),
  fc.double({ noNaN: true }).filter((value) => !Object.is(value, -0)),
  fc.bigInt(),
  text,
  fc.date({ noInvalidDate: true, min: new Date(-(2 ** 50)), max: new Date(2 ** 50) }),
  fc.uint8Array({ maxLength: 300 }),
  fc.float64Array({ maxLength: 40, noNaN: true }),
  fc.int16Array({ maxLength: 5 }),
  fc.constantFrom(/a\/b/gi, new Error("m")),
);

/** What cbor-x keeps of our domain. */
const shared: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    leaf,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(text, tie("value"), { maxKeys: 4 }),
    fc.array(fc.tuple(text, tie("value")), { maxLength: 3 }).map((entries) => new Map(entries)),
    fc.array(tie("value"), { maxLength: 3 }).map((items) => new Set(items)),
  ),
})).value;

describe("the codec beside cbor-x", () => {
  it("reads what cbor-x writes", () => {
    fc.assert(
      fc.property(shared, (value) => {
        expect(portrait(decodeValue(new Uint8Array(encode(value))))).toBe(portrait(value));
      }),
      { numRuns: 700 },
    );
  });

  it("writes what cbor-x reads", () => {
    fc.assert(
      fc.property(shared, (value) => {
        expect(portrait(decode(encodeValue(value)))).toBe(portrait(value));
      }),
      { numRuns: 700 },
    );
  });

  it("writes nothing that cbor-x stumbles over, if a property's name may be any value", () => {
    const decoder = new Decoder({ useRecords: false, mapsAsObjects: false });
    fc.assert(
      fc.property(anyValue, (value) => {
        decoder.decode(encodeValue(value));
      }),
      { numRuns: 500 },
    );
  });

  it("differs from it where it loses something", () => {
    const throughCborX = (value: unknown): unknown => decode(encode(value));
    expect(Object.is(throughCborX(-0), -0)).toBe(false);
    expect(Object.keys(throughCborX(JSON.parse('{"__proto__":1}')) as object)).toEqual(["__proto_"]);
    expect((throughCborX(new TypeError("t")) as Error).name).toBe("Error");
    expect(throughCborX(new ArrayBuffer(1))).not.toBeInstanceOf(ArrayBuffer);
    expect(encode(1).buffer.byteLength).toBeGreaterThan(1);
  });
});

describe("the codec on top of cbor-x", () => {
  const fromCborX = (value: unknown): unknown => decodeValue(new Uint8Array(encode(value)));

  it("keeps what cbor-x writes and would itself read otherwise", () => {
    const named = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2, "__proto_": 3}') as object;
    const list = "\ufeffid;name\n".repeat(20);
    for (const value of [named, list, { [list]: list }, "\ud800", { "\ud800": 1 }, new Map([[named, list]])]) {
      expect(portrait(fromCborX(value))).toBe(portrait(value));
    }
    expect((fromCborX(new TypeError("t")) as Error).name).toBe("TypeError");
    expect(fromCborX(Object.defineProperty(new Error("m"), "name", { value: "constructor" }))).toBeInstanceOf(Error);
  });

  it("does not change when somebody else teaches cbor-x other meanings", () => {
    const value = [new Set([1]), new Date(5), new Map([[1, 2]]), new Error("m"), new Float64Array([1])];
    const decoders = { 1: (seconds: unknown) => new Date((seconds as number) * 1000), 258: (items: unknown) => new Set(items as []) };
    const others = Object.keys(decoders).map(Number) as (keyof typeof decoders)[];
    const register = (tag: number, read: (item: unknown) => unknown): void => {
      addExtension({ tag, decode: read } as Parameters<typeof addExtension>[0]);
    };
    const bytes = encodeValue(value);
    try {
      for (const tag of others) register(tag, () => "another meaning");
      expect(decode(Uint8Array.from(bytes))).toContain("another meaning");
      expect(portrait(decodeValue(bytes))).toBe(portrait(value));
      expect(encodeValue(value)).toEqual(bytes);
    } finally {
      for (const tag of others) register(tag, decoders[tag]);
    }
  });

  it("leaves cbor-x as it was", () => {
    const value = { date: new Date(5), map: new Map([[1, new Set([2])]]), raw: new Uint8Array([1]), n: 2n ** 70n };
    const before = new Uint8Array(encode(value));
    encodeValue([value, "x".repeat(1_000_000), new Map([[value, -0]])]);
    decodeValue(encodeValue(new Map([["__proto__", new Error("m")]])));
    expect(() => decodeValue(Uint8Array.of(0xd9, 1, 3, 0x81))).toThrow("Malformed");
    expect(new Uint8Array(encode(value))).toEqual(before);
    expect(portrait(decode(before))).toBe(portrait(value));
  });

  it("leaves it no large buffer", () => {
    for (const value of ["x".repeat(1_500_000), new Uint8Array(1_500_000), Array<number>(150_000).fill(1.5)]) {
      encodeValue(value);
      expect(encode(1).buffer.byteLength).toBeLessThanOrEqual(65_536);
    }
  });

  it("runs no code of the value while cbor-x writes", () => {
    const nosy = new Proxy({ a: 1, b: [2] }, {
      get: (target, key) => {
        encodeValue({ inner: "x".repeat(100) });
        encode({ inner: 1 });
        return Reflect.get(target, key);
      },
    });
    expect(decodeValue(encodeValue([nosy, nosy]))).toEqual([{ a: 1, b: [2] }, { a: 1, b: [2] }]);
  });

  it("ends soon with a bigint of a million digits, both ways", () => {
    const large = 16n ** 1_000_000n;
    expect(decodeValue(encodeValue([large, -large]))).toEqual([large, -large]);
  });
});

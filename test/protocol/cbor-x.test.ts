import { decode, Decoder, encode, Encoder } from "cbor-x";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeValue, encodeValue } from "../../src/protocol/index.js";
import { anyKey, anyValue, hex, portrait } from "./arbitrary-values.js";

// RivetKit's clients use cbor-x: our bytes must mean the same to it, and its bytes to us.

/** cbor-x loses lone surrogates and byte order marks in longer strings, and renames one property. */
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

/** PERDURE_LONG makes the comparison long: 100,000 values each way. */
const numRuns = process.env["PERDURE_LONG"] === undefined ? 2000 : 100_000;
const timeout = numRuns * 10;

/** What cbor-x keeps of the values that we support. */
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

/** What cbor-x encodes to the same bytes as we do. */
const plain: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<unknown>(
      null,
      undefined,
      true,
      false,
      NaN,
      Infinity,
      -Infinity,
      23,
      24,
      255,
      256,
      65_535,
      65_536,
      2 ** 32 - 1,
      2 ** 32,
      -24,
      -25,
      -256,
      -257,
      -(2 ** 32),
      -(2 ** 32) - 1,
    ),
    fc.integer(),
    fc.double({ noNaN: true }).filter((value) => !Object.is(value, -0)),
    fc.bigInt({ min: -(2n ** 64n) + 1n, max: 2n ** 64n - 1n }),
    text,
    fc
      .constantFrom(1, 20, 23, 24, 31, 32, 63, 64, 65, 255, 256, 257, 16_384, 16_385, 65_535, 65_536)
      .chain((length) => fc.constantFrom("a", "é", "€").map((unit) => unit.repeat(length))),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.integer(), { minLength: 20, maxLength: 300 }),
    fc.dictionary(
      text.filter((key) => key !== "constructor"),
      tie("value"),
      { maxKeys: 4 },
    ),
    fc.dictionary(
      text.filter((key) => key !== "constructor"),
      fc.nat(),
      { minKeys: 20, maxKeys: 40 },
    ),
  ),
})).value;

describe("the codec beside cbor-x", () => {
  it(
    "reads what cbor-x writes",
    () => {
      fc.assert(
        fc.property(shared, (value) => {
          expect(portrait(decodeValue(new Uint8Array(encode(value))))).toBe(portrait(value));
        }),
        { numRuns },
      );
    },
    timeout,
  );

  it(
    "writes what cbor-x reads",
    () => {
      fc.assert(
        fc.property(shared, (value) => {
          expect(portrait(decode(encodeValue(value)))).toBe(portrait(value));
        }),
        { numRuns },
      );
    },
    timeout,
  );

  it(
    "writes the bytes that cbor-x writes, where it writes the value as we do",
    () => {
      const encoder = new Encoder({
        useRecords: false,
        mapsAsObjects: false,
        variableMapSize: true,
        tagUint8Array: false,
      });
      fc.assert(
        fc.property(plain, (value) => {
          expect(hex(encodeValue(value))).toBe(hex(new Uint8Array(encoder.encode(value))));
        }),
        { numRuns },
      );
    },
    timeout,
  );

  it(
    "writes nothing that cbor-x stumbles over, if a property's name may be any value",
    () => {
      const decoder = new Decoder({ useRecords: false, mapsAsObjects: false });
      fc.assert(
        fc.property(anyValue, (value) => {
          decoder.decode(encodeValue(value));
        }),
        { numRuns },
      );
    },
    timeout,
  );

  it("differs from it where it loses something", () => {
    const throughCborX = (value: unknown): unknown => decode(encode(value));
    expect(Object.is(throughCborX(-0), -0)).toBe(false);
    expect(Object.keys(throughCborX(JSON.parse('{"__proto__":1}')) as object)).toEqual(["__proto_"]);
    expect((throughCborX(new TypeError("t")) as Error).name).toBe("Error");
    expect(throughCborX(new ArrayBuffer(1))).not.toBeInstanceOf(ArrayBuffer);
    expect(encode(1).buffer.byteLength).toBeGreaterThan(1);
  });
});

describe("the codec on its own", () => {
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

  it("ends soon with a bigint of a million digits, both ways", () => {
    const large = 16n ** 1_000_000n;
    expect(decodeValue(encodeValue([large, -large]))).toEqual([large, -large]);
  });
});

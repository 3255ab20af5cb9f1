import { decode, encode } from "cbor-x";
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

  it("writes nothing that cbor-x stumbles over", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        decode(encodeValue(value));
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

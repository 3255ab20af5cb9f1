import { describe, expect, it } from "vitest";
import { ActorError, decodeValue, encodeValue } from "../../src/protocol/index.js";
import { hex, portrait, unhex } from "./arbitrary-values.js";

/** Stored bytes since format 1. Lines may be added but never changed: stored bytes stay readable. */
const GOLDEN: [name: string, value: unknown, bytes: string][] = [
  ["null", null, "f6"],
  ["undefined", undefined, "f7"],
  ["false", false, "f4"],
  ["true", true, "f5"],
  ["0", 0, "00"],
  ["-0", -0, "d9505a00"],
  ["23", 23, "17"],
  ["24", 24, "1818"],
  ["256", 256, "190100"],
  ["65536", 65_536, "1a00010000"],
  ["2^32 - 1", 2 ** 32 - 1, "1affffffff"],
  ["2^32", 2 ** 32, "fb41f0000000000000"],
  ["-1", -1, "20"],
  ["-25", -25, "3818"],
  ["-2^32", -(2 ** 32), "3affffffff"],
  ["1.5", 1.5, "fb3ff8000000000000"],
  ["NaN", NaN, "fb7ff8000000000000"],
  ["Infinity", Infinity, "fb7ff0000000000000"],
  ["-Infinity", -Infinity, "fbfff0000000000000"],
  ["0n", 0n, "1b0000000000000000"],
  ["2^64 - 1, a bigint", 2n ** 64n - 1n, "1bffffffffffffffff"],
  ["2^64, a bigint", 2n ** 64n, "c249010000000000000000"],
  ["-1n", -1n, "3b0000000000000000"],
  ["-2^64 - 1, a bigint", -(2n ** 64n) - 1n, "c349010000000000000000"],
  ["an empty text", "", "60"],
  ["a text", "aé€😀", "6a61c3a9e282acf09f9880"],
  ["half a surrogate pair", "\ud800", "d9505443eda080"],
  ["a text of 24 bytes", "x".repeat(24), "7818787878787878787878787878787878787878787878787878"],
  ["an array", [1, [], "a"], "8301806161"],
  ["an object", { a: 1, b: { c: null } }, "a26161016162a16163f6"],
  ["__proto__", JSON.parse('{"__proto__":1}'), "a1695f5f70726f746f5f5f01"],
  ["a look-alike of a tag", ["$x", 1], "8262247801"],
  ["a Date", new Date(1_700_000_000_000), "c11a6553f100"],
  ["a Date with milliseconds", new Date(1_700_000_000_123), "c1fb41d954fc4007df3b"],
  ["a Date before 1970", new Date(-1500), "c1fbbff8000000000000"],
  ["an invalid Date", new Date(NaN), "c1fb7ff8000000000000"],
  ["a Date at the end of time", new Date(8.64e15 - 1), "c1fb429f6ea085ffffff"],
  [
    "a Date that seconds cannot hold",
    new Date(4_398_428_768_443_607),
    "c0781b2b3134313335302d30382d32395430393a30303a34332e3630375a",
  ],
  [
    "a Map",
    new Map<unknown, unknown>([
      ["a", 1],
      [{ k: 1 }, undefined],
    ]),
    "d90103a2616101a1616b01f7",
  ],
  ["a Set", new Set([1, "a"]), "d9010282016161"],
  ["a RegExp", /a\/b/gi, "d81b836652656745787064615c2f62626769"],
  ["an Error", new Error("m"), "d81b82654572726f72616d"],
  [
    "a TypeError with all that is kept",
    Object.assign(new TypeError("m", { cause: 1 }), { code: "C", metadata: { n: 1 } }),
    "d81b8369547970654572726f72616da364636f64656143686d65746164617461a1616e0165636175736501",
  ],
  [
    "an error with a name of its own",
    Object.assign(new Error("m"), { name: "Mine" }),
    "d81b83654572726f72616da1646e616d65644d696e65",
  ],
  [
    "an AggregateError",
    new AggregateError([new Error("a")], "m"),
    "d81b836e4167677265676174654572726f72616da1666572726f727381d81b82654572726f726161",
  ],
  [
    "an ActorError",
    new ActorError("actor", "not_found", "m"),
    "d81b836a4163746f724572726f72616da464636f6465696e6f745f666f756e646567726f7570656163746f72667075626c6963f56a737461747573436f6465190194",
  ],
  ["an ArrayBuffer", new Uint8Array([1, 2]).buffer, "d95041420102"],
  ["a DataView", new DataView(new Uint8Array([1, 2, 3]).buffer, 1), "d95044420203"],
  ["a Uint8Array", new Uint8Array([1, 2]), "d840420102"],
  ["a Uint8ClampedArray", new Uint8ClampedArray([1, 2]), "d844420102"],
  ["an Int8Array", new Int8Array([-1]), "d84841ff"],
  ["a Uint16Array", new Uint16Array([0x0102]), "d845420201"],
  ["an Int16Array", new Int16Array([-2]), "d84d42feff"],
  ["a Uint32Array", new Uint32Array([0x01020304]), "d8464404030201"],
  ["an Int32Array", new Int32Array([-2]), "d84e44feffffff"],
  ["a Float32Array", new Float32Array([1.5]), "d855440000c03f"],
  ["a Float64Array", new Float64Array([1.5]), "d85648000000000000f83f"],
  ["a BigUint64Array", new BigUint64Array([1n]), "d847480100000000000000"],
  ["a BigInt64Array", new BigInt64Array([-2n]), "d84f48feffffffffffffff"],
];

describe("the stored format", () => {
  it.each(GOLDEN)("of %s is what it was", (_name, value, bytes) => {
    expect(hex(encodeValue(value))).toBe(bytes);
    expect(portrait(decodeValue(unhex(bytes)))).toBe(portrait(value));
  });
});

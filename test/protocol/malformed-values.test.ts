import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ActorError, decodeValue, encodeValue } from "../../src/protocol/index.js";
import { anyValue, portrait, unhex } from "./arbitrary-values.js";

/** "invalid" if decoding throws `encoding/invalid`, "value" if it does not throw; rethrows anything else. */
function outcomeOf(bytes: Uint8Array): "value" | "invalid" {
  try {
    decodeValue(bytes);
    return "value";
  } catch (error) {
    if (
      ActorError.isActorError(error) &&
      error.code === "invalid" &&
      error.group === "encoding" &&
      error.statusCode === 400
    )
      return "invalid";
    throw error;
  }
}

describe("decodeValue of malformed bytes", () => {
  it("throws encoding/invalid and nothing else, whatever the bytes", () => {
    const anyBytes = fc.uint8Array({ maxLength: 60 });
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        expect(["value", "invalid"]).toContain(outcomeOf(bytes));
      }),
      { numRuns: 2000 },
    );
  });

  it("throws it for every beginning of an encoded value, and for one with a byte too many", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const bytes = encodeValue(value);
        for (let end = 0; end < Math.min(bytes.length, 200); end++)
          expect(outcomeOf(bytes.subarray(0, end))).toBe("invalid");
        expect(outcomeOf(Uint8Array.from([...bytes, 0]))).toBe("invalid");
      }),
      { numRuns: 200 },
    );
  });

  it("throws it, or gives some value of the domain, if one byte of an encoded value is wrong", () => {
    fc.assert(
      fc.property(anyValue, fc.nat(), fc.nat({ max: 255 }), (value, position, byte) => {
        const bytes = encodeValue(value);
        bytes[position % bytes.length] = byte;
        if (outcomeOf(bytes) === "invalid") return;
        const other = decodeValue(bytes);
        expect(portrait(decodeValue(encodeValue(other)))).toBe(portrait(other));
      }),
      { numRuns: 500 },
    );
  });

  const malformed: [name: string, bytes: string][] = [
    ["nothing", ""],
    ["a head with an impossible length", "1c"],
    ["an array of four billion items", "9affffffff"],
    ["a text of 2^63 bytes", "7b8000000000000000"],
    ["a text that is no UTF-8", "62c328"],
    ["a text of overlong UTF-8", "62c080"],
    ["a text of overlong UTF-8 in three bytes", "63e08080"],
    ["a text beyond Unicode", "64f4908080"],
    ["a text cut within a character", "62e282"],
    ["a simple value that JavaScript has not", "f8ff"],
    ["a break out of place", "ff"],
    ["a property whose name is a list", "a18001"],
    ["a Map of a list", "d9010380"],
    ["a Set of a map", "d90102a0"],
    ["a Float64Array of nine bytes", "d85649000000000000000000"],
    ["a typed array of a text", "d8406161"],
    ["a bigint of a number", "c201"],
    ["a date of a text", "c16161"],
    ["a date text that says nothing", "c06161"],
    ["a RegExp that is none", "d81b8366526567457870612860"],
    ["a RegExp with unknown flags", "d81b83665265674578706161617a"],
    ["a generic object of a map", "d81ba0"],
    ["an error whose message is a number", "d81b82654572726f7201"],
    ["an unknown tag", "d9ffff00"],
    ["a tag of 64 bits", "db000000000000000100"],
    ["a text in chunks", "7f616163626364ff"],
    ["bytes in chunks", "5f41014102ff"],
    ["chunks of another kind than their string", "7f4161ff"],
    ["chunks within a chunk", "5f5fffff"],
  ];

  it.each(malformed)("throws it for %s", (_name, bytes) => {
    expect(outcomeOf(unhex(bytes))).toBe("invalid");
  });

  it("throws it for nesting that would use up the stack", () => {
    for (const head of [0x81, 0xc1, 0x9f, 0xa1])
      expect(outcomeOf(new Uint8Array(1_000_000).fill(head))).toBe("invalid");
    const maps = Uint8Array.from({ length: 300_000 }, (_, i) => [0xd9, 0x01, 0x03, 0xa1, 0x00][i % 5] as number);
    expect(outcomeOf(maps)).toBe("invalid");
  });

  it("allocates nothing for lengths that the bytes cannot hold", () => {
    // Each of these arrays claims as many items as there are bytes left.
    const bytes = new Uint8Array(60_000);
    for (let i = 0; i < bytes.length; i += 3) bytes.set([0x99, 0xea, 0x00], i);
    expect(outcomeOf(bytes)).toBe("invalid");
  });
});

describe("decodeValue of what other encoders write", () => {
  const foreign: [name: string, bytes: string, value: unknown][] = [
    ["indefinite lengths of lists and objects", "bf61619f01ff6162bfffff", { a: [1], b: {} }],
    [
      "half floats",
      "8af90000f98000f93c00f9c400f97bfff90001f903fff97c00f9fc00f97e00",
      [0, -0, 1, -4, 65_504, 2 ** -24, 1023 * 2 ** -24, Infinity, -Infinity, NaN],
    ],
    ["single floats", "fa3fc00000", 1.5],
    ["a date text", "c074323031332d30332d32315432303a30343a30305a", new Date("2013-03-21T20:04:00Z")],
    ["lengths that are longer than they need to be", "9801190001", [1]],
    ["integers as property names", "a20101206162", { 1: 1, "-1": "b" }],
    ["the mark of CBOR itself", "d9d9f701", 1],
    ["an untagged byte string", "420102", new Uint8Array([1, 2])],
    ["a Map of an indefinite length", "d90103bf0102ff", new Map([[1, 2]])],
    ["a bigint with leading zeros", "c2440000 0001", 1n],
  ];

  it("copies an untagged byte string, as all others", () => {
    const bytes = unhex("420102");
    const value = decodeValue(bytes);
    bytes.fill(0);
    expect(value).toEqual(new Uint8Array([1, 2]));
  });

  it.each(foreign)("reads %s", (_name, bytes, value) => {
    expect(portrait(decodeValue(unhex(bytes)))).toBe(portrait(value));
  });
});

import { describe, expect, it } from "vitest";
import { decodeTaggedCbor, decodeValue, encodeTaggedCbor, encodeValue, measure } from "../../src/protocol/index.js";

// The protocol's own tests run in Node: here are Workers' text encoders and decoders, and their buffers.

function roundTrip<T>(value: T): T {
  return decodeValue(encodeValue(value)) as T;
}

describe("the value codec in workerd", () => {
  it.each<[name: string, value: unknown]>([
    ["a plain object", { id: "a", n: 1.5, list: [1, -2, null, true], nested: { deep: {} } }],
    ["undefined, bigints and -0", [undefined, 2n ** 70n, -1n, -0]],
    [
      "a Date, a Map, a Set and a RegExp",
      [new Date(1_700_000_000_123), new Map([[{ k: 1 }, "v"]]), new Set(["a"]), /a\/b/gi],
    ],
    [
      "typed arrays",
      [
        new Float64Array([1.5, NaN, -0]),
        new Uint8Array([1, 2]),
        new BigInt64Array([-1n]),
        new DataView(new ArrayBuffer(3)),
      ],
    ],
    ["an ArrayBuffer", new Uint8Array([1, 2]).buffer],
    ["odd texts", ["\ufeff".repeat(40), "\ud800", `x\udc00${"é€😀".repeat(30)}`, { "\ufeffkey": 1 }]],
    ["__proto__ and constructor", JSON.parse('{"__proto__": {"admin": true}, "constructor": {"name": 1}}')],
  ])("gives back %s", (_name, value) => {
    expect(roundTrip(value)).toEqual(value);
    expect(decodeTaggedCbor(encodeTaggedCbor(value, { extended: true }))).toEqual(value);
  });

  it("gives back -0 as -0, and __proto__ as a property", () => {
    expect(Object.is(roundTrip(-0), -0)).toBe(true);
    const back = roundTrip(JSON.parse('{"__proto__": {"admin": true}}') as object);
    expect(Object.keys(back)).toEqual(["__proto__"]);
    expect("admin" in back).toBe(false);
  });

  it("gives back a TypeError with what belongs to it", () => {
    const back = roundTrip(
      Object.assign(new TypeError("m", { cause: new RangeError("r") }), { code: "E", metadata: { n: 1n } }),
    );
    expect(back).toBeInstanceOf(TypeError);
    expect(back).toMatchObject({ message: "m", code: "E", metadata: { n: 1n } });
    expect(back.cause).toBeInstanceOf(RangeError);
  });

  it("gives bytes of their own", () => {
    const first = encodeValue({ secret: "of another actor" });
    const copy = Uint8Array.from(first);
    for (const bytes of [
      first,
      encodeValue("x".repeat(100_000)),
      encodeValue(1),
      encodeTaggedCbor(new Uint8Array(9)),
    ]) {
      expect([bytes.byteOffset, bytes.buffer.byteLength]).toEqual([0, bytes.byteLength]);
      expect(Object.getPrototypeOf(bytes)).toBe(Uint8Array.prototype);
    }
    expect(first).toEqual(copy);
  });

  it("keeps texts of any length and alphabet, and measures them", () => {
    for (const unit of ["a", "é", "€", "😀", "aé€😀", "\ud800", "\ufeff"]) {
      for (const count of [1, 23, 24, 63, 64, 255, 256, 16_384, 16_385, 120_000]) {
        const text = unit.repeat(count);
        const bytes = encodeValue(text);
        expect(decodeValue(bytes) === text).toBe(true);
        expect(measure(text).bytes).toBe(bytes.length);
      }
    }
  });

  it("refuses malformed bytes as elsewhere", () => {
    for (const bytes of [[], [0x9a, 0xff, 0xff, 0xff, 0xff], [0x62, 0xc3, 0x28], [0xd8, 0x1c, 0x01], [0x81]]) {
      expect(() => decodeValue(Uint8Array.from(bytes))).toThrow(
        expect.objectContaining({ group: "encoding", code: "invalid" }),
      );
    }
    expect(() => decodeValue(new Uint8Array(100_000).fill(0x81))).toThrow(expect.objectContaining({ code: "invalid" }));
  });
});

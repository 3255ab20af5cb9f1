import { describe, expect, it } from "vitest";
import { ActorError, decodeValue, encodeValue } from "../../src/protocol/index.js";
import { hex, portrait, unhex } from "./arbitrary-values.js";

// The examples of RFC 8949, appendix A, in our subset and outside it.

const READ: [bytes: string, value: unknown, other?: "written in another way"][] = [
  ["00", 0],
  ["01", 1],
  ["0a", 10],
  ["17", 23],
  ["1818", 24],
  ["1819", 25],
  ["1864", 100],
  ["1903e8", 1000],
  ["1a000f4240", 1_000_000],
  ["1b000000e8d4a51000", 1_000_000_000_000n],
  ["1bffffffffffffffff", 18_446_744_073_709_551_615n],
  ["c249010000000000000000", 18_446_744_073_709_551_616n],
  ["3bffffffffffffffff", -18_446_744_073_709_551_616n, "written in another way"],
  ["c349010000000000000000", -18_446_744_073_709_551_617n],
  ["20", -1],
  ["29", -10],
  ["3863", -100],
  ["3903e7", -1000],
  ["f90000", 0, "written in another way"],
  ["f98000", -0, "written in another way"],
  ["f93c00", 1, "written in another way"],
  ["fb3ff199999999999a", 1.1],
  ["f93e00", 1.5, "written in another way"],
  ["f97bff", 65_504, "written in another way"],
  ["fa47c35000", 100_000, "written in another way"],
  ["fa7f7fffff", 3.402_823_466_385_288_6e38, "written in another way"],
  ["fb7e37e43c8800759c", 1e300],
  ["f90001", 5.960_464_477_539_063e-8, "written in another way"],
  ["f90400", 0.000_061_035_156_25, "written in another way"],
  ["f9c400", -4, "written in another way"],
  ["fbc010666666666666", -4.1],
  ["f97c00", Infinity, "written in another way"],
  ["f97e00", NaN, "written in another way"],
  ["f9fc00", -Infinity, "written in another way"],
  ["fa7f800000", Infinity, "written in another way"],
  ["fa7fc00000", NaN, "written in another way"],
  ["faff800000", -Infinity, "written in another way"],
  ["fb7ff0000000000000", Infinity],
  ["fb7ff8000000000000", NaN],
  ["fbfff0000000000000", -Infinity],
  ["f4", false],
  ["f5", true],
  ["f6", null],
  ["f7", undefined],
  ["c074323031332d30332d32315432303a30343a30305a", new Date("2013-03-21T20:04:00Z"), "written in another way"],
  ["c11a514b67b0", new Date(1_363_896_240_000)],
  ["c1fb41d452d9ec200000", new Date(1_363_896_240_500)],
  ["40", new Uint8Array(), "written in another way"],
  ["4401020304", new Uint8Array([1, 2, 3, 4]), "written in another way"],
  ["60", ""],
  ["6161", "a"],
  ["6449455446", "IETF"],
  ["62225c", '"\\'],
  ["62c3bc", "\u00fc"],
  ["63e6b0b4", "\u6c34"],
  ["64f0908591", "\ud800\udd51"],
  ["80", []],
  ["83010203", [1, 2, 3]],
  ["8301820203820405", [1, [2, 3], [4, 5]]],
  ["98190102030405060708090a0b0c0d0e0f101112131415161718181819", Array.from({ length: 25 }, (_, i) => i + 1)],
  ["a0", {}],
  ["a201020304", { 1: 2, 3: 4 }, "written in another way"],
  ["a26161016162820203", { a: 1, b: [2, 3] }],
  ["826161a161626163", ["a", { b: "c" }]],
  ["a56161614161626142616361436164614461656145", { a: "A", b: "B", c: "C", d: "D", e: "E" }],
  ["9fff", [], "written in another way"],
  ["9f018202039f0405ffff", [1, [2, 3], [4, 5]], "written in another way"],
  ["9f01820203820405ff", [1, [2, 3], [4, 5]], "written in another way"],
  ["83018202039f0405ff", [1, [2, 3], [4, 5]], "written in another way"],
  ["83019f0203ff820405", [1, [2, 3], [4, 5]], "written in another way"],
  [
    "9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff",
    Array.from({ length: 25 }, (_, i) => i + 1),
    "written in another way",
  ],
  ["bf61610161629f0203ffff", { a: 1, b: [2, 3] }, "written in another way"],
  ["826161bf61626163ff", ["a", { b: "c" }], "written in another way"],
  ["bf6346756ef563416d7421ff", { Fun: true, Amt: -2 }, "written in another way"],
];

const REFUSED: [what: string, bytes: string][] = [
  ["a simple value of no meaning", "f0"],
  ["a simple value of a byte", "f8ff"],
  ["base16 bytes (tag 23)", "d74401020304"],
  ["encoded CBOR (tag 24)", "d818456449455446"],
  ["a URI (tag 32)", "d82076687474703a2f2f7777772e6578616d706c652e636f6d"],
  ["bytes in chunks", "5f42010243030405ff"],
  ["a text in chunks", "7f657374726561646d696e67ff"],
];

describe("the examples of RFC 8949", () => {
  it.each(READ)("%s is read, and written so", (bytes, value, other) => {
    expect(portrait(decodeValue(unhex(bytes)))).toBe(portrait(value));
    if (other === undefined) expect(hex(encodeValue(value))).toBe(bytes);
    else expect(hex(encodeValue(value))).not.toBe(bytes);
  });

  it.each(REFUSED)("%s is refused", (_what, bytes) => {
    let reason: unknown;
    try {
      decodeValue(unhex(bytes));
    } catch (error) {
      reason = error;
    }
    expect(ActorError.isActorError(reason)).toBe(true);
    expect(reason).toMatchObject({ group: "encoding", code: "invalid", statusCode: 400 });
  });
});

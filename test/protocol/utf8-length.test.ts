import { describe, expect, it } from "vitest";
import { utf8Length } from "../../src/protocol/index.js";

const UNITS = ["a", "é", "€", "\u{1f600}", "\ud800", "\udc00", "\0", "\ufeff"];

describe("the UTF-8 length of a string", () => {
  it.each([...UNITS, "", UNITS.join(""), "\ud800\ud800\udc00\udc00"])("is what an encoder writes: %j", (text) => {
    const written = new TextEncoder().encode(text).byteLength;
    expect(utf8Length(text)).toBe(written);
    expect(utf8Length(text.repeat(300))).toBe(new TextEncoder().encode(text.repeat(300)).byteLength);
  });

  it("is the same on both sides of the length from which the runtime counts", () => {
    for (let length = 250; length < 262; length += 1)
      for (const unit of UNITS) {
        const text = `${"x".repeat(length - unit.length)}${unit}`;
        expect(utf8Length(text)).toBe(new TextEncoder().encode(text).byteLength);
      }
  });

  it("counts a pair that two pieces of a long string would part", () => {
    const text = `${"x".repeat(16_383)}\u{1f600}${"€".repeat(9_000)}`;
    expect(utf8Length(text)).toBe(new TextEncoder().encode(text).byteLength);
  });
});

import { describe, expect, it } from "vitest";
import { readOptions } from "../../src/protocol/index.js";

const read = (options: unknown): object =>
  readOptions<{ a?: number; b?: number }>(
    "it",
    options as { a?: number },
    ["a", "b"],
    (problem) => new RangeError(problem),
  );

describe("options", () => {
  it("are what was given under known names", () => {
    expect({ ...read({ a: 1, b: 0 }) }).toEqual({ a: 1, b: 0 });
    expect(Object.keys(read(undefined))).toEqual([]);
    expect(Object.keys(read({ a: undefined, c: undefined }))).toEqual([]);
  });

  it.each(["c", "A", "toString", "constructor", "__proto__x", "x".repeat(1_000)])(
    "are refused under the name %s, which the error repeats in short",
    (name) => {
      expect(() => read({ a: 1, [name]: 1 })).toThrow(
        new RangeError(`it has no option ${JSON.stringify(name.slice(0, 100))}`),
      );
    },
  );

  it.each([null, "a", 5, true, () => 1])("are no %s", (given) => {
    expect(() => read(given)).toThrow(new RangeError("The options of it must be an object"));
  });

  it("are never read through a prototype", () => {
    expect(Object.keys(read(Object.create({ a: 1 })))).toEqual([]);
    expect(Object.getPrototypeOf(read({ a: 1 }))).toBe(null);
    expect(() => read(JSON.parse('{"__proto__": 1}'))).toThrow('it has no option "__proto__"');
  });
});

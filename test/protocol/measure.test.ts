import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ActorError, encodeValue, MAX_STORED_DEPTH, MAX_VALUE_BYTES, measure } from "../../src/protocol/index.js";
import { anyValue } from "./arbitrary-values.js";

function failureOf(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    if (!ActorError.isActorError(error)) throw error;
    return { name: `${error.group}/${error.code}`, message: error.message, metadata: error.metadata };
  }
  return "nothing thrown";
}

function nested(levels: number): unknown {
  let value: unknown = 0;
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { value };
  return value;
}

describe("measure", () => {
  it("tells the bytes that encodeValue writes", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(measure(value).bytes).toBe(encodeValue(value).length);
      }),
      { numRuns: 2000 },
    );
  });

  it("takes exactly the budget, and refuses one byte more", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const { length } = encodeValue(value);
        expect(measure(value, 0, length).bytes).toBe(length);
        expect(failureOf(() => measure(value, 0, length - 1))).toMatchObject({
          name: "value/too_large",
          metadata: { sizeBytes: length, limitBytes: length - 1 },
        });
      }),
      { numRuns: 500 },
    );
  });

  it.each<[name: string, value: unknown, height: number]>([
    ["a number", 1, 0],
    ["a Date", new Date(1), 0],
    ["a typed array", new Uint8Array(5), 0],
    ["an empty array", [], 1],
    ["objects in arrays", [1, [{}], []], 3],
    ["a Map whose key is the deeper", new Map<unknown, unknown>([[[[]], 1]]), 3],
    ["a Set", new Set([new Set()]), 2],
    [
      "an error with a cause and metadata",
      Object.assign(new Error("m", { cause: new Error("c") }), { metadata: { a: [] } }),
      3,
    ],
  ])("counts the containers of %s", (_name, value, height) => {
    expect(measure(value).height).toBe(height);
  });

  it("counts the containers around the value against the limit", () => {
    expect(measure(nested(6), MAX_STORED_DEPTH - 6)).toMatchObject({ height: 6 });
    const found = "nesting deeper than 256 levels";
    expect(failureOf(() => measure(nested(7), MAX_STORED_DEPTH - 6))).toMatchObject({
      name: "value/not_serializable",
      metadata: { found },
    });
    expect(measure(new Date(1), MAX_STORED_DEPTH).height).toBe(0);
    expect(failureOf(() => measure([], MAX_STORED_DEPTH))).toMatchObject({ metadata: { path: "$", found } });
  });

  it("names the way to what is wrong from the root that it is told", () => {
    const options = { rootPath: "state.items[3]", what: "action `add`" };
    expect(failureOf(() => measure({ a: [() => 1] }, 2, 100, options))).toEqual({
      name: "value/not_serializable",
      message: "Value at state.items[3].a[0] is not serializable: function (in action `add`)",
      metadata: { path: "state.items[3].a[0]", found: "function" },
    });
    expect(failureOf(() => measure({ a: 1, b: "x".repeat(100) }, 2, 100, options))).toEqual({
      name: "value/too_large",
      message:
        "Value is too large: 108 bytes, the limit is 100. Its largest member is state.items[3].b (in action `add`)",
      metadata: { path: "state.items[3].b", sizeBytes: 108, limitBytes: 100 },
    });
  });

  it("ends soon with what is far too large", () => {
    let shared: unknown = "boom";
    for (let i = 0; i < 30; i++) shared = [shared, shared];
    for (const value of [shared, new Array(4e9), 1n << 100_000_000n, new Uint8Array(1e8), "x".repeat(1e8)]) {
      expect(failureOf(() => measure(value))).toMatchObject({
        name: "value/too_large",
        metadata: { limitBytes: MAX_VALUE_BYTES },
      });
    }
  });
});

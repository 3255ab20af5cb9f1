import { describe, expect, it } from "vitest";
import {
  changesOnly,
  codeOf,
  diffLines,
  errorChain,
  prettyJson,
  valueText,
} from "../../../src/inspector-page/internal.js";

describe("a value", () => {
  it("is shown close to how it is written", () => {
    const value = {
      big: 12n,
      map: new Map<unknown, unknown>([["a", new Set([1])]]),
      "odd key": [undefined, null, -0, Number.NaN],
      when: new Date(0),
      bytes: new Uint8Array([0, 255]),
      pattern: /a/g,
    };
    expect(valueText(value)).toEqual({
      text: [
        "{",
        "  big: 12n,",
        '  map: Map(1) { "a" => Set(1) { 1 } },',
        '  "odd key": [undefined, null, -0, NaN],',
        "  when: Date(1970-01-01T00:00:00.000Z),",
        "  bytes: Uint8Array(2 bytes: 00 ff),",
        "  pattern: /a/g",
        "}",
      ].join("\n"),
      isCut: false,
    });
  });

  it("is cut where it is too long, and says so", () => {
    for (const large of ["x".repeat(2_000_000), Array.from({ length: 200_000 }, (_, index) => index)]) {
      const { text, isCut } = valueText(large, 1_000);
      expect(isCut).toBe(true);
      expect(text.length).toBeLessThan(4_000);
    }
  });

  it("has tagged pairs on one line, to edit", () => {
    expect(prettyJson({ total: ["$BigInt", "12"], list: [], more: { a: 1 } })).toBe(
      '{\n  "total": ["$BigInt", "12"],\n  "list": [],\n  "more": { "a": 1 }\n}',
    );
    const tree = JSON.parse(`{"__proto__":{"a":[${"1,".repeat(60)}2]},"x":"\\u0000"}`) as unknown;
    expect(JSON.parse(prettyJson(tree))).toEqual(tree);
  });
});

describe("an edit", () => {
  const lines = (text: string): string => text.split("").join("\n");

  it("is shown as lines that went and came", () => {
    expect(diffLines(lines("abcd"), lines("axcd")).map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      "same a",
      "removed b",
      "added x",
      "same c",
      "same d",
    ]);
    expect(diffLines("same", "same").map(({ kind }) => kind)).toEqual(["same"]);
  });

  it("gives both texts back, whatever they are", () => {
    for (const [before, after] of [
      ["", "a"],
      [lines("aabbaa"), lines("abab")],
      [lines("abcabba"), lines("cbabac")],
      [lines("x".repeat(1_500)), lines("y".repeat(1_500))],
    ] as const) {
      const diff = diffLines(before, after);
      const without = (kind: string): string =>
        diff
          .filter((line) => line.kind !== kind)
          .map(({ text }) => text)
          .join("\n");
      expect([without("added"), without("removed")]).toEqual([before, after]);
    }
  });

  it("leaves out what is far from any change", () => {
    const before = Array.from({ length: 40 }, (_, index) => String(index)).join("\n");
    const shown = changesOnly(diffLines(before, before.replace("20", "twenty")), 1);
    expect(shown.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      "cut 19 lines unchanged",
      "same 19",
      "removed 20",
      "added twenty",
      "same 21",
      "cut 18 lines unchanged",
    ]);
  });
});

describe("an error", () => {
  const error = (name: string, more: object = {}) => ({ name, message: `of ${name}`, ...more });

  it("is shown with its causes and parts", () => {
    const chain = errorChain(error("A", { cause: error("B", { cause: error("C") }), errors: { left: error("L") } }));
    expect(chain.map(({ error: { name }, depth, by }) => [name, depth, by])).toEqual([
      ["A", 0, undefined],
      ["L", 1, "left"],
      ["B", 1, "caused by"],
      ["C", 2, "caused by"],
    ]);
  });

  it("that causes itself is shown once", () => {
    expect(errorChain(error("A", { cause: error("B", { cause: error("A", { cause: error("B") }) }) }))).toHaveLength(2);
  });

  it("with a thousand parts is bounded", () => {
    const errors = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [index, error(`E${index}`)]));
    expect(errorChain(error("A", { errors }))).toHaveLength(30);
  });

  it("has a code in one word", () => {
    expect([
      codeOf(error("A")),
      codeOf(error("A", { code: 7 })),
      codeOf(error("A", { group: "g", code: "c" })),
    ]).toEqual([undefined, "7", "g/c"]);
  });
});
